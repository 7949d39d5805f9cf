"""Why arms left, in words: the one test that knows them."""

import pytest

import ringfence as rf
from ringfence.reports.departures import departure, standing
from ringfence.study.facts import Cause, Rejection
from ringfence.study.verdict import Status
from tests.unit.drawing import make_arm


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (Rejection(0, Cause.REJECTED, 1, 0.5, policy="top-two"), "rejected by top-two"),
        (Rejection(0, Cause.SETTLED, None, 0.5, policy="top-two"), "settled by top-two"),
        (Rejection(0, Cause.FAILING, failures=3), "withdrawn: 3 failed pulls in a row"),
        (Rejection(0, Cause.UNSEEN, successes=1), "withdrawn: only 1 of its pulls succeeded"),
        (
            Rejection(0, Cause.WITH_BASELINE, baseline="old"),
            "withdrawn: it cannot be compared, since baseline old was",
        ),
    ],
)
def test_every_cause_has_its_words(left: Rejection, said: str) -> None:
    assert departure(left) == said
    assert standing(make_arm("a", None, None, 0.0, left=left)) == said


def test_an_arm_that_did_not_leave_is_in_the_running() -> None:
    assert standing(make_arm("a", "optimal", -1.0, 1.0)) == "in the running"
    assert repr([Status.RUNNING, Cause.REJECTED]) == "['in the running', 'rejected']"


def test_a_study_that_nobody_can_judge_says_why_whatever_is_asked() -> None:
    study = rf.Study.create(
        "s", arms=["a", "b"], objective="minimize mean(loss)", constraints=["mean(risk) <= 1"],
        budget=20, storage="memory://", seed=1,
    )  # fmt: skip
    for pull in study.pulls():
        study.fail(pull, "429")
    gone = departure(Rejection(0, Cause.FAILING, failures=3))
    asked = (study.recommend, study.record, lambda: study.what_if(0, 0.5))
    for ask in asked:
        with pytest.raises(rf.NoAnswerError) as seen:
            ask()
        assert f"a {gone} (the last error: 429)" in str(seen.value)
