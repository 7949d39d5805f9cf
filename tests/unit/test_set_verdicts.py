"""Verdicts on sets: what is claimed of all named arms at once, and how it is said."""

from typing import Any

import pytest

from ringfence.interfaces.studies import Study
from ringfence.reports.cards import cards_of
from ringfence.reports.ordering import ordered_arms
from ringfence.reports.sets import listed
from ringfence.reports.verdict import findings, reason, remarks, sentence
from ringfence.study.facts import Cause
from ringfence.study.verdict import Outcome, Status, Verdict

RISKS = {"a": 0.2, "b": 0.6, "c": 1.6, "d": 0.4}


def make(policy: str = "uniform", limit: float = 1.0, **changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": list(RISKS),
        "objective": "minimize mean(cost)",
        "constraints": f"mean(risk) <= {limit}",
        "answer": "all feasible",
        "policy": policy,
        "budget": 80,
        "seed": 4,
        "storage": "memory://",
    }
    return Study.create("s", **plain | changes)


def evaluate(arm: str, seed: int) -> dict[str, float]:
    off = (seed % 11 - 5) / 10
    return {"cost": 2.0 - RISKS[arm] + (seed % 7 - 3) / 10, "risk": RISKS[arm] + off}


def judged(policy: str = "uniform", limit: float = 1.0, **changes: Any) -> Verdict:
    verdict = make(policy, limit, **changes).optimize(evaluate)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize("policy", ["uniform", "constrained-sr", "top-two", "apt"])
def test_all_named_arms_keep_their_limits_and_the_best_of_them_is_named(policy: str) -> None:
    verdict = judged(policy)
    assert (verdict.answer, verdict.arm) == (("a", "b", "d"), "b")
    assert (verdict.verdict, verdict.feasible, verdict.apparent) == ("feasible", True, "b")
    assert 0.95 < verdict.confidence <= verdict.chance_keeps_limits
    kinds = {arm.name: arm.kind for arm in verdict.arms}
    assert kinds == {"a": "optimal", "b": "optimal", "c": "infeasible", "d": "optimal"}
    assert sentence(verdict).startswith("3 arms keep their limits: a, b and d; ")
    assert [arm.name for arm in ordered_arms(verdict)] == ["b", "d", "a", "c"]


def test_chances_are_those_of_arms_that_are_asked_about_alone() -> None:
    """A set is right where each of its arms is: between what chances of single arms allow."""
    verdict = judged(limit=0.9, noise={"risk": {"sigma": 2.0}, "cost": {"sigma": 1.0}})
    alone = {arm.name: arm.chance_feasible or 0.0 for arm in verdict.arms}
    assert {arm.name: arm.chance_best for arm in verdict.arms} == alone
    inside = [alone[name] for name in verdict.answer]
    others = [1.0 - chance for name, chance in alone.items() if name not in verdict.answer]
    assert len(inside) == 3
    kept, right = verdict.chance_keeps_limits, verdict.confidence
    assert sum(inside) - 2.0 <= kept < min(inside) - 0.01
    assert sum(inside + others) - 3.0 <= right < kept - 0.01
    assert verdict.verdict == Outcome.TOO_CLOSE
    assert "likely that they all keep their limits" in sentence(verdict)


def test_where_nobody_is_named_no_arm_is_and_nothing_fails() -> None:
    study = make("constrained-sr", limit=-1.0)
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert (verdict.answer, verdict.arm, verdict.apparent) == ((), None, None)
    assert (verdict.verdict, verdict.feasible) == ("infeasible", False)
    assert verdict.chance_keeps_limits == 0.0
    assert sentence(verdict) == "No arm keeps its limits: more than 99.9% sure."
    assert study.status().arm is None
    assert study.record()
    assert study.frame("arms").shape[0] == len(RISKS)
    for kind in ("map", "timeline", "allocation", "evidence"):
        assert study.figure(kind)
    assert study._repr_html_()


def test_settled_arms_lost_to_nobody_and_stay_in_the_set() -> None:
    study = make("constrained-sr")
    verdict = study.optimize(evaluate)
    assert verdict is not None
    left = [one for each in study.rounds() for one in each.left]
    assert {one.cause for one in left} == {Cause.SETTLED}
    assert {one.rival for one in left} == {None}
    assert not any(one.is_withdrawal for one in left)
    gone = {arm.name: arm for arm in verdict.arms if arm.status == Status.SETTLED}
    assert len(gone) == 3
    assert set(gone) & set(verdict.answer)
    assert reason(gone["c"], verdict).startswith("settled by constrained-sr in phase ")
    assert "; looks over mean(risk) <= 1 (" in reason(gone["c"], verdict)
    inside = next(arm for name, arm in gone.items() if name in verdict.answer)
    assert reason(inside, verdict).endswith("; looks feasible")
    rounds = [one for one in study.rounds() if one.left]
    cards = cards_of(study.desk.plan, verdict, rounds, list(RISKS))
    assert sorted(card.headline for card in cards) == ["in the answer"] + ["settled"] * 3
    assert "against" not in str(findings(verdict))


def test_a_threshold_that_moves_changes_the_set() -> None:
    study = make()
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert [set(flip.arms) for flip in verdict.flips] == [{"a", "d"}, {"a", "b", "c", "d"}]
    assert study.what_if(0, 0.5).answer == ("a", "d")
    assert any("2 arms would look feasible: " in line for line in remarks(verdict))


def test_what_was_not_seen_is_doubted_of_every_named_arm() -> None:
    """A waste that never varied may break its limit; who is not named claims nothing of it."""
    study = make(constraints=["mean(risk) <= 1", "mean(waste) <= 5"])
    for pull in study.pulls():
        waste = 100.0 * (pull.ordinal % 2) if pull.arm == "c" else 0.0
        study.tell(pull, evaluate(pull.arm, pull.seed) | {"waste": waste})
    verdict = study.recommend()
    assert verdict.verdict == Outcome.TOO_CLOSE
    assert verdict.answer == ("a", "b", "d")
    assert [(doubt.arm, doubt.attribute) for doubt in verdict.doubts] == [
        (name, "mean(waste)") for name in verdict.answer
    ]
    assert "what was not seen could change the answer" in sentence(verdict)


def test_withdrawn_arms_are_in_no_set() -> None:
    study = make(max_failures=1, budget=60)
    for pull in study.pulls():
        if pull.arm == "a":
            study.fail(pull, "gone")
        else:
            study.tell(pull, evaluate(pull.arm, pull.seed))
    assert study.recommend().answer == ("b", "d")


def test_names_are_listed_as_people_do() -> None:
    said = [listed(list(names)) for names in ("", "a", "ab", "abc")]
    assert said == ["", "a", "a and b", "a, b and c"]
    assert listed([str(k) for k in range(20)]).endswith("6, 7 and 12 more")
