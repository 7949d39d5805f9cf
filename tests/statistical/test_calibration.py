"""Verdicts are as often right as they say, over families of hard truths: a small version.

`python -m benchmarks.calibration` makes the large one, which docs/research/calibration.md shows.
"""

import numpy as np
import pytest
from scipy import stats

from benchmarks.calibration import FAMILIES, POLICIES, Outcome, Truth, outcomes, verdict_on
from ringfence.core import beliefs, priors
from ringfence.core.answers import drawn_answers
from ringfence.core.arrays import Floats
from ringfence.core.problem import Problem
from ringfence.core.streams import verdict_stream
from ringfence.study.book import Book
from ringfence.study.snapshot import Snapshot
from tests.choosing import LONG

ALPHA = 1e-6


def too_many(wrong: int, of: int, goal: float) -> bool:
    """Tell whether so many are more than chance makes of a share that meets the goal."""
    return bool(stats.binom.sf(wrong - 1, of, goal) < ALPHA)


def small(families: tuple[str, ...], count: int) -> list[Outcome]:
    """Return studies of every policy and number of arms; of phases over thirty they take long."""
    pulls = [10, 30, 100]
    some = outcomes(families, [2, 8, 30], pulls, ["top-two", "uniform"], count)
    return some + outcomes(families, [2, 8], pulls, ["constrained-sr"], count)


def named_wrongly(studies: list[Outcome]) -> tuple[int, int]:
    """Return the exits 0 that name an arm which breaks its limit, and all exits 0."""
    said = [one for one in studies if one.verdict == "feasible"]
    return sum(not one.passes for one in said), len(said)


@pytest.fixture(scope="module")
def studies() -> list[Outcome]:
    return small(tuple(FAMILIES), 4 if LONG else 2)


def test_the_named_arm_keeps_its_limits_as_often_as_is_said(studies: list[Outcome]) -> None:
    wrong, said = named_wrongly(studies)
    assert said > (60 if LONG else 30), "else nothing was tried"
    assert not too_many(wrong, said, 0.05)
    for family in FAMILIES:
        mine = [one for one in studies if one.family == family]
        assert not too_many(named_wrongly(mine)[0], len(mine), 0.08), family


def test_what_is_stated_as_nearly_certain_is(studies: list[Outcome]) -> None:
    sure = [one for one in studies if one.confidence > 0.99]
    assert not too_many(sum(not one.right for one in sure), len(sure), 0.015)


SKEWED = ("lognormal costs", "zero-inflated costs")


def least_covered(held: list[int], of: list[int]) -> float:
    """Return the share of intervals that hold the truth, and what chance may add to it.

    Arms of a study may err together: chance is that of studies.
    """
    counted = np.array([held, of], dtype=np.float64)
    share = float(counted[0].sum() / counted[1].sum())
    off = counted[0] - share * counted[1]
    error = float((off @ off) ** 0.5 / counted[1].sum())
    return share + float(stats.norm.isf(ALPHA)) * error


def goals_missed(studies: list[Outcome]) -> set[object]:
    """Return where fewer intervals hold the truth than is aimed at, more than chance makes.

    Shares, quantiles and light tails 93%, skewed means 88%: by family, by number of arms, by pulls
    and by policy.
    """
    missed: set[object] = set()
    for goal, group in (
        (0.93, [one for one in studies if one.family not in SKEWED]),
        (0.88, [one for one in studies if one.family in SKEWED]),
    ):
        for key in ("family", "arms", "pulls", "policy"):
            for value in {getattr(one, key) for one in group}:
                mine = [one for one in group if getattr(one, key) == value]
                arms = [one.arms for one in mine]
                if least_covered([one.covered[0] for one in mine], arms) < goal:
                    missed.add((goal, value))
                if least_covered([one.objectives_covered for one in mine], arms) < 0.93:
                    missed.add(("objective", value))
    return missed


def test_intervals_hold_the_truth(studies: list[Outcome]) -> None:
    assert goals_missed(studies) == set()


def test_intervals_of_half_the_length_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: every family is held by itself, and its objectives too."""
    monkeypatch.setattr(beliefs, "LEVEL", 0.67)
    families = ("broad", "rare failures", "lognormal costs", "p95 limits")
    missed = goals_missed(outcomes(families, [30], [100], ["uniform"], 12))
    assert missed >= {*((0.93 if one not in SKEWED else 0.88, one) for one in families)}
    assert missed >= {*(("objective", one) for one in families)}


def spread_truth(attribute: str, limit: float, number: int, arms: int) -> Truth:
    """Return exponential metrics, with what is true of their spreads or tails."""
    rng = np.random.default_rng([number, arms])
    objectives, means = rng.uniform(0, 1, arms), np.exp(rng.uniform(-0.5, 0.5, arms))

    def draw(arm: int, count: int) -> Floats:
        values = means[arm] * rng.exponential(size=count)
        return np.column_stack([objectives[arm] + rng.normal(size=count), values])

    true = means**2 if attribute == "variance(y)" else means * (1.0 + np.log(10.0))
    return Truth(f"{attribute} <= {limit}", objectives, true - limit, true, draw)


@pytest.mark.parametrize(("attribute", "limit"), [("variance(y)", 1.0), ("cvar(y, 0.9)", 3.3)])
def test_intervals_of_spreads_and_tails_hold_the_truth(attribute: str, limit: float) -> None:
    """In 88% from 30 pulls, whoever chose them; half as long, they would not."""
    held, halved = [], []
    for policy in POLICIES:
        for arms in (2, 8, 30):
            for number in range(20 if arms < 30 else 5):
                truth = spread_truth(attribute, limit, number, arms)
                ends = [
                    arm.estimates[attribute] for arm in verdict_on(truth, 30, policy, number).arms
                ]
                off = [value - one.value for value, one in zip(truth.limited, ends, strict=True)]
                low, high = (np.array([getattr(one, end) - one.value for one in ends])
                             for end in ("low", "high"))  # fmt: skip
                held.append(np.mean((low <= off) & (off <= high)))
                halved.append(np.mean((0.5 * low <= off) & (off <= 0.5 * high)))
    error = stats.norm.isf(ALPHA) * np.std(held, ddof=1) / len(held) ** 0.5
    assert np.mean(held) > 0.88 - error
    assert np.mean(halved) < 0.88 - error


def alone(*_: object) -> None:
    """Stand in for a prior: arms have nothing in common."""


def jeffreys(rng: object, events: object, counts: object, draws: int) -> priors.BetaPrior:
    return priors.BetaPrior(np.full(draws, 0.5), np.zeros(draws))


def safest_is_believed(rare: bool, number: int) -> bool:
    """Tell whether the safest-looking of thirty arms that all break the limit passes in 95%.

    They do so by a third of a standard error, or fail in 1.3% of 200 pulls where 1% are allowed.
    """
    rng, arms, pulls = np.random.default_rng([number, rare]), 30, 200
    limit = 0.01 if rare else 0.0
    problem = Problem.parse("minimize mean(x)", f"mean(y) <= {limit}")
    book = Book(problem, [f"arm {i}" for i in range(arms)], ["x", "y"])
    for arm in range(arms):
        risks = rng.random(pulls) < 0.013 if rare else rng.normal(0.3 * pulls**-0.5, 1.0, pulls)
        book.add(arm, np.column_stack([rng.normal(size=pulls), risks]))
    answers = drawn_answers(
        verdict_stream(number),
        Snapshot(book).beliefs,
        np.ones(2),
        np.array([limit]),
        arms=range(arms),
    )
    return bool(answers.passing.max() >= 0.95)


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("is_planted", [False, True])
def test_the_luckiest_of_thirty_is_believed_only_without_what_arms_have_in_common(
    monkeypatch: pytest.MonkeyPatch, rare: bool, is_planted: bool
) -> None:
    """The planted fault: priors that know nothing of the other arms."""
    if is_planted:
        monkeypatch.setattr(beliefs, "normal_prior", alone)
        monkeypatch.setattr(beliefs, "beta_prior", jeffreys)
    believed = sum(safest_is_believed(rare, number) for number in range(60))
    assert too_many(believed, 60, 0.08) == is_planted, believed
