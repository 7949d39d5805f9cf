"""What a run shows on a terminal while it runs."""

import io
import sys

import pytest

import ringfence as rf
from ringfence.interfaces.cli.display import Display


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_run_is_no_surer_of_itself_than_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    study = rf.Study.create(
        "shown", arms=["a", "b"], objective="minimize mean(loss)", constraints="mean(risk) <= 1",
        budget=20, policy="uniform", storage="memory://", seed=1,
    )  # fmt: skip
    verdict = study.optimize(
        lambda arm, seed: {"loss": float(arm == "b") + seed % 3 / 100, "risk": seed % 5 / 100}
    )
    assert verdict is not None
    assert verdict.confidence > 0.995
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    display = Display(study, quiet=False)
    display.told(None, "told")
    display.close()
    assert "looks best: a (feasible, margin " in terminal.getvalue()
    assert ", more than 99.9% sure)" in terminal.getvalue()
