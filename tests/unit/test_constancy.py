"""Whether outcomes changed over time: noticed where they did, whatever the arms and their tails."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ringfence as rf
from ringfence.core.arrays import Floats
from ringfence.core.constancy import (
    FIRST,
    MOST_KEPT,
    RARE,
    OverTime,
    add_pulls,
    chance_of_change,
    nothing_told,
)
from ringfence.reports.verdict import findings, verdict_document
from ringfence.study.changing import changes_of

ARMS = 4
LAWS: dict[str, Callable[[Any, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy": lambda rng, n: rng.standard_t(1.2, size=n),
    "rare": lambda rng, n: (rng.random(n) < 0.02).astype(np.float64),
    "constant": lambda rng, n: np.ones(n),
}


def told_of(values: Floats, *, parts: int = 1) -> OverTime:
    """Return what pulls tell that go to all arms in turn, in rounds of so many parts."""
    told = nothing_told(ARMS, 1)
    numbers = np.arange(1, len(values) + 1)
    for some in np.array_split(numbers, parts):
        for arm in range(ARMS):
            mine = some[some % ARMS == arm]
            add_pulls(told, arm, mine, values[mine - 1, None] + 100.0 * arm)
    return told


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [40, 700, 5000])
def test_chance_alone_is_not_taken_for_change(law: str, count: int) -> None:
    rng = np.random.default_rng(count)
    found = [chance_of_change(told_of(LAWS[law](rng, count)), 0)[0] for _ in range(100)]
    assert min(found) > 1e-3


@pytest.mark.parametrize("law", ["normal", "heavy"])
def test_change_is_noticed_whatever_the_tails(law: str) -> None:
    rng, count = np.random.default_rng(1), 2000
    swing = 0.8 * np.sin(np.arange(count) / count * 6.0 * np.pi)
    chance, stretches = chance_of_change(told_of(LAWS[law](rng, count) + swing), 0)
    assert chance < RARE
    assert stretches == 12


def test_change_of_a_rare_event_is_noticed_over_fewer_stretches() -> None:
    rng, count = np.random.default_rng(2), 10_000
    rate = np.where(np.arange(count) < count / 2, 0.01, 0.03)
    chance, stretches = chance_of_change(told_of((rng.random(count) < rate).astype(float)), 0)
    assert chance < RARE
    assert 2 <= stretches < 12


def test_arms_that_differ_are_no_change() -> None:
    """One is pulled early, another late: that is the policy's doing."""
    rng, told = np.random.default_rng(3), nothing_told(2, 1)
    add_pulls(told, 0, np.arange(1, 1001), rng.normal(size=(1000, 1)))
    add_pulls(told, 1, np.arange(1001, 2001), rng.normal(size=(1000, 1)) + 9.0)
    assert chance_of_change(told, 0)[0] > 0.01


def test_the_parts_in_which_pulls_come_do_not_matter() -> None:
    values = np.random.default_rng(4).normal(size=3000)
    whole, parts = told_of(values), told_of(values, parts=37)
    for one, other in zip(whole, parts, strict=True):
        assert one.tolist() == other.tolist()
    assert whole.counts.sum() == 3000 - ARMS * FIRST
    assert whole.wide[0] * MOST_KEPT >= 3000 > whole.wide[0] * MOST_KEPT / 2
    assert np.flatnonzero(whole.counts.sum(axis=0)).tolist() == list(range(3000 // 128 + 1))


def test_of_one_arm_it_is_the_test_of_kruskal_and_wallis() -> None:
    """Of ranks among the first few; what is granted to luck is taken out for the comparison."""
    values = np.random.default_rng(5).normal(size=16 + 1536)
    told = nothing_told(1, 1)
    add_pulls(told, 0, np.arange(1, len(values) + 1), values[:, None])
    rest = values[FIRST:]
    ranks = (rest[:, None] > values[:FIRST]).mean(axis=1)
    groups = np.minimum((np.arange(FIRST, len(values)) // told.wide[0]), MOST_KEPT - 1)
    ends = np.cumsum(told.counts[0])
    of_kept = np.minimum((ends - 1) * 12 // ends[-1], 11)
    found = [ranks[of_kept[groups] == one] for one in range(12)]
    off = sum(len(one) * (one.mean() - ranks.mean()) ** 2 for one in found) / ranks.var(ddof=1)
    chance, stretches = chance_of_change(told, 0)
    assert stretches == 12
    assert chance == pytest.approx(stats.ncx2.sf(off, 11, 0.5), rel=1e-6)


# ------------------------------------------------------------------------------ in a study


def run(swing: float, **others: Any) -> rf.Study:
    """Run a study whose loss goes up and down with time, by its pulls."""
    plain: dict[str, Any] = {"policy": "top-two", "batch": 20, "budget": 1200, "seed": 3} | others
    study = rf.Study.create(
        "s", arms=["a", "b", "c"], objective="minimize mean(loss)",
        constraints="mean(risk) <= 0.5", storage="memory://", **plain,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    while pulls := study.ask(50):
        for pull in pulls:
            loss = rng.normal() + swing * math.sin(pull.pull / 100.0)
            study.tell(pull, {"loss": loss, "risk": float(rng.random() < 0.1)})
    return study


@pytest.mark.parametrize("policy", ["top-two", "uniform"])
def test_a_study_says_what_changed(policy: str) -> None:
    study = run(1.0, policy=policy)
    verdict = study.recommend()
    assert [change.metric for change in verdict.changes] == ["loss"]
    (document,) = verdict_document(verdict)["changes"]
    assert document["metric"] == "loss"
    assert document["chance"] < RARE
    (line,) = [one for one in findings(verdict) if "Outcomes changed over time" in one]
    assert 'every = "1h"' in line
    assert "loss was not the same" in line
    audit = study.doctor()
    assert audit.is_sound
    assert audit.changes == verdict.changes


def test_a_study_without_change_says_nothing() -> None:
    study = run(0.0)
    assert study.recommend().changes == ()
    assert study.doctor().changes == ()
    assert not [one for one in findings(study.recommend()) if "over time" in one]


@pytest.mark.parametrize("blocks", [{"every": "1h"}, {"seeds": True}, {"items": 500}])
def test_where_pulls_share_something_time_is_not_watched(blocks: dict[str, Any]) -> None:
    """Hours are reckoned with; items that all arms meet in turn are no times."""
    study = run(1.0, blocks=blocks)
    assert study.recommend().changes == ()
    assert study.view().book.over_time is None


def test_what_is_brought_along_has_no_time() -> None:
    study = run(0.0, budget=300)
    book = study.view().book.copied()
    before = changes_of(book)
    book.add(0, np.full((500, 2), 40.0))
    assert changes_of(book) == before


def test_a_tally_goes_on_with_the_time() -> None:
    book = run(1.0).view().book
    sums = book.sums()
    assert sums is not None
    fresh = run(0.0, budget=12).desk.plan.new_book()
    fresh.restore(sums)
    assert changes_of(fresh) == changes_of(book) != ()
