"""A certificate with all that it rests on, as a document that anybody can check. Pure.

Numbers are texts, exact fractions or decimals. What an arm did on a block is one number, or two
where a pull failed: the worst for who claims that it is high, and for who claims that it is low.
"""

from collections.abc import Iterator
from typing import Any

from ringfence.core.certificate import Step
from ringfence.core.decimals import decimal
from ringfence.core.grounds import Basis
from ringfence.core.proving import Prover
from ringfence.reports.certificate import certificate_document
from ringfence.study.certifying import Proof
from ringfence.study.plan import Plan


def proof_document(plan: Plan, proof: Proof) -> dict[str, Any]:
    """Return a certificate with its observations, its limits, and the tests that prove it."""
    prover, names = proof.prover, plan.definition.arm_names
    problem = prover.problem
    return {
        "certificate": certificate_document(proof.certificate),
        "arms": list(names),
        "objective": {
            "direction": problem.objective.direction,
            "attribute": str(problem.objective.attribute),
        },
        "limits": [
            {
                "attribute": str(one.attribute),
                "relation": one.relation,
                "threshold": str(decimal(one.threshold)),
                "times_baseline": str(decimal(one.factor)),
            }
            for one in problem.constraints
        ],
        "baseline": plan.definition.baseline,
        "confidence": str(decimal(proof.certificate.confidence)),
        "within": str(decimal(proof.certificate.within)),
        "size": prover.size,
        "bounds": {
            str(attribute): [str(ground.low), str(ground.high)]
            for attribute, ground in zip(problem.attributes, prover.grounds, strict=True)
            if ground.basis == Basis.EXACT and not ground.constant
        },
        "observations": {
            name: {
                str(attribute): list(_blocks(prover, arm, c))
                for c, attribute in enumerate(problem.attributes)
                if prover.grounds[c].basis != Basis.OTHER
            }
            for arm, name in enumerate(names)
        },
        "proof": [_step(one, names) for one in proof.conclusion.settled],
    }


def _blocks(prover: Prover, arm: int, c: int) -> Iterator[str | list[str]]:
    """Yield what an arm did on its blocks."""
    low, high = (prover.observed(arm, c, side).fractions() for side in (True, False))
    for first, second in zip(low, high, strict=True):
        yield str(first) if first == second else [str(first), str(second)]


def _step(test: Step, names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "kind": test.kind,
        "arm": names[test.arm],
        "limit": test.limit,
        "rival": None if test.rival is None else names[test.rival],
        "within": str(test.within),
    }
