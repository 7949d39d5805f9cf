"""The certificate of a study: what is proven of its answer, from its stored pulls alone.

It holds at any time and whatever chose the pulls, so that it may be asked for again and again. May
touch policies and core.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.attributes import Attribute
from ringfence.core.certificate import Conclusion, Step, concluded
from ringfence.core.constancy import RARE, add_pulls, chance_of_change, nothing_told
from ringfence.core.decimals import decimal
from ringfence.core.errors import InputError
from ringfence.core.grounds import Basis, Ground, grounds_of
from ringfence.core.proving import Prover
from ringfence.core.shares import may_be_more
from ringfence.core.stop import CONFIDENCE, require_distance, require_level
from ringfence.study.certificates import Assumed, Certificate, Explored, ProofStep
from ringfence.study.facts import Harvest
from ringfence.study.keeping import by_arm
from ringfence.study.paths import Walked, walked
from ringfence.study.plan import Plan

_LARGEST_LOG = 700.0  # e-values beyond are told as that
_ORDER = tuple(Basis)


@dataclass(frozen=True, eq=False)
class Proof:
    """A certificate with all that it was made from: what an export of it shows."""

    certificate: Certificate
    conclusion: Conclusion
    prover: Prover
    walked: Sequence[Walked]


def proof_of(
    plan: Plan,
    harvest: Harvest,
    *,
    confidence: float | None = None,
    within: float | None = None,
    brought: int = 0,
) -> Proof:
    """Return what is proven by all pulls of a study, in the order of their numbers.

    At the confidence by which the study ends, and `within` its distance, unless others are given.
    `brought` observations came along with it.
    """
    level, distance = asked_of(plan.stop)
    confidence = level if confidence is None else confidence
    within = distance if within is None else within
    require_level(confidence)
    of_set = plan.problem.question.settles
    require_distance(within, of_set=of_set)
    require_provable(plan)
    prover, paths = prover_of(plan, harvest)
    conclusion = concluded(prover, confidence, of_set=of_set, within=decimal(within))
    names = plan.definition.arm_names
    answer = tuple(names[arm] for arm in conclusion.answer)
    certificate = Certificate(
        study=plan.definition.name,
        status=conclusion.status,
        confidence=confidence,
        within=within,
        arm=answer[0] if answer and not of_set else None,
        answer=answer,
        rests_on=rests_on_of(prover),
        assumes=assumed_of(plan, prover),
        exploratory=explored_of(plan, confidence, within, brought),
        open=tuple(question_of(plan, prover, paths, test) for test in conclusion.open),
        settled=tuple(question_of(plan, prover, paths, test) for test in conclusion.settled),
        pulls_used=int(np.count_nonzero(harvest.is_told | harvest.is_failed & harvest.is_charged)),
        blocks=prover.size,
    )
    return Proof(certificate, conclusion, prover, paths)


def grounds_before(plan: Plan) -> tuple[Ground, ...]:
    """Return what is known of a problem's attributes before anything was told."""
    return _grounds(plan, np.full((1, len(plan.problem.judged.metrics)), 0.5))


def _grounds(plan: Plan, told: Floats) -> tuple[Ground, ...]:
    problem = plan.problem.judged
    return grounds_of(
        problem,
        told,
        bounds=plan.noise.bounds,
        shares=~may_be_more(problem, plan.noise.bounds),
        gaussian=[metric for metric in problem.metrics if _is_normal(plan, metric)],
        constant=plan.noise.exact,
    )


def prover_of(plan: Plan, harvest: Harvest) -> tuple[Prover, list[Walked]]:
    """Return what tests claims about arms by all pulls of a study, and the arms' paths."""
    problem = plan.problem.judged
    paths = walked(plan, harvest)
    columns = [plan.metrics.index(metric) for metric in problem.metrics]
    grounds = _grounds(plan, harvest.values[harvest.is_told][:, columns])
    changed = _changed(plan, harvest, columns)
    grounds = tuple(
        replace(ground, changes=attribute.metric in changed)
        for attribute, ground in zip(problem.attributes, grounds, strict=True)
    )
    prover = Prover(
        problem,
        [one.path for one in paths],
        grounds,
        baseline=plan.baseline,
        size=plan.sharing.blocks_of_truth or None,
    )
    return prover, paths


def require_provable(plan: Plan) -> None:
    """Refuse a study whose pulls share hours: there is no fixed table to prove anything of."""
    if plan.sharing.has_hours:
        raise InputError(
            f"study {plan.definition.name!r} has blocks.every, hours that pulls share: which pulls "
            "an hour has depends on who asked for them, so that nothing can be proven of it. Begin "
            "a study with items or seeds, or without blocks."
        )


def _is_normal(plan: Plan, metric: str) -> bool:
    """Tell whether the noise of a metric was stated, for all arms: it is taken to be normal.

    Averages of groups have no noise in common, and those of a finite set are no law's.
    """
    if plan.sharing.blocks_of_truth or "group" in plan.sharing.blocks:
        return False
    own = plan.noise.own
    stated_for_each = all(metric in own.get(arm, {}) for arm in plan.definition.arm_names)
    return stated_for_each or plan.noise.variance(metric) is not None


def _changed(plan: Plan, harvest: Harvest, columns: Sequence[int]) -> set[str]:
    """Return the metrics that changed from one time to another, where arms meet no blocks."""
    if plan.sharing.blocks_of_truth is not None:
        return set()
    seen = nothing_told(plan.arm_count, len(columns))
    places = np.flatnonzero(harvest.is_told)
    for arm, mine in by_arm(harvest.arms[places], plan.arm_count):
        add_pulls(seen, arm, places[mine] + 1, harvest.values[places[mine]][:, columns])
    metrics = [plan.metrics[column] for column in columns]
    return {one for c, one in enumerate(metrics) if chance_of_change(seen, c)[0] < RARE}


def rests_on_of(prover: Prover, *, first: int = 0) -> dict[str, Basis | None]:
    """Return the weakest that is rested on, by metric, of the attributes from the `first` on."""
    weakest: dict[str, Basis] = {}
    for attribute, ground in _grounded(prover, first):
        for metric in attribute.metrics:
            known = weakest.get(metric, Basis.EXACT)
            weakest[metric] = max(known, ground.basis, key=_ORDER.index)
    return {metric: None if one == Basis.OTHER else one for metric, one in weakest.items()}


def _grounded(prover: Prover, first: int) -> Iterator[tuple[Attribute, Ground]]:
    both = list(zip(prover.problem.attributes, prover.grounds, strict=True))
    return iter(both[first:])


def assumed_of(
    plan: Plan, prover: Prover, *, first: int = 0
) -> tuple[tuple[Assumed, str | None], ...]:
    """Return what else is rested on."""
    found: list[tuple[Assumed, str | None]] = []
    if plan.sharing.blocks_of_truth is None:
        found.append((Assumed.STEADY, None))
    if plan.sharing.has_items and not plan.sharing.blocks_of_truth:
        found.append((Assumed.SAMPLE, None))
    if plan.sharing.answers_once:
        found.append((Assumed.ONE_ANSWER, None))
    for attribute, ground in _grounded(prover, first):
        metric = attribute.metric
        if ground.constant:
            found.append((Assumed.CONSTANT, metric))
        elif ground.basis == Basis.EXACT and attribute.bound is None:
            is_stated = metric in plan.noise.bounds
            found.append((Assumed.BOUNDS if is_stated else Assumed.YES_OR_NO, metric))
        elif ground.basis in (Basis.GAUSSIAN, Basis.ASYMPTOTIC):
            is_normal = ground.basis == Basis.GAUSSIAN
            found.append((Assumed.NORMAL if is_normal else Assumed.MANY, metric))
    return tuple(dict.fromkeys(found))


def asked_of(stop: Mapping[str, Any]) -> tuple[float, float]:
    """Return the confidence of a `stop`, and within what; the usual ones where there is none."""
    return stop.get("confidence", CONFIDENCE), stop.get("within", 0.0)


def explored_of(plan: Plan, confidence: float, within: float, brought: int) -> tuple[Explored, ...]:
    """Return what may have been chosen after looking.

    A proof that is stricter than what was fixed before is none of that: whoever is wrong at 99% is
    wrong at 95%, too.
    """
    level, distance = fixed_before_looking(plan)
    is_looser = confidence < level or within > distance
    return (*[Explored.BROUGHT] * bool(brought), *[Explored.LEVEL] * is_looser)


def fixed_before_looking(plan: Plan) -> tuple[float, float]:
    """Return the confidence, and within what, that were chosen before any pull."""
    unseen = [one for one in plan.stops if not one.looking]
    return (unseen[-1].confidence, unseen[-1].within) if unseen else asked_of(plan.definition.stop)


def question_of(plan: Plan, prover: Prover, paths: Sequence[Walked], test: Step) -> ProofStep:
    """Return a test as it is told, by the names of arms and in pulls."""
    names, seen = plan.definition.arm_names, test.evidence
    arms = arms_of(prover, test)
    certain = math.isinf(seen.log_e)
    limit = None if test.limit is None else str(plan.problem.constraints[test.limit])
    return ProofStep(
        kind=test.kind,
        arm=names[test.arm],
        limit=limit,
        rival=None if test.rival is None else names[test.rival],
        e=None if certain else math.exp(min(seen.log_e, _LARGEST_LOG)),
        level=test.level,
        settled=test.is_settled,
        certain=certain,
        blocks=seen.count,
        needs=_pulls(plan, paths, arms, seen.count, test.needs),
        hindrance=seen.hindrance,
        held={names[arm]: one for arm in arms if (one := paths[arm].held) and not test.is_settled},
    )


def arms_of(prover: Prover, test: Step) -> list[int]:
    """Return the arms that a test is about."""
    arms = [test.arm]
    if test.rival is not None:
        arms.append(test.rival)
    elif test.limit is not None and prover.problem.constraints[test.limit].factor:
        arms += [] if prover.baseline in (None, test.arm) else [int(prover.baseline or 0)]
    return arms


def _pulls(
    plan: Plan, paths: Sequence[Walked], arms: Sequence[int], seen: int, needs: int | None
) -> int | None:
    """Return how many pulls bring all arms so many blocks beyond those that were seen."""
    if needs is None:
        return None
    sharing = plan.sharing
    each = Fraction(1)
    if sharing.block_count is not None:
        each = Fraction(sharing.most_pulls, sharing.block_count)
    lacks = [max(0, math.ceil((seen + needs) * each) - _made(paths[arm])) for arm in arms]
    return sum(lacks)


def _made(one: Walked) -> int:
    return len(one.pulls) + one.ahead
