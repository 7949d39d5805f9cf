"""Composes a replay: policies on rows drawn from a log, and uniform at more budgets than asked.

May touch every room.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ringfence.core.errors import InputError
from ringfence.core.stop import Stop
from ringfence.execution.chunks import Progress
from ringfence.interfaces.comparing import side_by_side
from ringfence.interfaces.planning import GROWTH
from ringfence.policies.policy import Policy
from ringfence.policies.registry import find_policy
from ringfence.reports.replay import EACH, Curve, Replay, ReplayRow, uniform_needs
from ringfence.simulation.cells import smallest_budget
from ringfence.simulation.doubts import Doubt, doubts_of, notes_of
from ringfence.simulation.experiment import Experiment
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

    def run(
        self,
        instance: Instance,
        policies: Sequence[Policy],
        budget: int,
        *,
        quietly: bool = False,
        stop: Stop | None = None,
    ) -> list[SimulationResult]:
        """Return the policies' results at a budget."""
        grows = self.batch is None and not instance.has_own
        experiments = [
            Experiment(
                instance,
                policy,
                budget,
                shared=True,
                scales=self.scales,
                batch=self.batch or 1,
                growth=GROWTH if grows else 0.0,
                stop=self.stop,
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
    log: Log, rerun: Rerun, *, budgets: Sequence[int] | None = None, force: bool = False
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
            Experiment(instance, policy, budget, scales=rerun.scales)
    found: list[SimulationResult] = []
    measured: dict[int, SimulationResult] = {}
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
        smallest_budget(instance, uniform, scales=rerun.scales),
        lambda budget: rerun.run(instance, [uniform], budget, quietly=True)[0],
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
    )


def _replay_proofs(
    log: Log, doubts: tuple[Doubt, ...], rerun: Rerun, budgets: Sequence[int], started: float
) -> Replay:
    """Return how many pulls policies take until the answer is proven."""
    grid = sorted(set(budgets))
    for budget in grid:  # refused before any work
        for policy in rerun.policies:
            Experiment(log.instance, policy, budget, scales=rerun.scales, stop=rerun.stop)
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
    )


def refusal(log: Log, reasons: Sequence[str]) -> str:
    """Return all reasons why a table cannot answer, as one message."""
    listed = "".join(f"\n  - {reason}" for reason in reasons)
    return (
        f"{log.instance.name!r} cannot answer this question:{listed}\n"
        "Use force = True (--force) to see what can be seen all the same."
    )


def usual_budgets(log: Log, rerun: Rerun) -> list[int]:
    """Return budgets from the least possible to the number of rows, each twice the one before."""
    least = max(
        smallest_budget(log.instance, policy, scales=rerun.scales) for policy in rerun.policies
    )
    top = max(least, min(log.rows, MOST_PULLS))
    steps = max(1, round(math.log(top / least, _STEP))) if top > least else 0
    factor = (top / least) ** (1.0 / steps) if steps else 1.0
    return sorted({least, top, *(round(least * factor**k) for k in range(steps))})


def _follow_uniform(
    measured: dict[int, SimulationResult],
    rates: Sequence[float],
    least: int,
    run: Callable[[int], SimulationResult],
) -> None:
    """Measure uniform between the budgets, below and beyond them, as far as the rates ask for."""
    asked = sorted(measured)
    for low, high in pairwise(asked):
        middle = round(math.sqrt(low * high))
        if high > 1.5 * low and middle not in measured:
            measured[middle] = run(middle)
    low = asked[0]
    while low > least and 1.0 - measured[low].error_rate > min(rates):
        low = max(least, int(low / _FINE_STEP))
        measured[low] = run(low)
    high = asked[-1]
    while high < _BEYOND * asked[-1] and 1.0 - measured[high].error_rate < max(rates):
        high = math.ceil(high * _FINE_STEP)
        measured[high] = run(high)
