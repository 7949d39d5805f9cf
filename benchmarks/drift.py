"""How often an A/B/n test over days is right where the hour moves the conversion of all variants.

Rounds are decided and answered by the very functions of live studies, on visitors who come 5,000 a
day, without the storage between. `python -m benchmarks.drift --count 400` runs every table in
some hours on two cores; `--worlds`, `--batches`, `--policies` and `--swings` choose a part.
"""

import argparse
from dataclasses import dataclass

import numpy as np

import ringfence as rf
from ringfence.core.arrays import Floats, Mask
from ringfence.core.intervals import binomial_interval
from ringfence.study.book import Book
from ringfence.study.deciding import Standing, answer_of, next_round
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.snapshot import Snapshot
from ringfence.study.verdict import answers_drawn

BUDGET, A_DAY, HOURS, LIMIT = 20_000, 5_000, 24, 0.02
MILLISECONDS, SPREAD = 300.0, 0.5  # of a page: lognormal


@dataclass(frozen=True)
class World:
    """Variants: their conversion, their rate of errors, and how many times slower they are."""

    conversion: tuple[float, ...]
    errors: tuple[float, ...]
    slower: tuple[float, ...]

    @property
    def right(self) -> int:
        """The variant that converts best of those that keep their limits."""
        keeps = [e <= LIMIT and s <= 1.1 for e, s in zip(self.errors, self.slower, strict=True)]
        return max(np.flatnonzero(keeps).tolist(), key=lambda arm: self.conversion[arm])


WORLDS = {
    "first": World(
        (0.10, 0.104, 0.125, 0.140, 0.145, 0.108), (0.01, 0.01, 0.01, 0.035, 0.01, 0.01),
        (1.0, 1.0, 1.0, 1.0, 1.3, 1.0),
    ),
    "second": World(
        (0.10, 0.104, 0.108, 0.112, 0.12, 0.13), (0.01, 0.01, 0.01, 0.01, 0.01, 0.035), (1.0,) * 6
    ),
}  # fmt: skip


def plan_of(seed: int, policy: str, batch: int, *, in_hours: bool) -> Plan:
    """Return a study's plan."""
    study = rf.Study.create(
        "pages",
        arms=[f"v{number}" for number in range(6)],
        objective="maximize mean(converted)",
        constraints=[f"mean(error) <= {LIMIT}", "p95(ms) <= 1.1 * baseline(p95(ms))"],
        baseline="v0", budget=BUDGET, policy=policy, batch=batch, seed=seed, storage="memory://",
        blocks={"every": "1h"} if in_hours else None,
    )  # fmt: skip
    return study.desk.plan


def visited(
    world: World, arm: int, numbers: Floats, swing: float, rng: np.random.Generator
) -> Floats:
    """Return what visitors told of a variant [visitor, metric], by when they came."""
    day = numbers / A_DAY
    chance = world.conversion[arm] * (1.0 + swing * np.sin(2.0 * np.pi * day))
    return np.column_stack(
        [
            rng.random(len(day)) < chance,
            rng.random(len(day)) < world.errors[arm],
            MILLISECONDS * world.slower[arm] * np.exp(SPREAD * rng.normal(size=len(day))),
        ]
    ).astype(np.float64)


def add_round(
    book: Book, one: Round, world: World, swing: float, rng: np.random.Generator, *, in_hours: bool
) -> None:
    """Tell a book what became of a round's pulls."""
    arms, _ = one.places(0, one.size)
    numbers = one.first + np.arange(one.size)
    for arm in np.unique(arms).tolist():
        mine = numbers[arms == arm].astype(np.float64)
        hours = (mine * HOURS // A_DAY).astype(np.int64) if in_hours else None
        book.add(arm, visited(world, arm, mine, swing, rng), hours)


def ended(
    plan: Plan, world: World, swing: float, seed: int, *, in_hours: bool
) -> tuple[Book, Mask]:
    """Run a study to its end; return its book, and the arms in the running."""
    rng, book, before, spent = np.random.default_rng(seed), plan.new_book(), None, 0
    while before is None or not before.is_last:
        before = next_round(plan, before, Standing(BUDGET, spent, ()), book)
        add_round(book, before, world, swing, rng, in_hours=in_hours)
        spent += before.size
    return book, np.array(before.alive)


@dataclass
class Found:
    """How many studies were right, how sure they were, and how many differences were covered."""

    right: int = 0
    count: int = 0
    stated: float = 0.0
    covered: int = 0
    differences: int = 0

    def add(self, plan: Plan, world: World, book: Book, alive: Mask) -> None:
        """Judge a study that has ended."""
        snapshot = Snapshot(book)
        answer = answer_of(plan, alive, snapshot)
        answers = answers_drawn(plan, snapshot, alive, answer)
        marked = answer.marks(plan.arm_count)
        self.count += 1
        self.right += answer.named == world.right and answer.feasible
        self.stated += plan.problem.question.chance(answers, marked, answer.feasible)
        for arm in range(1, plan.arm_count):
            _, low, high = snapshot.beliefs.difference(arm, 0, 0)
            true = world.conversion[arm] - world.conversion[0]
            self.covered += low <= true <= high
            self.differences += 1

    def __str__(self) -> str:
        low, high = binomial_interval(self.right, self.count)
        return (
            f"{self.right} of {self.count} right ({low:.3f} to {high:.3f}), "
            f"stated {self.stated / self.count:.3f}, "
            f"covered {self.covered / self.differences:.3f} of differences"
        )


def main() -> None:
    """Print all."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--count", type=int, default=40)
    ask.add_argument("--worlds", nargs="*", default=list(WORLDS))
    ask.add_argument("--batches", nargs="*", type=int, default=[2000, 500])
    ask.add_argument("--policies", nargs="*", default=["top-two", "uniform"])
    ask.add_argument("--swings", nargs="*", type=float, default=[0.6, 0.0])
    ask.add_argument("--without", action="store_true", help="also without `every`")
    said = ask.parse_args()
    for name in said.worlds:
        for swing in said.swings:
            for policy in said.policies:
                for batch in said.batches if policy != "uniform" else said.batches[:1]:
                    for in_hours in (True, False) if said.without else (True,):
                        found = Found()
                        for seed in range(said.count):
                            plan = plan_of(seed, policy, batch, in_hours=in_hours)
                            found.add(
                                plan, WORLDS[name],
                                *ended(plan, WORLDS[name], swing, seed, in_hours=in_hours),
                            )  # fmt: skip
                        words = "in hours" if in_hours else "as a whole"
                        print(f"{name}, swing {swing:g}, {policy}, batches of {batch}, {words}: "
                              f"{found}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
