"""Any sequence of asking, telling, failing, waiting and crashing, beside a slow model of the rules.

The model is a dictionary of pulls. After every step the study must say the same as the model: what
was acknowledged is there once, the budget holds, and the audit finds nothing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ringfence.core.errors import InputError, LeaseError
from ringfence.storage.memory import MemoryStorage
from ringfence.storage.sql import SqlStorage
from ringfence.study.audit import audit
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Definition, Head, PullFact, Round, State
from ringfence.study.plan import Plan
from ringfence.study.ports import Storage
from tests.choosing import LONG

ARMS = 3
DESKS = 3
LEASE_SECONDS = 10.0
GRID = (-1.0, -0.5, 0.0, 0.1, 0.5, 1.0)  # few values, so that ties and exact metrics occur
VALUES = st.tuples(st.sampled_from(GRID), st.sampled_from(GRID))
LATE = ("tell", "fail", "extend", "release")
PICK = st.integers(0, 10_000)


@dataclass(frozen=True)
class Known:
    """What the model knows of a pull that it was given."""

    arm: int
    ordinal: int
    round: int
    lease: int
    deadline: float
    state: State = State.ISSUED
    failures: int = 0
    run_out: int = 0
    values: tuple[float, ...] | None = None
    error: str | None = None
    charged: bool = True

    @property
    def has_failed(self) -> bool:
        """Whether it failed, whatever was told in place of that."""
        return self.state == State.FAILED or (self.state == State.TOLD and self.error is not None)


class StudyMachine(RuleBasedStateMachine):
    """One study with several desks on it; subclasses choose the policy and the storage."""

    events: Counter[str]
    policy: str
    batch: int
    lag: int | None
    folder: Path | None

    @initialize(
        extra=st.integers(0, 12),
        retries=st.integers(0, 1),
        max_failures=st.integers(2, 3),
        max_leases=st.integers(1, 4),
        seed=st.integers(0, 3),
        stands_in=st.integers(0, 2),
    )
    def begin(
        self,
        extra: int,
        retries: int,
        max_failures: int,
        max_leases: int,
        seed: int,
        stands_in: int,
    ) -> None:
        self.now = 1000.0
        self.budget = 24 + extra
        self.model: dict[int, Known] = {}
        self.void: set[int] = set()
        self.since = [0] * ARMS  # failures of arms before these ordinals were pardoned
        self.coming: set[tuple[int, int]] = set()  # rounds after which arms come back
        self.was_broken = False
        self.brought: list[int] = []
        self.finished = False
        self.memory = MemoryStorage()
        self.opened: list[SqlStorage] = []
        self.definition = Definition(
            name=f"study-{id(self)}",
            objective="minimize mean(loss)",
            constraints=("mean(risk) <= 0.1",),
            arms={f"arm {arm}": {} for arm in range(ARMS)},
            budget=self.budget,
            policy=self.policy,
            seed=seed,
            batch=self.batch,
            lag=self.lag,
            metrics=("loss", "risk"),
            lease_seconds=LEASE_SECONDS,
            retries=retries,
            max_failures=max_failures,
            max_leases=max_leases,
            on_failure={"loss": 1.0, "risk": 1.0} if stands_in == 1 else {},
            on_timeout={"risk": 0.5, "loss": 1.0} if stands_in else {},
        )
        storage = self.new_storage()
        if self.definition.name in storage.names():  # of an earlier example
            storage.delete(self.definition.name)
        storage.create(self.definition, Head(budget=self.budget))
        self.plan = Plan.of(self.definition)
        self.desks = [self.new_desk() for _ in range(DESKS)]

    def new_storage(self) -> Storage:
        if self.folder is None:
            return self.memory
        self.opened.append(SqlStorage(f"sqlite:///{self.folder / 'studies.db'}"))
        return self.opened[-1]

    def new_desk(self) -> Desk:
        return Desk(Plan.of(self.definition), self.new_storage(), lambda: self.now)

    def teardown(self) -> None:
        self.count_events()
        for storage in getattr(self, "opened", []):
            storage.close()

    def count_events(self) -> None:
        """Remember how far this example came, so that a test can ask whether all was tried."""
        if hasattr(self, "desks"):
            beyond = [one for one in self.model.values() if one not in self.counted()]
            self.events["finished"] += self.finished
            self.events["broken"] += self.was_broken
            self.events["told beyond"] += any(one.state == State.TOLD for one in beyond)
            self.events["issued again"] += any(one.lease > 1 for one in self.model.values())
            self.events["later rounds"] += any(one.round > 0 for one in self.model.values())
            self.events["void"] += bool(self.void)
            self.events["stood in"] += any(
                one.has_failed and one.values for one in self.model.values()
            )

    # What the model says

    def of_state(self, *states: State) -> list[int]:
        return [number for number, one in sorted(self.model.items()) if one.state in states]

    def is_phased(self) -> bool:
        return self.plan.policy.has_phases

    def broken(self) -> dict[int, int]:
        """Return the arms that failed too often in a row, with the ordinal that broke them."""
        found: dict[int, int] = {}
        for arm in range(ARMS):
            mine = {
                one.ordinal: one
                for number, one in self.model.items()
                if one.arm == arm and one.ordinal >= self.since[arm] and number not in self.void
            }
            run = 0
            for ordinal in sorted(mine):
                if not mine[ordinal].charged:
                    continue  # lost
                run = run + 1 if mine[ordinal].state == State.FAILED else 0
                if run == self.definition.max_failures and arm not in found:
                    found[arm] = ordinal
        return found

    def counted(self) -> list[Known]:
        """Return the pulls that count: not the void, nor an arm's beyond the one that broke it."""
        broken = self.broken()
        return [
            one
            for number, one in self.model.items()
            if number not in self.void and (one.arm not in broken or one.ordinal <= broken[one.arm])
        ]

    def stored(self) -> tuple[Head, list[PullFact], list[Round]]:
        with self.desks[0].storage.reading(self.definition.name) as ledger:
            return ledger.head, list(ledger.pulls_between(1, 10_000)), list(ledger.rounds())

    def chosen(self, pick: int, *states: State) -> tuple[int, Known]:
        numbers = self.of_state(*states)
        number = numbers[pick % len(numbers)]
        return number, self.model[number]

    def has_open(self) -> bool:
        return bool(self.of_state(State.ISSUED))

    def has_told(self) -> bool:
        return bool(self.of_state(State.TOLD))

    def has_failed(self) -> bool:
        return bool(self.of_state(State.FAILED))

    # What may happen

    @rule(desk=st.integers(0, DESKS - 1), count=st.integers(1, 12))
    def ask(self, desk: int, count: int) -> None:
        open_before = self.of_state(State.ISSUED)
        over = [number for number in open_before if self.model[number].deadline <= self.now]
        most = self.definition.max_leases
        while lost := [number for number in over[:count] if self.ran_out(number) == most]:
            for number in lost:
                self.lose(number)
            over = [number for number in over if number not in lost]
        alone = [number for number in over[:count] if 2 * self.ran_out(number) >= most][:1]
        given = self.desks[desk].ask(count)
        if alone:
            over, count = alone, 1
        assert len(given) <= count
        assert len({pull.number for pull in given}) == len(given)
        again = given[: len(over[:count])]
        assert [pull.number for pull in again] == over[:count], "leases that ran out come first"
        for pull in again:
            known = self.model[pull.number]
            assert pull.lease == known.lease + (known.deadline > 0.0), "one that nobody held"
            assert (pull.arm, pull.ordinal) == (known.arm, known.ordinal), "it is the same pull"
            self.model[pull.number] = replace(
                known,
                lease=pull.lease,
                deadline=pull.deadline,
                run_out=self.ran_out(pull.number),
            )
        for pull in given[len(again) :]:
            self.take(pull)
        assert all(pull.deadline == self.now + LEASE_SECONDS for pull in given)
        if given:
            assert not self.finished
        elif not self.has_open():
            self.finished = True

    def ran_out(self, number: int) -> int:
        """Return how many leases of an expired pull ran out; a failed or a returned one did not."""
        known = self.model[number]
        return known.run_out + (known.deadline > 0.0)

    def lose(self, number: int) -> None:
        known = self.model[number]
        self.events["lost"] += 1
        values = self.stand_in(timed_out=False)
        self.model[number] = replace(
            known,
            state=State.FAILED if values is None else State.TOLD,
            values=values,
            failures=known.failures + 1,
            run_out=self.definition.max_leases,
            error=f"{self.definition.max_leases} leases ran out without an answer: its workers "
            "died, or evaluations take longer than lease_seconds = 10",
        )

    def stand_in(self, *, timed_out: bool) -> tuple[float, ...] | None:
        stated = self.definition.on_failure
        if timed_out and self.definition.on_timeout:
            stated = self.definition.on_timeout
        return (stated["loss"], stated["risk"]) if stated else None

    def take(self, pull: PullFact) -> None:
        """Accept a pull that was never issued before."""
        assert pull.number not in self.model
        assert pull.number > max(self.model, default=0)
        assert pull.lease == 1
        through = self.stored()[2][pull.round].through
        assert self.lag is not None or through == self.last_before(pull.round)
        seen = [one for number, one in self.model.items() if number <= through]
        assert all(one.state != State.ISSUED for one in seen), "what was seen was not over"
        mine = [one.ordinal for one in self.model.values() if one.arm == pull.arm]
        if self.coming:
            off = [one for one in self.stored()[1] if one.state == State.CANCELLED]
            mine += [one.ordinal for one in off if one.arm == pull.arm]
        assert pull.ordinal == len(mine), "ordinals count an arm's pulls"
        assert pull.arm not in self.broken(), "a broken arm is not pulled again"
        self.model[pull.number] = Known(pull.arm, pull.ordinal, pull.round, 1, pull.deadline)

    def last_before(self, number: int) -> int:
        """Return the last pull of the rounds before one."""
        stored = self.stored()[1]
        return max((pull.number for pull in stored if pull.round < number), default=0)

    def through(self) -> int:
        """Return the last pull that a decision has seen."""
        rounds = self.stored()[2]
        return rounds[-1].through if rounds else 0

    @precondition(lambda self: self.has_open())
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK, values=VALUES)
    def tell(self, desk: int, pick: int, values: tuple[float, ...]) -> None:
        number, known = self.chosen(pick, State.ISSUED)
        assert self.desks[desk].tell([Report(number, known.lease, values)]) == ["told"]
        self.model[number] = replace(known, state=State.TOLD, values=values, error=None)

    @precondition(lambda self: self.has_open())
    @rule(desk=st.integers(0, DESKS - 1), draw=st.integers(0, 99))
    def tell_all(self, desk: int, draw: int) -> None:
        rng = np.random.default_rng(draw)
        numbers = self.of_state(State.ISSUED)
        reports = [
            Report(number, self.model[number].lease, tuple(rng.choice(GRID, 2).tolist()))
            for number in reversed(numbers)
        ]
        assert self.desks[desk].tell(reports) == ["told"] * len(reports)
        for report in reports:
            known = self.model[report.number]
            self.model[report.number] = replace(
                known, state=State.TOLD, values=report.values, error=None
            )

    @rule(
        desk=st.integers(0, DESKS - 1),
        count=st.integers(1, 12),
        times=st.integers(1, 6),
        draw=st.integers(0, 99),
    )
    def work(self, desk: int, count: int, times: int, draw: int) -> None:
        """Get on with the study: single steps alone seldom reach its later rounds."""
        for time in range(times):
            self.ask(desk, count)
            if self.has_open():
                self.tell_all(desk, draw + time)

    @precondition(lambda self: self.has_told())
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK, back=st.integers(0, 2))
    def tell_again(self, desk: int, pick: int, back: int) -> None:
        number, known = self.chosen(pick, State.TOLD)
        lease = max(1, known.lease - back)
        assert known.values is not None
        assert self.desks[desk].tell([Report(number, lease, known.values)]) == ["already-told"]

    @precondition(lambda self: self.has_told())
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK)
    def tell_other_values(self, desk: int, pick: int) -> None:
        number, known = self.chosen(pick, State.TOLD)
        with pytest.raises(InputError, match="already told other values"):
            self.desks[desk].tell([Report(number, known.lease, (7.0, 7.0))])

    @precondition(lambda self: self.has_open() and self.has_told())
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK)
    def tell_one_right_and_one_wrong(self, desk: int, pick: int) -> None:
        good, known = self.chosen(pick, State.ISSUED)
        bad, other = self.chosen(pick, State.TOLD)
        with pytest.raises(InputError, match="already told other values"):
            self.desks[desk].tell(
                [Report(good, known.lease, (0.0, 0.0)), Report(bad, other.lease, (7.0, 7.0))]
            )

    @precondition(lambda self: any(self.model[n].lease > 1 for n in self.of_state(State.ISSUED)))
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK, what=st.sampled_from(LATE))
    def come_too_late(self, desk: int, pick: int, what: str) -> None:
        numbers = [n for n in self.of_state(State.ISSUED) if self.model[n].lease > 1]
        number = numbers[pick % len(numbers)]
        stale = self.model[number].lease - 1
        at = self.desks[desk]
        say: dict[str, Callable[[], object]] = {
            "tell": lambda: at.tell([Report(number, stale, (0.0, 0.0))]),
            "fail": lambda: at.fail(number, stale, "late", charge=True, retry=True),
            "extend": lambda: at.extend(number, stale),
            "release": lambda: at.release(number, stale),
        }
        with pytest.raises(LeaseError, match=f"lease {stale} has run out"):
            say[what]()

    @precondition(lambda self: self.has_open())
    @rule(
        desk=st.integers(0, DESKS - 1),
        pick=PICK,
        charge=st.booleans(),
        retry=st.booleans(),
        timed_out=st.booleans(),
    )
    def fail(
        self, desk: int, pick: int, charge: bool, retry: bool, timed_out: bool = False
    ) -> None:
        number, known = self.chosen(pick, State.ISSUED)
        again = retry and known.failures < self.definition.retries
        became = self.desks[desk].fail(
            number, known.lease, "no", charge=charge, retry=retry, timed_out=timed_out
        )
        assert became == ("retry" if again else "failed")
        known = replace(known, failures=known.failures + 1, error="no")
        if again:
            known = replace(known, lease=known.lease + 1, deadline=0.0)
        else:
            values = self.stand_in(timed_out=timed_out) if charge else None
            state = State.FAILED if values is None else State.TOLD
            known = replace(known, state=state, charged=charge, values=values)
        self.model[number] = known

    @precondition(lambda self: self.has_open())
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK)
    def lose_a_pull(self, desk: int, pick: int) -> None:
        number, known = self.chosen(pick, State.ISSUED)
        assert self.desks[desk].lose(number, known.lease, "gone") == "lost"
        assert self.desks[desk].lose(number, known.lease, "gone") == "already-lost"
        self.model[number] = replace(
            known, state=State.FAILED, failures=known.failures + 1, error="gone", charged=False
        )

    @rule(desk=st.integers(0, DESKS - 1), arm=st.integers(0, ARMS - 1))
    def revive(self, desk: int, arm: int) -> None:
        head, _, rounds = self.stored()
        left = {one.arm: one for at in rounds for one in at.left}
        in_it = not rounds or rounds[-1].alive[arm]
        if in_it and arm not in self.broken():
            assert self.desks[desk].revive(arm) == "already-in-the-running"
        elif not in_it and not left[arm].is_withdrawal:
            with pytest.raises(InputError, match="does not come back"):
                self.desks[desk].revive(arm)
        elif (head.round, arm) in self.coming and not in_it:
            assert self.desks[desk].revive(arm) == "already-in-the-running"
        else:
            self.bring_back(desk, arm)

    def bring_back(self, desk: int, arm: int) -> None:
        off = self.cancelled([arm])
        try:
            assert self.desks[desk].revive(arm) == "revived"
        except InputError:
            self.events["no room"] += 1
            return
        self.events["revived"] += 1
        self.pardon([arm], off)

    @rule(desk=st.integers(0, DESKS - 1), picks=st.lists(PICK, max_size=8))
    def forgive(self, desk: int, picks: list[int]) -> None:
        """Forgive some pulls, most of which may not have failed."""
        self.forgive_all(desk, {1 + pick % len(self.model) for pick in picks if self.model})

    @precondition(lambda self: any(one.has_failed for one in self.model.values()))
    @rule(desk=st.integers(0, DESKS - 1), share=st.integers(1, 3))
    def end_an_outage(self, desk: int, share: int) -> None:
        """Forgive all that failed, or the latest."""
        numbers = [number for number, one in sorted(self.model.items()) if one.has_failed]
        self.forgive_all(desk, set(numbers[-max(1, len(numbers) // share) :]))

    def forgive_all(self, desk: int, numbers: set[int]) -> None:
        _, stored, _ = self.stored()
        through = self.through()
        numbers &= {pull.number for pull in stored}
        failed = {
            number: self.model[number]
            for number in numbers
            if number in self.model and self.model[number].has_failed and number not in self.void
        }
        again = {number for number in failed if number > through}
        void = {n for n, one in failed.items() if n <= through and one.charged}
        arms = sorted({failed[number].arm for number in again | void})
        off = self.cancelled(arms)
        assert self.desks[desk].forgive(sorted(numbers)) == len(again) + len(void)
        assert self.desks[desk].forgive(sorted(void)) == 0, "nothing is forgiven twice"
        if again or void:
            self.events["forgiven"] += 1
            self.pardon(arms, off)
            self.void |= void
            for number in again:
                known = self.model[number]
                self.model[number] = Known(
                    known.arm, known.ordinal, known.round, known.lease + 1, 0.0
                )

    def gone(self) -> list[int]:
        """Return the arms that broke, or that have left for whatever reason."""
        rounds = self.stored()[2]
        alive = rounds[-1].alive if rounds else [True] * ARMS
        return [arm for arm in range(ARMS) if not alive[arm] or arm in self.broken()]

    @precondition(lambda self: bool(self.gone()))
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK)
    def revive_what_left(self, desk: int, pick: int) -> None:
        gone = self.gone()
        self.revive(desk, gone[pick % len(gone)])

    def cancelled(self, arms: Sequence[int]) -> list[PullFact]:
        """Return the pulls that broken arms were not given, and no decision saw."""
        (head, stored, _), through = self.stored(), self.through()
        off = [one for one in stored if one.state == State.CANCELLED and one.number > through]
        return [one for one in off if one.arm in arms and one.arm in head.broken]

    def pardon(self, arms: Sequence[int], off: Sequence[PullFact]) -> None:
        head = self.stored()[0]
        for arm in arms:
            mine = [one for one in self.model.values() if one.arm == arm]
            failed = [one.ordinal for one in mine if one.state == State.FAILED]
            self.since[arm] = max(self.since[arm], max(failed, default=-1) + 1)
            self.coming.add((head.round, arm))
        for pull in off:
            self.model[pull.number] = Known(pull.arm, pull.ordinal, pull.round, 1, 0.0)
        self.finished = False

    @precondition(lambda self: self.has_open())
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK, charge=st.booleans())
    def fail_an_arm(self, desk: int, pick: int, charge: bool) -> None:
        """Fail several pulls of an arm, the last ones first."""
        arm = self.chosen(pick, State.ISSUED)[1].arm
        mine = [n for n in self.of_state(State.ISSUED) if self.model[n].arm == arm]
        for number in reversed(mine[: self.definition.max_failures]):
            place = self.of_state(State.ISSUED).index(number)
            self.fail(desk, place, charge, retry=False)

    @precondition(lambda self: self.has_failed() or self.has_told())
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK)
    def fail_what_is_over(self, desk: int, pick: int) -> None:
        number, known = self.chosen(pick, State.FAILED, State.TOLD)
        with pytest.raises(InputError, match="nothing more can be said"):
            self.desks[desk].fail(number, known.lease, "other", charge=True, retry=True)
        if known.has_failed:
            said, charge = known.error or "", known.charged
            again = self.desks[desk].fail(number, known.lease, said, charge=charge, retry=True)
            assert again == "already-failed"
        if known.state == State.FAILED:
            with pytest.raises(InputError, match="nothing more can be said"):
                self.desks[desk].tell([Report(number, known.lease, (0.0, 0.0))])

    @rule(desk=st.integers(0, DESKS - 1), beyond=st.integers(1, 5))
    def tell_what_was_never_issued(self, desk: int, beyond: int) -> None:
        with self.desks[desk].storage.reading(self.definition.name) as ledger:
            number = ledger.head.issued + beyond
        with pytest.raises(InputError, match="never issued"):
            self.desks[desk].tell([Report(number, 1, (0.0, 0.0))])

    @precondition(lambda self: self.has_open())
    @rule(desk=st.integers(0, DESKS - 1), pick=PICK, keep=st.booleans())
    def extend_or_release(self, desk: int, pick: int, keep: bool) -> None:
        number, known = self.chosen(pick, State.ISSUED)
        if keep:
            deadline = self.desks[desk].extend(number, known.lease)
            assert deadline == self.now + LEASE_SECONDS
        else:
            self.desks[desk].release(number, known.lease)
            known, deadline = replace(known, lease=known.lease + 1), 0.0
        self.model[number] = replace(known, deadline=deadline)

    @rule(desk=st.integers(0, DESKS - 1))
    def take_back(self, desk: int) -> None:
        held = {n: one for n, one in self.model.items() if self.is_held(one)}
        assert [pull.number for pull in self.desks[desk].held()] == sorted(held)
        assert self.desks[desk].take_back() == len(held)
        for number, known in held.items():
            self.model[number] = replace(known, lease=known.lease + 1, deadline=0.0)

    def is_held(self, known: Known) -> bool:
        return known.state == State.ISSUED and known.deadline > self.now

    @rule(seconds=st.sampled_from([1.0, LEASE_SECONDS / 2, LEASE_SECONDS, 100.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self.has_open())
    @rule(desk=st.integers(0, DESKS - 1), count=st.integers(1, 12))
    def run_out(self, desk: int, count: int) -> None:
        """Let every lease run out, once and again: somebody dies of these pulls."""
        for _ in range(2):
            self.wait(LEASE_SECONDS)
            self.ask(desk, count)

    @rule(desk=st.integers(0, DESKS - 1))
    def crash(self, desk: int) -> None:
        self.desks[desk] = self.new_desk()

    @rule(desk=st.integers(0, DESKS - 1), more=st.integers(-3, 6))
    def change_budget(self, desk: int, more: int) -> None:
        asked = self.budget + more
        with self.desks[desk].storage.reading(self.definition.name) as ledger:
            finished = ledger.head.finished
        if more < 0:
            with pytest.raises(InputError, match="A budget can only rise"):
                self.desks[desk].raise_budget(asked)
        elif more == 0:
            self.desks[desk].raise_budget(asked)  # and nothing has changed
        elif finished and self.is_phased():
            with pytest.raises(InputError, match="is finished"):
                self.desks[desk].raise_budget(asked)
        else:
            self.desks[desk].raise_budget(asked)
            self.budget, self.finished = asked, False

    @precondition(lambda self: len(self.brought) < 4)
    @rule(desk=st.integers(0, DESKS - 1), arm=st.integers(0, ARMS - 1), values=VALUES)
    def bring(self, desk: int, arm: int, values: tuple[float, ...]) -> None:
        label = f"before {len(self.brought)}"
        if self.finished:
            with pytest.raises(InputError, match="is finished"):
                self.desks[desk].bring([(arm, values)], label)
            return
        assert self.desks[desk].bring([(arm, values)], label) == 1
        assert self.desks[desk].bring([(arm, values)], label) == 0
        self.brought.append(arm)

    # What always holds

    @invariant()
    def the_budget_holds(self) -> None:
        spent = [one for n, one in self.model.items() if one.charged and n not in self.void]
        assert len(spent) <= self.budget

    @invariant()
    def what_was_acknowledged_is_there_once(self) -> None:
        with self.desks[0].storage.reading(self.definition.name) as ledger:
            stored = ledger.pulls_between(1, 10_000)
            head = ledger.head
        assert head.budget == self.budget
        assert [pull.number for pull in stored] == list(range(1, head.issued + 1))
        broken = self.broken()
        self.was_broken |= bool(broken)
        assert set(head.broken) == set(broken)
        for pull in stored:
            known = self.model.get(pull.number)
            if known is None:
                assert pull.state == State.CANCELLED, "a pull was lost that nobody was given"
                assert not pull.charged
                assert pull.arm in broken or pull.arm in {arm for _, arm in self.coming}
                continue
            if pull.arm in broken and pull.ordinal > broken[pull.arm]:
                known = replace(known, charged=pull.charged)  # it does not count either way
            found = {key: getattr(pull, key) for key in vars(known) if key != "error"}
            assert found == {key: one for key, one in vars(known).items() if key != "error"}
            assert pull.error == known.error
        assert set(self.model) <= {pull.number for pull in stored}
        assert head.unresolved == len(self.of_state(State.ISSUED))

    @invariant()
    def every_observation_counts_once(self) -> None:
        view = self.desks[1].look()
        told = [one for one in self.counted() if one.state == State.TOLD]
        wanted = np.bincount([*(one.arm for one in told), *self.brought], minlength=ARMS)
        assert view.book.counts.tolist() == wanted.tolist()
        valid = [one for number, one in self.model.items() if number not in self.void]
        over = [one for one in valid if one.state in (State.TOLD, State.FAILED)]
        assert view.used == sum(one.charged for one in over)
        assert view.lost == sum(not one.charged for one in over)
        failed = [one for one in self.counted() if one.has_failed and one.charged]
        by_arm = np.bincount([one.arm for one in failed], minlength=ARMS)
        assert view.failures.tolist() == by_arm.tolist()
        bare = [one.arm for one in failed if one.values is None]
        assert view.book.failures.tolist() == np.bincount(bare, minlength=ARMS).tolist()

    @invariant()
    def the_audit_finds_nothing(self) -> None:
        with self.desks[2].storage.reading(self.definition.name) as ledger:
            found = audit(self.plan, ledger)
        assert found.problems == ()
        valid = [one for number, one in self.model.items() if number not in self.void]
        assert found.told == sum(one.state == State.TOLD for one in valid)
        assert found.failed == sum(one.state == State.FAILED and one.charged for one in valid)
        assert found.void == len(self.void)

    @invariant()
    def what_is_finished_is_over(self) -> None:
        head, stored, rounds = self.stored()
        assert head.finished == self.finished
        if self.finished and not self.is_phased() and any(rounds[-1].alive):
            counted = sum(one.charged for one in self.counted())
            broken = self.broken()  # what is left of the rounds in which arms broke is forfeited
            forfeited = sum(one.ordinal > broken.get(one.arm, 10_000) for one in stored)
            assert counted + forfeited == self.budget, "an adaptive policy spends all that it has"


EVENTS = (
    *("finished", "broken", "told beyond", "issued again", "lost", "stood in"),
    *("revived", "forgiven", "void", "later rounds"),
)
POLICIES = [
    ("constrained-sr", 1, None),
    ("sequential-halving", 1, None),
    ("uniform", 1, None),
    ("top-two", 1, None),
    ("top-two", 4, None),
    ("top-two", 1, 5),
    ("ocba-co", 2, 9),
]


def machine_of(
    policy: str, batch: int, folder: Path | None, lag: int | None = None
) -> type[StudyMachine]:
    chosen = {"policy": policy, "batch": batch, "lag": lag, "folder": folder}
    return type("Machine", (StudyMachine,), {**chosen, "events": Counter[str]()})


def run(machine: type[StudyMachine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        ),
    )


def walk(machine: type[StudyMachine], seed: int, steps: int) -> None:
    """Take random steps, the likely ones more often: this comes further than drawn examples."""
    rng = np.random.default_rng(seed)
    one = machine()

    def below(most: int) -> int:
        return int(rng.integers(most))

    def maybe() -> bool:
        return bool(rng.random() < 0.5)

    def values() -> tuple[float, ...]:
        return tuple(rng.choice(GRID, 2).tolist())

    def is_late() -> bool:
        return any(one.model[n].lease > 1 for n in one.of_state(State.ISSUED))

    def has_failed() -> bool:
        return any(known.has_failed for known in one.model.values())

    moves: list[tuple[int, Callable[[], bool], Callable[[], None]]] = [
        (6, lambda: True, lambda: one.ask(below(DESKS), 1 + below(12))),
        (6, one.has_open, lambda: one.tell(below(DESKS), below(100), values())),
        (2, one.has_open, lambda: one.tell_all(below(DESKS), below(100))),
        (1, lambda: True, lambda: one.work(below(DESKS), 1 + below(12), 5, below(100))),
        (1, one.has_told, lambda: one.tell_again(below(DESKS), below(100), below(3))),
        (1, one.has_told, lambda: one.tell_other_values(below(DESKS), below(100))),
        (2, one.has_open, lambda: one.fail(below(DESKS), below(100), maybe(), maybe(), maybe())),
        (5, one.has_open, lambda: one.fail_an_arm(below(DESKS), below(100), maybe())),
        (1, one.has_open, lambda: one.lose_a_pull(below(DESKS), below(100))),
        (1, lambda: True, lambda: one.revive(below(DESKS), below(ARMS))),
        (2, lambda: bool(one.gone()), lambda: one.revive_what_left(below(DESKS), below(100))),
        (1, lambda: True, lambda: one.forgive(below(DESKS), [below(100) for _ in range(4)])),
        (1, has_failed, lambda: one.end_an_outage(below(DESKS), 1 + below(3))),
        (2, one.has_open, lambda: one.extend_or_release(below(DESKS), below(100), maybe())),
        (1, lambda: True, lambda: one.take_back(below(DESKS))),
        (2, lambda: True, lambda: one.wait([1.0, 5.0, LEASE_SECONDS][below(3)])),
        (2, one.has_open, lambda: one.run_out(below(DESKS), 1 + below(12))),
        (2, lambda: True, lambda: one.crash(below(DESKS))),
        (1, lambda: True, lambda: one.change_budget(below(DESKS), below(10) - 3)),
        (1, lambda: len(one.brought) < 4, lambda: one.bring(below(DESKS), below(ARMS), values())),
        (2, is_late, lambda: one.come_too_late(below(DESKS), below(100), LATE[below(4)])),
    ]
    weights = np.array([weight for weight, _, _ in moves], dtype=np.float64)
    try:
        one.begin(below(12), below(2), 2 + below(2), 2 + below(3), below(4), below(3))
        for _ in range(steps):
            _, is_ready, act = moves[int(rng.choice(len(moves), p=weights / weights.sum()))]
            if is_ready():
                act()
                for holds in INVARIANTS:
                    holds(one)
    finally:
        one.teardown()


INVARIANTS: tuple[Callable[[StudyMachine], None], ...] = (
    StudyMachine.the_budget_holds,
    StudyMachine.what_was_acknowledged_is_there_once,
    StudyMachine.every_observation_counts_once,
    StudyMachine.the_audit_finds_nothing,
    StudyMachine.what_is_finished_is_over,
)


@pytest.mark.parametrize(("policy", "batch", "lag"), POLICIES)
def test_whatever_happens_in_memory(policy: str, batch: int, lag: int | None) -> None:
    run(machine_of(policy, batch, None, lag), examples=20)


@pytest.mark.parametrize(("policy", "batch", "lag"), POLICIES)
def test_whatever_happens_on_disk(policy: str, batch: int, lag: int | None, tmp_path: Path) -> None:
    run(machine_of(policy, batch, tmp_path, lag), examples=4)


@pytest.mark.parametrize(("policy", "batch", "lag"), POLICIES)
def test_long_walks(policy: str, batch: int, lag: int | None, tmp_path: Path) -> None:
    machine = machine_of(policy, batch, None, lag)
    for seed in range(30 if LONG else 24):
        walk(machine, seed, steps=120)
    tried = EVENTS if policy != "uniform" else EVENTS[:-1]
    assert min(machine.events[key] for key in tried) >= 3, f"too little tried: {machine.events}"
    walk(machine_of(policy, batch, tmp_path, lag), seed=1000, steps=100)
