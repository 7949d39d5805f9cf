"""Replications side by side: the same choices as one by one, and the same kernel uncompiled."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ringfence.core.arrays import Floats, Integers
from ringfence.policies import top_two, top_two_room
from ringfence.policies.evidence import Evidence
from ringfence.policies.registry import find_policy
from ringfence.simulation import cpu
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.instance import Instance
from ringfence.simulation.lanes import choices
from ringfence.simulation.lanes.top_two import RULE
from tests.choosing import first_of
from tests.laws.lane_checks import check_lane_courses, check_lanes

BERNOULLI = {
    "objective": "minimize mean(loss)",
    "constraints": ["mean(risk) <= 0.4"],
    "metrics": ["loss", "risk"],
    "noise": {"family": "bernoulli"},
    "arms": {
        "a": {"mean": [0.5, 0.3]},
        "b": {"mean": [0.4, 0.6]},
        "c": {"mean": [0.5, 0.3]},
        "d": {"mean": [0.6, 0.5]},
        "e": {"mean": [0.4, 0.4]},
    },
}


def test_top_two_chooses_side_by_side_as_one_by_one() -> None:
    seen = check_lanes(RULE, top_two_room.make_work, size=400)
    for what in (
        "feasible",
        "none feasible",
        "best arm pulled",
        "several arms",
        "shrunk",
        "lenient",
    ):
        assert seen[what] > 400, (what, seen)


def test_courses_are_those_of_one_lane() -> None:
    assert check_lane_courses(choices, RULE, top_two.POLICY) > 50


def test_noise_that_does_not_suit() -> None:
    regular = np.array([[[1.0, 0.5], [0.5, 1.0]]] * 2)
    assert RULE.suits(regular)
    for wrong in ([[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]]):
        assert not RULE.suits(np.array([regular[0], wrong]))
    assert not RULE.suits(np.eye(3)[None])


@pytest.mark.parametrize(
    "instance",
    first_of(
        [
            pytest.param(Instance.from_dict(BERNOULLI, name="ties"), id="bernoulli"),
            pytest.param(find_family("uniform").draw(0, arm_count=5), id="gaussian"),
        ]
    ),
)
@pytest.mark.parametrize("growth", [0.0, 0.3], ids=["batches alike", "batches that grow"])
def test_compiled_lanes_are_the_plain_ones(instance: Instance, growth: float) -> None:
    experiment = Experiment(instance, find_policy("top-two"), 65, batch=4, growth=growth)
    assert choices.suits(experiment)
    fast, slow = cpu.run_chunk(experiment, 3, 1, 70), experiment.empty_tally(70)
    law, design, course = instance.law, experiment.design, experiment.course
    kernel = choices.make_kernel(
        RULE.choose, course.answer, law.draw_block, RULE.arm_rows, law.normals
    )
    room = choices.make_room(design, RULE, law.normals)
    state = experiment.new_state()
    kernel(*experiment.streams(3, 1), law.arrays, design, room, state, slow)
    for here, there in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(here, there)
    assert fast.pulls.sum() == 70 * 65


def test_another_rule_is_not_run_in_their_lanes() -> None:
    def last(seen: Evidence, uniforms: Floats, chosen: Integers, work: Any) -> None:
        for k in range(chosen.shape[0]):
            chosen[k] = seen.counts.shape[0] - 1

    instance = find_family("uniform").draw(0, arm_count=3)
    policy = replace(top_two.POLICY, name="last", choose=last)
    experiment = Experiment(instance, policy, 300)
    assert not choices.suits(experiment)
    assert cpu.run_chunk(experiment, 0, 0, 5).pulls.tolist() == [50, 50, 1400]


@pytest.mark.parametrize(
    ("instance", "given"),
    [
        ("paper-1", {"scales": "estimated"}),
        (find_family("two-constraints").draw(0, arm_count=3), {}),
        ("paper-1", {"budget": 10_000_000}),
    ],
    ids=["noise estimated", "two constraints", "a huge budget"],
)
def test_what_is_not_run_in_lanes(instance: Any, given: dict[str, Any]) -> None:
    loaded = Instance.load(instance) if isinstance(instance, str) else instance
    experiment = Experiment(loaded, find_policy("top-two"), **{"budget": 400} | given)
    assert not choices.suits(experiment)


def test_chunks_fill_the_lanes() -> None:
    instance = find_family("uniform").draw(0, arm_count=20)
    for budget in (300, 5000, 20_000):
        for name in ("top-two", "ocba-co"):
            size = cpu.chunk_size(Experiment(instance, find_policy(name), budget))
            assert size % choices.LANES == 0
            assert size > 0
    assert cpu.chunk_size(Experiment(instance, find_policy("top-two"), 10_000_000)) == 1
