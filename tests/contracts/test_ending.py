"""What ends a study by proof may be said while it runs, in every storage and after restarts."""

from dataclasses import replace

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.study.certificates import Explored
from ringfence.study.deciding import STOP
from ringfence.study.facts import Head
from ringfence.study.stopping import PROVEN
from tests.contracts.places import Place
from tests.unit.test_certificates import random_answer


def made(place: Place, policy: str = "top-two", **more: object) -> rf.Study:
    return rf.Study.create(
        "s", arms=["old", "new", "wild"], objective="maximize mean(solved)",
        constraints="mean(unsafe) <= 0.5", budget=900, policy=policy, seed=1,
        noise={"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [0, 1]}},
        storage=place.open(), **more,
    )  # fmt: skip


def work(study: rf.Study, most: int = 10_000) -> int:
    done = 0
    while done < most and (given := study.ask(1)):
        study.tell(given[0], random_answer(given[0]) or {})
        done += 1
    return done


@pytest.mark.parametrize(("policy", "lag"), [("top-two", None), ("top-two", 8), ("thompson", None)])
def test_a_running_study_is_told_to_end_when_its_answer_is_proven(
    place: Place, policy: str, lag: int | None
) -> None:
    study = made(place, policy, lag=lag)
    assert work(study, 60) == 60
    assert study.status().stop is None
    before = study.desk.pulse()
    assert study.stop_when(0.95) == "set"
    assert study.desk.pulse() != before
    assert study.stop_when(0.95) == "unchanged"
    other = rf.Study.load("s", storage=place.open())
    assert other.status().stop == {"confidence": 0.95, "within": 0.0}
    work(other)
    assert other.status().finished
    assert other.status().told < 900
    found, rounds = other.certificate(), other.rounds()
    assert (found.status, found.arm, found.exploratory) == ("certified", "new", ())
    assert rounds[-1].seen[PROVEN] == "certified"
    assert rounds[0].seen.get(STOP) is None
    assert rounds[-1].seen[STOP] == {"confidence": 0.95, "within": 0.0}
    verdict = other.recommend()
    assert verdict.certificate is not None
    assert verdict.certificate.status == "certified"
    assert other.doctor().problems == ()


def test_a_stricter_proof_has_a_study_go_on_that_a_laxer_one_ended(place: Place) -> None:
    study = made(place, stop={"confidence": 0.8})
    work(study)
    early = study.status()
    assert (early.finished, study.certificate().confidence) == (True, 0.8)
    assert study.stop_when(0.99) == "set"
    assert not study.status().finished
    work(study)
    assert early.told < study.status().told < 900
    found = study.certificate()
    assert (found.confidence, found.status, found.exploratory) == (0.99, "certified", ())
    assert study.doctor().problems == ()
    with pytest.raises(InputError, match="is finished"):
        study.stop_when(0.9, note="sooner")


def test_a_looser_proof_needs_a_note_that_is_kept_and_makes_certificates_exploratory(
    place: Place,
) -> None:
    study = made(place, stop={"confidence": 0.99})
    assert study.stop_when(0.98, within=0.01) == "set"  # nobody has looked yet
    work(study, 30)
    assert study.certificate().exploratory == ()
    for change in ({"confidence": 0.9}, {"confidence": 0.98, "within": 0.02}):
        with pytest.raises(InputError, match="Say why in a note"):
            study.stop_when(**change)
    assert len(study.desk.head.stops) == 1
    assert study.stop_when(0.9, note="the  budget\nwas cut") == "set"
    assert study.status().stop == {"confidence": 0.9, "within": 0.01}
    assert study.certificate().exploratory == (Explored.LEVEL,)
    assert study.certificate(0.98).exploratory == ()
    assert "the budget was cut" in study.record()
    assert study.stop_when(0.98) == "set"
    assert study.certificate().exploratory == ()
    work(study)
    assert study.doctor().problems == ()


def test_bad_proofs_change_nothing(place: Place) -> None:
    study = made(place)
    for bad in ({"confidence": 95}, {"confidence": 0.95, "within": -1.0}):
        with pytest.raises(InputError, match="must be a number"):
            study.stop_when(**bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="note has 600 characters"):
        study.stop_when(0.9, note="x" * 600)
    assert study.desk.head == Head(900)


def test_the_audit_sees_that_another_proof_was_asked_for_than_rounds_say(place: Place) -> None:
    study = made(place)
    work(study, 40)
    study.stop_when(0.95)
    work(study, 40)
    assert study.doctor().problems == ()
    with study.desk.storage.writing("s") as ledger:
        (change,) = ledger.head.stops
        ledger.set_head(replace(ledger.head, stops=(replace(change, confidence=0.96),)))
    assert any("another seen" in one for one in study.doctor().problems)
