"""The book of a study, against measuring all of an arm's observations at once."""

import math

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from ringfence.study.book import Book, least_pulls
from tests.unit.test_running import (
    METRICS,
    RUNNING,
    SAMPLED,
    assert_same,
    measured,
    problem_of,
    random_pulls,
)

PROBLEMS = {
    "added up": RUNNING,
    "kept": SAMPLED,
    "turned about": ("maximize p90(x)", "mean(y) >= 0", "p80(y) >= 0", "cvar(x, 0.8) <= 3"),
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_a_book_measures_all_that_was_added_to_an_arm(kind: str) -> None:
    """In blocks, as rounds end, and with columns of metrics that no attribute is about."""
    problem = problem_of(PROBLEMS[kind])
    book = Book(problem, ["one", "two", "three"], ["y", "else", "x"])
    pulls = np.round(random_pulls(4, 41), 1)
    blocks = np.split(pulls, [1, 7, 20, 20])
    for block in blocks:
        columns = dict(zip(METRICS, block.T, strict=True))
        table = np.column_stack([columns["y"], np.full(len(block), np.nan), columns["x"]])
        book.add(1, table)
        count = int(book.counts[1])
        assert book.is_seen.tolist() == [False, count >= least_pulls(book.problem), False]
        if book.is_seen[1]:
            found = book.estimates[1], book.scatters[1]
            assert_same(found, measured(problem.judged, pulls[:count]), pulls)
    assert book.counts.tolist() == [0, len(pulls), 0]
    assert not book.estimates[[0, 2]].any()
    assert not book.scatters[[0, 2]].any()


def test_evidence_turns_what_must_be_large() -> None:
    """Lower is better in all that the rules see."""
    problem = problem_of(("maximize p90(x)", "mean(y) >= 2", "cvar(y, 0.8) <= 3"))
    book = Book(problem, ["one"], METRICS)
    x, y = random_pulls(5, 41).T
    book.add(0, np.column_stack([x, y]))
    seen = book.evidence(np.array([True]), np.array([0]))
    assert seen.estimates[0, 0] == -np.sort(x)[36], "the 37th of 41 is the least not below 90%"
    assert seen.estimates[0, 1] == pytest.approx(-y.mean())
    assert seen.estimates[0, 2] > y.mean()
    assert seen.thresholds.tolist() == [-2.0, 3.0]
    room = math.exp(math.log(20.0) - digamma(20.0) + 0.5 * polygamma(1, 20.0))
    assert seen.covariances[0, 1, 1] == pytest.approx(room * y.var(ddof=1))
    assert seen.covariances[0, 0, 1] > 0.0, "x and y rise together, and both are turned"
    assert seen.covariances[0, 1, 2] < 0.0
