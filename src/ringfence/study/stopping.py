"""When a study ends before its budget: as soon as its answer is proven.

Whether it is follows from the definition and the pulls that a decision sees, so that an audit finds
the same. A proof holds whenever one looks. To look seldom costs some pulls and nothing else, so one
looks when there are a hundredth more. May touch policies and core, and a ledger.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ringfence.core.certificate import Status
from ringfence.core.errors import InputError
from ringfence.core.grounds import Basis
from ringfence.core.looks import is_due
from ringfence.core.problem import Problem
from ringfence.core.settling import ALONE, PAIRED
from ringfence.core.settling import SETTLED as SETTLED_BY_NOW
from ringfence.core.stop import CONFIDENCE, require_distance, require_level
from ringfence.study.certifying import (
    Proof,
    arms_of,
    grounds_before,
    proof_of,
)
from ringfence.study.deciding import ASKED, SETTLED, STOP
from ringfence.study.facts import Round
from ringfence.study.paths import Gap, Walked
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger

PROVEN = "proven"  # the key of a last round that says which status ended the study


def require_stop(plan: Plan) -> None:
    """Refuse a `stop` that cannot be: by which no study ever ends, or that proves nothing."""
    stop = plan.stop
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
    """What ends a study, if anything does, and which questions are open.

    By arm: the `ways` in which its own is settled soonest, and by how many more blocks if it goes
    on as so far, None where nobody can tell. `settled` arms are those that none is about.
    """

    ends: Status | None = None
    settled: tuple[int, ...] = ()
    needs: tuple[int | None, ...] = ()
    ways: tuple[int, ...] = ()
    leader: int = -1

    def facts(self) -> dict[str, object]:
        """Return what a round says of it."""
        asked = {"needs": list(self.needs), "ways": list(self.ways), "leader": self.leader}
        return {SETTLED: list(self.settled), ASKED: asked}

    @classmethod
    def from_facts(cls, seen: Mapping[str, Any]) -> "Proven":
        """Return what a round said; nothing is known of one that said less."""
        asked = seen.get(ASKED, {})
        return cls(
            settled=tuple(seen.get(SETTLED, ())),
            needs=tuple(asked.get("needs", ())),
            ways=tuple(asked.get("ways", ())),
            leader=asked.get("leader", -1),
        )


def what_is_proven(plan: Plan, ledger: Ledger, before: Round, through: int) -> Proven:
    """Return what is proven by the pulls up to number `through`, which must be resolved.

    Nothing ends the study, and the same questions are open as `before`, until one is to look again:
    when there is enough more to see, or when another proof is asked for than before.
    """
    if not plan.stop:
        return Proven()
    is_other = before.seen.get(STOP, plan.definition.stop) != plan.stop
    if not (is_other or PROVEN in before.seen or is_due(before.through, through)):
        return Proven.from_facts(before.seen)
    proof = proof_of(plan, ledger.harvest(1, through))
    found = proof.conclusion
    if found.status != Status.OPEN:
        return Proven(found.status)
    return _asked(proof)


def _asked(proof: Proof) -> Proven:
    """Return which questions are open, arm by arm."""
    found, prover = proof.conclusion, proof.prover
    arm_count = len(prover.paths)
    needs: list[int | None] = [0] * arm_count
    ways = [SETTLED_BY_NOW] * arm_count
    about = set[int]()
    for test in found.open:
        arms = arms_of(prover, test)
        about |= set(arms)
        known = needs[test.arm]
        is_held = any(_is_held_for_good(proof.walked[arm]) for arm in arms)
        more = None if is_held else test.needs
        needs[test.arm] = None if known is None or more is None else max(known, more)
        ways[test.arm] = ALONE if test.rival is None else PAIRED
    of_set = prover.problem.question.settles
    leader = found.answer[0] if found.answer and not of_set else -1
    return Proven(
        settled=tuple(arm for arm in range(arm_count) if arm not in about),
        needs=tuple(needs),
        ways=tuple(ways),
        leader=leader,
    )


def _is_held_for_good(one: Walked) -> bool:
    """Tell whether an arm's path ends for good: no pull of it will ever count."""
    return one.held is not None and one.held.gap != Gap.IN_FLIGHT
