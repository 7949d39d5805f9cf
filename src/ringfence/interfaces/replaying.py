"""Composes a replay: policies on rows drawn from a log, and uniform at more budgets than asked.

May touch every room.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ringfence.core.errors import InputError
from ringfence.core.money import PULLS, Money, read_budget
from ringfence.core.stop import Stop
from ringfence.execution.chunks import Progress
from ringfence.interfaces.accepting import positive
from ringfence.interfaces.comparing import side_by_side
from ringfence.interfaces.planning import GROWTH
from ringfence.policies.policy import Policy
from ringfence.policies.registry import find_policy
from ringfence.reports.replay import EACH, Curve, Replay, ReplayRow, uniform_needs
from ringfence.simulation.cells import smallest_budget
from ringfence.simulation.doubts import Doubt, doubts_of, notes_of
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.funding import number_of, price_of_a_pull
from ringfence.simulation.instance import Instance
from ringfence.simulation.logs import Log
from ringfence.simulation.results import SimulationResult

MOST_PULLS = 10_000  # of budgets that nobody asked for
_STEP = 2.0
_FINE_STEP = math.sqrt(2.0)
_BEYOND = 8.0  # times the largest budget: how far uniform is followed
_SURE = 0.99


@dataclass(frozen=True)
class Rerun:
    """How replications are run, the same for every policy and budget."""

    policies: Sequence[Policy]
    replications: int
    seed: int
    scales: str
    batch: int | None
    threads: int | None
    progress: Progress | None
    stop: Stop | None = None
    unit: str = PULLS

    def funded(self, instance: Instance, policy: Policy, budget: float, **how: Any) -> Experiment:
        """Return what is replicated at a budget, which is in the unit."""
        amount = budget if self.unit == PULLS else Money(Decimal(repr(budget)), self.unit)
        return Experiment.funded(
            instance, policy, amount, scales=self.scales, stop=self.stop, **how
        )

    def least(self, instance: Instance, policy: Policy) -> float:
        """Return the least budget that a policy accepts, at the mean price of a pull."""
        pulls = smallest_budget(instance, policy, scales=self.scales)
        if self.unit == PULLS:
            return pulls
        return self.rounded(float(pulls * price_of_a_pull(instance, self.unit)), math.ceil)

    def rounded(self, budget: float, to: Callable[[float], int] = round) -> float:
        """Return a budget that nobody asked for: whole pulls, or an amount of three digits."""
        if self.unit == PULLS:
            return to(budget)
        step = 10.0 ** (math.floor(math.log10(budget)) - 2)
        found = float(f"{to(budget / step) * step:.12g}")
        return int(found) if found.is_integer() else found

    def run(
        self,
        instance: Instance,
        policies: Sequence[Policy],
        budget: float,
        *,
        quietly: bool = False,
        stop: Stop | None = None,
    ) -> list[SimulationResult]:
        """Return the policies' results at a budget."""
        grows = self.batch is None and not instance.has_own
        experiments = [
            self.funded(
                instance,
                policy,
                budget,
                shared=True,
                batch=self.batch or 1,
                growth=GROWTH if grows else 0.0,
            )
            for policy in policies
        ]
        rows = side_by_side(
            experiments,
            self.replications,
            seed=self.seed,
            threads=self.threads,
            progress=None if quietly else self.progress,
        )
        return [row.result for row in rows]


def replay_log(
    log: Log, rerun: Rerun, *, budgets: Sequence[float] | None = None, force: bool = False
) -> Replay:
    """Return how often policies find the truth of a log, or refuse one that cannot tell it.

    Without budgets, a grid of them is tried until uniform is all but sure.
    """
    doubts = doubts_of(log)
    if doubts and not force:
        raise InputError(refusal(log, [str(doubt) for doubt in doubts]))
    started = time.perf_counter()
    if rerun.stop is not None:
        return _replay_proofs(log, doubts, rerun, budgets or [log.rows], started)
    instance = log.instance
    uniform = find_policy("uniform")
    if any(one.name == uniform.name and one != uniform for one in rerun.policies):
        raise InputError(
            f"policies hold another {uniform.name!r}, which is what the others are measured by. "
            "Rename it."
        )
    grid = usual_budgets(log, rerun) if budgets is None else sorted(set(budgets))
    for budget in grid:  # refused before any work
        for policy in rerun.policies:
            rerun.funded(instance, policy, budget)
    found: list[SimulationResult] = []
    measured: dict[float, SimulationResult] = {}
    for budget in grid:
        here = rerun.run(instance, rerun.policies, budget)
        found += here
        by_name = {result.policy: result for result in here}
        measured[budget] = (
            by_name.get("uniform") or rerun.run(instance, [uniform], budget, quietly=True)[0]
        )
        if budgets is None and 1.0 - measured[budget].interval[1] > _SURE:
            break
    _follow_uniform(
        measured,
        [1.0 - result.error_rate for result in found],
        rerun.least(instance, uniform),
        lambda budget: rerun.run(instance, [uniform], budget, quietly=True)[0],
        rerun.rounded,
    )
    curve = Curve.of(list(measured.values()), level=EACH)
    return Replay(
        log=log,
        doubts=doubts,
        notes=notes_of(log),
        rows=tuple(ReplayRow(result, uniform_needs(curve, result)) for result in found),
        uniform=tuple(measured[budget] for budget in sorted(measured)),
        replications=rerun.replications,
        seed=rerun.seed,
        scales=rerun.scales,
        batch=rerun.batch,
        seconds=time.perf_counter() - started,
        unit=rerun.unit,
    )


def _replay_proofs(
    log: Log, doubts: tuple[Doubt, ...], rerun: Rerun, budgets: Sequence[float], started: float
) -> Replay:
    """Return how many pulls policies take until the answer is proven."""
    grid = sorted(set(budgets))
    for budget in grid:  # refused before any work
        for policy in rerun.policies:
            rerun.funded(log.instance, policy, budget)
    found = [one for budget in grid for one in rerun.run(log.instance, rerun.policies, budget)]
    return Replay(
        log=log,
        doubts=doubts,
        notes=notes_of(log),
        rows=tuple(ReplayRow(result) for result in found),
        uniform=(),
        replications=rerun.replications,
        seed=rerun.seed,
        scales=rerun.scales,
        batch=rerun.batch,
        stop=rerun.stop,
        seconds=time.perf_counter() - started,
        unit=rerun.unit,
    )


def budgets_by_price(budgets: Sequence[Any], price: str | None) -> tuple[list[float], str]:
    """Return budgets as plain numbers, and their unit: pulls, unless there is a `price`.

    That is a column; budgets without a unit of their own are in what it holds.
    """
    given = [one for one in budgets if one is not None]
    if price is None and not any(isinstance(one, str) for one in given):
        return [positive("budget", budget) for budget in given], PULLS
    found, units = list[float](), set[str]()
    for one in given:
        if isinstance(one, str):
            money = read_budget(one)
            units |= set() if money.is_pulls else {money.unit}
            amount = money.amount
        elif isinstance(one, int | float) and not isinstance(one, bool) and one > 0:
            amount = Decimal(repr(one))
        else:
            raise InputError(f"budget = {one!r} must be a number above 0, such as 100.")
        found.append(number_of(Fraction(amount)))
    if len(units) > 1:
        raise InputError(
            f"budgets are in {' and '.join(sorted(units))}: nothing is converted. Write all in one "
            "unit."
        )
    if price is None and units:
        raise InputError(
            f"budgets are in {units.pop()}, and no column says what a pull cost. Name one as price "
            "(--price COLUMN), or give budgets in pulls."
        )
    return found, PULLS if price is None else units.pop() if units else price


def refusal(log: Log, reasons: Sequence[str]) -> str:
    """Return all reasons why a table cannot answer, as one message."""
    listed = "".join(f"\n  - {reason}" for reason in reasons)
    return (
        f"{log.instance.name!r} cannot answer this question:{listed}\n"
        "Use force = True (--force) to see what can be seen all the same."
    )


def usual_budgets(log: Log, rerun: Rerun) -> list[float]:
    """Return budgets from the least possible to that of all rows, each twice the one before."""
    least = max(rerun.least(log.instance, policy) for policy in rerun.policies)
    rows: float = min(log.rows, MOST_PULLS)
    if rerun.unit != PULLS:
        rows = rerun.rounded(rows * float(price_of_a_pull(log.instance, rerun.unit)))
    top = max(least, rows)
    steps = max(1, round(math.log(top / least, _STEP))) if top > least else 0
    factor = (top / least) ** (1.0 / steps) if steps else 1.0
    return sorted({least, top, *(rerun.rounded(least * factor**k) for k in range(steps))})


def _follow_uniform(
    measured: dict[float, SimulationResult],
    rates: Sequence[float],
    least: float,
    run: Callable[[float], SimulationResult],
    rounded: Callable[..., float],
) -> None:
    """Measure uniform between the budgets, below and beyond them, as far as the rates ask for."""
    asked = sorted(measured)
    for low, high in pairwise(asked):
        middle = rounded(math.sqrt(low * high))
        if high > 1.5 * low and middle not in measured:
            measured[middle] = run(middle)
    low = asked[0]
    while low > least and 1.0 - measured[low].error_rate > min(rates):
        low = max(least, rounded(low / _FINE_STEP, math.floor))
        measured[low] = run(low)
    high = asked[-1]
    while high < _BEYOND * asked[-1] and 1.0 - measured[high].error_rate < max(rates):
        high = rounded(high * _FINE_STEP, math.ceil)
        measured[high] = run(high)
