"""The gate: one arm is proven to keep all its limits, or to break one, at a level of its own."""

import math
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.certificate import Passage, gated
from ringfence.core.grounds import grounds_of
from ringfence.core.problem import Problem
from ringfence.core.proving import Path, Prover
from ringfence.interfaces.leases import Pull
from ringfence.reports.certificate import gate_document, gate_sentence
from tests.unit.test_certificates import made, random_answer, told


def test_an_arm_passes_fails_or_stays_open() -> None:
    study = told(made(300))
    assert [study.gate(arm).status for arm in ("old", "new", "wild")] == [
        "keeps",
        "keeps",
        "breaks",
    ]
    assert gate_sentence(study.gate("new")) == "Passed at 95%: new keeps all its limits."
    failed = gate_sentence(study.gate("wild"))
    assert failed == "Failed at 95%: wild breaks mean(unsafe) <= 0.5."
    early = told(made(9)).gate("new")
    assert (early.status, [one.kind for one in early.open]) == ("open", ["keeps"])
    assert gate_sentence(early).startswith("Open at 95%")
    assert (early.open[0].needs or 0) > 0


def test_it_rests_on_the_limits_alone() -> None:
    """Nothing is known of the objective here, and the gate does not ask for it."""
    noise = {"unsafe": {"bounds": [0, 1]}}
    gate = told(made(300, noise=noise)).gate("new")
    assert gate.rests_on == {"unsafe": "exact"}
    assert not any(metric == "solved" for _, metric in gate.assumes)


def test_levels_are_those_of_one_arm_and_split_between_its_breaks_alone() -> None:
    limits = ["mean(unsafe) <= 0.5", "mean(solved) >= 0.2"]
    study = told(made(300, constraints=limits))
    kept = study.gate("new", 0.9)
    assert [one.level for one in kept.settled] == [pytest.approx(0.1)] * 2
    broken = study.gate("wild", 0.9)
    assert [one.level for one in broken.settled] == [pytest.approx(0.05)]
    assert kept.exploratory == ("level",)


def test_all_limits_must_be_proven_to_be_kept() -> None:
    limits = ["mean(unsafe) <= 0.5", "mean(solved) >= 0.9"]
    study = told(made(150, constraints=limits))
    gate = study.gate("new")
    assert gate.status == "open"
    assert [one.limit for one in gate.settled] == ["mean(unsafe) <= 0.5"]
    assert [one.limit for one in gate.open] == ["mean(solved) >= 0.9"]


def test_limits_may_be_relative_to_a_baseline() -> None:
    changes: dict[str, Any] = {
        "arms": ["old", "new"],
        "baseline": "old",
        "constraints": "mean(solved) >= baseline - 0.1",
        "noise": {"solved": {"bounds": [0, 1]}},
    }
    assert told(made(400, **changes)).gate("new").status == "keeps"

    def worse(pull: Pull) -> dict[str, float]:
        return {**random_answer(pull), "solved": float(pull.arm == "old")}

    assert told(made(400, **changes), worse).gate("new").status == "breaks"


def test_failures_count_against_who_wants_to_pass() -> None:
    def fails(pull: Pull) -> dict[str, float] | None:
        return None if pull.arm == "new" and pull.ordinal % 2 else {"solved": 1.0, "unsafe": 0.0}

    study = told(made(300, max_failures=10), fails)
    assert study.gate("old").status == "keeps"
    assert study.gate("new").status == "open"


def test_it_is_taken_from_the_study_and_refused_where_nothing_can_be_proven() -> None:
    assert told(made(300, stop={"confidence": 0.9})).gate("new").confidence == 0.9
    assert told(made(300, stop={"confidence": 0.9})).gate("new").exploratory == ()
    with pytest.raises(rf.InputError, match="arm 'newer' is not in study"):
        made().gate("newer")
    with pytest.raises(rf.InputError, match="confidence = 1 must be a number"):
        made().gate("new", 1)
    with pytest.raises(rf.InputError, match=r"blocks\.every"):
        made(blocks={"every": "1h"}).gate("new")


def test_the_document_has_all_that_programs_ask_for() -> None:
    found = gate_document(told(made(300)).gate("wild"))
    assert (found["candidate"], found["status"], found["confidence"]) == ("wild", "breaks", 0.95)
    assert found["settled"][0]["question"] == "wild breaks mean(unsafe) <= 0.5"


@pytest.mark.parametrize("truth", ["on all its limits", "breaks one by a hair"])
def test_a_gate_is_rarely_wrong_whenever_one_looks(truth: str) -> None:
    """With levels that are not split an arm on six limits is failed in two of five studies."""
    limits = [f"mean({name}) <= 0.3" for name in "abcdef"]
    problem = Problem.parse("maximize mean(x)", limits).judged
    size, runs, doubt = 60, 200, 0.2
    at_limit = 18 if truth == "on all its limits" else 0
    false = Passage.BREAKS if truth == "on all its limits" else Passage.KEEPS
    ones = dict.fromkeys("abcdef", at_limit) | ({} if at_limit else {"a": 19}) | {"x": 0}
    bounds = dict.fromkeys(problem.metrics, (0.0, 1.0))
    rng, wrong = np.random.default_rng(3), 0
    for _ in range(runs):
        values = np.zeros((size, len(problem.metrics)))
        for column, metric in enumerate(problem.metrics):
            values[rng.permutation(size)[: ones[metric]], column] = 1.0
        grounds = grounds_of(problem, values, bounds=bounds, shares=np.zeros(7, np.bool_))
        # the largest e-value of a path is kept, so that one look is as good as all before it
        looked = Prover(problem, [Path.of(values[:-1])], grounds, size=size)
        wrong += gated(looked, 0, 1.0 - doubt).status == false
    assert wrong / runs <= doubt + 3.0 * math.sqrt(doubt * (1.0 - doubt) / runs)
