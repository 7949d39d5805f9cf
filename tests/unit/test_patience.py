"""A rule that takes long is exchanged for a quicker one that does the same, and nobody waits."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.interfaces.quickening import quicken
from ringfence.study import patience
from ringfence.study.patience import Patient
from tests.choosing import LONG


def settled() -> None:
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(60.0)


def test_a_function_is_exchanged_once_it_has_taken_long() -> None:
    calls: list[str] = []

    def slow(rows: Any) -> int:
        calls.append("slow")
        time.sleep(0.02)
        rows[0] += 1.0
        return int(rows[0])

    def make(plain: Callable[..., Any]) -> Callable[..., Any]:
        assert plain is slow

        def quick(rows: Any) -> int:
            calls.append("quick")
            rows[0] += 1.0
            return int(rows[0])

        return quick

    rows = np.zeros(1)
    patient = Patient(slow, make, patience=0.03)
    assert [patient(rows) for _ in range(3)] == [1, 2, 3]  # tried on copies, not on the rows
    settled()
    assert patient(rows) == 4
    assert calls == ["slow", "slow", "slow", "quick", "quick"]


def test_what_cannot_be_made_quicker_goes_on_as_it_is() -> None:
    patient = Patient(lambda x: x + 1, lambda plain: None, patience=-1.0)
    assert [patient(1), patient(2)] == [2, 3]
    settled()
    assert patient(3) == 4


def test_rules_from_outside_are_not_compiled() -> None:
    assert quicken(lambda x: x) is None


@pytest.mark.parametrize("blocks", [None, {"items": 60}] if LONG else [None])
def test_a_study_decides_alike_when_its_rules_were_compiled(
    blocks: dict[str, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the decisions are made by the rule as it is, then all are made again by either."""

    def run(seconds: float) -> rf.Study:
        monkeypatch.setattr(patience, "PATIENCE", seconds)
        study = rf.Study.create(
            "s", arms=["a", "b", "c"], objective="maximize mean(x)", constraints="mean(y) <= 1",
            budget=150, storage="memory://", seed=1, batch=1, blocks=blocks,
        )  # fmt: skip
        for name in ("decide", "share"):
            setattr(getattr(study.desk.plan, name), "_left", seconds)  # noqa: B010
        for number, pull in enumerate(study.pulls()):
            noise = np.random.default_rng([pull.ordinal, "abc".index(pull.arm)]).normal(size=2)
            study.tell(pull, {"x": float(noise[0]) + 0.1 * (pull.arm == "b"), "y": float(noise[1])})
            if number == 60 and seconds < 0.0:
                settled()
        return study

    plain, quick = run(1e9), run(-1.0)
    assert [one.pulls for one in plain.recommend().arms] == [
        one.pulls for one in quick.recommend().arms
    ]
    assert plain.observations() == quick.observations()
    assert quick.doctor().is_sound
    assert quick.desk.plan.decide._function is not quick.desk.plan.course.decide
    assert plain.desk.plan.decide._function is plain.desk.plan.course.decide
