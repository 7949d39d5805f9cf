"""How often a study is right, and how sure, where arms share random numbers: the staffing case.

One to ten servers see the same people come and need the same time, day by day: the n-th pulls of
all arms share a seed. Run it with `python -m benchmarks.common_numbers --help`.
"""

import argparse

import numpy as np

from benchmarks.calibration import Truth, verdict_on
from benchmarks.unlike import LONGEST, WAGE, WAITING, day
from ringfence.core.arrays import Floats, Integers
from ringfence.core.intervals import binomial_interval

SERVERS = range(1, 11)
DAYS = 3000  # of which every study draws its own


def days() -> Floats:
    """Return what each day costs, and how long people wait, by servers [servers, day, metric]."""
    found = np.empty((len(SERVERS), DAYS, 2))
    for number in range(DAYS):
        for servers in SERVERS:
            waited, wait = day(servers, np.random.default_rng([1, number]))
            found[servers - 1, number] = WAGE * servers + WAITING * waited, wait
    return found


def truth_of(table: Floats, order: Integers, *, shares: bool) -> Truth:
    """Return the truth of all days; arms meet them in one order, or each has days of its own."""
    had = np.zeros(len(table), np.int64)
    means = table.mean(axis=1)

    def draw(arm: int, count: int) -> Floats:
        had[arm] += count
        first = had[arm] - count + (0 if shares else arm * DAYS // len(table))
        return np.asarray(table[arm, order[first : first + count]])

    limit = f"mean(y) <= {LONGEST}"
    return Truth(limit, means[:, 0], means[:, 1] - LONGEST, means[:, 1], draw)


def summary(table: Floats, policy: str, budget: int, studies: int, *, shares: bool) -> str:
    """Return how many studies were right, and how sure they were."""
    right, stated = 0, []
    for number in range(studies):
        order = np.random.default_rng([2, number]).permutation(DAYS)
        truth = truth_of(table, order, shares=shares)
        pulls = budget // len(SERVERS)
        verdict = verdict_on(truth, pulls, policy, number, shares=shares, batch=1)
        named = int(verdict.answer[0].removeprefix("arm "))
        right += (named in truth.right[0]) and verdict.feasible == truth.right[1]
        stated.append(verdict.confidence)
    low, high = binomial_interval(right, studies)
    words = f"{right} of {studies} right ({low:.3f} to {high:.3f})"
    return f"{words}, stated {np.mean(stated):.3f}"


def main() -> None:
    """Print how often each policy is right, with days in common and with days of its own."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--budgets", nargs="+", type=int, default=[100])
    ask.add_argument("--policies", nargs="+", default=["top-two", "uniform"])
    ask.add_argument("--studies", type=int, default=200)
    said = ask.parse_args()
    table = days()
    for budget in said.budgets:
        for policy in said.policies:
            for shares in (True, False):
                words = "same days" if shares else "own days"
                found = summary(table, policy, budget, said.studies, shares=shares)
                print(f"{policy}, {budget} pulls, {words}: {found}", flush=True)


if __name__ == "__main__":
    main()
