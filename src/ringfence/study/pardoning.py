"""Pardons: arms that come back, and pulls of an outage that no longer count.

A pardon is a fact, stamped with the round after which it holds: decisions before it are made again
as they were, those after it without what was pardoned. May touch policies and core, and a ledger.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringfence.core.allowance import Allowance
from ringfence.core.errors import InputError
from ringfence.study.facts import Head, Pardon, PullFact, State
from ringfence.study.halting import going_on
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger
from ringfence.study.reading import Reader

NOBODYS = 0.0  # the deadline of a pull that was given back


@dataclass(frozen=True)
class Pardoning:
    """One study in the moment of a pardon; `reader` has read all there is."""

    plan: Plan
    ledger: Ledger
    reader: Reader

    @property
    def _seen(self) -> int:
        """The number of the last pull that a decision saw."""
        return 0 if self.reader.last is None else self.reader.last.through

    def revive(self, arm: int) -> str:
        """Bring an arm back that was withdrawn, or tell that it is in the running."""
        head = self.ledger.head
        gone = {one.rejection.arm: one.rejection for one in self.reader.departures}
        name = self.plan.definition.arm_names[arm]
        if arm not in head.broken and (arm not in gone or arm in self.reader.back):
            return "already-in-the-running"
        if arm in gone and not gone[arm].is_withdrawal:
            raise InputError(
                f"arm {name!r} of study {self.plan.definition.name!r} was rejected by "
                f"{gone[arm].policy}: it lost by what was observed, and does not come back. Begin "
                "a study of another name with it, and bring these observations along."
            )
        if arm in gone and gone[arm].is_beside_baseline and self.plan.baseline in gone:
            raise InputError(
                f"arm {name!r} cannot be compared while baseline {gone[arm].baseline!r} is "
                f"withdrawn. Revive baseline {gone[arm].baseline!r}: the others come back with it."
            )
        self._grant([arm])
        self._require_room(arm, name)
        return "revived"

    def forgive(self, numbers: Sequence[int]) -> int:
        """Give back pulls that failed, or were told in place of a failure; return how many."""
        known = set(self.reader.void)
        failed = [
            pull
            for pull in self.ledger.pulls(numbers)
            if (pull.state == State.FAILED or pull.stands_in) and pull.number not in known
        ]
        again = [pull for pull in failed if pull.number > self._seen]
        void = [pull for pull in failed if pull.number <= self._seen and pull.charged]
        if again or void:
            self._grant({pull.arm for pull in (*again, *void)}, again, void)
        return len(again) + len(void)

    def _grant(
        self,
        arms: Collection[int],
        again: Sequence[PullFact] = (),
        void: Sequence[PullFact] = (),
    ) -> None:
        """Write a pardon; pulls that no decision has seen are issued again."""
        ledger, head = self.ledger, self.ledger.head
        named = {arm: self._since(arm) for arm in arms} | dict.fromkeys(self._beside(arms), 0)
        reopened = [_issued_again(pull) for pull in (*again, *self._cancelled(named))]
        ledger.set_pulls(reopened)
        ledger.add_pardon(
            Pardon(
                after=head.round,
                arms=tuple(sorted(named.items())),
                void=tuple(sorted(pull.number for pull in void)),
                reopened=len(reopened),
                sunk=_sunk([*again, *void]) if self.plan.learns_prices else (),
            )
        )
        ledger.set_head(
            going_on(
                replace(
                    head,
                    unresolved=head.unresolved + len(reopened),
                    broken=tuple(arm for arm in head.broken if arm not in named),
                    pardons=head.pardons + 1,
                )
            )
        )

    def _since(self, arm: int) -> int:
        """Return the ordinal after an arm's last failure so far: what came before is pardoned."""
        failed = [
            pull.ordinal
            for pull in self.ledger.pulls_of_arm(arm, 0, self.ledger.head.issued)
            if pull.state == State.FAILED
        ]
        return max(failed, default=-1) + 1

    def _beside(self, arms: Collection[int]) -> list[int]:
        """Return the arms that left because they could not be compared with one of these."""
        if self.plan.baseline not in arms:
            return []
        gone = (one.rejection for one in self.reader.departures)
        return [one.arm for one in gone if one.is_beside_baseline]

    def _cancelled(self, arms: Collection[int]) -> list[PullFact]:
        """Return pulls that arms were not given because they were broken, and no decision saw."""
        head = self.ledger.head
        if not set(head.broken).intersection(arms):
            return []
        pulls = self.ledger.pulls_between(self._seen + 1, head.issued)
        return [pull for pull in pulls if pull.state == State.CANCELLED and pull.arm in arms]

    def _require_room(self, arm: int, name: str) -> None:
        """Refuse to bring back an arm that nothing is left for: it would be withdrawn again."""
        head, reader = self.ledger.head, Reader(self.plan)
        standing = reader.catch_up(self.ledger, head)
        lacks = self.plan.least_pulls - int(reader.book.counts[arm])
        reserves = self.plan.allowance(head.budget, standing.reserves)
        left = standing.budget - standing.spent - self._open_cost(head, reader, reserves)
        is_pulled = reader.last is not None and reader.last.alive[arm]
        room = int(self.plan.room(reader.last)[arm])
        if lacks > room and not is_pulled:
            raise InputError(
                f"arm {name!r} needs {lacks} more observations to be judged, and the items have "
                f"{room} more pulls for it. Begin a study of another name with it."
            )
        if lacks <= reserves.most_pulls(arm, left) or is_pulled:
            return
        remedy = "Raise the budget first"
        if not self.plan.policy.takes_up_more:
            remedy = (
                f"{self.plan.policy.name} cannot take up a larger budget at its end: begin a study "
                "of another name, and bring these observations along"
            )
        raise InputError(
            f"arm {name!r} needs {lacks} more observations to be judged, and of the budget of "
            f"{self.plan.in_words(head.budget)}{self.plan.pulls_in_words} "
            f"{self._left_in_words(left)}. {remedy}."
        )

    def _left_in_words(self, left: int) -> str:
        left = max(left, 0)
        return f"{left} are left" if self.plan.pricing is None else (
            f"{self.plan.in_words(left)} is left, of what is not reserved"
        )  # fmt: skip

    def _open_cost(self, head: Head, reader: Reader, reserves: Allowance) -> int:
        """Return what the pulls reserve that were decided and may still be told."""
        last = reader.last
        if last is None:
            return 0
        made = self.ledger.harvest(last.through + 1, head.issued)
        is_open = ~made.is_told & ~made.is_failed & made.is_charged
        rest, _ = last.places(head.issued + 1 - last.first, last.size)
        open_ = np.bincount([*made.arms[is_open], *rest], minlength=self.plan.arm_count)
        return reserves.cost(open_.tolist())


def _sunk(pulls: Sequence[PullFact]) -> tuple[tuple[int, int], ...]:
    """Return by arm what was told as the cost of pulls; the price of the others is given back."""
    found = dict[int, int]()
    for pull in pulls:
        if pull.cost is not None and pull.paid:
            found[pull.arm] = found.get(pull.arm, 0) + pull.paid
    return tuple(sorted(found.items()))


def _issued_again(pull: PullFact) -> PullFact:
    """Return a pull as if it had not failed, for whoever asks next; an old lease does not hold."""
    return replace(
        pull,
        state=State.ISSUED,
        lease=pull.lease + 1,
        deadline=NOBODYS,
        holder=None,
        failures=0,
        run_out=0,
        values=None,
        cost=None,
        paid=None,
        error=None,
        charged=True,
        extras=None,
    )
