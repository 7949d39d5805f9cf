"""What ends a study by proof may be said while it runs, in every storage and after restarts."""

from dataclasses import replace
from typing import Any

import pytest

from ringfence.core.errors import InputError
from ringfence.interfaces.leases import Pull
from ringfence.interfaces.studies import Study
from ringfence.study.certificates import Explored
from ringfence.study.deciding import STOP
from ringfence.study.facts import Head
from ringfence.study.stopping import PROVEN
from tests.contracts.places import Place


def made(place: Place, policy: str = "top-two", **more: Any) -> Study:
    return Study.create(
        "s", arms=["old", "new", "wild"], objective="maximize mean(solved)",
        constraints="mean(unsafe) <= 0.5", budget=900, policy=policy, seed=1,
        noise={"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [0, 1]}},
        storage=place.open(), **more,
    )  # fmt: skip


def answer(pull: Pull) -> dict[str, float]:
    """Answer so that little is needed to prove it."""
    return {"solved": float(pull.arm == "new"), "unsafe": 0.0}


def work(study: Study, most: int = 10_000) -> int:
    done = 0
    while done < most and (given := study.ask(1)):
        study.tell(given[0], answer(given[0]))
        done += 1
    return done


@pytest.mark.parametrize(("policy", "lag"), [("top-two", None), ("top-two", 8)])
def test_a_running_study_is_told_to_end_when_its_answer_is_proven(
    place: Place, policy: str, lag: int | None
) -> None:
    study = made(place, policy, lag=lag)
    assert work(study, 12) == 12
    assert study.status().stop is None
    before = study.desk.pulse()
    assert study.stop_when(0.95) == "set"
    assert study.desk.pulse() != before
    assert study.stop_when(0.95) == "unchanged"
    other = Study.load("s", storage=place.open())
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
    assert (other.doctor().problems, other.doctor().notes) == ((), ())


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
    work(study, 9)
    assert study.certificate().exploratory == ()
    for level, within in ((0.9, None), (0.98, 0.02)):
        with pytest.raises(InputError, match="Say why in a note"):
            study.stop_when(level, within=within)
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
    for level, within in ((95, None), (0.95, -1.0)):
        with pytest.raises(InputError, match="must be a number"):
            study.stop_when(level, within=within)
    with pytest.raises(InputError, match="note has 600 characters"):
        study.stop_when(0.9, note="x" * 600)
    assert study.desk.head == Head(900)


def test_the_audit_sees_that_another_proof_was_asked_for_than_rounds_say(place: Place) -> None:
    study = made(place)
    work(study, 30)
    study.stop_when(1.0 - 1e-9)
    work(study, 9)
    assert study.doctor().problems == ()
    with study.desk.storage.writing("s") as ledger:
        (change,) = ledger.head.stops
        ledger.set_head(replace(ledger.head, stops=(replace(change, confidence=0.999),)))
    assert any("another stop" in one for one in study.doctor().problems)


def test_a_change_leads_to_a_look_at_once(place: Place) -> None:
    study = made(place)
    work(study, 131)  # of these many it is not due
    assert study.certificate().status == "certified"
    study.stop_when(0.95)
    assert work(study) == 0
    assert study.doctor().problems == ()
