"""What a decision waits for: who holds which leases, since when. And what failed pulls say.

It looks at pulls, and decides nothing. May touch a ledger.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.study.facts import PullFact, State
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger

MOST_LOOKED_AT = 1_000
LATEST = 20_000  # pulls, among which what failed ones say is looked for
_MOST_KINDS = 3


@dataclass(frozen=True)
class Held:
    """Leases of one holder: how many, since when the oldest lasts, and when the first runs out.

    Without a `holder` nobody said who it is; with no `until` nobody holds them: whoever asks next
    is given them.
    """

    holder: str | None
    pulls: int
    since: float | None
    until: float | None


@dataclass(frozen=True)
class Said:
    """What failed pulls of an arm said: one message, how often, and the latest pull of it.

    Of `tried_again` ones it is not known yet what becomes of them.
    """

    arm: int
    error: str
    count: int
    latest: int
    tried_again: int


def held_by(plan: Plan, ledger: Ledger, now: float) -> list[Held]:
    """Return who holds the oldest open pulls, a thousand at most: the longest first."""
    groups: dict[tuple[bool, str | None], list[PullFact]] = {}
    for pull in ledger.expired(math.inf, MOST_LOOKED_AT):
        is_held = pull.deadline > now
        groups.setdefault((is_held, pull.holder if is_held else None), []).append(pull)
    lease_seconds = plan.definition.lease_seconds
    found = []
    for (is_held, holder), pulls in groups.items():
        first = min(pull.deadline for pull in pulls)
        since, until = (first - lease_seconds, first) if is_held else (None, None)
        found.append(Held(holder, len(pulls), since, until))
    return sorted(found, key=lambda one: math.inf if one.since is None else one.since)


def said_by(pulls: Sequence[PullFact]) -> list[Said]:
    """Return what failed pulls said: three messages an arm at most, the most frequent first.

    A message is told by its first line.
    """
    groups: dict[int, dict[str, list[PullFact]]] = {}
    for pull in pulls:
        if pull.error is not None:
            lines = pull.error.strip().splitlines() or [""]
            groups.setdefault(pull.arm, {}).setdefault(lines[0], []).append(pull)
    found = []
    for arm in sorted(groups, key=lambda one: (-sum(map(len, groups[one].values())), one)):
        kinds = sorted(groups[arm].items(), key=lambda one: (-len(one[1]), one[0]))
        found += [
            Said(
                arm, error, len(mine), max(pull.number for pull in mine),
                sum(pull.state == State.ISSUED for pull in mine),
            )
            for error, mine in kinds[:_MOST_KINDS]
        ]  # fmt: skip
    return found
