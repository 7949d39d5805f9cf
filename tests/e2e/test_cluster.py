"""Work elsewhere: processes and a Dask cluster give what one thread gives."""

import os
import signal
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from tests.choosing import LONG
from tests.e2e.cluster_work import evaluate, evaluate_or_die


def new_study() -> rf.Study:
    return rf.Study.create(
        "far away",
        arms=["a", "b", "c"],
        objective="minimize mean(loss)",
        constraints="p80(risk) <= 1.4",
        budget=90,
        batch=4,
        seed=3,
        storage="memory://",
    )


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two worker processes of our own, on loopback."""
    distributed = pytest.importorskip("distributed")
    mark = tmp_path_factory.mktemp("dask") / "died"
    with (
        warnings.catch_warnings(),
        pytest.MonkeyPatch.context() as patch,
    ):
        warnings.simplefilter("ignore")  # the cluster's own, while it starts and stops
        patch.setenv("RINGFENCE_TEST_MARK", str(mark))
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        )
        with cluster, distributed.Client(cluster) as found:
            yield found


def test_a_study_on_a_cluster_gives_the_same_verdict(client: Any) -> None:
    wanted = new_study().optimize(evaluate)
    study = new_study()
    assert study.optimize(evaluate, workers=4, executor=client.get_executor()) == wanted
    assert study.doctor().is_sound


def test_a_cluster_worker_that_dies_changes_nothing(client: Any) -> None:
    """Its evaluation is done again by another; the observation counts once."""
    wanted = new_study().optimize(evaluate)
    study = new_study()
    found = study.optimize(evaluate_or_die, workers=4, executor=client.get_executor())
    assert found == wanted
    assert study.doctor().is_sound


def test_replications_on_a_cluster_are_the_same(client: Any) -> None:
    here = rf.simulate("paper-3", "top-two", budget=100, replications=20_000, scales="known")
    there = rf.simulate(
        "paper-3",
        "top-two",
        budget=100,
        replications=20_000,
        scales="known",
        executor=client.get_executor(),
    )
    assert (there.errors, there.wrong_flag) == (here.errors, here.wrong_flag)


def test_a_cluster_worker_that_is_killed_loses_no_replication(client: Any) -> None:
    """Half way through; its chunks are run again by others."""
    here = rf.simulate("paper-3", "top-two", budget=200, replications=60_000, scales="known")
    victim = next(iter(client.run(os.getpid).values()))
    seen: list[int] = []

    def progress(size: int) -> None:
        if not seen:
            os.kill(victim, signal.SIGKILL)
        seen.append(size)

    there = rf.simulate(
        "paper-3", "top-two", budget=200, replications=60_000, scales="known",
        executor=client.get_executor(), progress=progress,
    )  # fmt: skip
    assert sum(seen) == 60_000
    assert (there.errors, there.wrong_flag) == (here.errors, here.wrong_flag)


@pytest.mark.skipif(not LONG, reason="chunks of errors that are counted go the same way")
def test_rare_errors_on_a_cluster_are_the_same(client: Any) -> None:
    options: dict[str, Any] = {"budget": 10_000, "replications": 5000, "method": "importance"}
    here = rf.simulate("paper-4", **options)
    there = rf.simulate("paper-4", executor=client.get_executor(), **options)
    assert (there.error_rate, there.std_error) == (here.error_rate, here.std_error)


def test_replications_on_processes_are_the_same() -> None:
    asked: dict[str, Any] = {
        "policies": ["constrained-sr", "uniform"], "budgets": [200], "replications": 50_000
    }  # fmt: skip
    here = rf.compare("paper-1", **asked)  # compiles what the processes then find on disk
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = rf.compare("paper-1", executor=pool, **asked)
    assert [row.result.errors for row in there] == [row.result.errors for row in here]
