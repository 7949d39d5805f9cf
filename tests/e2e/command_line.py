"""Runs the command line: in this process for speed, or in a fresh one where the process matters."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from ringfence.interfaces.cli.app import main

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The strict JSON document that is all of standard output."""
        return json.loads(self.out, parse_constant=_refuse)


def ringfence(*arguments: object) -> Outcome:
    """Run the command in this process; an error that is not handled fails the test."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    argv = ["ringfence", *map(str, arguments)]
    streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with mock.patch.object(sys, "argv", argv), streams[0], streams[1]:
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Outcome(code, out.getvalue(), err.getvalue())


def ringfence_process(*arguments: object, **environment: str) -> Outcome:
    """Run the installed command."""
    command = Path(sys.executable).with_name("ringfence")
    return process(command, *arguments, environment=environment)


def process(
    *command: object, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Outcome:
    """Run any command, with a few variables added to the environment."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        cwd=folder,
        env=os.environ | (environment or {}),
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def timeless(value: Any) -> Any:
    """Return a document without what differs from run to run."""
    if isinstance(value, dict):
        clock = ("seconds", "replications_per_second")
        return {key: timeless(entry) for key, entry in value.items() if key not in clock}
    if isinstance(value, list):
        return [timeless(entry) for entry in value]
    return value


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no strict JSON")
