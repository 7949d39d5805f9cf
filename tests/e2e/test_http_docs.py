"""The client with curl in docs/reference/http.md is run as it is written, on a free port."""

import csv
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.command_line import ROOT
from tests.e2e.test_readme import blocks

# Another worker, which holds a pull for a while: an answer without pulls is not the end.
OTHER = r"""
held=$(post $api/greetings/ask -d '{"n": 1}' | sed 's/.*"pull":\([0-9]*\).*/\1/')
(sleep 3; post $api/greetings/tell -d "{\"pull\": $held, \"lease\": 1,
  \"metrics\": {\"score\": 0.6, \"latency_ms\": 100}}" > /dev/null) &
"""


def test_the_client_with_curl_does_a_whole_study(tmp_path: Path) -> None:
    for needed in ("curl", "bash"):
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} is not installed")
    page = (ROOT / "docs/reference/http.md").read_text(encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    script = next(one.text for one in blocks(page) if "post()" in one.text).replace("8765", port)
    script = script.replace("while :; do", f"{OTHER}while :; do")
    command = tmp_path / "ringfence"
    command.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c "
        "'from ringfence.interfaces.cli.app import main; main()' \"$@\"\n"
    )
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euc", f"trap 'kill %1' EXIT\n{script}"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    verdict = json.loads(done.stdout[done.stdout.index('{"study"') :])
    assert (verdict["arm"], verdict["pulls_used"], verdict["finished"]) == ("warm", 40, True)
    with (tmp_path / "pulls.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 40
    assert "greetings: decision record" in (tmp_path / "record.html").read_text(encoding="utf-8")
