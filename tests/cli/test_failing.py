"""When the command line cannot do its work: one line and a status of its own, never a traceback."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import TIMEOUT, CommandLine

pytestmark = pytest.mark.slow  # a process each

FULL = Path("/dev/full")
full = pytest.mark.skipif(not FULL.exists(), reason="this system has no disk that is always full")


def run(
    command: CommandLine, *words: str, cwd: Path | str, output: int, **environment: str
) -> tuple[int, str]:
    """The exit status, and what is said beside the result."""
    done = subprocess.run(
        command.command(*words),
        cwd=cwd,
        env={**command.environment, "TMPDIR": os.environ["TMPDIR"], **environment},
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stderr


# The result cannot be written


def into_closed_pipe(command: CommandLine, *words: str, cwd: Path | str) -> tuple[int, str]:
    """The status and what is said when nobody reads the output."""
    read, write = os.pipe()
    os.close(read)
    try:
        return run(command, *words, cwd=cwd, output=write)
    finally:
        os.close(write)


@pytest.mark.parametrize("option", ["--format=text", "--format=json", "--help"])
def test_a_closed_pipe_is_quiet(bare, project, option):
    _, said = into_closed_pipe(bare, "check", option, ".", cwd=project)
    assert said == ""


def test_a_closed_pipe_is_not_taken_for_a_clean_result(bare, project):
    status, _ = into_closed_pipe(bare, "check", ".", cwd=project)
    assert status == 3


@full
@pytest.mark.parametrize(
    "words",
    [["check", "."], ["check", "--json", "."], ["config", "show"], ["--help"], ["--version"]],
    ids=" ".join,
)
def test_a_full_disk_is_one_line_and_status_70(bare, project, words):
    with FULL.open("wb") as output:
        status, said = run(bare, *words, cwd=project, output=output.fileno())
    assert said == "lspkit: the result cannot be written: No space left on device\n"
    assert status == 70


@full
@pytest.mark.parametrize("words", [["check"], ["--debug", "check"]], ids=" ".join)
def test_where_nobody_can_be_told_the_status_remains(bare, project, words):
    with FULL.open("wb") as output:
        done = subprocess.run(
            bare.command(*words, "--root", "none", "right.py"),
            cwd=project,
            env=bare.environment,
            stderr=output,
            timeout=TIMEOUT,
            check=False,
        )
    assert done.returncode == 2


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_has_closed_change_nothing(bare, project, closed):
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *bare.command("check", ".")],
        cwd=project,
        env={**bare.environment, "TMPDIR": os.environ["TMPDIR"]},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (3, "")


# Letters that cannot be printed


@pytest.mark.server
def test_names_are_escaped_where_their_letters_cannot_be_printed(with_ty, project):
    folder = project / "Grüße 1"
    folder.mkdir()
    (project / "wrong.py").rename(folder / "wrong.py")
    plain = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    escaped = "Gr\\udcc3\\udcbc\\udcc3\\udc9fe 1/wrong.py"
    for cwd, name in ((project, escaped), (folder, "wrong.py")):
        done = with_ty("check", ".", cwd=cwd, **plain)
        assert done.stdout.startswith(f"{name}:2:15 error ")
        assert (done.returncode, done.stderr) == (1, "")


# Mistakes of the call, and of lspkit


@pytest.mark.parametrize("words", [["--debug", "check"], ["check", "--debug"]], ids=" ".join)
def test_a_mistake_is_the_same_status_with_its_traceback(bare, project, words):
    wrong = ["--root", "none", "right.py"]
    status, said = run(bare, *words, *wrong, cwd=project, output=subprocess.DEVNULL)
    assert status == bare("check", *wrong, cwd=project).returncode == 2
    assert said.startswith("Traceback ")
    assert said.endswith("\nlspkit: the workspace root none does not exist\n")


def test_a_current_folder_that_is_gone_is_one_line(bare, project):
    gone = project / "gone"
    gone.mkdir()
    script = '/bin/rmdir ../gone && exec "$@"'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *bare.command("check", "right.py")],
        cwd=gone,
        env=bare.environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.stderr.startswith("lspkit: the current folder cannot be used: ")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_a_folder_with_a_line_break_in_its_name_writes_no_line_of_its_own(bare, project):
    folder = project / "a\nlspkit: all is well"
    folder.mkdir()
    done = bare("check", "none.py", cwd=folder)
    [line] = done.stderr.splitlines()
    assert line == f"lspkit: none.py does not exist in {project}/a\\nlspkit: all is well"


@pytest.fixture
def damaged(bare: CommandLine, tmp_path: Path) -> dict[str, str]:
    """The variables of an installation in which a module that is needed late is broken."""
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "bisect.py").write_text(
        'raise RuntimeError("broken\\nby a test")\n', encoding="utf-8"
    )
    return {"PYTHONPATH": f"{folder}{os.pathsep}{bare.environment['PYTHONPATH']}"}


def test_what_nobody_has_foreseen_is_one_line_and_status_70(bare, project, damaged):
    status, said = run(bare, "check", "right.py", cwd=project, output=subprocess.DEVNULL, **damaged)
    assert said == (
        "lspkit: this should not have happened: RuntimeError: broken\\nby a test; "
        "run with --debug to see more\n"
    )
    assert status == 70


def test_with_debug_it_is_a_traceback_and_the_same_status(bare, project, damaged):
    status, said = run(
        bare, "--debug", "check", "right.py", cwd=project, output=subprocess.DEVNULL, **damaged
    )
    assert said.startswith("Traceback ")
    assert "bisect.py" in said
    assert said.splitlines()[-1].startswith("lspkit: this should not have happened: RuntimeError")
    assert status == 70
