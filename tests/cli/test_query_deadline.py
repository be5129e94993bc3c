"""The timeout of a question and of `lspkit status`: it begins with the process, and only once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lspkit.testing import Fault, Log, Script
from tests.cli.check.test_check_deadline import AFTER_AN_HOUR
from tests.cli.running import TIMEOUT, CommandLine
from tests.cli.shop import scripted_project

pytestmark = pytest.mark.slow

HANG = Script(faults=[Fault("textDocument/hover", "hang")])


def run_after_an_hour(
    bare: CommandLine, folder: Path, argv: list[str], *words: str
) -> subprocess.CompletedProcess[str]:
    """Run a command whose interpreter has needed an hour to start."""
    own = scripted_project(folder, argv)
    return subprocess.run(
        [bare.python, "-c", AFTER_AN_HOUR, *words],
        cwd=folder,
        env={**bare.environment, "TMPDIR": os.environ["TMPDIR"], **own},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def test_the_start_of_the_process_counts(bare, tmp_path, scripted):
    argv = scripted(Script())
    done = run_after_an_hour(bare, tmp_path, argv, "hover", "a.scr:2:3", "--timeout", "600")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "lspkit: the timeout expired before the servers could be started; "
        "give it more time with --timeout\n"
    )
    assert Log.of(argv).pids() == []


def test_the_time_does_not_begin_again_when_the_workspace_is_open(bare, tmp_path, scripted):
    """There are ten seconds left. With all its time, the question would outlast this test."""
    argv = scripted(HANG)
    done = run_after_an_hour(bare, tmp_path, argv, "hover", "a.scr:2:3", "--timeout", "3610")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith("; give it more time with --timeout\n")
    assert len(Log.of(argv).pids()) == 1


@pytest.mark.parametrize("more", [(), ("--all",), ("--json",)], ids=str)
def test_the_state_of_the_servers_is_told_in_time_or_not_at_all(bare, tmp_path, scripted, more):
    argv = scripted(Script())
    done = run_after_an_hour(bare, tmp_path, argv, "status", "--timeout", "600", *more)
    assert done.returncode == 3
    assert ("ETIMEDOUT" in done.stdout) == ("--json" in more)
    assert done.stderr == (
        "lspkit: the timeout expired before the state of the servers was known; "
        "give it more time with --timeout\n"
    )
    done = run_after_an_hour(bare, tmp_path, argv, "status", "--timeout", "3660", *more)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("seconds", ["1e10", "1e308"])
@pytest.mark.parametrize("words", [["check", "a.scr"], ["hover", "a.scr:2:3"], ["status"]], ids=str)
def test_a_timeout_that_no_timer_takes_is_no_limit(bare, tmp_path, scripted, words, seconds):
    own = scripted_project(tmp_path, scripted(Script()))
    done = bare(*words, "--timeout", seconds, cwd=tmp_path, **own)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
