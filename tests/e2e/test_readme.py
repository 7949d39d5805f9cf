"""The README keeps its word, and so do the pages that show how: commands and Python blocks are run.

Commands simulate less than a reader's. `examples` is at hand. Lines with `make` are left out.
"""

import contextlib
import io
import json
import os
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from ringfence.simulation.instance import Instance
from tests.choosing import LONG, few_of
from tests.e2e.command_line import ROOT, process

README = ROOT / "README.md"
INSTANCES = ROOT / "docs/reference/instances.md"
SIMULATING, INSTALLATION = ROOT / "docs/howto/simulating.md", ROOT / "docs/installation.md"
FENCE = re.compile(r"^[ ]*(?P<fence>```+|~~~+)[ ]*(?P<language>[\w-]*)[^\n]*$")
SHELL = ("sh", "console", "bash", "shell")


class Block(NamedTuple):
    """A fenced block: its language, the line after the fence, its text."""

    language: str
    line: int
    text: str


def blocks(markdown: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    found: list[Block] = []
    fence, language, start, inside = "", "", 0, [""]
    for number, line in enumerate(markdown.splitlines(), start=1):
        mark = FENCE.match(line)
        if not fence and mark:
            fence, language = mark["fence"], mark["language"].lower()
            start, inside = number + 1, []
        elif fence and line.strip() == fence:
            found.append(Block(language, start, textwrap.dedent("\n".join(inside)) + "\n"))
            fence = ""
        elif fence:
            inside.append(line)
    assert not fence, f"the block that begins on line {start - 1} is never closed"
    return found


def commands(block: Block) -> list[str]:
    """Return the ringfence commands of a shell block, continued lines joined."""
    joined = re.sub(r"\s*\\\n\s*", " ", block.text)
    lines = (line.strip().removeprefix("$ ") for line in joined.splitlines())
    return [line for line in lines if line.startswith("ringfence ") and "make" not in line.split()]


def in_short(line: str) -> str:
    """Return a command that shows that it works, not how well it simulates.

    With few replications, and where it can be, without compiling; as it is written in `make long`.
    """
    simulates = re.match(r"ringfence (simulate|compare)\b(?!.*--family)", line)
    if LONG or simulates is None:
        return line
    plain = re.sub(r" --replications [0-9]+", "", line.partition(" #")[0])
    if simulates[1] == "simulate" and "--method" not in line:
        return f"{plain} --replications 3 --engine reference"
    return f"{plain} --replications 1000"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to run things in, with `examples` at hand."""
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "written",
    [
        README,
        SIMULATING,
        *(
            ROOT / "docs" / name
            for name in (
                "reference/expressions.md",
                "howto/studies.md",
                "howto/noise.md",
                "howto/common-random-numbers.md",
                "howto/failures.md",
                "howto/bridges.md",
                "howto/concurrency.md",
                "howto/importing.md",
            )  # replay.md: see below
        ),
    ],
    ids=lambda at: at.stem,
)
@pytest.mark.usefixtures("folder")
def test_python_blocks_run(written: Path) -> None:
    """All of them in one namespace, from top to bottom, as a reader would."""
    found = [
        block
        for block in blocks(written.read_text(encoding="utf-8"))
        if block.language in ("python", "py")
    ]
    assert found, f"{written} has no python block"
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in found:
        source = "\n" * (block.line - 1) + block.text  # tracebacks then show the page's own lines
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(compile(source, str(written), "exec"), namespace)
        promised = re.findall(r"^print\(.*\)  # (.+)$", block.text, re.MULTILINE)
        if written == README:
            assert said.getvalue().splitlines() == promised


def replays(*, shared: bool) -> list[str]:
    """Return the commands on the page on replay, of tables whose arms share items or not."""
    written = (ROOT / "docs/howto/replay.md").read_text("utf-8")
    lines = (line for block in blocks(written) for line in commands(block))
    return [line for line in lines if ("--item" in line) == shared]


@pytest.mark.usefixtures("folder")
def test_the_page_on_replay_writes_the_table_that_its_command_reads(tmp_path: Path) -> None:
    written = ROOT / "docs/howto/replay.md"
    test_python_blocks_run(written)
    absolute, relative = lines = replays(shared=False)
    tried = few_of(lines, relative)  # the other compiles every policy
    variables = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for line in tried:
        done = process("bash", "-c", line, environment=variables, folder=tmp_path)
        assert done.code == 0, done.err
        assert "truth of the table: large is the best feasible arm" in done.out
        assert ("baseline small: by its rows" in done.out) == (line == relative)
    assert (tmp_path / "right.svg").exists() == (absolute in tried)


@pytest.mark.usefixtures("folder")
def test_the_page_on_coding_agents_writes_the_table_that_its_command_reads(tmp_path: Path) -> None:
    written = ROOT / "docs/howto/coding-agents.md"
    test_python_blocks_run(written)
    (line,) = (line for block in blocks(written.read_text("utf-8")) for line in commands(block))
    variables = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = process("bash", "-c", line, environment=variables, folder=tmp_path)
    assert done.code == 0, done.err
    assert "steady is the best feasible arm" in done.out
    assert "by 200 items (task), which each of 4 arms has" in done.out
    with_item = re.findall(r"top-two is right 95% of the time with ([\d,]+) pulls", done.out)
    assert with_item, done.out
    (tmp_path / "agents.csv").rename(tmp_path / "log.csv")
    money, proof = lines = replays(shared=True)
    for other in few_of(lines, money):  # the other compiles a proof
        told = process("bash", "-c", other, environment=variables, folder=tmp_path)
        assert told.code == 0, told.err
        assert ("a certificate at 95% takes" in told.out) == (other == proof)
        assert ("USD; uniform needs" in told.out) == (other == money)


def test_no_row_of_a_public_table_is_on_the_page_about_it() -> None:
    page = (ROOT / "docs/howto/coding-agents.md").read_text("utf-8").lower()
    assert not any(name in page for name in ("claude", "gpt", "gemini", "llama", "__"))


@pytest.mark.parametrize(
    "written", [README, INSTALLATION, SIMULATING, INSTANCES], ids=lambda at: at.stem
)
def test_commands_run(written: Path, folder: Path) -> None:
    found = blocks(written.read_text(encoding="utf-8"))
    lines = [line for block in found if block.language in SHELL for line in commands(block)]
    lines = [line for line in lines if LONG or "--family" not in line]  # a tournament takes minutes
    assert lines, f"{written} has no ringfence command"
    variables = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    (folder / "models.toml").write_text(priced_models())
    for line in lines:
        words = ("bash", "-o", "pipefail", "-c", in_short(line))
        done = process(*words, environment=variables, folder=folder)
        assert done.code == 0, f"{line}\n{done.err}"


def shown_instances() -> list[dict[str, Any]]:
    """Return the problems that the page on instance files shows."""
    found = blocks(INSTANCES.read_text(encoding="utf-8"))
    return [tomllib.loads(block.text) for block in found if block.language == "toml"]


def priced_models() -> str:
    """Return the first of them, with a price for each arm."""
    text = blocks(INSTANCES.read_text(encoding="utf-8"))[0].text
    prices = (
        f"{json.dumps(arm)} = {cost}" for cost, arm in enumerate(tomllib.loads(text)["arms"], 1)
    )
    return f"price = {{ {', '.join(prices)} }}\n{text}"


def test_instances_are_instances() -> None:
    contents = shown_instances()
    assert len(contents) == 4
    for content in contents:
        if content.keys() == {"price"}:
            continue
        assert Instance.from_dict(content).hardness.arms


def test_an_arms_own_covariance_is_shown_as_it_is_written() -> None:
    (shown,) = (content for content in shown_instances() if "wild" in content.get("arms", {}))
    instance = Instance.from_dict(shown)
    calm, wild = np.diagonal(instance.law.true_covariances, axis1=1, axis2=2).tolist()
    assert (calm, wild) == ([4.0, 9.0], [25.0, 36.0])
    del shown["noise"]["covariance"]
    shown["arms"]["calm"]["covariance"] = shown["arms"]["wild"]["covariance"]
    assert Instance.from_dict(shown).hardness.arms


def test_the_reader_of_blocks_is_awake() -> None:
    text = (
        "```toml\n# a.toml\nx = 1\n```\n\ntext `ringfence gaps`\n"
        "```console\n$ ringfence gaps \\\n    paper-1\noutput\n$ make test\n```\n"
        "  ```python\n  x = 1\n  ```\n"
        "```sh\nringfence x\n```\n"
    )
    found = blocks(text)
    assert [(block.language, block.line) for block in found] == [
        ("toml", 2),
        ("console", 8),
        ("python", 14),
        ("sh", 17),
    ]
    assert found[2].text == "x = 1\n"
    if not LONG:
        assert in_short("ringfence gaps a") == "ringfence gaps a"
        short = in_short("ringfence simulate a --replications 20000 --json  # so")
        assert short == "ringfence simulate a --json  --replications 3 --engine reference"
        short = in_short("ringfence compare a --replications 20000")
        assert short == "ringfence compare a --replications 1000"
    assert [commands(block) for block in found] == [
        [],
        ["ringfence gaps paper-1"],
        [],
        ["ringfence x"],
    ]
