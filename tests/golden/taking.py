"""All that golden courses touch of the inside; a redesign adapts this file, and no kept one.

What is returned here is plain: numbers, names, lists. Whoever changes how policies, evidence,
rounds or verdicts are represented translates the new form into these plain ones.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

import ringfence as rf
from ringfence.core import posterior
from ringfence.core.gaps import apparent_best, gap, margin, pair
from ringfence.core.oracle import static_rate
from ringfence.policies.course import Course
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import Policy
from ringfence.policies.registry import find_policy
from ringfence.simulation import reference
from ringfence.study.facts import Rejection
from tests.golden.plain import hexes

ARMS = "0123456789abcdefghij"  # an arm's place, as one letter


# --------------------------------------------------------- courses, as the reference engine runs


class Log:
    """What a policy saw and did, one replication after the other."""

    def __init__(self) -> None:
        self.courses: list[dict[str, Any]] = []
        self._begin()

    def _begin(self) -> None:
        self.counts: list[int] = []
        self.pulls: list[list[int]] = []
        self.out = self.chosen = ""

    def see(self, counts: Any) -> None:
        """Note what was pulled since the last look."""
        now = [int(count) for count in counts]
        if now != self.counts:
            before = self.counts or [0] * len(now)
            self.pulls.append([a - b for a, b in zip(now, before, strict=True)])
            self.counts = now

    def end(self, seen: Evidence, answer: tuple[int, bool]) -> None:
        """Note the answer, and what it rests on; then the next replication begins."""
        self.see(seen.counts)
        course: dict[str, Any] = {"answer": ARMS[answer[0]], "feasible": bool(answer[1])}
        course["estimates"] = [hexes(row) for row in seen.estimates]
        course["counts"], course["pulls"] = self.counts, self.pulls
        course["out"], course["chosen"] = self.out, self.chosen
        self.courses.append(course)
        self._begin()


@contextmanager
def listened(policy: Policy, log: Log) -> Iterator[Policy]:
    """Return a policy that decides as this one does, and is heard by the log."""
    whole: Any = policy
    rule = whole
    if not policy.has_phases:

        def choose(seen: Evidence, uniforms: Any, chosen: Any, work: Any) -> None:
            log.see(seen.counts)
            whole.choose(seen, uniforms, chosen, work)
            log.chosen += "".join(ARMS[arm] for arm in chosen)

        rule = replace(whole, choose=choose)
    elif whole.reject is not None:

        def reject(*seen: Any) -> int:
            log.see(seen[1])
            out: int = whole.reject(*seen)
            log.out += ARMS[out]
            return out

        rule = replace(whole, reject=reject)
    make_body = vars(reference)["make_body"]

    def heard(course: Course, *rest: Any, **options: Any) -> Any:
        def answer(seen: Evidence, state: Any, marked: Any) -> tuple[int, bool]:
            found = course.answer(seen, state, marked)
            log.end(seen, found)
            return found

        return make_body(course._replace(answer=answer), *rest, **options)

    vars(reference)["make_body"] = heard
    try:
        yield rule
    finally:
        vars(reference)["make_body"] = make_body


def courses(instance: rf.Instance, policy: str, **options: Any) -> list[dict[str, Any]]:
    """Return what the reference engine did, replication by replication."""
    log = Log()
    with listened(find_policy(policy), log) as heard:
        rf.simulate(instance, heard, engine="reference", **options)
    if instance.baseline is not None:  # it may be named, but it is spared
        spared = ARMS[instance.arms.index(instance.baseline)]
        for one in log.courses:
            one["out"] = one["out"].replace(spared, "")
    return log.courses


# ------------------------------------------------------------------------ rules on fixed evidence


def evidence(one: dict[str, Any]) -> Evidence:
    """Return what a rule sees, from plain numbers."""
    count = len(one["counts"])
    return Evidence(
        np.array(one["estimates"], np.float64), np.array(one["counts"], np.int64),
        np.zeros(count, np.int64), np.array(one["alive"], np.bool_),
        np.array(one["covariances"], np.float64), np.array(one["scales"], np.float64),
        np.array(one["thresholds"], np.float64), np.array(one["priority"], np.int64),
        np.array([one["left"]], np.int64),
    )  # fmt: skip


def gaps(one: dict[str, Any]) -> dict[str, Any]:
    """Return the arm that looks best, all margins, and all gaps to that arm."""
    seen = evidence(one)
    rows, scales, limits = seen.estimates, seen.scales, seen.thresholds
    best = apparent_best(rows, seen.alive, scales, limits, seen.priority)
    living = np.flatnonzero(seen.alive).tolist()
    return {
        "best": int(best),
        "margins": hexes(margin(rows, arm, scales, limits) for arm in living),
        "gaps": hexes(gap(*pair(rows, best, arm, scales, limits)) for arm in living),
    }


def chances(one: dict[str, Any]) -> dict[str, Any]:
    """Return every answer's own chance, the doubt about the apparent one, and the likeliest."""
    seen = evidence(one)
    given = seen.estimates, seen.counts, seen.alive, seen.covariances
    passing = np.zeros((len(seen.counts), posterior.NODES))
    reached = np.zeros((len(seen.counts), posterior.NODES + 1))
    living = np.flatnonzero(seen.alive).tolist()
    for arm in living:
        posterior.fill_passing(
            passing, reached, arm, seen.estimates, seen.counts, seen.covariances, seen.thresholds
        )
    best = gaps(one)["best"]
    doubt = posterior.most_doubt(best, *given, seen.scales, seen.thresholds)
    likeliest = posterior.weighed_answer(
        best, *given, seen.scales, seen.thresholds, seen.priority, passing.copy(), reached.copy()
    )
    return {
        "doubt": float(doubt).hex(),
        "passes": hexes(reached[living, -1]),
        "likeliest": [int(likeliest[0]), bool(likeliest[1])],
    }


def decisions(
    one: dict[str, Any], policies: Sequence[str], uniforms: Sequence[float]
) -> dict[str, Any]:
    """Return what policies do next: the arm that they drop, or the arms that they choose."""
    found: dict[str, Any] = {}
    for policy in map(find_policy, policies):
        seen = evidence(one)
        rule: Any = policy
        if not policy.has_phases:
            work = rule.make_work(*seen.estimates.shape)
            chosen = np.full(len(uniforms), -1)
            rule.choose(seen, np.array(uniforms), chosen, work)
            arm, flag = rule.answer(seen, work)
            picks = "".join(ARMS[pick] for pick in chosen)
            found[policy.name] = [picks, int(arm), bool(flag)]
        elif rule.reject is not None and seen.alive.sum() > 1:
            found[policy.name] = int(
                rule.reject(
                    seen.estimates, seen.counts, seen.alive,
                    seen.scales, seen.thresholds, seen.priority,
                )
            )  # fmt: skip
    return found


def even_rate(instance: rf.Instance) -> str:
    """Return the rate of pulling all arms alike."""
    arm_count = len(instance.arms)
    return float(static_rate(instance.truth, np.full(arm_count, 1.0 / arm_count))).hex()


# ------------------------------------------------------------------------------- live studies

FATES = {"running", "rejected", "withdrawn-failing", "withdrawn-unseen", "withdrawn-with-baseline"}


def fate(left: Rejection | None) -> str:
    """Return why an arm left, or that it has not."""
    if left is None:
        return "running"
    return f"withdrawn-{left.cause}" if left.is_withdrawal else str(left.cause)


def verdict_facts(verdict: rf.Verdict) -> dict[str, Any]:
    """Return a verdict without words: only what has an edge to it."""
    same = ["arm", "feasible", "verdict", "confidence", "chance_feasible", "chance_keeps_limits"]
    same += ["pulls_used", "budget", "finished", "brought", "apparent"]
    found = {key: getattr(verdict, key) for key in same}
    found["verdict"] = verdict.verdict.value
    found["exact"] = list(verdict.exact)
    found["arms"] = [_arm_facts(arm) for arm in verdict.arms]
    found["flips"] = [
        [one.constraint, one.threshold, one.answer, one.beyond] for one in verdict.flips
    ]
    found["doubts"] = [
        [one.kind, one.arm, one.attribute, one.pulls, one.failed] for one in verdict.doubts
    ]
    return found


def _arm_facts(arm: rf.ArmVerdict) -> dict[str, Any]:
    same = ["name", "pulls", "kind", "phase", "rival", "gap", "failed", "margin", "margin_low"]
    same += ["margin_high", "chance_feasible", "chance_best"]
    found = {key: getattr(arm, key) for key in same}
    found["fate"] = fate(arm.left)
    found["blocked_by"] = list(arm.blocked_by)
    found["estimates"] = {
        name: [one.value, one.low, one.high] for name, one in arm.estimates.items()
    }
    return found


def round_facts(study: rf.Study) -> list[list[Any]]:
    """Return every round: pulls by arm, phase, whether it is the last, and who left and why."""
    return [
        [
            list(one.allocation), one.phase, one.is_last,
            [[left.arm, fate(left), left.rival, left.gap] for left in one.left],
        ]
        for one in study.rounds()
    ]  # fmt: skip
