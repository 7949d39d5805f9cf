"""Why an arm was dropped: what was compared, what decided, and who was next."""

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.gaps import gap, pair
from ringfence.reports.cards import Card, cards_of
from ringfence.reports.departures import departure
from ringfence.storage.memory import MemoryStorage
from tests.unit.drawing import BROKE

TRUTHS = {
    "slow": (0.9, 240.0),
    "medium": (0.8, 180.0),
    "quick": (0.7, 120.0),
    "poor": (0.3, 90.0),
    "worst": (0.2, 400.0),
}


def evaluate(arm: str, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    score, delay = TRUTHS[arm]
    return {"score": score + 0.1 * rng.normal(), "ms": delay + 20.0 * rng.normal()}


def run(policy: str, *, limit: float = 200.0, breaks: str | None = None) -> rf.Study:
    study = rf.Study.create(
        "cards",
        arms=list(TRUTHS),
        objective="maximize mean(score)",
        constraints=[f"mean(ms) <= {limit}"],
        budget=300,
        policy=policy,
        storage=MemoryStorage(),
        seed=5,
    )

    def work(arm: str, seed: int) -> dict[str, float]:
        if arm == breaks:
            raise OSError("gone")
        return evaluate(arm, seed)

    study.optimize(work)
    return study


def cards(study: rf.Study) -> dict[str, Card]:
    verdict = study.recommend()
    found = cards_of(study.desk.plan, verdict, study.desk.turns(), list(TRUTHS))
    return {card.arm: card for card in found}


@pytest.mark.parametrize(
    "policy", ["constrained-sr", "sequential-halving", "infeasible-first", "glr-halving"]
)
def test_a_dropped_arm_is_told_with_the_numbers_that_decided(policy: str) -> None:
    study = run(policy)
    plan, found = study.desk.plan, cards(study)
    departures = study.view().departures
    assert len(departures) == 4
    for gone in departures:
        one = gone.rejection
        seen = study.desk.rounds()[gone.round].seen
        card = found[plan.definition.arm_names[one.arm]]
        assert (card.left, card.headline) == (True, "dropped")
        assert f"the end of phase {gone.round}" in card.lines[0]
        assert f"{seen['counts'][one.arm]:,} pulls" in card.lines[0]
        if one.rival is not None:
            rival = plan.definition.arm_names[one.rival]
            again = gap(*pair(
                np.array(seen["estimates"]), one.rival, one.arm, np.array(seen["scales"]),
                plan.problem.thresholds,
            ))  # fmt: skip
            assert again == one.gap
            assert f"{rival} looked best. The gap to it was {again:.3g}" in card.lines[1]
            assert card.columns == (card.arm, rival)
        score, delay, margin = card.terms
        assert score.what == "mean(score)"
        assert score.values[0] == f"{-seen['estimates'][one.arm][0]:.4g}"  # as it was written
        assert delay.values[0] == f"{seen['estimates'][one.arm][1]:.4g}"
        assert margin.what.startswith("margin")


def test_arms_that_tie_are_named() -> None:
    """The cap makes distant arms tie: the best is nearer to its limit than they are to it."""
    lines = " ".join(line for card in cards(run("constrained-sr")).values() for line in card.lines)
    assert "The same gap had" in lines
    assert "The second decided, so arms further behind count the same." in lines


@pytest.mark.parametrize("policy", ["infeasible-first", "glr-halving"])
def test_a_policy_that_does_not_go_by_gaps_says_so(policy: str) -> None:
    lines = " ".join(line for card in cards(run(policy)).values() for line in card.lines)
    assert f"What {policy} goes by is not the gap" in lines
    for claim in ("The second decided", "The same gap had", "Next in line"):
        assert claim not in lines


def test_who_was_next_is_named_where_no_tie_was() -> None:
    found = cards(run("constrained-sr", limit=1000.0))
    assert "Next in line was poor" in " ".join(found["worst"].lines)
    assert not any("Next in line" in line for line in found["medium"].lines)


def test_a_withdrawn_arm_says_so() -> None:
    card = cards(run("constrained-sr", breaks="quick"))["quick"]
    assert (card.left, card.headline, card.terms) == (True, "withdrawn", ())
    assert departure(BROKE) in card.lines[0]
    assert card.lines[1].startswith("The last error: ")


def test_arms_that_stay_are_told_by_what_keeps_them_from_being_the_answer() -> None:
    found = cards(run("top-two"))
    assert found["medium"].headline == "the answer"
    assert found["slow"].lines[0].startswith("It looks better than medium by mean(score), but over")
    assert "mean(ms) <= 200 (2" in found["slow"].lines[0]
    quick = found["quick"].lines[0]
    assert quick.startswith(
        "It seems to keep every limit (more than 99.9% likely), but medium looks"
    )
    assert "It looks no better by mean(score) either." in found["worst"].lines[0]
    assert not any(card.left for card in found.values())


def test_when_nothing_is_feasible_the_nearest_is_told_as_such() -> None:
    found = cards(run("top-two", limit=50.0))
    assert "No arm looks feasible" in found["poor"].lines[0]
    assert found["slow"].lines[0].endswith("It looks further out than poor.")
