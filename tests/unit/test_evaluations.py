"""What evaluations may do to whoever calls them: exit, print, leave children, be asynchronous."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError, ShapeError
from ringfence.execution.failures import EvaluationError
from ringfence.execution.orders import Order
from tests.e2e.command_line import Outcome, process, ringfence

GOOD = {"loss": 0.5, "risk": 0.5}
ORDER = Order(pull=1, lease=1, arm="one", keys={}, seed=5)
STUDY = """
name = "s"
objective = "minimize mean(loss)"
constraints = ["mean(risk) <= 1.0"]
budget = 8
policy = "uniform"
arms = ["one", "two"]
seed = 1

[pull]
"""


def make(**changes: Any) -> rf.Study:
    plain: dict[str, Any] = {
        "arms": ["one", "two"],
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 8,
        "policy": "uniform",
        "storage": "memory://",
        "seed": 1,
    }
    return rf.Study.create("s", **plain | changes)


def untouched(study: rf.Study) -> bool:
    """Tell whether nothing was told or failed, and nobody holds a pull."""
    stands = study.status()
    return (stands.told, stands.failed, study.desk.held()) == (0, 0, [])


def bash(script: str, **options: Any) -> rf.Command:
    return rf.Command(["/bin/bash", "-c", script], **options)


# --------------------------------------------------------------------------------- programs


def test_a_child_in_the_background_is_not_waited_for() -> None:
    started = time.monotonic()
    told = bash("sleep 30 & echo '{\"loss\": 1}'", timeout_seconds=20.0)(ORDER)
    assert told == {"loss": 1}
    with pytest.raises(EvaluationError, match=r"exit code 3; it said: no$"):
        bash("sleep 30 & echo no >&2; exit 3")(ORDER)
    assert time.monotonic() - started < 10.0


def test_a_program_out_of_time_is_ended_with_its_children(tmp_path: Path) -> None:
    command = bash("(sleep 2; touch late) & sleep 30", timeout_seconds=0.3, folder=str(tmp_path))
    with pytest.raises(EvaluationError, match=r"did not finish within 0.3 seconds"):
        command(ORDER)
    time.sleep(2.2)
    assert not list(tmp_path.iterdir())


def test_of_much_output_the_last_is_kept() -> None:
    much = "for i in {1..20}; do head -c 1000000 /dev/zero | tr '\\0' 'x'; done"
    with pytest.raises(EvaluationError, match=r"it said: \.\.\.x+ the end$") as seen:
        bash(f"{much} >&2; echo ' the end' >&2; exit 1")(ORDER)
    assert len(str(seen.value)) < 500
    with pytest.raises(EvaluationError, match=r"no JSON object of metrics, but '\.\.\.x+'$"):
        bash(much)(ORDER)


@pytest.mark.parametrize("depth", [500, 100_000])
def test_json_that_is_too_deep_is_refused_in_words(depth: int) -> None:
    for text in (f"'[' * {depth} + ']' * {depth}", f"'[' * {depth}"):
        with pytest.raises((EvaluationError, ShapeError), match="JSON object of metrics"):
            rf.Command([sys.executable, "-c", f"print({text})"])(ORDER)


def test_a_failure_is_shown_printable_and_on_one_line(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        STUDY
        + """command = ["/bin/bash", "-c", "printf 'a\\\\033[31mb\\\\nc\\\\a' >&2; exit 1"]\n"""
    )
    said = ringfence("run", tmp_path / "s.toml", "--outage-minutes", "0").err
    first = next(line for line in said.splitlines() if line.startswith("pull"))
    assert first.endswith("the first to do so: exit code 1; it said: a [31mb ... c")
    assert "\x1b" not in said
    assert "\a" not in said


# --------------------------------------------------------------------------------- functions


@pytest.mark.parametrize(
    ("given", "said"), [((0,), "sys.exit(0)"), ((), "sys.exit()"), (("no",), "sys.exit('no')")]
)
def test_a_function_that_exits_has_failed(given: tuple[Any, ...], said: str) -> None:
    def leaves(arm: str, seed: int) -> dict[str, float]:
        if arm == "two":
            sys.exit(*given)
        return GOOD

    async def leaves_too(arm: str, seed: int) -> dict[str, float]:
        return leaves(arm, seed)

    study, other = make(), make()
    study.optimize(leaves)
    asyncio.run(other.optimize_async(leaves_too, workers=2))
    for one in (study, other):
        assert one.explain("two")[0].error == f"it called {said}"
        assert one.recommend().arm == "one"


def run_json(folder: Path, module: str) -> Outcome:
    """Run a study by a function of a module, in a process of its own."""
    (folder / "mine.py").write_text(module)
    (folder / "s.toml").write_text(STUDY + 'python = "mine:evaluate"\n')
    command_line = "from ringfence.interfaces.cli.app import main; main()"
    return process(sys.executable, "-c", command_line, "run", "s.toml", "--json", folder=folder)


def test_what_functions_print_is_no_part_of_the_document(tmp_path: Path) -> None:
    done = run_json(
        tmp_path,
        "import os, sys\n"
        "print('imported')\n"
        "held = sys.__stdout__\n"
        "def evaluate(arm, seed):\n"
        "    print('called')\n"
        "    held.write('held')\n"
        "    os.system('echo child')\n"
        "    return {'loss': 1, 'risk': 0}\n",
    )
    assert done.code == 4  # zeros alone prove nothing
    assert done.document["pulls_used"] == 8
    for word in ("imported", "called", "held", "child"):
        assert word in done.err


# --------------------------------------------------------------------------------- mix-ups


async def coroutine(arm: str, seed: int) -> dict[str, float]:
    return GOOD


class Asynchronous:
    async def __call__(self, arm: str, seed: int) -> dict[str, float]:
        return GOOD


SEEN: dict[str, Any] = {
    "a coroutine function": coroutine,
    "a part of one": partial(partial(coroutine)),
    "an object": Asynchronous(),
    "a part of an object": partial(Asynchronous()),
    "a method": Asynchronous().__call__,
}


@pytest.mark.parametrize("kind", SEEN)
def test_coroutine_functions_are_awaited_and_are_no_plain_functions(kind: str) -> None:
    study = make()
    verdict = study.optimize(SEEN[kind], concurrency=4)
    assert verdict is not None
    assert verdict.pulls_used == study.status().budget
    with pytest.raises(InputError, match=r"must give metrics. Use ringfence.AsyncFunction"):
        rf.Function(SEEN[kind])


def test_what_turns_out_to_be_awaited_is_refused_and_given_back() -> None:
    study = make()

    def hidden(arm: str, seed: int) -> Any:
        return coroutine(arm, seed)

    with pytest.raises(InputError, match="gives something to await, and must give metrics"):
        study.optimize(hidden, workers=3)
    assert untouched(study)
    assert study.optimize(lambda arm, seed: GOOD) is not None


def test_a_file_that_names_a_coroutine_function_runs_it(tmp_path: Path) -> None:
    done = run_json(
        tmp_path,
        "import asyncio\nasync def evaluate(arm, seed):\n    await asyncio.sleep(0)\n"
        "    return {'loss': 1 + seed % 2, 'risk': seed % 2}\n",
    )
    assert done.code == 0, done.err
    assert done.document["pulls_used"] == 8


@pytest.mark.parametrize(
    "evaluate",
    [lambda arm, seed: GOOD, lambda arm, seed: None, bash("true"), rf.Function(lambda *_: GOOD)],
    ids=["metrics", "nothing", "a command", "a function"],
)
def test_what_cannot_be_awaited_is_refused_and_given_back(evaluate: Callable[..., Any]) -> None:
    study = make()
    with pytest.raises(InputError, match=r"Use it with study.optimize, or make it an async def"):
        asyncio.run(study.optimize_async(evaluate, workers=2))
    assert untouched(study)


def test_pulls_that_nobody_waits_for_any_more_are_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cancelled while a thread asks: it may still be answered."""
    study, asking, cancelled = make(), threading.Event(), threading.Event()
    ask = study.ask

    def slow(n: int = 1) -> list[Any]:
        asking.set()
        assert cancelled.wait(10)
        return ask(n)

    async def main() -> None:
        task = asyncio.create_task(study.ask_async(2))
        await asyncio.to_thread(asking.wait, 10)
        task.cancel()
        await asyncio.sleep(0)
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    monkeypatch.setattr(study, "ask", slow)
    asyncio.run(main())
    assert study.status().issued > 0
    assert untouched(study)


def test_a_plain_function_that_returns_a_coroutine_will_do() -> None:
    study = make()
    verdict = asyncio.run(study.optimize_async(lambda arm, seed: coroutine(arm, seed)))
    assert verdict.pulls_used == 8


def test_a_cancelled_event_loop_gives_its_pulls_back() -> None:
    async def slow(arm: str, seed: int) -> dict[str, float]:
        await asyncio.sleep(60.0)
        return GOOD

    study = make()

    async def cut_short() -> None:
        await asyncio.wait_for(study.optimize_async(slow, workers=3), timeout=0.3)

    with pytest.raises(TimeoutError):
        asyncio.run(cut_short())
    assert study.status().issued == 3
    assert untouched(study)
