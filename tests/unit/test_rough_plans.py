"""An alternative is doubtful where its errors are few: by the check, not by its words."""

from types import SimpleNamespace

import pytest

from ringfence.interfaces import planning
from ringfence.interfaces.planning import ROUGH, Planner
from ringfence.interfaces.rare import Hands
from ringfence.policies.registry import find_policy
from ringfence.simulation.instance import Instance
from ringfence.simulation.planning import Point
from ringfence.simulation.rare.guards import EFFECTIVE, Check

POLICY = find_policy("constrained-sr")


def planner() -> Planner:
    return Planner(Instance.load("paper-1"), 1e-6, Hands(seed=1), lambda _: None)


@pytest.mark.parametrize("is_well", [True, False])
@pytest.mark.parametrize("what", [EFFECTIVE, "mean weight"])
def test_a_point_knows_that_its_errors_are_few(
    what: str, is_well: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = SimpleNamespace(
        error_rate=1e-6, std_error=1e-7, interval=(0.0, 1e-5), modes=(), warnings=("some words",),
        checks=(Check("largest weight", False, "far"), Check(what, is_well, "words")),
    )  # fmt: skip
    monkeypatch.setattr(planning, "by_importance", lambda *_, **__: found)
    point, _ = planner().look(Instance.load("paper-1"), POLICY, 3000, ROUGH)
    assert point.has_few_errors == (what == EFFECTIVE and not is_well)


@pytest.mark.parametrize("few", [True, False])
def test_a_rough_plan_on_few_errors_is_doubtful(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    point = Point(900, 1e-6, 1e-7, (0.0, 1e-5), (), few)
    monkeypatch.setattr(Planner, "search", lambda *_, **__: [point])
    found = planner().rough("halved", Instance.load("paper-1"), POLICY, point)
    assert (found.budget, found.is_doubtful) == (900, few)
