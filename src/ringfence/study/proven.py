"""What a verdict owes to a certificate: its answer, and how sure it is at least.

May touch policies and core.
"""

import numpy as np

from ringfence.core.arrays import Mask
from ringfence.core.certificate import Status
from ringfence.core.gaps import margin
from ringfence.core.grounds import Basis
from ringfence.study.certificates import Certificate
from ringfence.study.deciding import Answer
from ringfence.study.plan import Plan
from ringfence.study.snapshot import Snapshot
from ringfence.study.unseen import Doubt


def proven_answer(
    plan: Plan, alive: Mask, snapshot: Snapshot, certificate: Certificate
) -> Answer | None:
    """Return the answer that is proven; None where none is, or too little was seen to describe it.

    Where no arm is feasible the nearest of those `alive` is named: that it is the nearest is not
    proven.
    """
    if certificate.status == Status.OPEN:
        return None
    names, evidence = plan.definition.arm_names, snapshot.evidence(alive, plan.priority)
    arms = tuple(names.index(name) for name in certificate.answer)
    if not all(snapshot.book.is_comparable[arm] for arm in arms):
        return None
    if arms:
        best = min(arms, key=lambda arm: float(evidence.estimates[arm, 0]))
        return Answer(arms, best, feasible=True)
    if plan.problem.question.settles:
        return Answer((), -1, feasible=False)
    nearest = min(
        np.flatnonzero(alive).tolist(),
        key=lambda arm: margin(evidence.estimates, arm, evidence.scales, evidence.thresholds),
    )
    return Answer((nearest,), nearest, feasible=False)


def doubts_beside(certificate: Certificate, doubts: tuple[Doubt, ...]) -> tuple[Doubt, ...]:
    """Return the doubts that a proof leaves: an exact one counts what was not seen."""
    return () if set(certificate.rests_on.values()) <= {Basis.EXACT} else doubts


def at_least_as_sure(
    certificate: Certificate, keeps: float, chance: float, confidence: float, *, feasible: bool
) -> tuple[float, float, float]:
    """Return the chances of a verdict, none of them less sure than what is proven.

    These are that the named arms keep their limits, that some arm does, and that the answer is
    right: of an equivalent arm, or the nearest, that is not proven.
    """
    level = certificate.confidence
    if certificate.status == Status.CERTIFIED:
        confidence = max(confidence, level)
    if not feasible:
        return keeps, min(chance, 1.0 - level), confidence
    return max(keeps, level), max(chance, level), confidence
