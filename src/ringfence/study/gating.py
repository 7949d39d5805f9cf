"""A gate: whether one arm, named before, is proven to keep all its limits or to break one.

It is a claim of its own, about that arm alone: surer than a certificate, which is about all arms.
May touch policies and core.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ringfence.core.certificate import Passage, gated
from ringfence.core.errors import InputError
from ringfence.core.grounds import Basis
from ringfence.core.stop import CONFIDENCE, require_level
from ringfence.study.certificates import Assumed, Explored, ProofStep
from ringfence.study.certifying import (
    assumed_of,
    explored_of,
    prover_of,
    question_of,
    require_provable,
    rests_on_of,
)
from ringfence.study.facts import Harvest
from ringfence.study.plan import Plan


@dataclass(frozen=True)
class Gate:
    """What is proven of a `candidate` and its limits, as a `Certificate` has it of all arms.

    >>> import ringfence as rf
    >>> study = rf.Study.create(
    ...     "release",
    ...     arms=["main", "branch"],
    ...     objective="maximize mean(solved)",
    ...     constraints="mean(unsafe) <= 0.5",
    ...     noise={"unsafe": {"bounds": [0, 1]}},
    ...     budget=80,
    ...     policy="uniform",
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> for pull in study.pulls():
    ...     _ = study.tell(pull, {"solved": pull.arm == "branch", "unsafe": pull.seed % 10 == 0})
    >>> study.gate("branch").status
    'keeps'
    """

    study: str
    candidate: str
    status: Passage
    confidence: float
    rests_on: Mapping[str, Basis | None]
    assumes: tuple[tuple[Assumed, str | None], ...]
    exploratory: tuple[Explored, ...]
    open: tuple[ProofStep, ...]
    settled: tuple[ProofStep, ...]
    pulls_used: int


def gate_of(
    plan: Plan,
    harvest: Harvest,
    candidate: int,
    *,
    confidence: float | None = None,
    brought: int = 0,
) -> Gate:
    """Return what is proven of one arm by all pulls of a study, in the order of their numbers."""
    if confidence is None:
        confidence = plan.stop.get("confidence", CONFIDENCE)
    require_level(confidence)
    if not plan.problem.constraints:
        raise InputError(
            f"study {plan.definition.name!r} has no limits, so that there is nothing that an arm "
            "could keep or break. State some, such as constraints = ['failures <= 3%']."
        )
    require_provable(plan)
    prover, paths = prover_of(plan, harvest)
    found = gated(prover, candidate, confidence)
    return Gate(
        study=plan.definition.name,
        candidate=plan.definition.arm_names[candidate],
        status=found.status,
        confidence=confidence,
        rests_on=rests_on_of(prover, first=1),
        assumes=assumed_of(plan, prover, first=1),
        exploratory=explored_of(plan, confidence, 0.0, brought),
        open=tuple(question_of(plan, prover, paths, test) for test in found.open),
        settled=tuple(question_of(plan, prover, paths, test) for test in found.settled),
        pulls_used=int(np.count_nonzero(harvest.is_told | harvest.is_failed & harvest.is_charged)),
    )
