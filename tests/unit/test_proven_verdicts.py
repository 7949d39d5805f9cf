"""Verdicts of studies with a `stop`: what is proven decides them, and is told beside them."""

import dataclasses
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.strict import strict_json
from ringfence.interfaces.leases import Pull
from ringfence.reports.verdict import findings, sentence, verdict_document
from tests.unit.test_certificates import made, told
from tests.unit.test_stopping import STOP


def test_the_certificate_stands_in_the_verdict_and_its_document() -> None:
    verdict = told(made(3000, policy="top-two", stop=STOP)).recommend()
    assert verdict.certificate is not None
    assert (verdict.verdict, verdict.arm, verdict.certificate.status) == (
        "feasible",
        "new",
        "certified",
    )
    assert findings(verdict)[0] == "Certified at 95%: new is the best feasible arm."
    found = verdict_document(verdict)["certificate"]
    assert (found["status"], found["arm"], found["open"]) == ("certified", "new", [])
    assert strict_json(verdict_document(verdict))


def test_without_a_stop_there_is_none() -> None:
    verdict = told(made(120)).recommend()
    assert verdict.certificate is None
    assert verdict_document(verdict)["certificate"] is None
    assert not any("at 95%" in line for line in findings(verdict))


def test_an_open_one_decides_nothing_and_says_what_is_open() -> None:
    close = "mean(unsafe) <= 0.04"
    beside = told(made(24, constraints=close)).recommend()
    verdict = told(made(24, stop=STOP, constraints=close)).recommend()
    assert verdict.certificate is not None
    assert (verdict.certificate.status, verdict.verdict) == ("open", "too-close-to-call")
    assert dataclasses.replace(verdict, certificate=None) == beside
    lines = findings(verdict)
    assert lines[0].startswith("Open at 95%: ")
    assert any("more pulls" in line for line in lines)


def hardly(pull: Pull) -> dict[str, float]:
    """Answer so that a limit is kept, and one value in twenty breaks what was never seen before."""
    return {"solved": float(pull.arm == "new"), "unsafe": 0.0}


def test_what_is_proven_decides_although_there_are_doubts() -> None:
    changes: dict[str, Any] = {
        "arms": ["old", "new"],
        "constraints": "mean(unsafe) <= 0.2",
        "noise": {"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [0, 1]}},
    }
    study = told(made(3000, stop=STOP, **changes), hardly)
    verdict = study.recommend()
    assert verdict.certificate is not None
    assert verdict.certificate.status == "certified"
    assert (verdict.verdict, verdict.arm, verdict.doubts) == ("feasible", "new", ())
    assert min(verdict.confidence, verdict.chance_keeps_limits, verdict.chance_feasible) >= 0.95


def test_none_feasible_is_told_whatever_the_policy_would_name() -> None:
    verdict = told(made(3000, stop=STOP, constraints="mean(unsafe) <= 0.02")).recommend()
    assert (verdict.verdict, verdict.feasible) == ("infeasible", False)
    assert verdict.chance_feasible <= 0.05 + 1e-12
    assert sentence(verdict).startswith("No arm is feasible")
    assert "Which arm comes nearest is not proven." in findings(verdict)


def test_sets_are_decided_too() -> None:
    verdict = told(made(4000, stop=STOP, answer="all feasible")).recommend()
    assert (verdict.answer, verdict.arm, verdict.verdict) == (("old", "new"), "new", "feasible")


def test_another_threshold_is_not_proven() -> None:
    study = told(made(3000, policy="top-two", stop=STOP))
    moved = study.what_if(0, 0.001)
    assert moved.certificate is None
    assert study.what_if(0, 0.5).certificate is not None


def test_an_arm_that_is_proven_is_the_answer_though_the_policy_names_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A policy may name what it likes: what is proven of stored pulls decides."""
    study = told(made(3000, stop=STOP))
    from ringfence.study import verdict as room
    from ringfence.study.deciding import Answer

    monkeypatch.setattr(room, "answer_of", lambda *_: Answer((0,), 0, feasible=False))
    assert study.recommend().arm == "new"
    assert told(made(24, stop=STOP)).recommend().arm == "old"


def test_the_record_says_what_ended_the_study_and_what_is_proven() -> None:
    study = told(made(3000, policy="top-two", stop=STOP | {"within": 0.05}))
    page = study.record()
    assert "ends when proven" in page
    assert "confidence 0.95, within 0.05" in page
    assert "none: certified" in page or "none: equivalent" in page
    assert "at 95%" in page
    assert isinstance(study, rf.Study)
