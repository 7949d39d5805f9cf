"""How commands speak: strict JSON on standard output, people's tables, progress on the side.

Touches the two output streams only.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

_PATIENCE_SECONDS = 3.0
_MARKS = {True: "[green]holds[/]", False: "[red]fails[/]", None: "[yellow]undecided[/]"}


def console() -> Console:
    """Return the console for people: colour and full width on a terminal, plain lines elsewhere."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=110)


def say(text: str, *, markup: bool = False) -> None:
    """Print a sentence for people, without wrapping it and without reading names as markup."""
    console().print(text, markup=markup, soft_wrap=True)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one strict JSON document: what is infinite or undefined becomes null."""
    sys.stdout.write(json.dumps(strict(document), allow_nan=False, indent=2) + "\n")


def strict(value: Any) -> Any:
    """Return the value with infinite and undefined numbers replaced by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [strict(entry) for entry in value]
    return value


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; a column whose entries begin with letters is text, the others numbers."""
    drawn = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for place, column in enumerate(columns):
        words = any(row[place][:1].isalpha() for row in rows)
        drawn.add_column(
            column, justify="left" if words else "right", no_wrap=not words, overflow="fold"
        )
    for row in rows:
        drawn.add_row(*map(Text, row))  # as text, so that no name is read as markup
    console().print(drawn)


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for people; what is infinite or missing is a word or a dash."""
    if value is None or math.isnan(value):
        return "-"
    return ("inf" if value > 0 else "-inf") if math.isinf(value) else f"{value:.{digits}g}"


def mark(holds: bool | None) -> str:  # noqa: FBT001 - the value itself is what is shown
    """Return the word for a statement that holds, fails or is undecided."""
    return _MARKS[holds]


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error: a bar on a terminal, a line at the quarters elsewhere."""
    if sys.stderr.isatty():
        with Progress(
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.advance(task, done)
    else:
        yield _quarters(what, total)


def _quarters(what: str, total: int) -> Callable[[int], None]:
    """Return a teller that stays silent about work of a few seconds."""
    started, done, told = time.monotonic(), 0, 0

    def advance(more: int) -> None:
        nonlocal done, told
        done += more
        quarter = 4 * done // total
        if quarter > told and time.monotonic() - started > _PATIENCE_SECONDS:
            told = quarter
            sys.stderr.write(f"{what}: {25 * quarter}%\n")
            sys.stderr.flush()

    return advance
