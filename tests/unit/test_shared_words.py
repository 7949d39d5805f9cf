"""What people read of a verdict where arms share items: of which ones it speaks, how surely."""

from dataclasses import replace
from typing import Any

import pytest

import ringfence as rf
from ringfence.reports.sharing import CAVEAT, caveat, claim, shared_in_words
from ringfence.reports.verdict import cautions, is_certain, remarks, sentence
from ringfence.study.verdict import MOST_BY_ONE_ANSWER, Verdict
from tests.unit.drawing import make_arm, make_verdict

SUCH = {"items": 40, "scope": "such", "repeats": 1}
THESE = SUCH | {"scope": "these"}
FIXED = THESE | {"evaluation": "deterministic"}
ARMS = ("small", "large", "larger")


def two(blocks: Any, **changes: Any) -> Verdict:
    arms = [make_arm("b", "optimal", -1.0, 1.0), make_arm("a", "feasible-suboptimal", -1.0, 2.0)]
    return make_verdict(arms, blocks=blocks, **changes)


def small(**blocks: Any) -> rf.Study:
    """Return a finished study in which every arm has seen all of twelve items."""
    study = rf.Study.create(
        "s", arms=list(ARMS), objective="maximize mean(right)", constraints="mean(seconds) <= 9",
        budget=36, policy="uniform", seed=3, storage="memory://", blocks={"items": 12, **blocks},
    )  # fmt: skip
    for pull in study.pulls():
        errs = {"small": 3, "large": 7, "larger": 11}[pull.arm]
        study.tell(pull, {"right": pull.item % errs > 0, "seconds": 5 + pull.item % 3})
    return study


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (None, ""),
        ({"seeds": True}, ""),
        ({"every": 3600}, ""),
        (SUCH, "on items such as these"),
        (SUCH | {"evaluation": "deterministic"}, "on items such as these"),
        (THESE, "on these 40 items, one answer each"),
        (FIXED, "on these 40 items"),
    ],
)
def test_a_verdict_says_of_which_items_it_speaks(blocks: Any, said: str) -> None:
    assert claim(blocks) == said
    verdict = two(blocks, confidence=0.97, chance_keeps_limits=0.97)
    plain = "b is the best feasible arm: 97.0% sure that it keeps its limits and is the best that"
    inner = f"{said}, {plain} does." if said else f"{plain} does."
    assert sentence(verdict, within=True) == inner
    assert sentence(verdict) == (f"O{inner[1:]}" if said else inner)
    assert sentence(replace(verdict, finished=False)) == f"So far: {inner}"


@pytest.mark.parametrize(
    ("every", "said"),
    [(3600, "1 hour"), (7200, "2 hours"), (86_400, "1 day"), (1800, "30 minutes"),
     (60, "1 minute"), (90, "90 seconds"), (129_600, "36 hours")],
)  # fmt: skip
def test_times_are_said_in_units_that_people_use(every: float, said: str) -> None:
    assert shared_in_words({"every": every}) == f"stretches of {said}"


@pytest.mark.parametrize("blocks", [SUCH, THESE, FIXED, {"seeds": True}, {"every": 3600}])
def test_nothing_that_is_shared_is_called_independent(blocks: Any) -> None:
    assert "independent" in " ".join(remarks(two(None)))
    assert "independent" not in " ".join(remarks(two(blocks)))
    assert caveat(blocks).startswith("Probabilities are approximate")
    assert caveat(None) == CAVEAT


def test_only_one_answer_each_may_be_answered_otherwise() -> None:
    said = [blocks for blocks in (SUCH, THESE, FIXED) if "otherwise" in caveat(blocks)]
    assert said == [THESE]


def test_what_was_seen_whole_and_does_not_vary_is_certain() -> None:
    verdict = small(scope="these", evaluation="deterministic").recommend()
    assert verdict.confidence == 1.0
    assert is_certain(verdict)
    said = "On these 12 items, larger is the best feasible arm: that is certain."
    assert sentence(verdict) == said
    assert cautions(verdict) == []
    assert "approximate" not in " ".join(remarks(verdict))


@pytest.mark.parametrize(("scope", "most"), [("these", MOST_BY_ONE_ANSWER), ("such", 1.0)])
def test_nothing_else_is_certain(scope: str, most: float) -> None:
    verdict = small(scope=scope).recommend()
    assert verdict.confidence <= most
    assert not is_certain(verdict)
    assert not is_certain(replace(verdict, confidence=1.0))
    assert "certain" not in sentence(verdict)


def test_what_was_not_seen_whole_is_not_certain() -> None:
    verdict = small(scope="these", evaluation="deterministic").recommend()
    first, *rest = verdict.arms
    assert not is_certain(replace(verdict, arms=(replace(first, pulls=11), *rest)))
    assert not is_certain(replace(verdict, confidence=0.9999))
