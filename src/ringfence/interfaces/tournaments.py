"""Policies against each other over random instances of a family. May touch everything below."""

from collections.abc import Sequence

from ringfence.core.errors import InputError
from ringfence.core.streams import whole_seed
from ringfence.execution.chunks import Progress, run_chunks
from ringfence.interfaces.accepting import AnyPolicy, policies_of, positive, threads_of
from ringfence.interfaces.checking import each_once, listed
from ringfence.policies.registry import QUICK_POLICIES
from ringfence.reports.tournament import Tournament, tournament_report
from ringfence.simulation.cells import Cell, budget_for, fight
from ringfence.simulation.engines import tournament_engine
from ringfence.simulation.families import find_family
from ringfence.simulation.planning import whole_target

RAREST_TARGET, COMMONEST_TARGET = 1e-4, 0.5


def tournament(
    family: str = "uniform",
    *,
    arm_counts: int | Sequence[int] = (3, 8, 20),
    count: int = 100,
    policies: AnyPolicy | Sequence[AnyPolicy] = QUICK_POLICIES,
    target_error: float = 0.05,
    scales: str = "known",
    correlation: float = 0.0,
    prices: Sequence[float] = (),
    least_errors: int = 200,
    most_replications: int = 200_000,
    seed: int = 0,
    engine: str = "cpu",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Tournament:
    """Return how policies compare over random instances of a family, by size.

    Each instance is fought at the budget where the first policy errs `target_error` of the time, or
    at its least where it errs less often; every ratio is to that policy. A cell runs until it has
    seen `least_errors`, or has run `most_replications`. With a `correlation` arms share blocks: two
    pulls of equal noise on a block are so correlated. With `prices` arms have one of these each,
    and budgets are money, counted in pulls at the mean price. `engine="cuda"` fights on GPUs;
    budgets are found on the CPU, and are the same. `progress` is told of finished instances.

    >>> import ringfence as rf
    >>> result = rf.tournament(
    ...     arm_counts=3, count=4, policies=["constrained-sr", "uniform"], least_errors=50
    ... )
    >>> for standing in result.standings:
    ...     print(standing.policy, f"{standing.geometric_mean:.1f}")
    constrained-sr 1.0
    uniform 1.2
    """
    kind, seed = find_family(family), whole_seed(seed)
    count, threads = positive("count", count), threads_of(threads)
    least_errors = positive("least_errors", least_errors)
    most_replications = positive("most_replications", most_replications)
    target_error = whole_target(target_error)
    if not RAREST_TARGET <= target_error <= COMMONEST_TARGET:
        raise InputError(
            f"target_error = {target_error!r} must lie between {RAREST_TARGET:g} and "
            f"{COMMONEST_TARGET:g}: budgets are found by counting errors. Use 0.05, or 0.01."
        )
    chosen = policies_of(policies)
    sizes = [positive("arms", size) for size in listed("arm_counts", arm_counts)]
    each_once("arm_counts", sizes)
    prices = prices_of(prices)
    kind.draw(0, arm_count=2, correlation=correlation)  # refused before any work
    counter = tournament_engine(engine)
    plan = [(number, size) for size in sizes for number in range(count)]

    def work(place: int, _: int) -> list[Cell]:
        number, arm_count = plan[place]
        instance = kind.draw(
            number, arm_count=arm_count, seed=seed, correlation=correlation, prices=prices
        )
        budget = budget_for(instance, chosen[0], target_error, seed=seed, scales=scales)
        return [
            fight(
                instance,
                policy,
                budget,
                seed=seed,
                scales=scales,
                least_errors=least_errors,
                most_replications=most_replications,
                engine=counter,
            )
            for policy in chosen
        ]

    rounds = run_chunks(work, [1] * len(plan), threads=counter.workers(threads), progress=progress)
    cells = [cell for fought in rounds for cell in fought]
    return tournament_report(
        cells, family=family, seed=seed, target_error=target_error, scales=scales,
        correlation=correlation, prices=prices,
    )  # fmt: skip


def prices_of(prices: Sequence[float]) -> tuple[float, ...]:
    """Return the prices of a family's classes of arms, or refuse them."""
    for price in prices:
        if isinstance(price, bool) or not isinstance(price, int | float) or not price > 0:
            raise InputError(f"prices holds {price!r}, which must be a number above 0. Use 1, 20.")
    return tuple(prices)
