"""A task of inspect-ai run as a study, with the real package and a model server on loopback.

`make evaluations` runs it: inspect-ai is in an environment of its own.
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import OutageError
from tests.evaluations.server import ModelServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    found = ModelServer()
    threading.Thread(target=found.serve_forever, daemon=True).start()
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setenv("LOCAL_BASE_URL", found.url)
    monkeypatch.chdir(Path(__file__).parent)
    yield found
    found.shutdown()
    found.server_close()


def study(task: rf.InspectTask, models: list[str], **changes: Any) -> rf.Study:
    plain: dict[str, Any] = {
        "arms": {model: {"model": f"openai-api/local/{model}"} for model in models},
        "objective": "maximize mean(match)",
        "constraints": "mean(output_tokens) <= 5",
        "budget": 4 * len(models),
        "policy": "uniform",
        "storage": "memory://",
        "seed": 1,
        "metrics": ["match", "output_tokens", "seconds"],
        "blocks": {"items": task.items()},
    }
    return rf.Study.create("s", **plain | changes)


def test_a_task_is_run_as_a_study(server: ModelServer, tmp_path: Path) -> None:
    task = rf.InspectTask("sums.py@sums", processes=2, log_dir=tmp_path)
    assert task.items() == [{"id": f"sum-{n}"} for n in range(1, 5)]
    known = study(task, ["exact", "hasty"])
    verdict = known.optimize(task, concurrency=2, cache=tmp_path / "a.db")
    assert verdict is not None
    assert verdict.arm == "exact"
    values = {arm.name: arm.estimates["mean(match)"].value for arm in verdict.arms}
    assert values == {"exact": 1.0, "hasty": 0.5}
    assert server.asked == {"exact": 4, "hasty": 4}
    logs = rf.import_logs(sorted(tmp_path.glob("*.eval")))
    assert len(logs.columns["item"]) == 8
    again = study(task, ["exact", "hasty"], seed=2)
    again.optimize(task, concurrency=2, cache=tmp_path / "a.db")
    assert server.asked == {"exact": 4, "hasty": 4}, "the cache answers"


def test_rate_limits_are_waited_for_and_charged_to_nobody(server: ModelServer) -> None:
    task = rf.InspectTask("sums.py@sums", processes=2)
    known = study(task, ["exact", "hasty-flaky"])
    said: list[Any] = []
    known.optimize(task, concurrency=2, outage=said.append)
    status = known.status()
    assert (status.told, status.failed) == (8, 0)
    assert server.asked["hasty-flaky"] > 4
    assert said
    assert "429" in said[0].error


def test_a_server_that_is_down_ends_the_run_uncharged(server: ModelServer) -> None:
    task = rf.InspectTask("sums.py@sums", processes=1)
    known = study(task, ["down", "exact"])
    with pytest.raises(OutageError, match="503"):
        known.optimize(task, outage=lambda _: None, outage_minutes=0)
    assert known.status().failed == 0


def test_time_outs_follow_on_timeout(server: ModelServer) -> None:
    task = rf.InspectTask("sums.py@sums", timeout_seconds=10, processes=2)
    stands_in = {"match": 0, "output_tokens": 0, "seconds": 10}
    known = study(task, ["slow", "exact"], budget=4, on_timeout=stands_in)
    known.optimize(task, concurrency=2)
    status = known.status()
    assert (status.told, status.failed) == (4, 0)
    verdict = known.recommend()
    assert verdict.arm == "exact"
    values = {arm.name: arm.estimates["mean(match)"].value for arm in verdict.arms}
    assert values["slow"] == 0.0


def test_what_is_wrong_with_an_option_is_its_own_failure(server: ModelServer) -> None:
    task = rf.InspectTask("sums.py@sums", processes=1)
    arms = {"exact": {"model": "openai-api/local/exact"}, "none": {"model": "nobody/none"}}
    known = study(task, [], arms=arms, budget=8)
    known.optimize(task)
    assert known.recommend().arm == "exact"
    assert known.status().failed > 0
    assert "nobody" in (known.explain("none")[0].error or "")
    assert os.environ["LOCAL_API_KEY"] == "none"
