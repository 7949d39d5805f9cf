"""Questions: answers, gaps and threats against the transcription, on grids full of ties."""

import math

import numpy as np
import pytest

from ringfence.core import threats as threats_room
from ringfence.core.question import Question
from ringfence.core.questions import QUESTIONS
from tests.laws import question_checks as checks

each_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
BEST, ALL = QUESTIONS


@each_question
def test_answers_equal_the_transcription(question: Question) -> None:
    seen = checks.check_answers(question)
    for what in ("right", "wrong arms, right flag", "nothing looks feasible"):
        assert seen[what] > 200, what
    assert seen["lost"] > 20
    for what in ("on the threshold", "tied at the largest gap", "decided by priority"):
        assert seen[what] > 40, what
    only = "several right answers" if question is BEST else "an answer of several arms"
    assert seen[only] > 100


@each_question
def test_without_an_arm_there_is_no_answer(question: Question) -> None:
    marked, nobody = np.ones(2, np.bool_), np.zeros(2, np.bool_)
    given = (np.zeros((2, 2)), nobody, np.ones(2), np.ones(1), np.arange(2), marked)
    assert question.answer(*given) == (-1, False)
    assert not marked.any()


@each_question
def test_gaps_equal_the_transcription(question: Question) -> None:
    seen = checks.check_gaps(question)
    assert seen["zero"] > 300
    assert seen["tied at the largest gap"] > 300


@each_question
def test_threats_equal_the_transcription(question: Question) -> None:
    seen = checks.check_threats(question)
    assert seen["relative"] == 3 * math.ceil(checks.PRICED / 3)
    for what in ("never", "already so"):
        assert seen[what] > 100, what
    assert (seen["of three arms"] > 100) == (question is BEST)


@each_question
def test_noise_that_arms_share_enters_by_one_function(
    question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = checks.check_shared_noise(
        question, lambda joint: monkeypatch.setattr(threats_room, "joint", joint)
    )
    assert (changed > 100) == (question is BEST)  # arms that are asked about alone share nothing
