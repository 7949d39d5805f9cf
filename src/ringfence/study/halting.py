"""What people say of a study as a whole: stop, go on, put away, bring back.

A stopped study issues no pulls and decides no rounds; what is in flight may still be told. An
archived one is over, and is only not listed: nothing of it is deleted. Whatever has a study go on
brings it back. May touch a ledger.
"""

from dataclasses import replace

from ringfence.core.errors import InputError
from ringfence.study.facts import Head
from ringfence.study.ports import Ledger


def stop(ledger: Ledger, now: float) -> str:
    """Have a study issue nothing more: it is `stopped`, unless it is so already, or finished."""
    head = ledger.head
    if head.finished:
        return "already-finished"
    if head.is_stopped:
        return "already-stopped"
    ledger.set_head(replace(head, stopped_at=now))
    return "stopped"


def resume(ledger: Ledger) -> str:
    """Have a stopped study go on: it is `resumed`, and listed again."""
    head = ledger.head
    if not head.is_stopped:
        return "already-finished" if head.finished else "already-running"
    ledger.set_head(going_on(replace(head, stopped_at=None)))
    return "resumed"


def archive(ledger: Ledger, now: float) -> str:
    """Put a study away that is finished or stopped: it is `archived`, and no longer listed."""
    head = ledger.head
    if head.archived_at is not None:
        return "already-archived"
    if not head.is_over:
        name = ledger.definition.name
        raise InputError(
            f"study {name!r} is not over: workers may ask for its pulls, and nobody would see it. "
            "Stop it first; that can be taken back."
        )
    ledger.set_head(replace(head, archived_at=now))
    return "archived"


def unarchive(ledger: Ledger) -> str:
    """List a study again that was put away: it is `unarchived`."""
    head = ledger.head
    if head.archived_at is None:
        return "already-listed"
    ledger.set_head(replace(head, archived_at=None))
    return "unarchived"


def going_on(head: Head) -> Head:
    """Return where a study stands that goes on: it is listed, and not finished."""
    return replace(head, finished=False, archived_at=None)
