"""GPUs without a GPU: numba-cuda's simulator, and what is said where there is neither."""

import sys
from pathlib import Path

import pytest

import ringfence as rf
from ringfence.core.errors import InputError, MissingExtraError
from ringfence.simulation.gpu import compilation
from tests.e2e.command_line import process, ringfence

HERE = Path(__file__).parent


def test_under_the_simulator() -> None:
    """Everything in the two files; the simulator cannot be switched on in this process."""
    pytest.importorskip("numba_cuda")
    done = process(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        HERE / "simulated.py", HERE / "simulated_blocks.py",
        environment={"NUMBA_ENABLE_CUDASIM": "1"},
        folder=HERE.parents[1],
    )  # fmt: skip
    assert done.code == 0, done.out + done.err


def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "find_spec", lambda name: object())
    monkeypatch.setattr(compilation, "gpu_count", lambda: 0)


def test_a_missing_gpu_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    without_gpu(monkeypatch)
    with pytest.raises(InputError, match=r"needs an NVIDIA GPU .* Use engine = 'cpu'"):
        rf.simulate("paper-1", budget=100, replications=10, engine="cuda")


def test_the_command_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    without_gpu(monkeypatch)
    done = ringfence("simulate", "paper-1", "--budget", 100, "--engine", "cuda")
    assert done.code == 2
    for part in ("engine = 'cuda'", "none was found", "Use engine = 'cpu'"):
        assert part in " ".join(done.err.split())


def test_tournaments_say_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    without_gpu(monkeypatch)
    with pytest.raises(InputError, match=r"needs an NVIDIA GPU .* Use engine = 'cpu'"):
        rf.tournament(arm_counts=2, count=1, engine="cuda")
    with pytest.raises(InputError, match=r"engine = 'gpu' .*cuda"):
        rf.tournament(arm_counts=2, count=1, engine="gpu")
    done = ringfence("compare", "paper-1", "--budgets", 100, "--engine", "cuda")
    assert done.code == 2
    assert "--engine cuda goes with --family" in " ".join(done.err.split())


def test_a_missing_library_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ringfence\[cuda\]'"):
        rf.simulate("paper-1", budget=100, replications=10, engine="cuda")
    assert compilation.gpu_count() == 0


def test_auto_makes_do_with_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    without_gpu(monkeypatch)
    result = rf.simulate("paper-3", budget=100, replications=10, engine="auto")
    assert result.engine == "cpu"
