"""`tools/run_and_reap.py`, which `make test` runs under, finds and ends what a test run left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "run_and_reap.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are adopted on Linux")

#: Says when it is ready, and then stays whatever comes.
SLEEPER = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""

#: Leaves the sleeper behind, in a session of its own, and prints its number.
LEAVER = f"""
import subprocess, sys
command = [sys.executable, "-c", {SLEEPER!r}]
left = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
left.stdout.readline()
print(left.pid, flush=True)
"""


def reaped(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), sys.executable, "-c", source],
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("status", [0, 3])
def test_the_exit_status_of_the_command_is_handed_on(status: int) -> None:
    assert reaped(f"raise SystemExit({status})").returncode == status


def test_a_command_that_a_signal_ended_has_the_status_a_shell_would_give() -> None:
    assert reaped("import os; os.kill(os.getpid(), 9)").returncode == 128 + 9


@pytest.mark.slow
def test_a_process_that_is_left_is_named_and_killed_and_fails_the_run() -> None:
    done = reaped(LEAVER)
    pid = int(done.stdout)
    assert done.returncode == 1
    assert f"left running: {pid} " in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
