"""Leases that would last too long: of a process that is gone, or given by a clock that was ahead.

May touch the ports.
"""

import math
from dataclasses import replace

from ringfence.study.ports import IsGone, Ledger

_SLACK = 0.1  # of a lease: by less than that a clock may be ahead


def end_what_lasts_too_long(
    ledger: Ledger, now: float, lease_seconds: float, is_gone: IsGone
) -> None:
    """End the leases of the gone now, and none later than a whole lease from now.

    Both count as leases that ran out. A holder that is alive after all, and whose lease was
    shortened, extends it in time.
    """
    latest = ledger.leases()
    gone = {
        holder
        for holder, deadline in latest.items()
        if holder is not None and is_gone(holder, now - (deadline - lease_seconds))
    }
    longest = now + lease_seconds
    is_ahead = max(latest.values(), default=-math.inf) > longest + _SLACK * lease_seconds
    if not gone and not is_ahead:
        return
    changed = []
    for pull in ledger.expired(math.inf, ledger.head.issued):
        if pull.holder in gone:
            changed.append(replace(pull, deadline=min(pull.deadline, now), holder=None))
        elif pull.deadline > longest:
            changed.append(replace(pull, deadline=longest))
    ledger.set_pulls(changed)
