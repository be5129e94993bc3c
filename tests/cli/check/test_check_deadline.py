"""The timeout of `lspkit check`: it begins with the process, and its end is that of the servers."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path

import psutil
import pytest

from lspkit.cli.process_start import MOST_WAITING, waited
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.cli.check.conftest import PULL
from tests.cli.running import TIMEOUT, CommandLine
from tests.cli.shop import configured

slow = pytest.mark.slow

#: As if the interpreter had needed an hour to start.
AFTER_AN_HOUR = """
import sys
import lspkit.cli.process_start as start
start.IMPORTED_AT -= 3600
start.kernel_age = lambda: 3600.0
from lspkit.cli import main
sys.exit(main())
"""
#: As if the machine were so busy that the import of a module does not end.
ENDLESS_IMPORT = """
import sys, threading
class Endless:
    def find_spec(self, name, path=None, target=None):
        if name == "lspkit.cli.open_workspace":
            threading.Event().wait()
sys.meta_path.insert(0, Endless())
from lspkit.cli import main
sys.exit(main())
"""
#: Bytes that a pipe holds, and files whose reports are more.
PIPE, MANY = 65536, 300


def project_of(folder: Path, count: int) -> Path:
    project = folder / "project"
    project.mkdir()
    for number in range(count):
        (project / f"m{number}.scr").write_text("ERROR\n", encoding="utf-8")
    return project


def variables(bare: CommandLine, project: Path, argv: list[str]) -> dict[str, str]:
    own = configured(project, "scripted", command=argv, extensions=[".scr"], proof="pull")
    return {**bare.environment, "TMPDIR": os.environ["TMPDIR"], **own}


def run_late(
    program: str, bare: CommandLine, project: Path, argv: list[str], *names: str
) -> subprocess.CompletedProcess[str]:
    """Run a program that checks these files with ten minutes of time."""
    return run_check(program, bare, project, argv, "--timeout", "600", *names)


def run_check(
    program: str, bare: CommandLine, project: Path, argv: list[str], *words: str
) -> subprocess.CompletedProcess[str]:
    """Run a program that checks files."""
    return subprocess.run(
        [bare.python, "-c", program, "check", *words],
        cwd=project,
        env=variables(bare, project, argv),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@slow
def test_the_start_of_the_process_counts(bare, tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    project = project_of(tmp_path, 3)
    done = run_late(AFTER_AN_HOUR, bare, project, argv, "m0.scr", "m1.scr")
    assert (done.returncode, done.stderr) == (3, "")
    assert "the timeout expired before this file was checked" in done.stdout
    assert Log.of(argv).pids() == []


@slow
def test_a_program_that_runs_a_command_late_has_all_its_time(bare, tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    project = project_of(tmp_path, 1)
    program = AFTER_AN_HOUR.replace("main()", "main(sys.argv[1:])")
    done = run_late(program, bare, project, argv, "m0.scr")
    assert (done.returncode, done.stderr) == (1, "")


@slow
def test_what_does_not_look_at_the_clock_is_ended(bare, tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    project = project_of(tmp_path, 2)
    done = run_check(ENDLESS_IMPORT, bare, project, argv, "--timeout", "2", "m0.scr", "m1.scr")
    assert (done.returncode, done.stderr) == (3, "")
    late = "unknown m0.scr and 1 more: the timeout expired before this file was checked"
    assert done.stdout == f"{late}\n2 files: 2 unknown\n"


@slow
def test_after_the_timeout_servers_end_before_the_result_is_printed(bare, tmp_path, scripted):
    hang = Fault(PULL, "hang")
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[hang]))
    project = project_of(tmp_path, MANY)
    # By name: a search for files might be too late on a busy machine.
    names = sorted(os.listdir(project))
    with subprocess.Popen(
        bare.command("check", "--timeout", "5", "--json", *names),
        cwd=project,
        env=variables(bare, project, argv),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        # Printing has begun, and cannot end before somebody reads: it is more than a pipe holds.
        assert select.select([process.stdout], [], [], TIMEOUT)[0]
        left = [pid for pid in Log.of(argv).pids() if psutil.pid_exists(pid)]
        printed, _ = process.communicate(timeout=TIMEOUT)
    assert left == []
    assert process.returncode == 3
    assert len(printed) > PIPE
    assert f"m{MANY - 1}.scr" in printed


# When the process was started


def test_the_kernel_knows_how_long_an_interpreter_has_needed_to_start():
    assert waited(age=0.5, since_import=0.3, used_before=0.04, used=0.2) == 0.5


def test_what_a_script_did_before_it_became_the_command_does_not_count():
    assert (
        waited(age=30.0, since_import=0.3, used_before=0.04, used=0.2) == 0.3 + MOST_WAITING * 0.04
    )


def test_the_wait_for_a_processor_counts_on_a_machine_that_is_very_busy():
    """With fifty processes at once the interpreter starts seconds late."""
    assert waited(age=8.0, since_import=6.0, used_before=0.04, used=0.06) == 8.0
    assert waited(age=30.0, since_import=6.0, used_before=0.04, used=0.06) == 6.0 + 100 * 0.04


def test_a_clock_that_is_behind_cannot_make_the_start_later_than_the_import():
    assert waited(age=-100.0, since_import=0.3, used_before=0.04, used=0.2) == 0.3


def test_without_the_age_of_the_process_its_processor_time_counts():
    assert waited(age=None, since_import=0.3, used_before=0.04, used=0.2) == 0.3 + 0.04
