"""The pages of tasks keep their word: their files are written, their commands are run."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.e2e.command_line import ROOT, process
from tests.e2e.test_readme import SHELL, blocks

HOWTO = ROOT / "docs" / "howto"
FILE = re.compile(r"# (?P<name>[\w.-]+\.(py|toml))\n")


@pytest.mark.parametrize("name", ["test-set", "ab-test"])
def test_its_files_and_commands_work_as_they_are_written(name: str, tmp_path: Path) -> None:
    found = blocks((HOWTO / f"{name}.md").read_text(encoding="utf-8"))
    for block in found:
        if named := FILE.match(block.text):
            (tmp_path / named["name"]).write_text(block.text, encoding="utf-8")
    variables = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    lines = [
        line.removeprefix("$ ")
        for block in found
        if block.language in SHELL
        for line in block.text.splitlines()
    ]
    assert len(lines) >= 3
    said = ""
    for line in lines:
        done = process("bash", "-c", line, environment=variables, folder=tmp_path)
        assert done.code == 0, f"{line}\n{done.err}"
        said += done.out
    assert ("Certified at 95%: steps is the best feasible arm" in said) == (name == "test-set")
