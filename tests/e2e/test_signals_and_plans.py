"""An interrupted run ends at once with 130; every command of the design is there."""

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
    code = (
        "import ringfence as rf\n"
        "from ringfence.interfaces.cli.app import main\n"
        "rf.simulate('paper-3', budget=2000, replications=10)\n"  # its kernel is compiled by then
        "print('ready', flush=True)\n"
        "main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, *long_run], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(1.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()  # nothing, if it ended as it should
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


DESIGNED = (
    "paper", "simulate", "gaps", "compare", "plan", "run", "recommend", "certify", "ask", "tell",
    "status", "explain", "export", "doctor", "studies", "replay", "serve", "bench", "demo", "init",
    "figure",
)  # fmt: skip


@pytest.mark.parametrize("command", DESIGNED)
def test_every_command_of_the_design_is_built(command: str) -> None:
    done = ringfence(command, "--help")
    assert done.code == 0
    assert f"ringfence {command}" in done.out
