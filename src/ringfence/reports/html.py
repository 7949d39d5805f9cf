"""Small pieces of HTML: whatever is given is text in them. Pure."""

from collections.abc import Sequence
from html import escape

_SHORT_CELL = 28


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table that scrolls by itself where it is too wide."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    whole = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{whole}</div>'


def items(lines: Sequence[str]) -> str:
    """Return lines as a list."""
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _cell(words: str) -> str:
    # Not "figure", which Bootstrap's pages make a block of: notebooks are shown on such pages too.
    short = len(words) <= _SHORT_CELL
    return f"<td{' class=short' if short else ''}>{escape(words)}</td>"
