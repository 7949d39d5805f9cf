"""Failures in a row: recorded as they come, given back when they turn out to be an outage."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from ringfence.core.errors import InputError, OutageError
from ringfence.execution.backoff import Backoff, Outage
from ringfence.execution.failures import EvaluationError
from ringfence.execution.resolving import Resolver
from ringfence.interfaces.studies import Study
from ringfence.study.facts import Cause, PullFact, Rejection, State

GOOD = {"loss": 0.5, "risk": 0.5}
BUSY = EvaluationError("HTTP 429:\ntoo many requests")


@dataclass
class Scene:
    """A study at work in one process, whose time is what the test says it is."""

    study: Study
    workers: int = 1
    backoff: Backoff = field(default_factory=Backoff)
    now: float = 0.0
    said: list[Outage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.crew = self.another()

    def another(self) -> Resolver:
        """Return what another process would have."""
        return Resolver(
            self.study.desk, self.workers, self.backoff, say=self.said.append, now=lambda: self.now
        )

    def one(self) -> PullFact:
        (pull,) = self.crew.ask(1)
        return pull

    def fail(self, times: int) -> None:
        for _ in range(times):
            self.crew.fail(self.one(), BUSY)

    def wait(self) -> float:
        seconds = self.crew.seconds_to_try
        self.now += seconds
        return seconds

    def counts(self) -> tuple[int, int, int]:
        """Return how many pulls were told, failed and charged, and are held."""
        stands = self.study.status()
        return stands.told, stands.failed, len(self.study.desk.held())


def make(workers: int = 1, backoff: Backoff | None = None, **changes: Any) -> Scene:
    plain: dict[str, Any] = {
        "arms": ["one", "two", "three"],
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 60,
        "policy": "uniform",
        "storage": "memory://",
        "seed": 1,
    }
    study = Study.create("s", **plain | changes)
    return Scene(study, workers, Backoff() if backoff is None else backoff)


def pulls_of(study: Study) -> Sequence[PullFact]:
    with study.desk.storage.reading(study.name) as ledger:
        return ledger.pulls_between(1, ledger.head.issued)


def test_six_failures_over_two_arms_are_given_back() -> None:
    scene = make()
    scene.fail(5)
    assert scene.counts() == (0, 5, 0)
    assert scene.said == []
    scene.fail(1)
    assert scene.counts() == (0, 0, 0)
    assert scene.study.view().head.broken == ()
    (outage,) = scene.said
    assert str(outage) == (
        "waiting: 6 evaluations in a row failed, over 3 arms; the last error: HTTP 429: ... too "
        "many requests. Next try in 1 s. Ctrl-C stops; nothing of it is charged."
    )
    assert scene.crew.given_back() == 6
    assert scene.crew.given_back() == 0


def test_more_workers_fail_more_often_at_once() -> None:
    scene = make(workers=8, arms=list("abcde"))
    flying = scene.crew.ask(8)
    for pull in flying:
        scene.crew.fail(pull, BUSY)
    assert scene.counts() == (0, 8, 0)
    scene.fail(2)
    assert scene.counts() == (0, 0, 0)


def test_a_success_settles_what_failed_before_it_began() -> None:
    scene = make(max_failures=20)
    scene.fail(5)
    scene.crew.tell(scene.one(), GOOD)
    scene.fail(5)
    assert scene.counts() == (1, 10, 0)
    scene.fail(1)
    assert scene.counts() == (1, 5, 0), "the first five are settled"
    assert scene.study.doctor().is_sound


def test_calls_back_off_and_end_with_how_to_go_on() -> None:
    scene = make(backoff=Backoff(outage_minutes=1.0, backoff_seconds=10.0))
    scene.fail(6)
    waits = []
    while True:
        assert scene.crew.ask(5) == [], "too early"
        waits.append(scene.wait())
        try:
            pull = scene.one()
        except OutageError as error:
            said = str(error)
            break
        assert scene.crew.ask(5) == [], "one at a time"
        assert scene.crew.fail(pull, BUSY) == "given-back"
        if scene.now >= 60.0:
            with pytest.raises(OutageError) as seen:
                scene.crew.ask(1)
            said = str(seen.value)
            break
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0, 10.0, 5.0]
    assert scene.counts() == (0, 0, 0)
    assert "15 evaluations in a row failed, over 3 arms" in said
    assert "no evaluation succeeded within 1 minutes" in said
    assert "not charged" in said
    assert "run the same study again" in said


def test_an_outage_need_not_be_waited_for() -> None:
    scene = make(backoff=Backoff(outage_minutes=0.0))
    scene.fail(6)
    with pytest.raises(OutageError, match="6 evaluations in a row failed, over 3 arms"):
        scene.crew.ask(1)
    assert scene.counts() == (0, 0, 0)


def test_it_is_over_when_a_try_succeeds() -> None:
    scene = make(workers=2)
    scene.fail(6)
    scene.wait()
    assert scene.crew.tell(scene.one(), GOOD) == "told"
    assert [one.is_over for one in scene.said] == [False, True]
    assert str(scene.said[1]) == "evaluations succeed again, after 6 that failed: going on."
    assert scene.crew.seconds_to_try == 0.0
    assert len(scene.crew.ask(5)) == 5
    scene.crew.fail(scene.crew.ask(1)[0], BUSY)
    assert scene.counts() == (1, 1, 5), "failures are recorded again"


def test_it_is_said_about_every_minute() -> None:
    scene = make()
    scene.fail(6)
    for _ in range(200):
        scene.now += 1.0
        for pull in scene.crew.ask(1):
            scene.crew.fail(pull, BUSY)
    assert len(scene.said) == 4


def test_another_pull_is_tried_each_time() -> None:
    scene = make(policy="top-two", batch=4)
    scene.fail(6)
    tried = []
    for _ in range(8):
        scene.wait()
        tried.append(scene.one())
        scene.crew.fail(tried[-1], BUSY)
    assert len({pull.number for pull in tried}) == 8, "of the warm-up there are many"
    assert len({pull.arm for pull in tried}) == 3


@pytest.mark.parametrize("policy", ["top-two", "uniform"])
def test_a_pull_whose_own_seed_fails_does_not_stop_the_study(policy: str) -> None:
    """Trying it again does not help, and there may be no other: one that was told before tells."""
    patient = Backoff(outage_minutes=1e6)
    scene = make(policy=policy, budget=14, max_failures=20, backoff=patient)
    for _ in range(8):
        scene.crew.tell(scene.one(), GOOD)
    bad = range(9, 15)
    tries: list[bool] = []
    for _ in range(100):
        scene.wait()
        asked = scene.crew.ask(1)
        if not asked:
            break
        (pull,) = asked
        if pull.number in bad:
            scene.crew.fail(pull, BUSY)
        else:
            tries.append(scene.crew.tell(pull, GOOD) == "tried")
    assert [one.is_over for one in scene.said] == [False, True]
    assert tries.count(True) == 1
    assert scene.study.status().finished
    told, failed, held = scene.counts()
    assert (told + failed, held) == (14, 0)
    assert failed == (6 if policy == "uniform" else 1), "other pulls take the place of void ones"
    assert scene.study.doctor().is_sound


def test_what_was_told_is_tried_again_and_told_once() -> None:
    scene = make()
    first = scene.one()
    scene.crew.tell(first, GOOD)
    scene.fail(6)
    tried = []
    for _ in range(4):
        scene.wait()
        tried.append(scene.one())
        scene.crew.fail(tried[-1], BUSY)
    assert [pull.number == first.number for pull in tried] == [False, True, False, True]
    assert scene.counts() == (1, 0, 0)
    scene.wait()
    scene.fail(1)
    scene.wait()
    assert scene.crew.tell(scene.one(), {"loss": 99.0, "risk": 99.0}) == "tried"
    assert scene.said[-1].is_over
    assert scene.counts() == (1, 0, 0)
    assert scene.study.observations()["loss"] == [0.5]


@pytest.mark.parametrize("policy", ["uniform", "constrained-sr", "top-two"])
def test_however_long_an_outage_lasts_the_study_is_as_before(policy: str) -> None:
    scene = make(policy=policy, budget=12, backoff=Backoff(outage_minutes=1e4))
    scene.fail(6)
    for _ in range(150):
        scene.wait()
        assert scene.crew.fail(scene.one(), BUSY) == "given-back"
    assert (scene.counts(), scene.study.status().lost) == ((0, 0, 0), 0)
    scene.wait()
    while asked := scene.crew.ask(1):
        scene.crew.tell(asked[0], GOOD)
    other = make(policy=policy, budget=12)
    while asked := other.crew.ask(1):
        other.crew.tell(asked[0], GOOD)
    assert scene.counts() == other.counts()
    assert scene.study.doctor().is_sound


def test_what_was_in_flight_is_given_back_too() -> None:
    scene = make(workers=3)
    slow = scene.crew.ask(2)
    scene.fail(6)
    assert scene.crew.fail(slow[0], BUSY) == "given-back"
    assert scene.crew.tell(slow[1], GOOD) == "told"
    assert scene.crew.ask(1) == [], "it began before: the outage goes on"
    assert scene.counts() == (1, 0, 0)


@pytest.mark.parametrize(("arms", "most"), [(2, 1), (2, 2), (1, 3)])
def test_the_last_arms_are_not_withdrawn_for_what_nothing_settles(arms: int, most: int) -> None:
    """There are fewer than six failures, and nothing to go on with."""
    names = ["one", "two", "three"][:arms]
    scene = make(arms=names, max_failures=most, budget=20, workers=8)
    scene.fail(arms * most - 1)
    assert scene.said == []
    scene.fail(1)
    assert len(scene.said) == 1
    assert scene.study.view().head.broken == ()
    assert scene.counts() == (0, 0, 0)
    scene.wait()
    scene.crew.tell(scene.one(), GOOD)
    assert scene.study.status().alive == tuple(names)


def test_an_arm_that_alone_fails_is_withdrawn() -> None:
    scene = make(policy="top-two")
    while asked := scene.crew.ask(1):
        (pull,) = asked
        if pull.arm == 1:
            scene.crew.fail(pull, BUSY)
        else:
            scene.crew.tell(pull, GOOD)
    assert scene.said == []
    assert scene.study.explain("two")[0].left == Rejection(1, Cause.FAILING, failures=3)
    assert scene.study.status().failed == 3


def test_failures_of_a_process_that_was_killed_count() -> None:
    scene = make()
    scene.crew.tell(scene.one(), GOOD)
    scene.fail(5)
    other = scene.another()
    assert not other.recall()
    (pull,) = other.ask(1)
    other.fail(pull, BUSY)
    assert scene.counts() == (1, 0, 0)
    third = scene.another()
    assert not third.recall(), "they were given back"
    assert third.seconds_to_try == 0.0


def test_an_outage_that_a_killed_process_had_just_found_is_found_again() -> None:
    """All arms left, and the study was over: nobody gave their failures back."""
    scene = make(policy="top-two")
    desk = scene.study.desk
    while asked := desk.ask(1):
        desk.fail(asked[0].number, asked[0].lease, "no", charge=True, retry=True)
    assert scene.study.status().finished
    assert scene.study.status().alive == ()
    assert scene.crew.recall()
    assert not scene.study.status().finished
    assert scene.counts() == (0, 0, 0)
    scene.wait()
    scene.crew.tell(scene.one(), GOOD)
    while asked := scene.crew.ask(1):
        scene.crew.tell(asked[0], GOOD)
    assert scene.study.status().told == 60
    assert set(scene.study.status().alive) == {"one", "two", "three"}
    assert scene.study.doctor().is_sound


def test_a_study_that_has_its_answer_is_left_as_it_is() -> None:
    scene = make(budget=12, max_failures=3)
    desk = scene.study.desk
    for pull in desk.ask(12):
        if pull.number <= 6:
            desk.tell([_report(scene, pull)])
        else:
            desk.fail(pull.number, pull.lease, "no", charge=True, retry=True)
    desk.ask(1)
    assert scene.study.status().finished
    assert not scene.crew.recall()
    assert scene.study.status().failed == 6


def _report(scene: Scene, pull: PullFact) -> Any:
    from ringfence.study.desk import Report

    return Report(pull.number, pull.lease, (0.5, 0.5))


def test_stand_ins_are_given_back_too() -> None:
    scene = make(on_failure={"loss": 9.0, "risk": 9.0})
    scene.fail(5)
    assert {pull.state for pull in pulls_of(scene.study)} == {State.TOLD}
    scene.fail(1)
    assert scene.counts() == (0, 0, 0)
    assert {pull.state for pull in pulls_of(scene.study)} == {State.ISSUED}


def test_retries_are_not_spent_in_an_outage() -> None:
    scene = make(retries=1)
    scene.fail(6)
    assert scene.said, "three pulls were tried twice"
    assert scene.counts() == (0, 0, 0)
    scene.wait()
    scene.fail(1)
    assert scene.counts() == (0, 0, 0)


@pytest.mark.parametrize("minutes", [-1, float("nan"), float("inf"), "30", None, True])
def test_minutes_that_cannot_be_waited_are_refused(minutes: Any) -> None:
    with pytest.raises(InputError, match=r"outage_minutes = .* must be a number of minutes"):
        Backoff(outage_minutes=minutes)


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), "60", None, True])
def test_seconds_that_cannot_be_waited_are_refused(seconds: Any) -> None:
    with pytest.raises(InputError, match=r"backoff_seconds = .* must be a positive number"):
        Backoff(backoff_seconds=seconds)
