"""Verdicts are as often right as they say, over families of hard truths: a small version.

`python -m benchmarks.calibration` makes the large one, which docs/verdict.md shows.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from benchmarks.calibration import FAMILIES, Outcome, outcomes
from ringfence.core import beliefs, priors

ALPHA = 1e-6


def too_many(wrong: int, of: int, goal: float) -> bool:
    """Tell whether so many are more than chance makes of a share that meets the goal."""
    return bool(stats.binom.sf(wrong - 1, of, goal) < ALPHA)


def small(families: tuple[str, ...], count: int) -> list[Outcome]:
    return outcomes(families, [2, 8, 30], [10, 60], ["top-two", "uniform"], count)


def named_wrongly(studies: list[Outcome]) -> tuple[int, int]:
    """Return the exits 0 that name an arm which breaks its limit, and all exits 0."""
    said = [one for one in studies if one.verdict == "feasible"]
    return sum(not one.passes for one in said), len(said)


@pytest.fixture(scope="module")
def studies() -> list[Outcome]:
    return small(tuple(FAMILIES), 6)


def test_the_named_arm_keeps_its_limits_as_often_as_is_said(studies: list[Outcome]) -> None:
    wrong, said = named_wrongly(studies)
    assert said > 60, "else nothing was tried"
    assert not too_many(wrong, said, 0.05)
    for family in FAMILIES:
        mine = [one for one in studies if one.family == family]
        assert not too_many(named_wrongly(mine)[0], len(mine), 0.08), family


def test_what_is_stated_as_nearly_certain_is(studies: list[Outcome]) -> None:
    sure = [one for one in studies if one.confidence > 0.99]
    assert not too_many(sum(not one.right for one in sure), len(sure), 0.015)


def test_intervals_hold_the_truth(studies: list[Outcome]) -> None:
    """Shares, quantiles and light tails 93%, skewed means 88%: arms of a study count as one."""
    for family in FAMILIES:
        mine = [one for one in studies if one.family == family]
        goal = 0.88 if "costs" in family else 0.93
        shares = np.array([one.covered[0] / one.covered[1] for one in mine])
        error = shares.std(ddof=1) / len(mine) ** 0.5
        assert shares.mean() > goal - stats.norm.isf(ALPHA) * error, family
        objectives = np.array([one.objectives_covered / one.arms for one in mine])
        error = objectives.std(ddof=1) / len(mine) ** 0.5
        assert objectives.mean() > 0.93 - stats.norm.isf(ALPHA) * error, family


def alone(*_: object) -> None:
    """Stand in for a prior: arms have nothing in common."""


def jeffreys(rng: object, events: object, counts: object, draws: int) -> priors.BetaPrior:
    return priors.BetaPrior(np.full(draws, 0.5), np.zeros(draws))


@pytest.mark.parametrize(
    ("place", "fault", "family"),
    [
        ("normal_prior", alone, "all infeasible by 0.3 errors"),
        ("beta_prior", jeffreys, "rare failures"),
    ],
)
def test_without_what_arms_have_in_common_the_luckiest_is_believed(
    monkeypatch: pytest.MonkeyPatch, place: str, fault: Callable[..., object], family: str
) -> None:
    """The planted fault: a prior that knows nothing of the other arms."""
    monkeypatch.setattr(beliefs, place, fault)
    found = outcomes([family], [30], [60], ["top-two"], 30)
    wrong, said = named_wrongly(found)
    assert too_many(wrong, said, 0.05)
    assert too_many(wrong, len(found), 0.08)
