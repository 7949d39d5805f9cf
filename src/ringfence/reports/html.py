"""Small pieces of HTML: whatever is given is text in them. Pure."""

import re
from collections.abc import Sequence
from html import escape

_SHORT_CELL = 28
_PAIR = re.compile(r"([-+]?[\d.,e+%-]+) (\([^()]{3,40} to [^()]{1,20}\)|\([^()]{3,40}\))")


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
    if pair := _PAIR.fullmatch(words):  # a number may part from its interval, where room is short
        value, interval = map(escape, pair.groups())
        return f"<td class=pair>{value} <small>{interval}</small></td>"
    short = len(words) <= _SHORT_CELL
    return f"<td{' class=short' if short else ''}>{escape(words)}</td>"
