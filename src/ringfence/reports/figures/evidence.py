"""Figure data of the evidence: what speaks against each challenger, as time passed. Pure.

When a round is decided some arm leads: it looks best. The evidence against a challenger is the
least energy, in nats, by which the estimates of the two would have to move for the challenger to
be the answer: `pair_cost` of what is asked. It is zero for an arm that leads. One more line is the
evidence that the leader's own flag is right: its `own_cost`. Where a set is asked for nobody leads,
and the evidence of an arm is its own: that it is on its side of the limits. An answer that is wrong
by chance has a probability that falls like exp(-evidence).

Rounds keep counts, estimates and scales, not covariances: the noise is the common one of all arms,
V = 1 / (2 scale^2), without correlation. A scale of 1 means that an attribute never varied.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.cost import NEVER, cost_work
from ringfence.reports.figures.words import shortened
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

MOST_POINTS = 200
MOST_CHALLENGERS = 8
FLAG = "is the leader feasible?"


def evidence_rows(plan: Plan, verdict: Verdict, rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """Return the evidence by pulls, for the flag (series 0) and the challengers that come closest.

    At most 8 challengers, those with the least evidence at the end, the least first; at most 200
    points of time. Withdrawn arms are no challengers; where something that never varied would have
    to move, there is no row.
    """
    decided = thinned([one for one in rounds if "counts" in one.seen])
    if not decided:
        return []
    withdrawn = {
        arm for arm, one in enumerate(verdict.arms) if one.phase is not None and one.margin is None
    }
    last = _Moment(plan, decided[-1])
    finally_ = {
        arm: last.against(arm)
        for arm in range(plan.arm_count)
        if arm != last.leader and arm not in withdrawn and last.is_seen(arm)
    }
    chosen = sorted(finally_, key=lambda arm: (finally_[arm], arm))[:MOST_CHALLENGERS]
    names = plan.definition.arm_names
    rows = []
    for one in decided:
        moment = _Moment(plan, one)
        found = [] if moment.leader is None else [(0, FLAG, moment.flag(moment.leader))]
        found += [
            (series, names[arm], moment.against(arm))
            for series, arm in enumerate(chosen, start=1)
            if moment.is_seen(arm)
        ]
        rows += [
            {
                "series": series,
                "name": name,
                "pulls": one.first - 1,
                "evidence": evidence,
                "leader": None if moment.leader is None else names[moment.leader],
            }
            for series, name, evidence in found
            if evidence < NEVER
        ]
    return rows


def thinned(rounds: Sequence[Round], most: int = MOST_POINTS) -> list[Round]:
    """Return at most so many rounds, evenly, with the first and the last."""
    if len(rounds) <= most:
        return list(rounds)
    places = {round(k * (len(rounds) - 1) / (most - 1)) for k in range(most)}
    return [rounds[place] for place in sorted(places)]


def latest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the last row of every series, the least evidence first."""
    ends = {row["series"]: row for row in rows}
    return sorted(ends.values(), key=lambda row: (row["evidence"], row["series"]))


def evidence_title(rows: Sequence[dict[str, Any]]) -> str:
    """Return what the evidence shows, as a headline."""
    ends = latest(rows)
    if not ends:
        return "No round has been decided yet"
    least = ends[0]
    amount = f"{least['evidence']:.2g} nats" if least["evidence"] < 100 else "over 100 nats"
    if least["series"] == 0:
        return f"The closest call is whether {shortened(least['leader'])} is feasible: {amount}"
    if least["leader"] is None:
        return f"The closest call is whether {shortened(least['name'])} is feasible: {amount}"
    return f"{shortened(least['name'])} is the closest challenger: {amount} against it"


class _Moment:
    """What a round was decided on, ready for costs."""

    def __init__(self, plan: Plan, one: Round) -> None:
        self.estimates: Floats = np.array(one.seen["estimates"], dtype=np.float64)
        self.counts: Floats = np.array(one.seen["counts"], dtype=np.float64)
        self.scales: Floats = np.array(one.seen["scales"], dtype=np.float64)
        self.thresholds = plan.problem.judged.thresholds
        self.least_pulls = plan.least_pulls
        width = len(self.scales)
        # A scale of 1 says that an attribute never varied, unless it was stated.
        estimated = np.isnan(plan.noise.about(plan.problem.judged).scales)
        is_exact = estimated & (self.scales == 1.0)
        variances = np.where(is_exact, 0.0, 0.5 / self.scales**2)
        self.covariances = np.broadcast_to(np.diag(variances), (plan.arm_count, width, width))
        self.work = cost_work(width)
        seen = self.counts >= self.least_pulls
        self.question, self.marked = plan.problem.question, np.zeros(plan.arm_count, np.bool_)
        settles = self.question.settles
        leader, feasible = self.question.answer(
            self.estimates, seen if settles else np.array(one.alive) & seen, self.scales,
            self.thresholds, plan.priority, self.marked,
        )  # fmt: skip
        self.leader, self.feasible = None if settles else int(leader), bool(feasible)

    def is_seen(self, arm: int) -> bool:
        return bool(self.counts[arm] >= self.least_pulls)

    def flag(self, arm: int) -> float:
        """Return the evidence that an arm is feasible, or that it is not."""
        cost = self.question.own_cost(
            self.estimates, self.covariances, arm, float(self.counts[arm]), bool(self.marked[arm]),
            self.feasible, self.thresholds, self.work,
        )  # fmt: skip
        return _plain(cost)

    def against(self, arm: int) -> float:
        """Return the evidence against an arm's being the answer, or on the other side."""
        if self.leader is None:
            return self.flag(arm)
        if arm == self.leader:
            return 0.0
        cost, _ = self.question.pair_cost(
            self.estimates, self.covariances, self.leader, float(self.counts[self.leader]), arm,
            float(self.counts[arm]), self.feasible, self.scales, self.thresholds, self.work,
        )  # fmt: skip
        return _plain(cost)


def _plain(cost: float) -> float:
    return float(cost) if math.isfinite(cost) else NEVER
