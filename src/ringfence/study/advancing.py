"""The next decision of a study: whether it can be made yet, and from which pulls.

Desk and audit ask the same function, so that what was decided is decided again. May touch policies
and core, and a ledger.
"""

import math

import numpy as np

from ringfence.study.deciding import last_round, next_round
from ringfence.study.facts import Head, Round
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger
from ringfence.study.reading import Reader
from ringfence.study.standing import Standing
from ringfence.study.stopping import PROVEN, Proven, what_is_proven


def resolved_through(ledger: Ledger, head: Head) -> int:
    """Return up to which number all pulls are resolved."""
    oldest = ledger.expired(math.inf, 1) if head.unresolved > 0 else ()
    return oldest[0].number - 1 if oldest else head.issued


def round_after(
    plan: Plan,
    before: Round | None,
    reader: Reader,
    ledger: Ledger,
    head: Head,
    *,
    resolved: int,
    lag: int = 1,
) -> Round | None:
    """Return the round after `before`, or None while pulls that it rests on are open.

    The pulls up to number `resolved` are not. `reader`, which has read what the last decision saw,
    reads on. What cannot be undone is decided from all pulls before it: that nothing is left to be
    done, that the answer is proven, or that an arm cannot be judged. `lag` is that of a study that
    begins.
    """
    if before is None:
        return next_round(plan, None, reader.catch_up(ledger, head), reader.book, lag=lag)
    least = before.seen_next
    if resolved < least:
        return None
    standing = reader.catch_up(ledger, head, until=least)
    if least < before.end:
        proven = what_is_proven(plan, ledger, before, least)
        if not proven.ends and _all_are_seen(before, standing, reader):
            decided = next_round(
                plan, before, standing, reader.book, through=least, proven=facts_of(plan, proven)
            )
            if not decided.is_last:
                return decided
        if resolved < before.end:
            return None
        standing = reader.catch_up(ledger, head, until=before.end)
    proven = what_is_proven(plan, ledger, before, before.end)
    if proven.ends:
        ended = {PROVEN: proven.ends.value}
        return last_round(plan, before, standing, ended, through=before.end)
    return next_round(
        plan, before, standing, reader.book, through=before.end, proven=facts_of(plan, proven)
    )


def facts_of(plan: Plan, proven: Proven) -> dict[str, object]:
    """Return what a round says of proofs, where the study ends by them."""
    return proven.facts() if plan.stop else {}


def _all_are_seen(before: Round, standing: Standing, reader: Reader) -> bool:
    """Tell whether every arm in the running was seen often enough to be judged."""
    running = np.array(before.alive)
    running[list(standing.back)] = True
    return bool(reader.book.is_seen[running].all())
