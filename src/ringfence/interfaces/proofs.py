"""The proof of a study as it is now: its pulls are read at once, and looked at in no hurry.

May touch every room.
"""

from ringfence.study.certifying import Proof, proof_of
from ringfence.study.desk import Desk
from ringfence.study.gating import Gate, gate_of


def gate_on(desk: Desk, candidate: int, confidence: float | None = None) -> Gate:
    """Return what is proven by now of one arm and its limits."""
    with desk.storage.reading(desk.name) as ledger:
        head, brought = ledger.head, ledger.brought()
        harvest = ledger.harvest(1, head.issued)
    plan = desk.plan.under(head.stops)
    return gate_of(plan, harvest, candidate, confidence=confidence, brought=brought)


def proof_on(desk: Desk, confidence: float | None = None, *, within: float | None = None) -> Proof:
    """Return what is proven of a study by now, with what it was made from."""
    with desk.storage.reading(desk.name) as ledger:
        head, brought = ledger.head, ledger.brought()
        harvest = ledger.harvest(1, head.issued)
    plan = desk.plan.under(head.stops)
    return proof_of(plan, harvest, confidence=confidence, within=within, brought=brought)
