"""What people read of a verdict: no word is surer than its chance, an open end is called open."""

import math
from dataclasses import replace
from typing import Any

import pytest

from ringfence.core.problem import Problem
from ringfence.reports.chances import percent
from ringfence.reports.charts.map import map_chart
from ringfence.reports.departures import departure
from ringfence.reports.ordering import ordered_arms, shown_arms
from ringfence.reports.verdict import (
    findings,
    headline,
    interval,
    outside,
    reason,
    sentence,
    verdict_document,
)
from ringfence.study.unseen import Doubt
from ringfence.study.verdict import ArmVerdict, Estimate, Verdict
from tests.unit.drawing import BROKE, make_arm, make_plan, make_verdict

OVER = "mean(loss) <= 4"


def two(**changes: Any) -> Verdict:
    arms = [make_arm("b", "optimal", -1.0, 1.0), make_arm("a", "feasible-suboptimal", -1.0, 2.0)]
    return make_verdict(arms, **changes)


@pytest.mark.parametrize(
    ("confidence", "keeps", "said"),
    [
        (
            0.97,
            0.982,
            (
                "b is the best feasible arm: 98.2% sure that it keeps its limits, 97.0% that "
                "it is the best that does."
            ),
        ),
        (
            0.613,
            0.982,
            (
                "b is feasible, and probably the best such arm: 98.2% sure that it keeps "
                "its limits, 61.3% that it is the best that does."
            ),
        ),
        (
            0.31,
            1.0,
            (
                "b is feasible, and perhaps the best such arm: more than 99.9% sure that it "
                "keeps its limits, 31.0% that it is the best that does."
            ),
        ),
        (
            1.0,
            1.0,
            (
                "b is the best feasible arm: more than 99.9% sure that it keeps its limits and "
                "is the best that does."
            ),
        ),
    ],
)
def test_a_feasible_arm_is_called_the_best_only_where_that_is_likely(
    confidence: float, keeps: float, said: str
) -> None:
    verdict = two(confidence=confidence, chance_keeps_limits=keeps)
    assert sentence(verdict) == said
    assert sentence(replace(verdict, finished=False)) == f"So far: {said}"


@pytest.mark.parametrize(
    ("confidence", "chance", "said"),
    [
        (
            0.96,
            0.02,
            (
                "No arm is feasible; a comes nearest: 98.0% sure that none is, 96.0% that a "
                "is the nearest."
            ),
        ),
        (
            0.6,
            0.0,
            (
                "No arm is feasible; a probably comes nearest: more than 99.9% sure that none "
                "is, 60.0% that a is the nearest."
            ),
        ),
        (
            0.3,
            0.0,
            (
                "No arm is feasible; a may be nearest: more than 99.9% sure that none is, 30.0% "
                "that a is the nearest."
            ),
        ),
        (1.0, 0.0, "No arm is feasible; a comes nearest: more than 99.9% sure of both."),
    ],
)
def test_where_none_is_feasible_the_nearest_is_as_sure_as_it_is(
    confidence: float, chance: float, said: str
) -> None:
    arms = [make_arm("a", "optimal", 1.0, 1.0), make_arm("b", "infeasible", 2.0, 1.0)]
    assert sentence(make_verdict(arms, confidence=confidence, chance_feasible=chance)) == said


def test_too_close_to_call_says_what_is_missing() -> None:
    close = two(verdict="too-close-to-call", chance_keeps_limits=0.8)
    assert sentence(close) == (
        "Too close to call: b looks best, but is only 80.0% likely to keep its limits."
    )
    assert headline(close) == "too close to call: b looks best"
    none = make_verdict(
        [make_arm("a", "optimal", 1.0, 1.0)], verdict="too-close-to-call", chance_feasible=0.123,
        finished=False,
    )  # fmt: skip
    assert sentence(none) == (
        "So far: too close to call: no arm looks feasible and a comes nearest, but it is 12.3% "
        "likely that some arm is feasible."
    )


@pytest.mark.parametrize(
    ("margin", "keeps", "said"),
    [
        (0.1, 0.7, "By estimates alone b looks not feasible, but the opposite is likelier."),
        (0.1, 0.14, None),  # the rule's own chances had another opinion
        (-0.1, 0.3, "By estimates alone b looks feasible, but the opposite is likelier."),
        (-0.1, 0.8, None),
    ],
)
def test_the_opposite_of_what_it_looks_is_called_likelier_only_where_it_is(
    margin: float, keeps: float, said: str | None
) -> None:
    arm = make_arm("b", "optimal", margin, 1.0, blocked_by=("mean(loss) <= 0.9",) * (margin > 0))
    verdict = make_verdict(
        [arm], feasible=margin > 0, verdict="too-close-to-call", chance_keeps_limits=keeps
    )
    assert [line for line in findings(verdict) if "alone" in line] == [said] * (said is not None)


@pytest.mark.parametrize(
    ("chance", "is_called", "rather"),
    [
        (0.6, "is the likeliest answer", "b is likelier to be right"),
        (0.2, "is what the policy names", "the policy names b"),
    ],
)
def test_an_answer_is_called_likelier_only_where_its_chance_is_larger(
    chance: float, is_called: str, rather: str
) -> None:
    arms = [
        make_arm("b", "optimal", -1.0, 1.0, chance_best=chance),
        make_arm("a", "feasible-suboptimal", -0.1, 0.9, chance_best=0.3),
    ]
    verdict = make_verdict(arms, apparent="a", verdict="too-close-to-call", chance_keeps_limits=0.9)
    assert f"b {is_called}, but" in sentence(verdict)
    assert f"By estimates alone a looks best, and feasible, but {rather}." in findings(verdict)
    assert reason(arms[1], verdict) == f"looks best, but {rather}"


def test_doubts_are_said_first_with_what_helps_and_counted() -> None:
    unseen = [Doubt("unseen", f"arm {k}", "mean(fail)", 10) for k in range(6)]
    verdict = two(verdict="too-close-to-call", doubts=tuple(unseen), exact=("mean(fail)", "p50(x)"))
    assert sentence(verdict).endswith("but what was not seen could change the answer.")
    arms = [make_arm("a", "optimal", 1.0, 1.0)]
    none = make_verdict(arms, verdict="too-close-to-call", doubts=tuple(unseen))
    assert sentence(none) == (
        "Too close to call: no arm looks feasible and a comes nearest, but what was not seen could "
        "change the answer."
    )
    said = findings(verdict)
    assert said[0].startswith("mean(fail) of arm 0 never varied in 10 pulls: values that were not")
    assert said[4:6] == [
        "2 more are in doubt for the same reason.",
        (
            "Before the first pull a constant can be stated as exact under [noise], and how far "
            "values may lie as bounds. Else more pulls may show them."
        ),
    ]
    assert said[6:] == ["p50(x) never varied: it is taken to be exact."]  # the other is in doubt
    failed = Doubt("failures", "b", None, 40, failed=5)
    said = findings(two(verdict="too-close-to-call", doubts=(failed,)))
    assert said == [
        (
            "b has 5 failed pulls beside 40 told: were each as bad as can be, the answer would be "
            "another."
        ),
        "What a failed pull counts as can be stated: on_failure and on_timeout under [pull].",
    ]


def test_failures_of_the_answer_that_told_nothing_are_said() -> None:
    """They speak of the others only: an option that times out may be the fastest in the rest."""
    b = make_arm("b", "optimal", -1.0, 1.0, pulls=178, failed=22, untold=22)
    said = findings(make_verdict([b]))
    assert said == [
        "22 of 200 pulls of b failed and told nothing: what is said of it rests on the others.",
        "What a failed pull counts as can be stated: on_failure and on_timeout under [pull].",
    ]
    stated = make_arm("b", "optimal", -1.0, 1.0, pulls=200, failed=22)
    assert findings(make_verdict([stated])) == []
    doubt = Doubt("failures", "b", None, 178, failed=22)
    said = findings(make_verdict([b], verdict="too-close-to-call", doubts=(doubt,)))
    assert len(said) == 2
    assert said[0].startswith("b has 22 failed pulls beside 178 told")


def test_what_looks_past_a_limit_is_worded_as_an_estimate() -> None:
    past = make_arm("a", "deceiver", 1.0, 5.0, blocked_by=(OVER,), chance_feasible=0.37)
    limits = Problem.parse("minimize mean(loss)", [OVER, "mean(loss) <= 3", "mean(loss) >= 7"])
    verdict = make_verdict([past, make_arm("b", "optimal", -1.0, 6.0)], problem=limits)
    assert outside(past, verdict) == "over mean(loss) <= 4 (5): 63.0% likely infeasible"
    assert reason(past, verdict) == f"looks {outside(past, verdict)}"
    assert reason(past, verdict, brief=True) == "looks over mean(loss) <= 4"
    assert findings(verdict) == [f"a looks better by mean(loss), but {outside(past, verdict)}."]
    under = replace(past, blocked_by=("mean(loss) >= 7",), chance_feasible=None)
    assert outside(under, verdict) == "under mean(loss) >= 7 (5)"
    unclear = replace(past, blocked_by=(OVER, "mean(loss) <= 3"), chance_feasible=0.0001)
    assert outside(unclear, verdict) == (
        "over mean(loss) <= 4 (5) and over mean(loss) <= 3 (5): more than 99.9% likely infeasible"
    )


def test_no_word_says_that_an_estimate_breaks_a_limit() -> None:
    arms = [
        make_arm("b", "optimal", -1.0, 6.0),
        make_arm("a", "deceiver", 1.0, 5.0, blocked_by=(OVER,), chance_feasible=0.37),
        make_arm("c", "infeasible-suboptimal", 1.0, 9.0, blocked_by=(OVER,)),
    ]
    verdict = make_verdict(arms)
    words = [sentence(verdict), *findings(verdict), *(reason(arm, verdict) for arm in arms)]
    chart = map_chart(make_plan(["a"]), verdict, [])
    words += [str(chart.to_dict()["title"]), str(chart.to_dict()["description"])]
    assert not any("break" in line for line in words)


def test_a_withdrawn_arm_is_named_with_its_last_error() -> None:
    gone = make_arm("a", None, None, 0.0, left=BROKE, error="boom")
    verdict = make_verdict([make_arm("b", "optimal", -1.0, 1.0), gone])
    assert findings(verdict) == [f"a was {departure(BROKE)} (the last error: boom)."]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.0, 2.0, "1 to 2"),
        (3.1, math.inf, "at least 3.1"),
        (-math.inf, 4.2, "at most 4.2"),
        (-math.inf, math.inf, "open"),
    ],
)
def test_an_end_that_the_data_cannot_give_is_open(low: float, high: float, said: str) -> None:
    assert interval(low, high) == said


def test_open_ends_can_be_drawn() -> None:
    estimates = {"mean(loss)": Estimate(2.0, -math.inf, math.inf)}
    arms = [
        make_arm("b", "optimal", -1.0, 1.0, margin_low=-math.inf, margin_high=-0.5),
        make_arm("a", "deceiver", 1.0, 0.5, estimates=estimates, margin_high=math.inf),
    ]
    text = map_chart(make_plan(["a"]), make_verdict(arms), []).to_json()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert "2 (open)" in text
    assert "-1 (at most -0.5)" in text
    (alone,) = [replace(arms[0], estimates=estimates)]
    assert "NaN" not in map_chart(make_plan(["a"]), make_verdict([alone]), []).to_json()


@pytest.mark.parametrize(
    ("chance", "said"),
    [(1.0, "more than 99.9%"), (0.9991, "more than 99.9%"), (0.999, "99.9%"), (0.5, "50.0%"),
     (0.001, "0.1%"), (0.0009, "less than 0.1%"), (0.0, "less than 0.1%")],
)  # fmt: skip
def test_a_chance_is_no_more_exact_than_draws(chance: float, said: str) -> None:
    assert percent(chance) == said


def test_failures_and_chances_are_in_the_document() -> None:
    arms = [make_arm("b", "optimal", -1.0, 1.0, failed=3, chance_best=0.9, chance_feasible=0.98)]
    doubt = Doubt("failures", "b", None, 10, failed=3)
    document = verdict_document(make_verdict(arms, chance_keeps_limits=0.98, doubts=(doubt,)))
    assert document["chance_keeps_limits"] == 0.98
    (arm,) = document["arms"]
    assert (arm["failed"], arm["chance_best"], arm["chance_feasible"]) == (3, 0.9, 0.98)
    assert document["doubts"] == [
        {"kind": "failures", "arm": "b", "attribute": None, "pulls": 10, "failed": 3}
    ]


# --------------------------------------------------------------------------------------
# The order of arms
# --------------------------------------------------------------------------------------


def names(arms: list[ArmVerdict]) -> list[str]:
    return [arm.name for arm in arms]


def test_the_answer_comes_first_then_what_looks_feasible_by_the_objective() -> None:
    """The arm that looks best need not be the answer; of the others the best come first."""
    arms = [
        make_arm("unseen", None, None, 0.0),
        make_arm("worse", "infeasible-suboptimal", 1.0, 7.0),
        make_arm("trap", "deceiver", 3.0, 2.0),
        make_arm("greater trap", "deceiver", 4.0, 1.0),
        make_arm("poor", "feasible-suboptimal", -1.0, 9.0),
        make_arm("fair", "feasible-suboptimal", -1.0, 6.0),
        make_arm("looks best", "feasible-suboptimal", -0.1, 4.0),
        make_arm("answer", "optimal", -2.0, 5.0),
    ]
    ordered = ["answer", "looks best", "fair", "poor", "greater trap", "trap", "worse", "unseen"]
    assert names(ordered_arms(make_verdict(arms, apparent="looks best"))) == ordered


def test_where_none_looks_feasible_the_nearest_come_first() -> None:
    arms = [make_arm(f"{k}", "infeasible", float(k), 10.0 - k) for k in (4, 2, 3)]
    verdict = make_verdict([*arms, make_arm("1", "optimal", 1.0, 9.0)])
    assert names(ordered_arms(verdict)) == ["1", "2", "3", "4"]


def test_of_very_many_arms_those_that_may_be_the_answer_are_shown() -> None:
    arms = [make_arm(f"{k}", "feasible-suboptimal", -1.0, 10.0 + k) for k in range(40)]
    arms[39] = replace(arms[39], chance_best=0.3)
    arms[38] = replace(arms[38], chance_best=0.009)
    verdict = make_verdict([*arms, make_arm("best", "optimal", -1.0, 1.0)])
    assert names(shown_arms(verdict, 3)) == ["best", "0", "39"]
