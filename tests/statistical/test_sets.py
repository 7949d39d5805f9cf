"""How often a set is right: a product of normal probabilities, where the noise is known.

Two arms with normal risks, and a limit; uniform gives both the same number of pulls.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import ringfence as rf
from ringfence.policies.registry import find_policy
from ringfence.simulation import cpu
from ringfence.simulation.experiment import Experiment
from tests.faults.planting import Edit, planted
from tests.statistical.checks import check_rate

RISKS, LIMIT, BUDGET = (0.3, 0.6), 0.5, 40
INSTANCE = rf.Instance.from_dict(
    {
        "objective": "minimize mean(loss)",
        "constraints": [f"mean(risk) <= {LIMIT}"],
        "answer": "all feasible",
        "metrics": ["loss", "risk"],
        "noise": {"family": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]},
        "arms": {"a": {"mean": [0.0, RISKS[0]]}, "b": {"mean": [0.0, RISKS[1]]}},
    }
)


def chance_of_errors() -> float:
    """Return how often a set is wrong: an arm is seen rightly by its own mean alone."""
    apart = np.abs(np.array(RISKS) - LIMIT) * math.sqrt(BUDGET / 2)
    return 1.0 - float(ndtr(apart).prod())


def check_errors(run: Any, policy: Any, replications: int) -> None:
    tally = run(Experiment(INSTANCE, policy, BUDGET), 5, 0, replications)
    check_rate(int(tally.wrong.sum()), replications, chance_of_errors())


def test_sets_are_right_as_often_as_they_must_be() -> None:
    check_errors(cpu.run_chunk, find_policy("uniform"), 400_000)


FAULTS = {
    "one arm seen rightly will do": Edit(
        "core.all_feasible",
        "same &= marked[i] == optimal[i]",
        "same |= marked[i] == optimal[i]",
    ),
    "an arm too many is no error": Edit(
        "core.all_feasible",
        "same &= marked[i] == optimal[i]",
        "same &= marked[i] >= optimal[i]",
    ),
    "the last arm is always in": Edit(
        "core.all_feasible",
        "marked[i] = seen[i] & (margin(estimates, i, scales, thresholds) <= 0.0)",
        "marked[i] = seen[i] & ((i == 1) | (margin(estimates, i, scales, thresholds) <= 0.0))",
    ),
}


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_sets_that_are_judged_wrongly_are_noticed(fault: str | None) -> None:
    """The same check, on the reference engine; without a fault it holds there too."""
    rooms = planted(*([] if fault is None else [FAULTS[fault]]))
    run, policy = rooms["simulation.reference"].run_chunk, rooms["policies.uniform"].POLICY
    if fault is None:
        check_errors(run, policy, 3000)
        return
    with pytest.raises(AssertionError):
        check_errors(run, policy, 3000)
