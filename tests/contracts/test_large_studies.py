"""Large studies: what is known of them already is not read or worked out again.

In a reduced size, and by what is read: a row too many here is a million there.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import MissingStudyError
from ringfence.interfaces import kept_verdicts
from ringfence.interfaces.studies import Study
from ringfence.storage.memory import MemoryStorage
from ringfence.study import begun
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Kept
from ringfence.study.reading import View
from ringfence.study.verdict import verdict_of
from tests.contracts.places import Place
from tests.contracts.test_tallies import (
    LIMITS,
    Watched,
    definition_of,
    desk_of,
    made,
    walk,
    work,
    yields,
)

ARMS, PULLS, BATCH = 40, 20_000, 1_000


def fill(storage: Any, policy: str, told: int = PULLS, budget: int = PULLS) -> Study:
    """Make a study and tell it in bulk."""
    study = Study.create(
        "large", arms=[f"arm {arm}" for arm in range(ARMS)], objective="maximize mean(score)",
        constraints="mean(seconds) <= 1", budget=budget, policy=policy, batch=BATCH, seed=5,
        storage=storage,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    while told > 0 and (asked := study.ask(min(told, BATCH))):
        means = np.array([int(pull.arm[4:]) / ARMS for pull in asked])
        scores = (means + rng.normal(0, 1, len(asked))).tolist()
        study.tell_many(asked, {"score": scores, "seconds": (0.5 + means).tolist()})
        told -= len(asked)
    return study


def opened(storage: Any) -> Study:
    return Study.load("large", storage=storage)


@pytest.mark.parametrize("policy", ["top-two", "sequential-halving", "uniform"])
def test_status_reads_no_pulls_of_rounds_that_are_over(place: Place, policy: str) -> None:
    """Nor does a verdict, once there is one; whoever opened the study, and however often."""
    storage = Watched(place.open())
    study = fill(storage, policy)
    assert study.ask() == []
    storage.harvested.clear()
    stands, verdict = opened(storage).status(), opened(storage).recommend()
    assert (stands.told, stands.finished, verdict.finished) == (PULLS, True, True)
    assert storage.harvested == []
    assert (stands.arm, stands.feasible) == (verdict.arm, verdict.feasible)


def test_a_round_that_was_begun_is_read_once(place: Place) -> None:
    """The one round of equal pulls: by everybody, but for a verdict, which must be exact."""
    told = begun.MANY + 1_000
    storage = Watched(place.open())
    fill(storage, "uniform", told, told + 5_000)
    storage.harvested.clear()
    first = opened(storage).status()
    assert (first.told, len(storage.harvested)) == (told, told)
    assert opened(storage).status() == first
    assert len(storage.harvested) == told
    verdict = opened(storage).recommend()
    assert len(storage.harvested) == 2 * told
    assert opened(storage).recommend() == verdict
    assert len(storage.harvested) == 2 * told
    pull = opened(storage).ask()[0]
    opened(storage).tell(pull, {"score": 0.1, "seconds": 0.2})
    assert opened(storage).status().told == told + 1
    assert len(storage.harvested) == 2 * told + 1
    assert opened(storage).recommend().pulls_used == told + 1
    assert len(storage.harvested) == 3 * told + 2


def facts(view: View) -> tuple[object, ...]:
    """Return all that a view counts."""
    plain = (view.head, view.last, view.alive, view.departures, view.used, view.brought)
    counts = (view.book.counts.tolist(), view.failures.tolist(), dict(view.errors))
    return (*plain, view.told, view.failed, view.lost, *counts)


@pytest.mark.parametrize("policy", ["uniform", "sequential-halving", "top-two"])
def test_a_round_read_in_parts_is_the_round(
    place: Place, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step, with failures, broken arms, observations brought along: but for last bits."""
    definition = definition_of(policy=policy, batch=30, constraints=LIMITS[2:])
    storage = Watched(place.open())
    made(storage, definition)
    unread = 0

    def compare(desk: Desk) -> None:
        nonlocal unread
        monkeypatch.setattr(begun, "MANY", 2**60)
        wanted = desk_of(Forgetful(storage.storage), definition).look(samples=False)
        monkeypatch.setattr(begun, "MANY", 3)
        for at in (desk, watcher):
            storage.harvested.clear()
            found = at.look(samples=False)
            again = set(range(1, found.head.issued + 1)) - {*storage.harvested}
            unread += len(again) if at is desk else 0
            assert facts(found) == facts(wanted)
            for key in ("estimates", "scatters", "trials"):
                mine, other = getattr(found.book, key), getattr(wanted.book, key)
                np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)

    watcher = desk_of(storage, definition)
    walk(lambda: desk_of(storage, definition), compare)
    assert unread > 100
    with storage.reading("s") as ledger:
        assert ledger.head.finished


class Forgetful(Watched):
    """A storage that knows of no tallies, and keeps nothing."""

    def __init__(self, storage: Any) -> None:
        super().__init__(storage, tallies=False)

    def keep(self, name: str, kept: Kept) -> None:
        pass


def test_a_beginning_is_of_its_own_pardons(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pulls of a round that is not over may be opened again: what was read of it is then void."""
    monkeypatch.setattr(begun, "MANY", 3)
    definition = definition_of(policy="uniform", max_failures=2)
    storage = place.open()
    desk = made(storage, definition)
    for pull in desk.ask(20):
        if pull.number in (2, 5):
            desk.fail(pull.number, pull.lease, "away", charge=True, retry=False)
        else:
            desk.tell([Report(pull.number, pull.lease, yields(pull))])
    watcher = desk_of(storage, definition)
    assert (watcher.look(samples=False).failed, watcher.look(samples=False).told) == (2, 18)
    assert desk.forgive([2, 5]) == 2
    for at in (watcher, desk_of(storage, definition)):
        view = at.look(samples=False)
        assert (view.failed, view.told, view.head.unresolved) == (0, 18, 2)
    work(desk, 2)
    for at in (watcher, desk_of(storage, definition)):
        assert at.look(samples=False).told == 20


def test_what_is_kept_is_there_under_its_key_alone(place: Place) -> None:
    storage = place.open()
    for name in ("s", "t"):
        made(storage, definition_of(name=name))

    def kept(name: str, kind: str, key: str) -> bytes | None:
        with place.open().reading(name) as ledger:
            found = ledger.kept(kind, key)
        return None if found is None else found.content

    storage.keep("s", Kept("verdict", "1", b"one\x00"))
    storage.keep("s", Kept("begun", "1", b"other"))
    assert (kept("s", "verdict", "1"), kept("s", "begun", "1")) == (b"one\x00", b"other")
    assert (kept("s", "verdict", "2"), kept("t", "verdict", "1")) == (None, None)
    storage.keep("s", Kept("verdict", "2", b"two"))
    assert (kept("s", "verdict", "1"), kept("s", "verdict", "2")) == (None, b"two")
    storage.delete("s")
    storage.keep("s", Kept("verdict", "2", b"two"))
    made(storage, definition_of())
    assert (kept("s", "verdict", "2"), kept("s", "begun", "1")) == (None, None)


def test_nobody_waits_to_keep_something(sql_place: Place) -> None:
    """While another writes nothing is kept, and nothing is wrong."""
    storage, other = sql_place.open(), sql_place.open()
    made(storage, definition_of())
    with storage.writing("s"):
        keeping = threading.Thread(target=other.keep, args=("s", Kept("verdict", "1", b"x")))
        keeping.start()
        keeping.join(timeout=20.0)
        assert not keeping.is_alive()
    with storage.reading("s") as ledger:
        assert ledger.kept("verdict", "1") is None


def keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep verdicts of small studies too."""
    monkeypatch.setattr(kept_verdicts, "LARGE_PULLS", 0)


def troubled(storage: Any) -> Study:
    """Return a study of which a verdict has something of everything."""
    study = Study.create(
        "s", arms={"a": {}, "b": {"x": 1}, "c": {}, "d": {}}, objective="minimize mean(loss)",
        constraints=["p90(loss) <= 3", "mean(risk) <= 1"], budget=60, policy="top-two", batch=6,
        max_failures=2, seed=2, storage=storage,
    )  # fmt: skip
    for pull in study.ask(48):
        if pull.arm == "d" or pull.pull == 5:
            study.fail(pull, "it broke", retry=False)
        else:
            loss = {"a": 1.0, "b": 1.2, "c": 4.0}[pull.arm] + (pull.seed % 7) / 10
            study.tell(pull, {"loss": loss, "risk": 0.0})
    study.ask()
    return study


def test_a_kept_verdict_is_the_verdict(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_all(monkeypatch)
    study = troubled(place.open())
    wanted = verdict_of(study.desk.plan, study.view())
    assert wanted.doubts
    assert wanted.flips
    assert wanted.arms[3].left
    assert wanted.arms[3].error
    assert study.recommend() == wanted
    calls = list[object]()

    def again(*arguments: Any) -> Any:
        calls.append(arguments)
        return verdict_of(*arguments)

    monkeypatch.setattr(kept_verdicts, "verdict_of", again)
    other = Study.load("s", storage=place.open())
    found = other.recommend()
    assert (found, repr(found), calls) == (wanted, repr(wanted), [])
    assert (other.verdict_on(other.view()), calls) == (wanted, [])
    steps: list[Callable[[], object]] = [
        lambda: study.raise_budget(70),
        lambda: study.bring({"arm": ["a"], "loss": [0.5], "risk": [0.5]}, arm="arm", label="x"),
        lambda: study.revive("d"),
        lambda: study.ask(3),
        lambda: study.tell(study.ask()[0], {"loss": 2.0, "risk": 0.25}),
    ]
    for count, step in enumerate(steps, start=1):
        step()
        for at in (other, Study.load("s", storage=place.open())):
            assert at.recommend() == verdict_of(at.desk.plan, at.view())
        assert len(calls) == count, "each is worked out once"
    monkeypatch.setattr(kept_verdicts, "_program", lambda: "another")
    assert other.recommend() == verdict_of(other.desk.plan, other.view())
    assert len(calls) == len(steps) + 1, "what another program found is not taken for ours"


def test_a_kept_verdict_that_does_not_follow_is_found(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all(monkeypatch)
    study = troubled(place.open())
    study.recommend()
    assert study.doctor().problems == ()
    program = kept_verdicts._program()
    kept = study.desk.kept("verdict", program)
    assert kept is not None
    plain = json.loads(kept.content)
    for content in (b"", b"[]", b"{}", b"\xff", kept.content[:-1]):
        study.desk.storage.keep("s", replace(kept, content=content))
        assert study.doctor().is_sound
        assert study.recommend().confidence == plain["confidence"]
    study.desk.storage.keep(
        "s", replace(kept, content=json.dumps({**plain, "confidence": 1.0}).encode())
    )
    assert study.doctor().problems == ("the verdict that was kept is not what follows",)


def test_a_study_made_anew_has_no_verdict_of_the_old_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all(monkeypatch)
    study = troubled(place.open())
    study.recommend()
    study.desk.storage.delete("s")
    again = troubled(place.open())
    again.recommend()
    with pytest.raises(MissingStudyError, match="made anew"):
        study.recommend()


def test_what_rests_on_a_function_of_ones_own_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep_all(monkeypatch)
    storage = MemoryStorage()
    study = rf.Study.create(
        "own", arms=["a", "b"], objective="minimize worst(loss)", constraints="mean(loss) <= 3",
        functions={"worst": lambda loss: float(loss.max())}, budget=10, policy="uniform",
        storage=storage,
    )  # fmt: skip
    for pull in study.ask(10):
        study.tell(pull, {"loss": float(pull.pull)})
    study.recommend()
    assert storage._studies["own"]._kept == {}
    small = troubled(storage)
    monkeypatch.setattr(kept_verdicts, "LARGE_PULLS", 10**6)
    small.recommend()
    assert storage._studies["s"]._kept == {}, "it would not be worth it"
