"""What GPUs do where arms share blocks, under numba-cuda's simulator; see simulated.py.

A kernel copies its rooms. What it counts is compared, to the last pull, with the body run in the
rooms themselves, where nothing of an earlier replication is left to be read.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.core.problem import Problem
from ringfence.policies.registry import find_policy
from ringfence.simulation.course import make_body
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.gpu import engine as gpu_engine
from ringfence.simulation.gpu.draws import ORDER, PULLS, Philox, start
from ringfence.simulation.gpu.rooms import Branch, Layout, layout_of
from ringfence.simulation.gpu.shared import fill_effect, fill_pull, numbered_recording
from ringfence.simulation.instance import Instance
from ringfence.simulation.tables import table_instance
from tests.choosing import LONG
from tests.gpu.simulated import check_agrees, count, same


def on_shared_blocks(arm_count: int = 3) -> Instance:
    """Return arms of which half of the noise, and more, is the effect of a block."""
    return Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": ["mean(y) <= 0.5"],
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian", "covariance": [[0.4, 0.1], [0.1, 0.5]]},
            "blocks": {"variance": [0.6, 0.5]},
            "arms": {f"arm{i}": {"mean": [0.3 * i, 0.8 - 0.3 * i]} for i in range(arm_count)},
        }
    )


@pytest.mark.parametrize(
    ("policy", "scales"),
    [
        ("constrained-sr", "known"),
        ("top-two", "estimated"),
        *([("uniform", "estimated"), ("top-two", "known")] if LONG else []),
    ],
)
def test_arms_that_share_blocks_err_as_often_as_elsewhere(policy: str, scales: str) -> None:
    experiment = Experiment(on_shared_blocks(), find_policy(policy), 43, scales=scales, batch=8)
    check_agrees(experiment, 100)
    assert same(count(experiment, 20), count(experiment, 20, shape=(3, 5)))


# ------------------------------------------------------------ a kernel against the body as it is

POISONED = (
    "room.record.moments",
    "room.record.common",
    "room.record.firsts",
    "room.record.pull",
    "room.pooled",
    "room.log_variances",
    "room.sharing",
    "room.scratch",
    "room.uniforms",
    "room.seen.estimates",
    "room.seen.left",
    "room.seen.sharing.roots",
    "room.seen.sharing.parts",
    "state.work.contrasts",
    "state.work.totals",
    "state.work.places",
    "state.work.pair",
)
POISONED_ESTIMATED = ("room.seen.scales", "room.covariances")


def at(tree: Any, path: str) -> Any:
    for name in path.split("."):
        tree = getattr(tree, name, None)
    return tree


def floats(tree: Any) -> Iterator[Any]:
    if isinstance(tree, tuple):
        for part in tree:
            yield from floats(part)
    elif isinstance(tree, np.ndarray) and tree.dtype.kind == "f":
        yield tree


def check_kernel(experiment: Experiment, size: int) -> None:
    """Compare a kernel, ten replications a thread, with the body in one room.

    In that room whatever a replication must not find is NaN before it begins.
    """
    recording, place = numbered_recording(2), gpu_engine._place(experiment)
    body = make_body(
        experiment.course, recording.forget, recording.add, recording.look,
        estimated=experiment.estimated, relative=False, shares=True,
    )  # fmt: skip
    paths = POISONED + (POISONED_ESTIMATED if experiment.estimated else ())
    poisoned = [array for path in paths for array in floats(at(place, path))]
    assert len(poisoned) >= 15
    errors = 0
    for replication in range(size):
        for array in poisoned:
            array[:] = np.nan
        start(place.words, *experiment.key(3, 0), replication, PULLS)
        start(place.order_words, *experiment.key(3, 0), replication, ORDER)
        place.tally.wrong[0] = False
        body(
            Philox(place.words), Philox(place.order_words), experiment.instance.law.arrays,
            experiment.design, place.room, place.state, place.tally,
        )  # fmt: skip
        errors += int(place.tally.wrong[0])
    found = count(experiment, size, shape=(1, size // 10))
    assert found.pulls.tolist() == place.tally.pulls.tolist()
    assert found.chosen.tolist() == place.tally.chosen.tolist()
    assert found.errors == errors


def drawn(policy: str, scales: str) -> Experiment:
    instance = find_family("uniform").draw(0, arm_count=3, correlation=0.5)
    return Experiment(instance, find_policy(policy), 60, scales=scales, batch=8)


@pytest.mark.parametrize(
    ("policy", "scales"),
    [
        ("constrained-sr", "estimated"),
        ("top-two", "estimated"),
        *([("top-two", "known"), ("thompson", "estimated")] if LONG else []),
    ],
)
def test_kernels_do_what_the_body_does(policy: str, scales: str) -> None:
    check_kernel(drawn(policy, scales), 20)


def apart(example: Any) -> Layout:
    """Return a layout that forgets which arrays are one."""
    if isinstance(example, np.ndarray) or example is None:
        return layout_of(example)
    return Branch(type(example), tuple(map(apart, example)))


def remembers(*_: Any) -> None:
    """Forget nothing of the replication before."""


def plant_two_arrays_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_engine, "layout_of", apart)


def plant_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = replace(numbered_recording(2), forget=remembers)
    monkeypatch.setattr(gpu_engine, "numbered_recording", lambda _: recording)


@pytest.mark.parametrize("plant", [plant_two_arrays_for_one, plant_a_memory])
def test_planted_faults_are_found(
    plant: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises((AssertionError, ArithmeticError)):
        check_kernel(drawn("top-two", "estimated"), 20)


# ----------------------------------------------------------------------- what is drawn and summed


def test_what_pairs_of_arms_saw_is_what_pulls_by_number_add_up_to() -> None:
    """Whoever comes first to a block, and however often: the pulls of a block share its effect."""
    experiment = Experiment(on_shared_blocks(), find_policy("uniform"), 43)
    arrays, recording = experiment.instance.law.arrays, numbered_recording(2)
    record, words = recording.make(3, 1), np.zeros(8, np.uint32)
    start(words, *experiment.key(3, 0), 5, PULLS)
    counts, scratch = [0, 0, 0], np.zeros((4, 2))
    for arm, pulls in ((2, 4), (0, 7), (2, 5), (1, 6), (0, 1)):
        recording.add(Philox(words), arrays, arm, counts[arm], pulls, record, scratch)
        counts[arm] += pulls
    drawn, effects = np.zeros((3, 9, 2)), np.zeros((9, 2))
    for block in range(9):
        fill_effect(words, arrays, block, effects[block])
        for arm in range(3):
            fill_pull(words, arrays, arm, block, effects[block], drawn[arm, block])
    assert record.counts.tolist() == counts == [8, 6, 9]
    away = drawn - drawn[:, :1]
    for i in range(3):
        np.testing.assert_allclose(record.moments.sums[i], drawn[i, : counts[i]].sum(axis=0))
        for j in range(3):
            both = min(counts[i], counts[j])
            assert record.common.counts[i, j] == both
            products = np.einsum("bc,bk->ck", away[i, :both], away[j, :both])
            np.testing.assert_allclose(record.common.products[i, j], products, atol=1e-12)
            np.testing.assert_allclose(
                record.common.sums[i, j], away[i, :both].sum(axis=0), atol=1e-12
            )
    own = (drawn - arrays.means[:, None] - effects).reshape(-1, 2)
    assert len(np.unique(own[:, 0])) == 27, "every pull has noise of its own"
    recording.forget(record)
    assert not record.common.products.any()
    assert not record.moments.scatters.any()


def test_effects_and_noise_have_the_variances_of_the_file() -> None:
    """Of 4,000 blocks, within six standard errors."""
    experiment = Experiment(on_shared_blocks(), find_policy("uniform"), 43)
    arrays, words = experiment.instance.law.arrays, np.zeros(8, np.uint32)
    start(words, *experiment.key(3, 0), 5, PULLS)
    effects, drawn = np.zeros((4000, 2)), np.zeros((4000, 2))
    for block in range(4000):
        fill_effect(words, arrays, block, effects[block])
        fill_pull(words, arrays, 1, block, effects[block], drawn[block])
    error = 6.0 * (2.0 / 4000) ** 0.5
    np.testing.assert_allclose(effects.var(axis=0), [0.6, 0.5], rtol=error)
    np.testing.assert_allclose((drawn - effects).var(axis=0), [0.4, 0.5], rtol=error)
    assert abs(np.corrcoef(effects[:, 0], (drawn - effects)[:, 0])[0, 1]) < 6.0 / 4000**0.5


def test_items_of_a_table_and_many_arms_on_blocks_are_refused() -> None:
    with pytest.raises(InputError, match=r"with 60 arms one replication takes \d+ bytes"):
        rf.simulate(on_shared_blocks(60), budget=600, replications=10, engine="cuda")
    rows: dict[str, Any] = {"arm": ["a"] * 4 + ["b"] * 4, "x": np.array([0.0, 1.0] * 4)}
    problem = Problem.parse("minimize mean(x)", "mean(x) <= 1")
    table_of_items = table_instance("t", problem, rows, "arm", baseline=None, on_items=True)
    with pytest.raises(InputError, match="share the items of a table"):
        rf.simulate(table_of_items, budget=8, replications=10, engine="cuda")


@pytest.mark.parametrize("make", [on_shared_blocks, lambda: Instance.load("paper-3")])
@pytest.mark.parametrize("policy", ["constrained-sr", "top-two"])
def test_kernels_are_handed_nothing_that_is_not_there(
    policy: str, make: Callable[[], Instance]
) -> None:
    """A GPU's own launcher refuses None and empty arrays; the simulated one takes them."""

    def leaves(tree: Any) -> list[Any]:
        parts = tree if isinstance(tree, tuple) else None
        return [tree] if parts is None else [leaf for part in parts for leaf in leaves(part)]

    experiment = Experiment(make(), find_policy(policy), 60)
    place = gpu_engine._place(experiment)
    assert any(leaf is None for leaf in leaves(place))
    handed = leaves(gpu_engine._course(experiment)[1])
    assert all(leaf is not None and getattr(leaf, "size", 1) > 0 for leaf in handed)
