"""How often verdicts are right, beside how sure they are: families of truths, many studies.

Every study is decided by the product's own rules, round by round, from estimated noise; only the
storage is left out. Run it with `python -m benchmarks.calibration --help`; the table in
docs/research/calibration.md is its output with the defaults. With `--correlation 0.5` the n-th
pulls of all arms share blocks, and what every pull is made of is so correlated between them.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.study.book import Book
from ringfence.study.deciding import next_round
from ringfence.study.facts import Definition, Departure, Head, Round
from ringfence.study.plan import Plan
from ringfence.study.reading import View
from ringfence.study.standing import Standing
from ringfence.study.verdict import Verdict, verdict_of

METRICS = ("x", "y")
POLICIES = ("top-two", "constrained-sr", "uniform")
BATCHES = 20  # of an adaptive policy, in a study


@dataclass(frozen=True)
class Truth:
    """What is true of arms: objective means, how far each is beyond its limit, and how to pull."""

    constraint: str
    objectives: Floats
    excesses: Floats
    limited: Floats  # the truth of the attribute in the limit, as written
    draw: Callable[[int, int], Floats]

    @property
    def passes(self) -> Mask:
        """Which arms keep the limit."""
        return np.asarray(self.excesses <= 0.0)

    @property
    def right(self) -> tuple[set[int], bool]:
        """The arms that are right, and the flag."""
        passes = self.passes
        values = np.where(passes, self.objectives, np.inf) if passes.any() else self.excesses
        return set(np.flatnonzero(values == values.min()).tolist()), bool(passes.any())


class OnBlocks:
    """Draws for arms that share blocks: of each normal a part is common to their n-th pulls."""

    def __init__(self, rng: Any, correlation: float) -> None:
        """Begin before any pull."""
        self._rng, self._correlation = rng, correlation
        self._commons: list[Floats] = []  # of each normal that a pull is made of, by blocks
        self._pulls: dict[int, int] = {}
        self._start, self._call = 0, 0
        self.uniform, self.choice = rng.uniform, rng.choice

    def begin(self, arm: int, count: int) -> None:
        """Let the draws that follow be of an arm's next pulls."""
        self._start, self._call = self._pulls.get(arm, 0), 0
        self._pulls[arm] = self._start + count

    def normal(self, size: int | tuple[int, ...]) -> Floats:
        """Return normals of those pulls."""
        own = self._rng.normal(size=size)
        if self._call == len(self._commons):
            self._commons.append(own[:0])
        common = self._commons[self._call]
        missing = max(self._start + len(own) - len(common), 0)
        common = np.concatenate([common, self._rng.normal(size=(missing, *own.shape[1:]))])
        self._commons[self._call] = common
        self._call += 1
        shared = common[self._start : self._start + len(own)]
        part = self._correlation
        return np.asarray(part**0.5 * shared + (1.0 - part) ** 0.5 * own)

    def random(self, count: int) -> Floats:
        """Return uniforms of those pulls."""
        from scipy.special import ndtr

        return np.asarray(ndtr(self.normal(count)))


def sharing(family: str, rng: Any, arms: int, pulls: int, correlation: float) -> Truth:
    """Draw a truth of a family; with a correlation arms share blocks."""
    if correlation == 0.0:
        return FAMILIES[family](rng, arms, pulls)
    source = OnBlocks(rng, correlation)
    truth = FAMILIES[family](source, arms, pulls)

    def draw(arm: int, count: int) -> Floats:
        source.begin(arm, count)
        return truth.draw(arm, count)

    return replace(truth, draw=draw)


def _gaussian(rng: Any, objectives: Floats, excesses: Floats) -> Truth:
    def draw(arm: int, count: int) -> Floats:
        z = rng.normal(size=(count, 2))
        risks = 0.3 * z[:, 0] + 0.91**0.5 * z[:, 1]
        return np.column_stack([objectives[arm] + z[:, 0], excesses[arm] + risks])

    return Truth("mean(y) <= 0", objectives, excesses, excesses, draw)


def broad(rng: Any, arms: int, pulls: int) -> Truth:
    """Draw light tails, and arms that differ by more than their noise at a hundred pulls."""
    return _gaussian(rng, rng.uniform(0, 1, arms), rng.uniform(-0.5, 0.5, arms))


def tight(rng: Any, arms: int, pulls: int) -> Truth:
    """Draw arms that all lie within two standard errors, and one at least from the limit."""
    error = pulls**-0.5
    sides = rng.choice([-1.0, 1.0], arms)
    return _gaussian(rng, rng.uniform(-2, 2, arms) * error, sides * rng.uniform(1, 2, arms) * error)


def infeasible_by(errors: float) -> Callable[[Any, int, int], Truth]:
    """Return the family whose arms all break the limit by so many standard errors."""

    def family(rng: Any, arms: int, pulls: int) -> Truth:
        return _gaussian(rng, rng.uniform(0, 1, arms), np.full(arms, errors * pulls**-0.5))

    return family


def rare_failures(rng: Any, arms: int, pulls: int) -> Truth:
    """Draw arms that fail in 0.3 to 3% of pulls, with a limit of 1%."""
    objectives = rng.uniform(0, 1, arms)
    chances = np.exp(rng.uniform(np.log(0.003), np.log(0.03), arms))

    def draw(arm: int, count: int) -> Floats:
        failed = rng.random(count) < chances[arm]
        return np.column_stack([objectives[arm] + rng.normal(size=count), failed])

    return Truth("mean(y) <= 0.01", objectives, chances - 0.01, chances, draw)


def lognormal_costs(rng: Any, arms: int, pulls: int, zeros: tuple[float, float] = (0, 0)) -> Truth:
    """Draw costs with a heavy tail; a share of them, within `zeros`, is nothing at all."""
    objectives, nothing = rng.uniform(0, 1, arms), rng.uniform(*zeros, arms)
    reach = min(0.3, pulls**-0.5) * (1.6 if zeros[1] else 1.0)
    means = np.exp(rng.uniform(-2.5, 2.5, arms) * reach)
    scales = means / np.exp(0.5) / (1.0 - nothing)

    def draw(arm: int, count: int) -> Floats:
        costs = scales[arm] * np.exp(rng.normal(size=count))
        costs *= rng.random(count) >= nothing[arm]
        return np.column_stack([objectives[arm] + rng.normal(size=count), costs])

    return Truth("mean(y) <= 1", objectives, means - 1.0, means, draw)


def zero_inflated_costs(rng: Any, arms: int, pulls: int) -> Truth:
    """Draw costs of which 60 to 90% are nothing, and the others have a heavy tail."""
    return lognormal_costs(rng, arms, pulls, (0.6, 0.9))


def p95_limits(rng: Any, arms: int, pulls: int) -> Truth:
    """Draw latencies beyond a limit on their 95th percentile in 1 to 22% of pulls."""
    from scipy.special import ndtri

    objectives = rng.uniform(0, 1, arms)
    beyond = np.clip(0.05 * np.exp(rng.uniform(-1.5, 1.5, arms)), 0.003, 0.4)
    places = np.log(2.0) - 0.5 * ndtri(1.0 - beyond)

    def draw(arm: int, count: int) -> Floats:
        latencies = np.exp(places[arm] + 0.5 * rng.normal(size=count))
        return np.column_stack([objectives[arm] + rng.normal(size=count), latencies])

    quantiles = np.exp(places + 0.5 * ndtri(0.95))
    return Truth("p95(y) <= 2", objectives, beyond - 0.05, quantiles, draw)


FAMILIES: Mapping[str, Callable[[Any, int, int], Truth]] = {
    "broad": broad,
    "tight": tight,
    "all infeasible by 0.3 errors": infeasible_by(0.3),
    "all infeasible by 1 error": infeasible_by(1.0),
    "rare failures": rare_failures,
    "lognormal costs": lognormal_costs,
    "zero-inflated costs": zero_inflated_costs,
    "p95 limits": p95_limits,
}


@dataclass(frozen=True)
class Outcome:
    """One study: what its verdict said, and what is true."""

    family: str
    arms: int
    pulls: int
    policy: str
    verdict: str
    confidence: float
    right: bool
    passes: bool
    any_passes: bool
    covered: tuple[int, int]  # intervals of the attribute in the limit that hold its truth, of all
    objectives_covered: int


def verdict_on(
    truth: Truth,
    pulls: int,
    policy: str,
    seed: int,
    *,
    shares: bool = False,
    batch: int | None = None,
) -> Verdict:
    """Run a study to the end of its budget, and return its verdict; arms may share blocks."""
    names = [f"arm {i}" for i in range(len(truth.objectives))]
    budget = pulls * len(names)
    definition = Definition(
        name="study",
        objective="minimize mean(x)",
        constraints=(truth.constraint,),
        arms={name: {} for name in names},
        budget=budget,
        policy=policy,
        seed=seed,
        batch=max(1, budget // BATCHES) if batch is None else batch,
        metrics=METRICS,
        blocks={"seeds": True} if shares else {},
    )
    plan = Plan.of(definition)
    book = plan.new_book()
    departures: list[Departure] = []
    samples: list[list[Floats]] = [[np.zeros((0, len(METRICS)))] for _ in names]
    for last, told in rounds_of(plan, book, truth.draw):
        departures += [Departure(left, last.number, last.phase) for left in last.left]
        for arm, rows in told.items():
            samples[arm].append(rows)
    spent = sum(len(rows) for mine in samples for rows in mine)
    nothing: Integers = np.zeros(len(names), np.int64)
    view = View(
        created_at=0.0,
        head=Head(budget, finished=True),
        last=last,
        alive=last.alive,
        departures=tuple(departures),
        book=book,
        used=spent,
        samples=tuple(np.concatenate(rows) for rows in samples),
        brought=0,
        told=spent,
        failed=0,
        lost=0,
        errors={},
        failures=nothing,
    )
    return verdict_of(plan, view)


def rounds_of(
    plan: Plan, book: Book, draw: Callable[[int, int], Floats]
) -> Iterator[tuple[Round, dict[int, Floats]]]:
    """Run a study round by round, and yield each with what was told of its arms."""
    last, spent = None, 0
    while last is None or not last.is_last:
        last = next_round(plan, last, Standing(plan.definition.budget, spent, ()), book)
        told = {arm: draw(arm, count) for arm, count in enumerate(last.allocation) if count}
        for arm, rows in told.items():
            before = int(book.counts[arm])
            shares = plan.sharing.blocks_of_truth is not None
            book.add(arm, rows, np.arange(before, before + len(rows)) if shares else None)
            spent += len(rows)
        yield last, told


def outcome(
    family: str, arms: int, pulls: int, policy: str, number: int, correlation: float = 0.0
) -> Outcome:
    """Run one study of a family; policies see the same truths."""
    rng = np.random.default_rng([list(FAMILIES).index(family), arms, pulls, number])
    truth = sharing(family, rng, arms, pulls, correlation)
    verdict = verdict_on(truth, pulls, policy, number, shares=correlation > 0.0)
    named = int(verdict.answer[0].removeprefix("arm "))
    right, flag = truth.right
    held = [0, 0]
    for arm in verdict.arms:
        i = int(arm.name.removeprefix("arm "))
        first, second = arm.estimates.values()
        held[0] += bool(first.low <= truth.objectives[i] <= first.high)
        held[1] += bool(second.low <= truth.limited[i] <= second.high)
    return Outcome(
        family=family,
        arms=arms,
        pulls=pulls,
        policy=policy,
        verdict=verdict.verdict,
        confidence=verdict.confidence,
        right=named in right and verdict.feasible == flag,
        passes=bool(truth.passes[named]),
        any_passes=flag,
        covered=(held[1], arms),
        objectives_covered=held[0],
    )


def _outcomes(cell: tuple[str, int, int, str, int, float]) -> list[Outcome]:
    family, arms, pulls, policy, count, correlation = cell
    return [outcome(family, arms, pulls, policy, one, correlation) for one in range(count)]


def outcomes(
    families: Sequence[str],
    arms: Sequence[int],
    pulls: Sequence[int],
    policies: Sequence[str],
    count: int,
    *,
    correlation: float = 0.0,
    workers: int = 1,
) -> list[Outcome]:
    """Run `count` studies of every family, number of arms, pulls of an arm, and policy."""
    cells = [
        (family, k, n, policy, count, correlation)
        for family in families
        for k in arms
        for n in pulls
        for policy in policies
    ]
    found: list[Outcome] = []
    if workers == 1:
        for cell in cells:
            found += _outcomes(cell)
        return found
    with ProcessPoolExecutor(workers) as pool:
        for place, part in enumerate(pool.map(_outcomes, cells)):
            found += part
            sys.stderr.write(f"\r{place + 1} of {len(cells)} cells")
            sys.stderr.flush()
    sys.stderr.write("\n")
    return found


def share(part: int, whole: int) -> str:
    """Return a share in percent, or a dash of nothing."""
    return f"{100.0 * part / whole:.1f}%" if whole else "-"


def summary(studies: Sequence[Outcome]) -> list[str]:
    """Return a row of the table: what was said, and how often it was wrong."""
    feasible = [one for one in studies if one.verdict == "feasible"]
    none = [one for one in studies if one.verdict == "infeasible"]
    sure = [one for one in studies if one.confidence > 0.99]
    wrongly = sum(not one.passes for one in feasible)
    return [
        str(len(studies)),
        share(sum(one.right for one in studies), len(studies)),
        share(len(feasible), len(studies)),
        share(wrongly, len(feasible)),
        share(wrongly, len(studies)),
        share(len(none), len(studies)),
        share(sum(one.any_passes for one in none), len(none)),
        str(len(sure)),
        share(sum(not one.right for one in sure), len(sure)),
        share(sum(one.covered[0] for one in studies), sum(one.covered[1] for one in studies)),
        share(sum(one.objectives_covered for one in studies), sum(one.arms for one in studies)),
    ]


HEAD = (
    "", "studies", "right", "exit 0", "of these, named arm breaks its limit", "of all studies",
    "exit 3", "of these, an arm is feasible", "above 0.99", "of these, wrong",
    "intervals at the limit that hold the truth", "of the objective",
)  # fmt: skip
STEPS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


def table(studies: Sequence[Outcome]) -> str:
    """Return all as Markdown: by family, by arms, pulls and policy, and stated against right."""
    lines = [_row(HEAD), _row(["---"] * len(HEAD)), _row(["**all**", *summary(studies)])]
    for key, words in (
        ("family", ""),
        ("arms", " arms"),
        ("pulls", " pulls an arm"),
        ("policy", ""),
    ):
        for value in dict.fromkeys(getattr(one, key) for one in studies):
            mine = [one for one in studies if getattr(one, key) == value]
            lines.append(_row([f"{value}{words}", *summary(mine)]))
    lines += ["", _row(["stated confidence", "studies", "mean stated", "right"]), _row(["---"] * 4)]
    for low, high in pairwise(STEPS):
        mine = [one for one in studies if low < one.confidence <= high]
        if mine:
            stated = float(np.mean([one.confidence for one in mine]))
            right = share(sum(one.right for one in mine), len(mine))
            lines.append(_row([f"{low:g} to {high:g}", str(len(mine)), f"{stated:.1%}", right]))
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run the studies that the command line asks for, and print the table."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    ask.add_argument("--arms", nargs="+", type=int, default=[2, 8, 30])
    ask.add_argument("--pulls", nargs="+", type=int, default=[10, 30, 100, 200])
    ask.add_argument("--policies", nargs="+", default=list(POLICIES))
    ask.add_argument("--count", type=int, default=30, help="studies of each cell")
    ask.add_argument("--correlation", type=float, default=0.0, help="of arms on shared blocks")
    ask.add_argument("--workers", type=int, default=2)
    ask.add_argument("--json", help="write every study to this file")
    said = ask.parse_args()
    found = outcomes(
        said.families, said.arms, said.pulls, said.policies, said.count,
        correlation=said.correlation, workers=said.workers,
    )  # fmt: skip
    if said.json:
        with open(said.json, "w", encoding="utf-8") as file:  # noqa: PTH123 - a path from the user
            json.dump([vars(one) for one in found], file)
    print(table(found))


if __name__ == "__main__":
    main()
