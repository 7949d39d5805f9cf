"""An interrupted run ends at once with 130; what is only planned says so."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.e2e.command_line import ringfence


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_ends_a_long_run_with_130() -> None:
    long_run = ["simulate", "paper-3", "--budget", "2000", "--replications", "20000000000"]
    code = "from ringfence.interfaces.cli.app import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *long_run], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(8)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


@pytest.mark.parametrize("words", [["replay", "t.csv"], ["serve"]])
def test_a_planned_command_says_that_it_is_not_built(words: list[str]) -> None:
    done = ringfence(*words)
    assert done.code == 2
    assert done.out == ""
    assert f"ringfence {words[0]} is not built yet. Built so far: paper, simulate" in done.err
