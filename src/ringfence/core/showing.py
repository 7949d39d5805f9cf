"""How values show themselves in notebooks: what they look like is written upstairs, in reports.

`html_of` knows no type by itself; reports teach it some. Touches nothing.
"""

from functools import singledispatch


@singledispatch
def html_of(thing: object) -> str | None:
    """Return a value as HTML, or None where nobody has said how."""
    return None


class Rich:
    """Shown as HTML in notebooks, where reports say how; its text is as ever."""

    def _repr_html_(self) -> str | None:
        """Return what notebooks show."""
        return html_of(self)
