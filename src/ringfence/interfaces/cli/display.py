"""What a running study shows on the screen while it runs. May touch every room."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ringfence.core.errors import EstimateError, StorageAwayError, one_line
from ringfence.execution.backoff import Outage
from ringfence.interfaces.cli import output

_REFRESH_SECONDS = 0.5
_COMPLAIN_SECONDS = 10.0
_WAIT_SECONDS = 60.0


def away_in_words() -> Callable[[StorageAwayError], None]:
    """Return what says once in a while that the database is waited for."""
    next_words = 0.0

    def away(error: StorageAwayError) -> None:
        nonlocal next_words
        now = time.monotonic()
        if now >= next_words:
            next_words = now + _COMPLAIN_SECONDS
            sys.stderr.write(f"waiting: {error}\n")
            sys.stderr.flush()

    return away


class Display:
    """Shows a running study on standard error: a live line on a terminal, quarters elsewhere."""

    def __init__(self, known: Any, *, quiet: bool) -> None:
        from rich.console import Console
        from rich.live import Live

        self._known, self._next, self._next_complaint = known, 0.0, 0.0
        self._quarter, self._complained = 0, False
        self.away = away_in_words()
        self._live: Live | None = None
        self.in_outage = False
        self._quiet = quiet
        if sys.stderr.isatty() and not quiet:
            self._live = Live(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._live.start()

    def told(self, pull: Any, became: str) -> None:
        """Take note of one more pull; the first that fails is told of, with its reason."""
        if became == "failed" and not (self._complained or self._quiet):
            with suppress(StorageAwayError):
                self._complain(pull)
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + _REFRESH_SECONDS
        with suppress(StorageAwayError):  # the work itself waits for it, and says so
            self._show()

    def _complain(self, pull: Any) -> None:
        self._complained = True
        with self._known.desk.storage.reading(self._known.name) as ledger:
            error = ledger.pulls([pull.number])[0].error
        arm, said = self._known.definition.arm_names[pull.arm], one_line(error or "")
        sys.stderr.write(f"pull {pull.number} of arm {arm!r} failed, the first to do so: {said}\n")
        sys.stderr.flush()

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(_picture(self._known), refresh=True)
            return
        stands = self._known.status()
        quarter = 4 * _done(stands) // stands.budget
        if quarter > self._quarter:
            self._quarter = quarter
            sys.stderr.write(f"{_so_far(stands, stands.told)}; looks best: {stands.arm}\n")
            sys.stderr.flush()

    def waits(self, count: int, deadline: float) -> None:
        """Say once in a while that pulls of others are waited for, and for how long at most."""
        now = time.monotonic()
        if now >= self._next_complaint:
            self._next_complaint = now + _WAIT_SECONDS
            when = time.strftime("%H:%M:%S", time.localtime(deadline))
            sys.stderr.write(
                f"waiting: other workers hold {count} pulls. If they are gone, leases run out from "
                f"{when} on; `ringfence run ... --take-over` ends them at once.\n"
            )
            sys.stderr.flush()

    def outage(self, outage: Outage) -> None:
        """Say that evaluations fail whatever the arm, and later that they succeed again."""
        self.in_outage = not outage.is_over
        sys.stderr.write(f"{outage}\n")
        sys.stderr.flush()

    def notes(self, note: str) -> None:
        """Say once what evaluations told that was not recorded."""
        if not self._quiet:
            sys.stderr.write(f"{one_line(note)}\n")
            sys.stderr.flush()

    def stops(self, count: int) -> None:
        """Say at once that an interrupt was heard, and what is still waited for."""
        self.close()
        self._quiet = True
        words = "what can be ended is ended"
        if count > 0:
            words = (
                f"waiting for evaluations that cannot be ended ({count}). Another one leaves them"
            )
        output.last_words(f"interrupt heard: nothing more is begun; {words}.")

    def close(self) -> None:
        """Leave the screen as it was."""
        if self._live is not None:
            with suppress(OSError):  # the terminal may be gone
                self._live.stop()
            self._live = None


def _picture(known: Any) -> Any:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    from ringfence.reports.chances import percent
    from ringfence.study.verdict import in_the_running

    view = known.view()
    verdict = None
    if in_the_running(view).any():
        with suppress(EstimateError):
            verdict = known.verdict_on(view)
    stands = known.status(view, verdict)
    done, so_far = _done(stands), _so_far(stands, stands.told + stands.failed)
    lines: list[Any] = [
        Text(f"{stands.study}: {so_far}, round {stands.phase + 1}"),
        ProgressBar(total=stands.budget, completed=done, width=60),
        Text(f"in the running: {', '.join(stands.alive)}"),
    ]
    if verdict is not None:
        best = next((arm for arm in verdict.arms if arm.name == verdict.arm), None)
        has_margin = best is not None and best.margin is not None
        margin = (
            "" if best is None or not has_margin else f"margin {output.number(best.margin, 3)}, "
        )
        lines.append(
            Text(
                f"{_looks(verdict)} ({verdict.verdict}, {margin}{percent(verdict.confidence)} sure)"
            )
        )
    return Group(*lines)


def _done(stands: Any) -> float:
    """Return how much of the budget is done with, in its unit."""
    return float(stands.spent) if stands.accounts else int(stands.told + stands.failed)


def _so_far(stands: Any, pulls: int) -> str:
    """Return how far a study has come, in pulls or in money."""
    from ringfence.reports.accounts import shown_amount

    if not stands.accounts:
        return f"{pulls} of {stands.budget} pulls"
    spent, budget = shown_amount(stands.spent), shown_amount(stands.budget)
    return f"{pulls} pulls, {spent} of {budget} {stands.unit} spent"


def _looks(verdict: Any) -> str:
    from ringfence.reports.sets import listed

    if verdict.problem.question.settles:
        return f"look feasible: {listed(verdict.answer) or 'none'}"
    return f"looks best: {verdict.arm}"
