"""How commands speak: strict JSON on standard output, people's tables, progress on the side.

Touches the two output streams only.
"""

import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.status import Status
from rich.table import Table
from rich.text import Text

from ringfence.core.strict import strict_json

if TYPE_CHECKING:
    from ringfence.reports.arms_table import Layout

_PATIENCE_SECONDS = 3.0
_WIDEST_NAME = 48
_GAP = 2  # between columns
_EVER = 1_000_000
_STDOUT, _STDERR = 1, 2
_LETTER = re.compile(r"[^\W\d_]{3}")  # "inf" and "nan" aside, numbers hold no three letters
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and line breaks
_MARKS = {True: "[green]holds[/]", False: "[red]fails[/]", None: "[yellow]undecided[/]"}


def console() -> Console:
    """Return the console for people: colour and full width on a terminal, plain lines elsewhere."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return Console(highlight=False)
    return Console(highlight=False, width=110)


def say(text: str, *, markup: bool = False) -> None:
    """Print a sentence for people, without wrapping it and without reading names as markup."""
    console().print(tamed(text), markup=markup, soft_wrap=True)


def tamed(text: str) -> str:
    """Return a text whose control characters are spelt out: a terminal would obey them."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one strict JSON document: what is infinite or undefined becomes null."""
    sys.stdout.write(strict_json(document, indent=2) + "\n")


def print_line(document: Mapping[str, Any]) -> None:
    """Print one strict JSON document on a line of its own, for a program that keeps running."""
    sys.stdout.write(strict_json(document) + "\n")


def last_words(text: str) -> None:
    """Say a line on standard error, if there is still somebody to hear it."""
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:  # the terminal has closed; what is left unsaid must not fail at exit
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end


@contextmanager
def aside(*, when: bool) -> Iterator[None]:
    """Let all that is printed while the block runs, also by children, go to standard error."""
    if not when:
        yield
        return
    document = sys.stdout
    document.flush()
    kept = os.dup(_STDOUT)
    try:
        os.dup2(_STDERR, _STDOUT)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        document.flush()  # who held the stream itself wrote to it
        os.dup2(kept, _STDOUT)
        os.close(kept)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; a column whose entries hold letters is text, the others numbers.

    Long names are folded; numbers are never cut, so the table may be wider than the screen.
    """
    drawn = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    width = 1
    for place, column in enumerate(columns):
        entries = [tamed(row[place]) for row in rows]
        longest = max(map(cell_len, [column, *entries]))
        words = any(_LETTER.search(entry) for entry in entries)
        fitting = min(longest, _WIDEST_NAME) if words else longest
        drawn.add_column(
            column, justify="left" if words else "right", overflow="fold", width=fitting
        )
        width += fitting + 3
    for row in rows:
        drawn.add_row(
            *(Text(tamed(cell)) for cell in row)
        )  # as text, so that no name is read as markup
    target = console()
    target.width = max(target.width, width)
    target.print(drawn)


def show_fitting(
    title: str, layouts: Sequence["Layout"], *, whole: bool = False, stands_out: bool = True
) -> "Layout":
    """Print the first layout that has room, or the first of all if it is to be `whole`.

    The first row may stand out. Return what was shown, so that what it leaves out can be told.
    """
    target = console()
    chosen, widths = layouts[0], _widths(layouts[0], _EVER)
    for layout in layouts[:1] if whole else layouts:
        chosen, widths = layout, _widths(layout, target.width)
        if sum(widths) + _GAP * (len(widths) - 1) <= target.width:
            break
    drawn = Table(
        title=tamed(title), title_justify="left", title_style="bold", header_style="bold",
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0),
    )  # fmt: skip
    height = max(len(column.head) for column in chosen.columns)
    first = "bold" if stands_out else None
    for column, width in zip(chosen.columns, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column.least is None else "left"
        head = Text("\n" * (height - len(column.head)) + tamed("\n".join(column.head)))
        drawn.add_column(head, justify=justify, overflow="fold", width=width)
    for place, row in enumerate(zip(*(one.cells for one in chosen.columns), strict=True)):
        drawn.add_row(*(Text(tamed(cell)) for cell in row), style=first if place == 0 else None)
    target.width = max(target.width, sum(widths) + _GAP * len(widths))
    target.print(drawn)
    return chosen


def _widths(layout: "Layout", room: int) -> list[int]:
    """Return how wide each column is: text gives way, the last first, where there is no room."""
    widths = []
    for column in layout.columns:
        natural = max(cell_len(tamed(text)) for text in (*column.head, *column.cells))
        widths.append(natural if column.most is None else min(natural, column.most))
    for place, column in reversed(list(enumerate(layout.columns))):
        excess = sum(widths) + _GAP * (len(widths) - 1) - room
        if column.least is not None and excess > 0:
            widths[place] = max(min(column.least, widths[place]), widths[place] - excess)
    return widths


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for people; what is infinite or missing is a word or a dash."""
    if value is None or math.isnan(value):
        return "-"
    return ("inf" if value > 0 else "-inf") if math.isinf(value) else f"{value:.{digits}g}"


def mark(holds: bool | None) -> str:  # noqa: FBT001 - the value itself is what is shown
    """Return the word for a statement that holds, fails or is undecided."""
    return _MARKS[holds]


@contextmanager
def progress_bar(
    what: str, total: int, *, first: str = "compiling"
) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error: a bar on a terminal, a line at the quarters elsewhere.

    `first` is what is done before there is any.
    """
    if sys.stderr.isatty():
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bar:
            task = bar.add_task(first, total=total)
            yield lambda done: bar.update(task, advance=done, description=what)
    else:
        yield _quarters(what, total)


def _quarters(what: str, total: int) -> Callable[[int], None]:
    """Return a teller that stays silent about work of a few seconds, compilation aside."""
    started, done, told = 0.0, 0, 0

    def advance(more: int) -> None:
        nonlocal started, done, told
        started = started or time.monotonic()
        done += more
        quarter = 4 * done // total
        if quarter > told and time.monotonic() - started > _PATIENCE_SECONDS:
            told = quarter
            sys.stderr.write(f"{what}: {25 * quarter}%\n")
            sys.stderr.flush()

    return advance


@contextmanager
def stages(what: str, *, answers: tuple[str, ...] = ()) -> Iterator[Callable[[str], None]]:
    """Show on standard error what is being done: a live line on a terminal, elsewhere now and then.

    For work of which nobody knows beforehand how much there is. Stages that begin with one of the
    `answers` are shown at once, and stay.
    """
    if sys.stderr.isatty():
        with Console(stderr=True).status(what) as status:
            yield lambda stage: _live(status, f"{what}: {stage}", stays=stage.startswith(answers))
    else:
        yield _now_and_then(what, answers)


def _live(status: Status, line: str, *, stays: bool) -> None:
    if stays:
        status.console.print(Text(line))
    else:
        status.update(Text(line))


def _now_and_then(what: str, answers: tuple[str, ...]) -> Callable[[str], None]:
    """Return a teller that stays silent about work of a few seconds, but for answers."""
    told = time.monotonic()

    def advance(stage: str) -> None:
        nonlocal told
        if stage.startswith(answers) or time.monotonic() - told > _PATIENCE_SECONDS:
            told = time.monotonic()
            sys.stderr.write(f"{what}: {stage}\n")
            sys.stderr.flush()

    return advance
