"""The tutorial keeps its word: its files are written, its commands and its Python are run."""

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command_line import ROOT, process
from tests.e2e.test_readme import SHELL, blocks, commands

PAGE = ROOT / "docs" / "tutorial.md"
FILE = re.compile(r"# (?P<name>[\w.-]+\.(py|toml))\n")
ANSWERED = (
    0,
    3,
    4,
)  # feasible, infeasible, too close: how quick this machine is, is its own matter


def test_the_tutorial_works_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = blocks(PAGE.read_text(encoding="utf-8"))
    files = {named["name"]: one for one in found if (named := FILE.match(one.text))}
    assert set(files) == {"packing.py", "packing.toml"}
    for name, block in files.items():
        (tmp_path / name).write_text(block.text, encoding="utf-8")
    variables = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    written = [line for one in found if one.language in SHELL for line in commands(one)]
    assert len(written) == 5
    for line in written[:-1]:  # the last plans, as the README does: once is enough
        done = process("bash", "-c", line, environment=variables, folder=tmp_path)
        assert done.code in (ANSWERED if "run" in line or "recommend" in line else (0,)), done.err
    assert (tmp_path / "packing.html").exists()
    assert (tmp_path / "packing.png").read_bytes().startswith(b"\x89PNG")

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (last,) = (one for one in found if one.language == "python" and one not in files.values())
    namespace: dict[str, Any] = {"__name__": "page"}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(last.text, str(PAGE), "exec"), namespace)
    assert len(said.getvalue().splitlines()) == 7
    monkeypatch.delitem(sys.modules, "packing")
