"""What a replay of logged rows says: the truth of the table, and how often each policy finds it.

And the pulls saved against uniform, with what is known of their precision. Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.intervals import binomial_interval
from ringfence.core.money import PULLS
from ringfence.core.stop import Stop
from ringfence.reports.proofs_taken import needs_of_proofs
from ringfence.simulation.doubts import Doubt
from ringfence.simulation.funding import in_words
from ringfence.simulation.logs import Log
from ringfence.simulation.results import SimulationResult

GOAL = 0.95  # the right rate of which the headline speaks
EACH = 0.834
INDEPENDENCE = (
    "rows are drawn with replacement, as if independent: trends, repeated units and selection in "
    "the log are not replayed"
)
SAME_ITEMS = (
    "arms are compared on the same items, which come in a random order, and no item is repeated: "
    "right is what the table says of these items, with one answer each"
)


class Curve(NamedTuple):
    """How often a policy is right at growing budgets: rates with the ends of their intervals.

    More pulls should be no harm, so rates are made to rise; where a policy does get worse with its
    budget the curve is flat. Limits on rare events make teeth, which are evened out with the noise.
    """

    budgets: tuple[float, ...]
    rates: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    @classmethod
    def of(cls, results: Sequence[SimulationResult], *, level: float = 0.95) -> "Curve":
        """Return the curve through a policy's results."""
        ordered = sorted(results, key=lambda result: result.budget)
        ends = [right_interval(result, level=level) for result in ordered]
        return cls(
            tuple(result.budget for result in ordered),
            rising([1.0 - result.error_rate for result in ordered]),
            rising([low for low, _ in ends]),
            rising([high for _, high in ends]),
        )

    def rate(self, budget: float) -> float:
        """Return the right rate at a budget between those that were measured."""
        return float(np.interp(math.log(budget), np.log(self.budgets), self.rates))

    def needs(self, rate: float, *, low: float | None = None, high: float | None = None) -> "Needs":
        """Return the budget for a right rate; its interval takes in that of the rate, if any."""
        return Needs(
            budget=crossing(self.budgets, self.rates, rate),
            low=crossing(self.budgets, self.highs, rate if low is None else low),
            high=crossing(self.budgets, self.lows, rate if high is None else high),
            least=self.budgets[0],
            most=self.budgets[-1],
        )


@dataclass(frozen=True)
class Needs:
    """The budget that a policy needs for a right rate, with a 95% interval.

    It is interpolated between measured budgets, from `least` to `most`: None lies beyond them, and
    `least` stands for anything up to it.
    """

    budget: float | None
    low: float | None
    high: float | None
    least: float
    most: float

    def to_dict(self) -> dict[str, Any]:
        """Return it for other programs."""
        return dict(vars(self))

    def __str__(self) -> str:
        if self.low is None:
            return f"more than {self.most:,}"
        if self.budget is None:
            return f"at least {whole(self.low)}"
        if self.budget <= self.least:
            return f"at most {self.least:,}"
        return whole(self.budget)

    @property
    def interval_in_words(self) -> str:
        """The interval, or nothing where the budget itself is only bounded."""
        if self.low is None or self.budget is None or self.budget <= self.least:
            return ""
        low = f"under {self.least:,}" if self.low <= self.least else whole(self.low)
        high = f"over {self.most:,}" if self.high is None else whole(self.high)
        return f"{low} to {high}"


def whole(amount: float) -> str:
    """Return an amount to the nearest whole one, or two digits of one that is small."""
    return f"{amount:,.0f}" if amount >= 10.0 else f"{amount:.2g}"


class Step(NamedTuple):
    """What more money would add: with `more` beyond a budget, a policy is right by so much more."""

    policy: str
    budget: float
    more: float
    raises_by: float


UNKNOWN = Needs(None, None, None, 0, 0)


def uniform_needs(curve: Curve, result: SimulationResult) -> Needs:
    """Return what uniform needs to be right as often as a result, which may never have erred.

    Both rates are uncertain: the interval is where their 83.4% intervals meet, which is where two
    independent rates of equal precision differ at 5%.
    """
    low, high = right_interval(result, level=EACH)
    found = curve.needs(1.0 - result.error_rate, low=low, high=high)
    bounded = result.errors == 0 and found.low is not None and found.low > found.least
    return replace(found, budget=None) if bounded else found


@dataclass(frozen=True)
class ReplayRow:
    """A policy at a budget, on rows drawn from the table, and what `uniform` needs for as much."""

    result: SimulationResult
    uniform: Needs = UNKNOWN

    @property
    def right_rate(self) -> float:
        """How often the answer was that of the table."""
        return 1.0 - self.result.error_rate

    @property
    def interval(self) -> tuple[float, float]:
        """The exact 95% interval of the right rate."""
        return right_interval(self.result)

    def ratio(self, pulls: float | None) -> float | None:
        """Return a number of uniform's pulls over this row's."""
        return None if pulls is None else pulls / self.result.budget

    @property
    def answers(self) -> list[tuple[str, bool, float]]:
        """The answers that were given: (arm, called feasible, share), the most frequent first."""
        shares = [
            (arm, flag == "feasible", count / self.result.replications)
            for arm, flags in self.result.chosen.items()
            for flag, count in flags.items()
            if count
        ]
        return sorted(shares, key=lambda share: -share[2])

    def to_dict(self) -> dict[str, Any]:
        """Return the row under the keys that other programs rely on."""
        low, high = self.interval
        result = self.result
        return self._beside() | {
            "policy": result.policy,
            "budget": result.budget,
            "unit": result.unit,
            "spent": result.spent,
            "pulls_used": result.pulls_used,
            "right_rate": self.right_rate,
            "ci_low": low,
            "ci_high": high,
            "replications": result.replications,
            "errors": result.errors,
            "wrong_arm": result.wrong_arm,
            "wrong_flag": result.wrong_flag,
            "chosen": result.chosen,
            "mean_pulls": result.mean_pulls,
        }

    def _beside(self) -> dict[str, Any]:
        """Return what uniform needs for as much; or where pulls end by a proof, what that takes."""
        if self.result.stop is not None:
            return self.result.stop_facts()
        return {
            "uniform_budget": self.uniform.to_dict(),
            "ratio_to_uniform": self.ratio(self.uniform.budget),
            "ratio_low": self.ratio(self.uniform.low),
            "ratio_high": self.ratio(self.uniform.high),
        }


@dataclass(frozen=True, eq=False)
class Replay:
    """Every policy on a table of logged rows, beside the truth of the table.

    `doubts` are reasons why the table cannot answer: a replay has some only where it was forced.
    `uniform` is that policy at more budgets than were asked for, from which is read what it needs
    to be right as often as a row. With a `stop` pulls end when the answer is proven, and there is
    nothing to compare with.
    """

    log: Log
    doubts: tuple[Doubt, ...]
    notes: tuple[str, ...]
    rows: tuple[ReplayRow, ...]
    uniform: tuple[SimulationResult, ...]
    replications: int
    seed: int
    scales: str
    batch: int | None
    seconds: float
    stop: Stop | None = None
    unit: str = PULLS

    @property
    def assumption(self) -> str:
        """How rows are drawn, in words."""
        return INDEPENDENCE if self.log.item is None else SAME_ITEMS

    @cached_property
    def needs(self) -> dict[str, Needs]:
        """What every policy needs to be right 95% of the time, uniform last."""
        if self.stop is not None:
            return {}
        names = dict.fromkeys(row.result.policy for row in self.rows)
        results = {
            name: [row.result for row in self.rows if row.result.policy == name]
            for name in names
            if name != "uniform"
        } | {"uniform": list(self.uniform)}
        return {name: Curve.of(found).needs(GOAL) for name, found in results.items()}

    @cached_property
    def headline(self) -> str:
        """One sentence: who is right most cheaply, and what uniform needs for as much."""
        if self.stop is not None:
            row = min(self.rows, key=lambda row: _takes(row.result))
            paid = f"you paid for {self.log.rows:,} evaluations"
            return f"{paid}; with {row.result.policy} {needs_of_proofs(row.result)}"
        reached = {name: one.budget for name, one in self.needs.items() if one.budget is not None}
        uniform = self.needs["uniform"]
        best = min(reached, key=lambda name: reached[name], default=None)
        if best is None:
            most = max(row.result.budget for row in self.rows)
            last = [row for row in self.rows if row.result.budget == most]
            row = max(last, key=lambda row: row.right_rate)
            return (
                f"no policy is right {GOAL:.0%} of the time with {most:,} {self.unit}; "
                f"{row.result.policy} comes nearest, with {row.right_rate:.0%}"
            )
        claim = f"{best} is right {GOAL:.0%} of the time with {self.needs[best]} {self.unit}"
        if best == "uniform":
            return f"{claim}, and no other policy was seen to need fewer"
        interval = uniform.interval_in_words
        return f"{claim}; uniform needs {uniform}{f' ({interval})' if interval else ''}"

    @cached_property
    def next_step(self) -> "Step | None":
        """What a tenth more money would add where the best policy is not right often enough yet."""
        names = [name for name, one in self.needs.items() if one.budget is not None]
        if self.unit == PULLS or self.stop is not None:
            return None
        best = min(names, key=lambda name: self.needs[name].budget or 0.0, default=None)
        rows = [row for row in self.rows if row.result.policy == best or best is None]
        short = [row for row in rows if row.right_rate < GOAL]
        if not short:
            return None
        row = max(short, key=lambda one: one.right_rate)
        of = [one.result for one in self.rows if one.result.policy == row.result.policy]
        if row.result.policy == "uniform":
            of = list(self.uniform)
        curve, more = Curve.of(of), one_digit(row.result.budget / 10.0)
        if row.result.budget >= curve.budgets[-1]:
            return None
        gain = curve.rate(row.result.budget + more) - curve.rate(row.result.budget)
        return Step(row.result.policy, row.result.budget, more, gain)

    @property
    def next_in_words(self) -> str | None:
        """The same in a sentence."""
        if self.next_step is None:
            return None
        policy, budget, more, gain = self.next_step
        return (
            f"with {policy} at {in_words(budget, self.unit)}, the next {in_words(more, self.unit)} "
            f"would raise the chance to be right by {gain:.2g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the replay under the keys that other programs rely on."""
        log = self.log
        return {
            "table": log.instance.name,
            "rows_used": log.rows,
            "rows_dropped": log.dropped,
            "objective": str(log.instance.problem.objective),
            "constraints": [str(one) for one in log.instance.problem.constraints],
            "baseline": log.instance.baseline,
            **({} if log.item is None else {"item": log.item, "items": log.items}),
            "assumption": self.assumption,
            "truth": {
                "arm": log.answer.name,
                "feasible": log.feasible,
                "confidence": log.confidence,
                "arms": [
                    {
                        "name": arm.name,
                        "rows": arm.rows,
                        "estimates": {name: one._asdict() for name, one in arm.readings.items()},
                        "kind": arm.kind,
                        "margin": arm.margin,
                        "chance": arm.chance,
                    }
                    for arm in log.arms
                ],
            },
            "unit": self.unit,
            **({} if self.next_step is None else {"next": self.next_step._asdict()}),
            "forced": bool(self.doubts),
            "doubts": [dict(vars(doubt)) | {"arms": list(doubt.arms)} for doubt in self.doubts],
            "notes": list(self.notes),
            "headline": self.headline,
            "goal": GOAL,
            "needs": {name: one.to_dict() for name, one in self.needs.items()},
            "rows": [row.to_dict() for row in self.rows],
            "uniform": [
                {
                    "budget": result.budget,
                    "right_rate": 1.0 - result.error_rate,
                    "ci_low": right_interval(result)[0],
                    "ci_high": right_interval(result)[1],
                }
                for result in self.uniform
            ],
            "replications": self.replications,
            "seed": self.seed,
            "scales": self.scales,
            "batch": self.batch,
            "seconds": self.seconds,
        }


def _takes(result: SimulationResult) -> tuple[float, float]:
    """Return what policies are put in order by where pulls end by a proof."""
    return -round(result.certified_rate, 2), result.pulls_used_mean


def right_interval(result: SimulationResult, *, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a right rate."""
    right = result.replications - result.errors
    return binomial_interval(right, result.replications, level=level)


def one_digit(amount: float) -> float:
    """Return an amount with one digit, whole where it is whole."""
    found = float(f"{amount:.0e}")
    return int(found) if found.is_integer() else found


def rising(values: Sequence[float]) -> tuple[float, ...]:
    """Return the nearest values, in squares, that never fall: neighbours that fall are averaged."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        mean, count = float(value), 1
        while blocks and blocks[-1][0] >= mean:
            before, more = blocks.pop()
            mean, count = (mean * count + before * more) / (count + more), count + more
        blocks.append((mean, count))
    return tuple(mean for mean, count in blocks for _ in range(count))


def crossing(budgets: Sequence[float], rates: Sequence[float], wanted: float) -> float | None:
    """Return the least budget whose rate is as wanted, None if none is; linear in log budget.

    A rate that even the smallest budget has, has it at that budget or below.
    """
    if wanted <= rates[0]:
        return float(budgets[0])
    for place in range(1, len(budgets)):
        if rates[place] >= wanted:
            share = (wanted - rates[place - 1]) / (rates[place] - rates[place - 1])
            before, after = math.log(budgets[place - 1]), math.log(budgets[place])
            return math.exp(before + share * (after - before))
    return None
