"""When a study ends before its budget: as soon as its answer is proven.

Whether it is follows from the definition and the pulls that a decision sees, so that an audit finds
the same. A proof holds whenever one looks. To look seldom costs some pulls and nothing else, so one
looks when there are a hundredth more. May touch policies and core, and a ledger.
"""

from dataclasses import dataclass

from ringfence.core.certificate import Status
from ringfence.core.errors import InputError
from ringfence.core.grounds import Basis
from ringfence.core.looks import is_due
from ringfence.core.problem import Problem
from ringfence.core.stop import CONFIDENCE, require_distance, require_level
from ringfence.study.certifying import (
    arms_of,
    grounds_before,
    proof_of,
)
from ringfence.study.deciding import SETTLED
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger

PROVEN = "proven"  # the key of a last round that says which status ended the study


def require_stop(plan: Plan) -> None:
    """Refuse a `stop` that cannot be: by which no study ever ends, or that proves nothing."""
    stop = plan.definition.stop
    if not stop:
        return
    require_level(stop.get("confidence", CONFIDENCE), key="stop.confidence")
    of_set = plan.problem.question.settles
    require_distance(stop.get("within", 0.0), of_set=of_set, key="stop.within")
    if plan.sharing.has_hours:
        raise InputError(
            "[stop] cannot stand beside blocks.every: which pulls an hour has depends on who asked "
            "for them, so that nothing can be proven of it. Leave one of them out."
        )
    if stop.get("rests_on") == Basis.EXACT:
        _require_exact(plan, plan.problem.judged)


def _require_exact(plan: Plan, problem: Problem) -> None:
    for attribute, ground in zip(problem.attributes, grounds_before(plan), strict=True):
        if ground.basis == Basis.OTHER:
            raise InputError(
                f"stop.rests_on = 'exact': nothing can be proven of {attribute}, only of means, "
                "shares and limits on quantiles. Leave rests_on out, or ask for one of these."
            )
        if ground.basis != Basis.EXACT:
            raise InputError(
                f"stop.rests_on = 'exact': no bounds of {attribute.metric!r} are stated, without "
                f"which nothing is proven exactly of {attribute}. Write them, such as noise = {{ "
                f"{attribute.metric} = {{ bounds = [0, 1] }} }}, or leave rests_on out."
            )


@dataclass(frozen=True)
class Proven:
    """What ends a study, if anything does, and the arms that no open question is about."""

    ends: Status | None = None
    settled: tuple[int, ...] = ()


def what_is_proven(plan: Plan, ledger: Ledger, before: Round, through: int) -> Proven:
    """Return what is proven by the pulls up to number `through`, which must be resolved.

    Nothing ends the study, and as many arms are settled as `before`, until one is to look again.
    """
    if not plan.definition.stop:
        return Proven()
    if not (PROVEN in before.seen or is_due(before.through, through)):
        return Proven(settled=tuple(before.seen.get(SETTLED, ())))
    proof = proof_of(plan, ledger.harvest(1, through))
    found = proof.conclusion
    if found.status != Status.OPEN:
        return Proven(found.status)
    asked = {arm for test in found.open for arm in arms_of(proof.prover, test)}
    return Proven(settled=tuple(arm for arm in range(plan.arm_count) if arm not in asked))
