"""Codes: one of a few words that programs compare, and that shows itself as that word.

Touches nothing.
"""

from enum import StrEnum


class Code(StrEnum):
    """One of a few words. Words for people are made of it in reports, and nowhere else.

    >>> from ringfence.core.codes import Code
    >>> class Light(Code):
    ...     RED = "red"
    >>> Light.RED, Light("red") is Light.RED
    ('red', True)
    """

    def __repr__(self) -> str:
        """Return what a plain string shows: results are read by people too."""
        return repr(self.value)
