"""What another threshold would give: the verdict of the same observations under it."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.storage.memory import MemoryStorage

TRUTHS = {"slow": (0.9, 240.0), "medium": (0.8, 190.0), "quick": (0.7, 120.0), "poor": (0.3, 90.0)}


def evaluate(arm: str, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    score, delay = TRUTHS[arm]
    return {"score": score + 0.1 * rng.normal(), "ms": delay + 20.0 * rng.normal()}


def make(constraint: str, policy: str = "uniform", *, budget: int = 120) -> rf.Study:
    study = rf.Study.create(
        "whatif",
        arms=list(TRUTHS),
        objective="maximize mean(score)",
        constraints=[constraint, "mean(score) >= 0.2"],
        budget=budget,
        policy=policy,
        storage=MemoryStorage(),
        seed=11,
    )
    study.optimize(evaluate)
    return study


@pytest.mark.parametrize(
    ("fixed", "moved", "threshold"),
    [
        ("mean(ms) <= 200", "mean(ms) <= 150", 150.0),
        ("mean(ms) <= 200", "mean(ms) <= 300", 300.0),
        ("mean(ms) <= 200", "mean(ms) <= 10", 10.0),
        ("p90(ms) <= 200", "p90(ms) <= 230", 230.0),
        ("p90(ms) <= 200", "p90(ms) <= 140", 140.0),
        ("p10(ms) >= 100", "p10(ms) >= 160", 160.0),
        ("std(ms) <= 5", "std(ms) <= 40", 40.0),
        ("share(ms > 200) <= 0.1", "share(ms > 200) <= 0.6", 0.6),
    ],
)
def test_it_is_the_verdict_of_a_study_that_had_that_threshold(
    fixed: str, moved: str, threshold: float
) -> None:
    found = make(fixed).what_if(0, threshold)
    other = make(moved).recommend()
    assert found.arm == other.arm
    # The orders in which sums were added up differ: the last bits may too, and so one draw.
    assert math.isclose(found.confidence, other.confidence, abs_tol=2e-4)
    assert (found.feasible, found.verdict) == (other.feasible, other.verdict)
    for mine, theirs in zip(found.arms, other.arms, strict=True):
        assert (mine.name, mine.pulls, mine.kind) == (theirs.name, theirs.pulls, theirs.kind)
        assert mine.margin == pytest.approx(theirs.margin)


@pytest.mark.parametrize("policy", ["uniform", "constrained-sr", "top-two"])
@pytest.mark.parametrize("constraint", ["mean(ms) <= 200", "p90(ms) <= 215", "mean(ms) >= 150"])
def test_at_the_fixed_threshold_it_is_the_verdict_itself(policy: str, constraint: str) -> None:
    study = make(constraint, policy)
    fixed = float(constraint.rsplit(maxsplit=1)[-1])
    assert study.what_if(0, fixed) == study.recommend()
    assert study.what_if(constraint, fixed) == study.recommend()


@pytest.mark.parametrize(
    ("constraint", "count"), [("mean(ms) <= 200", 2), ("p90(ms) <= 215", 2), ("mean(ms) >= 150", 1)]
)
def test_the_answer_changes_where_the_verdict_says_it_does(constraint: str, count: int) -> None:
    study = make(constraint)
    verdict = study.recommend()
    flips = [flip for flip in verdict.flips if flip.constraint == constraint]
    assert len(flips) == count
    for flip in flips:
        there = study.what_if(0, flip.threshold)
        assert (there.arm if there.feasible else None) == flip.answer
        back = float(constraint.rsplit(maxsplit=1)[-1])
        within = study.what_if(0, flip.threshold + (back - flip.threshold) * 1e-6)
        assert within.arm == verdict.arm


def test_arms_that_were_dropped_come_back_under_another_threshold() -> None:
    study = make("mean(ms) <= 200", "constrained-sr", budget=400)
    assert study.recommend().arm == "medium"
    assert study.status().alive == ("medium",)
    assert study.what_if(0, 260.0).arm == "slow"
    assert study.what_if(0, 150.0).arm == "quick"
    nothing = study.what_if(0, 50.0)
    assert (nothing.arm, nothing.feasible) == ("poor", False)


def test_a_withdrawn_arm_stays_withdrawn() -> None:
    study = rf.Study.create(
        "whatif",
        arms=list(TRUTHS),
        objective="maximize mean(score)",
        constraints=["mean(ms) <= 200"],
        budget=200,
        policy="constrained-sr",
        storage=MemoryStorage(),
        seed=1,
    )

    def fails(arm: str, seed: int) -> dict[str, float]:
        if arm == "slow":
            raise OSError("gone")
        return evaluate(arm, seed)

    study.optimize(fails)
    assert study.what_if(0, 1000.0).arm == "medium"


def test_looking_changes_nothing() -> None:
    study = make("p90(ms) <= 200")
    before = (study.version(), study.observations(), study.recommend())
    for threshold in (0.0, 150.0, 1e9, -1e300):
        study.what_if(0, threshold)
    assert (study.version(), study.observations(), study.recommend()) == before
    assert study.doctor().is_sound


def test_what_cannot_be_asked_is_refused() -> None:
    study = make("mean(ms) <= 200")
    for place in (-1, 2):
        with pytest.raises(InputError, match="counted from 0"):
            study.what_if(place, 1.0)
    threshold: Any
    for threshold in (math.nan, math.inf, "4"):
        with pytest.raises(InputError, match="finite"):
            study.what_if(0, threshold)
    with pytest.raises(InputError, match="must be one of"):
        study.what_if("mean(ms) <= 100", 1.0)


def test_the_second_constraint_is_moved_by_its_place() -> None:
    study = make("mean(ms) <= 200")
    found = study.what_if(1, 0.85)
    assert not found.feasible
    assert found == study.what_if("mean(score) >= 0.2", 0.85)
    assert dataclasses.replace(found) == found
