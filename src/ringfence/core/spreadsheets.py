"""Text in CSV files: a spreadsheet takes a cell that begins like a formula for one, and runs it.

Such a text is written with an apostrophe before it, which spreadsheets do not show, and read back
without. Touches nothing.
"""

import re
from typing import Any

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # wide forms count as well


def inert(cell: Any) -> Any:
    """Return a cell that no spreadsheet runs; numbers, and all text but formulas, as they are.

    >>> from ringfence.core.spreadsheets import inert
    >>> inert("=cmd|' /C calc'!A0"), inert("plain"), inert(-1.5)
    ("'=cmd|' /C calc'!A0", 'plain', -1.5)
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def meant(cell: Any) -> Any:
    """Return what a cell said before `inert` wrote it.

    >>> from ringfence.core.spreadsheets import inert, meant
    >>> meant("'=SUM(A1)"), meant("'quoted'"), meant(inert("''-x"))
    ('=SUM(A1)', "'quoted'", "''-x")
    """
    is_inert = isinstance(cell, str) and cell.startswith("'") and _FORMULA.match(cell)
    return cell[1:] if is_inert else cell
