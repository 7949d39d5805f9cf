"""How wide intervals are, and how often a policy errs, where arms' noise differs or has tails.

`python benchmarks/unlike.py` prints the tables of decision 25, in half an hour on two cores.
"""

import argparse
import heapq
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import ringfence as rf
from ringfence.core.arrays import Floats
from ringfence.core.problem import Problem
from ringfence.simulation.families import find_family
from ringfence.study.book import Book
from ringfence.study.snapshot import Snapshot

PROBLEM = Problem.parse("minimize mean(x)", "mean(y) <= 0")
APART, ALIKE = np.geomspace(4.0, 5838.0, 10), np.ones(10)
Draw = Callable[[Any, int], Floats]
LAWS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1.0,
    "lognormal": lambda rng, n: (
        (np.exp(rng.normal(size=n)) - np.e**0.5) / (np.e * (np.e - 1.0)) ** 0.5
    ),
}
WAGE, WAITING, LONGEST = 22.0, 0.3, 1.5  # a server a day, a minute of anybody's, minutes allowed
RATE, SERVED, MINUTES = 0.62, 6.0, 480.0


def widths(law: str, deviations: Floats, pulls: int, studies: int) -> str:
    """Return 95% intervals' widths over those of the arm's own rows, and how many cover."""
    from scipy.stats import t

    rng = np.random.default_rng(0)
    ratios, covered = [], []
    reach = 2.0 * float(t.ppf(0.975, pulls - 1)) / pulls**0.5
    for _ in range(studies):
        book, own = Book(PROBLEM, [f"arm {i}" for i in range(len(deviations))], ["x", "y"]), []
        for arm, deviation in enumerate(deviations):
            x = deviation * LAWS[law](rng, pulls)
            book.add(arm, np.column_stack([x, rng.normal(size=pulls)]))
            own.append(reach * x.std(ddof=1))
        believed = Snapshot(book).beliefs
        ends = np.array([believed.interval(arm, 0) for arm in range(len(deviations))])
        ratios.append((ends[:, 1] - ends[:, 0]) / own)
        covered.append((ends[:, 0] <= 0.0) & (ends[:, 1] >= 0.0))
    by_arm = np.mean(ratios, axis=0)
    return f"mean {by_arm.mean():.2f}, worst arm {by_arm.max():.2f}, cover {np.mean(covered):.1%}"


def day(servers: int, rng: Any) -> tuple[float, float]:
    """Return the minutes that people waited at a counter in a day, and each of them on average."""
    came = np.sort(rng.uniform(0.0, MINUTES, rng.poisson(RATE * MINUTES)))
    noon = np.abs(came - MINUTES / 2.0) < 60.0
    came = came[noon | (rng.random(len(came)) < 0.6)]
    free, waited = [0.0] * servers, 0.0
    for start, takes in zip(came, rng.lognormal(np.log(SERVED) - 0.5, 1.0, len(came)), strict=True):
        begins = max(start, free[0])
        waited += begins - start
        heapq.heapreplace(free, begins + takes)
    return waited, waited / max(len(came), 1)


def staffing(days: int = 1500) -> rf.Instance:
    """Return one to ten servers: what a day costs, waiting included, and how long people wait."""
    rng = np.random.default_rng(1)
    rows = []
    for servers in range(1, 11):
        for _ in range(days):
            waited, wait = day(servers, rng)
            rows.append((f"{servers:02d}", WAGE * servers + WAITING * waited, wait))
    return rf.Instance.from_frame(
        pd.DataFrame(rows, columns=["servers", "cost", "wait"]),
        arm="servers", objective="minimize mean(cost)", constraints=[f"mean(wait) <= {LONGEST}"],
    )  # fmt: skip


def costs(law: str, arms: int, number: int) -> rf.Instance:
    """Return an instance of family `uniform` whose limit is on costs of equal spread."""
    plain, rng = find_family("uniform").draw(number, arm_count=arms), np.random.default_rng(number)
    frames = []
    for name, (loss, cost) in zip(plain.arms, plain.means, strict=True):
        columns = np.column_stack([LAWS["normal"](rng, 2500), LAWS[law](rng, 2500)])
        columns = (columns - columns.mean(axis=0)) / columns.std(axis=0) + [loss, cost]
        frames.append(pd.DataFrame({"arm": name, "loss": columns[:, 0], "cost": columns[:, 1]}))
    return rf.Instance.from_frame(
        pd.concat(frames), arm="arm", objective="minimize mean(loss)",
        constraints=[f"mean(cost) <= {float(plain.judged.thresholds[0])!r}"],
    )  # fmt: skip


def errors(instances: Sequence[rf.Instance], budget: int, batch: int, replications: int) -> str:
    """Return how often `top-two` errs with estimated noise."""
    each = max(replications // len(instances), 1)
    rates = [
        rf.simulate(
            one, "top-two", budget=budget, replications=each, seed=7 + place, scales="estimated",
            batch=batch,
        ).error_rate
        for place, one in enumerate(instances)
    ]  # fmt: skip
    rate = float(np.mean(rates))
    return f"{rate:.4f} +- {(rate * (1.0 - rate) / each / len(rates)) ** 0.5:.4f}"


def main() -> None:
    """Print all."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--studies", type=int, default=200)
    ask.add_argument("--replications", type=int, default=200_000)
    said = ask.parse_args()
    for law, deviations, words in (
        ("normal", APART, "apart"), ("normal", ALIKE, "alike"),
        ("exponential", ALIKE[:8], "alike"), ("lognormal", ALIKE[:8], "alike"),
    ):  # fmt: skip
        for pulls in (5, 10, 30):
            print(f"{law}, {words}, {pulls}:", widths(law, deviations, pulls, said.studies))
    levels = staffing()
    for budget in (100, 200, 300):
        print(f"staffing, {budget}:", errors([levels], budget, 1, said.replications))
    uniform = find_family("uniform")
    for arms, budget in ((3, 400), (8, 1300), (20, 3500)):
        some = [uniform.draw(number, arm_count=arms) for number in range(40)]
        print(f"uniform, {arms} arms:", errors(some, budget, budget // 100, said.replications))
    for law in ("exponential", "lognormal"):
        for arms, budget in ((3, 60), (8, 200), (3, 400), (8, 1300)):
            some = [costs(law, arms, number) for number in range(12)]
            batch = max(budget // 100, 1) if budget > 200 else 1
            found = errors(some, budget, batch, said.replications)
            print(f"{law}, {arms} arms, {budget}:", found)


if __name__ == "__main__":
    main()
