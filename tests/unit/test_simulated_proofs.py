"""Replications that end when their answer is proven: what they count, and what they refuse."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.core.looks import looks
from ringfence.core.stop import Stop
from ringfence.policies.registry import find_policy
from ringfence.simulation import cpu, reference
from ringfence.simulation.counts import Proofs
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from tests.choosing import LONG

EASY: dict[str, Any] = {
    "objective": "maximize mean(solved)",
    "constraints": ["mean(unsafe) <= 0.4"],
    "metrics": ["solved", "unsafe"],
    "noise": {"family": ["bernoulli", "bernoulli"]},
    "arms": {
        "good": {"mean": [0.9, 0.05]},
        "poor": {"mean": [0.2, 0.05]},
        "rash": {"mean": [0.95, 0.95]},
    },
}


def easy(**changes: Any) -> Instance:
    return Instance.from_dict(EASY | changes, name="easy")


def run(instance: Instance, policy: str = "uniform", **changes: Any) -> Any:
    given: dict[str, Any] = {
        "budget": 600,
        "engine": "reference",
        "replications": 6,
        "stop": 0.95,
    } | changes
    return rf.simulate(instance, policy, **given)


@pytest.mark.parametrize("policy", ["uniform", "top-two", "constrained-sr"])
def test_pulls_end_with_a_proof(policy: str) -> None:
    found = run(easy(), policy)
    assert found.certified_rate == 1.0
    assert found.wrong_certified_rate == 0.0
    assert found.errors == 0
    assert 20 < found.pulls_used_mean < 300
    assert sum(found.mean_pulls.values()) == pytest.approx(found.pulls_used_mean)
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["stop"] == {"confidence": 0.95, "within": 0.0}
    low, middle, high = (facts["pulls_used_quantiles"][key] for key in ("0.1", "0.5", "0.9"))
    assert low <= middle <= high
    assert facts["certified_rate"] == 1.0


def test_without_a_stop_nothing_is_told_of_proofs() -> None:
    assert "certified_rate" not in run(easy(), stop=None).to_dict()


def test_a_surer_proof_takes_more_pulls_and_a_looser_one_fewer() -> None:
    near = easy(arms={"good": {"mean": [0.9, 0.05]}, "poor": {"mean": [0.6, 0.05]}})
    used = [
        run(near, stop=stop, budget=600).pulls_used_mean
        for stop in (0.6, 0.95, 0.999, {"confidence": 0.95, "within": 0.5})
    ]
    assert used[0] < used[1] < used[2]
    assert used[3] < used[1]


def test_that_no_arm_is_feasible_is_proven_whichever_comes_nearest() -> None:
    arms = {"a": {"mean": [0.9, 0.9]}, "b": {"mean": [0.5, 0.9]}}
    found = run(easy(arms=arms), "top-two")
    assert found.certified_rate == 1.0
    assert found.wrong_certified_rate == 0.0
    assert found.wrong_flag == 0


def test_the_set_of_all_feasible_arms_is_proven() -> None:
    found = run(easy(), "apt", answer="all feasible")
    assert found.certified_rate == 1.0
    assert found.errors == 0
    assert found.chosen["rash"] == {"feasible": 0, "infeasible": 0}


def test_limits_relative_to_a_baseline_are_proven() -> None:
    instance = easy(
        constraints=["mean(unsafe) <= 3 * baseline"],
        arms=EASY["arms"] | {"main": {"mean": [0.5, 0.1]}},
        baseline="main",
    )
    found = run(instance, budget=4000)
    assert found.certified_rate == 1.0
    assert found.errors == 0


def test_normal_noise_needs_no_bounds() -> None:
    instance = rf.Instance.load("paper-3")
    found = run(instance, budget=400, replications=2)
    assert found.pulls_used_mean <= 400


def test_looks_are_those_of_live_studies() -> None:
    """It ends at a look, or with the budget."""
    experiment = Experiment(easy(), find_policy("top-two"), 3000, scales="estimated", stop=Stop())
    tally = reference.run_chunk(experiment, 1, 0, 8)
    for pulls in tally.pulled.tolist():
        assert looks(pulls) > looks(pulls - 1)
    assert (tally.proven == 1).all()


def test_settled_arms_get_nothing_more() -> None:
    """The arm that breaks its limit by far is out at once, and the close ones go on."""
    arms = EASY["arms"] | {"near": {"mean": [0.8, 0.05]}}
    for policy in ("top-two", "thompson"):
        found = run(easy(arms=arms), policy, budget=1500, replications=2)
        assert found.mean_pulls["rash"] < 60
        assert found.mean_pulls["near"] > 2 * found.mean_pulls["rash"]


def test_items_are_whole_numbers_and_ties_are_ties() -> None:
    """Both arms have exactly 29 of 100 at a limit of .29: seen whole, it is kept."""
    rng = np.random.default_rng(5)
    rows: dict[str, list[Any]] = {"arm": [], "item": [], "solved": [], "unsafe": []}
    for arm, solved in (("a", 60), ("b", 40)):
        rows["arm"] += [arm] * 100
        rows["item"] += list(range(100))
        rows["solved"] += rng.permutation([1] * solved + [0] * (100 - solved)).tolist()
        rows["unsafe"] += rng.permutation([1] * 29 + [0] * 71).tolist()
    found = rf.replay(
        rows, arm="arm", item="item", objective="maximize mean(solved)",
        constraints="mean(unsafe) <= 0.29", policies="uniform", replications=3, stop=0.95,
        budgets=[50, 200],
    )  # fmt: skip
    short, whole = (row.result for row in found.rows)
    assert (short.certified_rate, short.pulls_used_mean) == (0.0, 50.0)
    assert (whole.certified_rate, whole.wrong_certified_rate) == (1.0, 0.0)
    assert whole.chosen["a"]["feasible"] == 3
    assert 150 < whole.pulls_used_mean <= 200
    assert found.headline.startswith("you paid for 200 evaluations; with uniform a certificate")
    assert found.to_dict()["rows"][1]["certified_rate"] == 1.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stop": 0.5}, "between 0.5 and 1"),
        ({"stop": 1.0}, "between 0.5 and 1"),
        ({"stop": 95}, "Write 0.95 for 95%"),
        ({"stop": {"within": 0.1}}, "stop.confidence is missing"),
        ({"stop": {"confidence": 0.95, "within": -1.0}}, "stop.within = -1.0"),
        ({"stop": {"confidence": 0.95, "rests_on": "exact"}}, "rests_on is for studies"),
        ({"stop": {"confidence": 0.95, "sure": 1}}, "stop.sure is unknown"),
        ({"method": "importance", "engine": "cpu"}, "stop cannot go with method"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(easy(), **changes)


def test_what_has_no_bounds_and_no_law_is_refused() -> None:
    instance = easy(
        constraints=["mean(cost) <= 5"], metrics=["solved", "cost"],
        noise={"family": ["bernoulli", "exponential"]},
        arms={"a": {"mean": [0.5, 1.0]}, "b": {"mean": [0.6, 9.0]}},
    )  # fmt: skip
    with pytest.raises(InputError, match="values of 'cost' have no bounds"):
        run(instance)
    with pytest.raises(InputError, match=r"nothing can be proven of variance\(solved\)"):
        run(easy(constraints=["variance(solved) <= 0.2"]))


def test_counts_of_chunks_add_up() -> None:
    both = Proofs(1, 0, Counter({5: 1})) + Proofs(2, 1, Counter({5: 1, 9: 2}))
    assert (both.certified, both.wrong, both.mean_pulls) == (3, 1, 7.0)
    assert [both.quantile(share) for share in (0.1, 0.5, 0.9)] == [5, 5, 9]


@pytest.mark.skipif(not LONG, reason="kernels take long to compile, and the rules are tried plain")
@pytest.mark.parametrize("policy", ["uniform", "top-two"])
def test_compiled_courses_are_the_reference(policy: str) -> None:
    experiment = Experiment(easy(), find_policy(policy), 600, scales="estimated", stop=Stop())
    plain, fast = (run.run_chunk(experiment, 0, 0, 8) for run in (reference, cpu))
    assert plain.pulled.tolist() == fast.pulled.tolist()
    assert plain.proven.tolist() == fast.proven.tolist()
