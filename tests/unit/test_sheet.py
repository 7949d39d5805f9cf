"""What a study's page shows beside its charts: arms in order, and limits to play with."""

import math
from collections import Counter

import pytest

from ringfence.core.problem import Problem
from ringfence.reports.ordering import ordered_arms, shown_arms
from ringfence.reports.sheet import KIND_WORDS, limits_of
from ringfence.reports.verdict import findings, flip_sentence
from ringfence.study.verdict import ArmVerdict, Estimate, Flip, Outcome, Status, Verdict

PROBLEM = Problem.parse("maximize mean(score)", ["mean(ms) <= 200", "mean(cost) >= 3"])


def arm(name: str, kind: str | None, score: float = 0.0, margin: float = 0.0) -> ArmVerdict:
    def at(value: float) -> Estimate:
        return Estimate(value, value - 1.0, value + 1.0)

    estimates = {
        "mean(score)": at(score),
        "mean(ms)": at(200.0 + 10.0 * margin),
        "mean(cost)": at(4),
    }
    return ArmVerdict(
        name=name, pulls=5, estimates={} if kind is None else estimates, status=Status.RUNNING,
        margin=None if kind is None else margin, kind=kind,  # type: ignore[arg-type]
        blocked_by=("mean(ms) <= 200",) if margin > 0.0 else (),
    )  # fmt: skip


def verdict(*arms: ArmVerdict, flips: tuple[Flip, ...] = ()) -> Verdict:
    best = next(one.name for one in arms if one.kind == "optimal")
    return Verdict(
        study="s", arm=best, feasible=True, verdict=Outcome.FEASIBLE, confidence=0.9,
        chance_feasible=1.0, chance_keeps_limits=0.97, pulls_used=9, budget=10, finished=False,
        arms=arms, flips=flips, exact=(), brought=0, apparent=best, answer=(best,),
        problem=PROBLEM,
    )  # fmt: skip


def test_arms_come_in_the_order_of_a_reader() -> None:
    found = verdict(
        arm("unseen", None),
        arm("far", "infeasible-suboptimal", 0.1, 3.0),
        arm("near", "infeasible-suboptimal", 0.1, 1.0),
        arm("deceiver", "deceiver", 0.9, 2.0),
        arm("last", "feasible-suboptimal", 0.2, -1.0),
        arm("second", "feasible-suboptimal", 0.7, -2.0),
        arm("best", "optimal", 0.8, -1.0),
    )
    names = [one.name for one in ordered_arms(found)]
    assert names == ["best", "second", "last", "deceiver", "near", "far", "unseen"]
    assert set(KIND_WORDS) >= {one.kind for one in found.arms}


def test_of_many_arms_every_kind_is_shown() -> None:
    arms = [arm("best", "optimal", 1.0, -1.0)]
    arms += [arm(f"good {k}", "feasible-suboptimal", 0.5 - k / 1000, -1.0) for k in range(300)]
    arms += [arm(f"trap {k}", "deceiver", 2.0, 1.0 + k) for k in range(300)]
    arms += [arm(f"bad {k}", "infeasible-suboptimal", 0.0, 1.0 + k) for k in range(2)]
    shown = shown_arms(verdict(*arms), 41)
    assert len(shown) == 41
    assert shown[0].name == "best"
    kinds = Counter(one.kind for one in shown)
    assert kinds["infeasible-suboptimal"] == 2
    assert kinds["deceiver"] == kinds["feasible-suboptimal"] == 19
    assert [one.name for one in shown if one.kind == "deceiver"][:2] == ["trap 0", "trap 1"]
    assert shown_arms(verdict(*arms), 1000) == ordered_arms(verdict(*arms))
    said = findings(verdict(*arms))
    assert len(said) == 5
    assert said[-1] == "296 more arms do so too."


def test_an_equal_objective_is_not_called_better() -> None:
    """As in the paper, a deceiver's objective may be that of the answer."""
    arms = (
        arm("best", "optimal", 1.0, -1.0),
        arm("a", "deceiver", 1.0, 1.0),
        arm("b", "deceiver", 2.0, 1.0),
    )
    assert findings(verdict(*arms)) == [
        "b looks better by mean(score), but over mean(ms) <= 200 (210).",
        "a is as good by mean(score), but over mean(ms) <= 200 (210).",
    ]


@pytest.mark.parametrize(
    ("flip", "said"),
    [
        (Flip("mean(ms) <= 200", 210.5, "b"), "With 210.5 for the threshold in mean(ms) <= 200, b"),
        (Flip("mean(ms) <= 0.03", -5e-324, None, 0.0), "With a threshold below 0 in mean(ms) <= 0"),
        (Flip("mean(ms) >= 3", math.nextafter(9.1, 10), "b", 9.1), "With a threshold above 9.1 in"),
    ],
)
def test_a_flip_is_worded_without_the_last_digit(flip: Flip, said: str) -> None:
    assert flip_sentence(flip).startswith(said)


def test_a_slider_reaches_what_was_seen_its_threshold_and_where_answers_change() -> None:
    flips = (Flip("mean(ms) <= 200", 150.0, "b"), Flip("mean(cost) >= 3", 9.0, None))
    found = verdict(arm("best", "optimal", 1.0, -1.0), arm("b", "deceiver", 2.0, 4.0), flips=flips)
    delay, cost = limits_of(PROBLEM, found)
    assert (delay.text, delay.attribute, delay.relation) == ("mean(ms) <= 200", "mean(ms)", "<=")
    assert delay.low == pytest.approx(150.0 - 4.5)
    assert delay.high == pytest.approx(240.0 + 4.5)
    assert delay.flips == flips[:1]
    assert (cost.place, cost.flips) == (1, flips[1:])
    assert cost.low < 3.0 < 9.0 < cost.high


def test_a_slider_is_never_without_length() -> None:
    problem = Problem.parse("maximize mean(score)", ["mean(cost) >= 4"])
    (limit,) = limits_of(problem, verdict(arm("best", "optimal")))
    assert limit.low < 4.0 < limit.high
    (zero,) = limits_of(Problem.parse("maximize mean(score)", ["mean(x) <= 0"]),
                        verdict(arm("best", "optimal")))  # fmt: skip
    assert zero.low < 0.0 < zero.high
