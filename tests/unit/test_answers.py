"""What draws of the truth say of an answer, by either question: against sets, draw by draw."""

from typing import Any

import numpy as np
import pytest

from ringfence.core.answers import DRAWS, Answers, drawn_answers
from ringfence.core.arrays import Floats, Mask
from ringfence.core.questions import QUESTIONS, find_question
from ringfence.core.streams import verdict_stream
from tests.oracle import questions as slow
from tests.oracle.questions import Asked

BEST, ALL = QUESTIONS
SCALES, LIMITS = [1, 2, 1], [1, 0]


class Grid:
    """Beliefs whose draws are known: small integers, so that ties are frequent."""

    roots = None

    def __init__(self, seed: int, arms: int) -> None:
        self.estimates = np.zeros((arms, 3))
        self.drawn = np.random.default_rng(seed).integers(-1, 3, (arms, DRAWS, 3)).astype(float)

    def common(self, *_: Any) -> None:
        return None

    def draws(self, _: Any, arm: int, **__: Any) -> Floats:
        found: Floats = self.drawn[arm]
        return found


def drawn(beliefs: Any, marked: Mask | None, **changes: Any) -> Answers:
    return drawn_answers(
        verdict_stream(1), beliefs, np.array(SCALES, float), np.array(LIMITS, float),
        marked=marked, **changes,
    )  # fmt: skip


@pytest.mark.parametrize("baseline", [None, 1])
@pytest.mark.parametrize("arms", [(0, 1, 2), (0, 2), (2,)])
def test_chances_of_both_answers_are_shares_of_draws(
    arms: tuple[int, ...], baseline: int | None
) -> None:
    beliefs, factors = Grid(3, 3), np.array([1.0, 0.0])
    given = {} if baseline is None else {"baseline": baseline, "factors": factors}
    asked = []
    for rows in beliefs.drawn.transpose(1, 0, 2).copy():
        if baseline is not None:
            rows[:, 1:] -= factors * rows[baseline, 1:]
        numbers = rows.astype(int).tolist()
        asked.append(slow.feasible_arms(Asked(numbers, frozenset(arms), SCALES, LIMITS, [0, 1, 2])))
    said = {}
    for marks in (set(), {arms[-1]}, set(arms)):
        marked = np.isin(np.arange(3), list(marks))
        answers = drawn(beliefs, marked, arms=arms, **given)
        expected = sum(one == marks for one in asked) / DRAWS
        assert ALL.chance(answers, marked, bool(marks)) == pytest.approx(expected, abs=1e-12)
        kept = sum(one >= marks for one in asked) / DRAWS if marks else 0.0
        assert answers.kept == pytest.approx(kept, abs=1e-12)
        for arm in range(3):
            passing = sum(arm in one for one in asked) / DRAWS
            assert ALL.arm_chances(answers)[arm] == pytest.approx(passing, abs=1e-12)
        for feasible in (True, False):
            right = (np.isin(answers.arms, list(marks)) & (answers.feasible == feasible)).mean()
            assert BEST.chance(answers, marked, feasible) == right
        np.testing.assert_array_equal(BEST.arm_chances(answers), answers.chances)
        said[frozenset(marks)] = answers.whole
    assert all(0.01 < share < 0.99 for share in said.values())


def test_what_is_marked_changes_no_draw() -> None:
    beliefs = Grid(4, 3)
    without, with_marks = (drawn(beliefs, one, arms=range(3)) for one in (None, np.ones(3, bool)))
    np.testing.assert_array_equal(without.arms, with_marks.arms)
    np.testing.assert_array_equal(without.passing, with_marks.passing)
    assert without.whole != with_marks.whole
    assert without.whole == drawn(beliefs, np.zeros(3, bool), arms=range(3)).whole


def test_questions_are_found_by_name() -> None:
    assert [find_question(one.name) for one in QUESTIONS] == list(QUESTIONS)
    with pytest.raises(ValueError, match="answer = 'all feasable' must be one of best feasible"):
        find_question("all feasable")
