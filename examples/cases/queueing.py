"""How to staff a counter, where a simulated day of its queue is a pull.

People come for eight hours, at noon twice as often; most are served in minutes, some take long.
Whoever is waiting at closing time is still served, at overtime. An arm is a number of servers and
who is served next: the first to come, or the one with the shortest business.
"""

import heapq
from typing import Any

import numpy as np
from casebook import Table, write

ARM = "staffing"
OBJECTIVE = "minimize mean(cost)"
CONSTRAINTS = ["p90(wait95_min) <= 9", "mean(worst_min) <= 30"]
ARMS = ("2 first", "2 shortest", "3 first", "3 shortest", "4 first", "4 shortest", "5 first")
MINUTES, AN_HOUR, WAGE, OVERTIME = 480.0, 60.0, 25.0, 1.5
BUSY, SERVED, SPREAD = (
    0.55,
    4.0,
    0.9,
)  # people a minute at noon, minutes of service and their spread


def day(arm: str, seed: int) -> dict[str, float]:
    """Simulate one day."""
    number, rule = arm.split()
    servers = int(number)
    rng = np.random.default_rng(seed)
    came = np.sort(rng.uniform(0.0, MINUTES, rng.poisson(BUSY * MINUTES)))
    noon = np.abs(came - MINUTES / 2) < AN_HOUR
    came = came[noon | (rng.random(len(came)) < 0.5)]
    takes = rng.lognormal(np.log(SERVED) - SPREAD**2 / 2, SPREAD, len(came))
    free = [0.0] * servers
    waiting: list[tuple[float, int]] = []
    waits, ends, following, now = [], 0.0, 0, 0.0
    while following < len(came) or waiting:
        now = max(now, free[0])
        if not waiting:
            now = max(now, came[following])
        while following < len(came) and came[following] <= now:
            key = takes[following] if rule == "shortest" else came[following]
            heapq.heappush(waiting, (float(key), following))
            following += 1
        _, person = heapq.heappop(waiting)
        waits.append(now - came[person])
        ends = max(ends, now + takes[person])
        heapq.heapreplace(free, now + takes[person])
    overtime = max(0.0, ends - MINUTES) / 60.0
    return {
        "cost": servers * WAGE * (MINUTES / 60.0 + OVERTIME * overtime),
        "wait95_min": float(np.quantile(waits, 0.95)),
        "worst_min": float(max(waits)),
    }


def table(days: int = 1000) -> Table:
    """Log days of every staffing."""
    log: dict[str, list[Any]] = {"staffing": [], "cost": [], "wait95_min": [], "worst_min": []}
    for place, arm in enumerate(ARMS):
        for number in range(days):
            log["staffing"].append(arm)
            for metric, value in day(arm, place * 1_000_000 + number).items():
                log[metric].append(value)
    return log


if __name__ == "__main__":
    write(table)
