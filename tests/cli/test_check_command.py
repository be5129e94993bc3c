"""`lspkit check`, as a process, on real files; with the embedded server where one is needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time

import psutil
import pytest

import lspkit
from lspkit.servers.built_in import BUILT_IN
from tests.cli.conftest import RIGHT
from tests.cli.running import TIMEOUT

server = pytest.mark.server

#: What a report has, as JSON.
REPORT = {
    *("path", "verdict", "diagnostics", "other_files", "introduced", "fixed", "remaining"),
    *("servers", "duration", "severity", "max_per_file", "stale_diagnostics"),
}
EVIDENCE = {
    *("server", "version", "how", "duration", "timed_out", "reason", "source", "code", "rule"),
    "interpreter",
}
FINDING = {
    *("path", "range", "severity", "message", "uri", "code", "source", "servers", "tags"),
    *("related", "href"),
}


# With the embedded server


@server
def test_a_clean_file_is_status_0(with_ty, project):
    done = with_ty("check", "right.py", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 file: 1 clean\n", "")


@server
def test_own_servers_can_be_demanded(with_ty, project):
    done = with_ty("check", "--no-service", "right.py", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 file: 1 clean\n", "")


@server
def test_findings_are_status_1_and_one_line_each(with_ty, project):
    done = with_ty("check", "right.py", "wrong.py", cwd=project)
    finding, summary = done.stdout.splitlines()
    assert done.returncode == 1
    assert finding.startswith("wrong.py:2:15 error ")
    assert finding.endswith("[ty]")
    assert summary == "2 files: 1 finding in 1 file, 1 clean"
    assert done.stderr == ""


@server
def test_files_elsewhere_are_checked_where_they_are(with_ty, project):
    done = with_ty("check", project / "wrong.py", project / "right.py", cwd="/")
    assert done.returncode == 1
    assert str(project / "wrong.py") + ":2:15" in done.stdout


@server
@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_json_has_the_documented_keys(with_ty, project, option):
    (project / "notes.unheard").touch()
    done = with_ty("check", *option, "wrong.py", "right.py", "notes.unheard", cwd=project)
    printed = json.loads(done.stdout)
    assert done.returncode == 1
    assert set(printed) == {"reports", "skipped", "hints"}
    right, wrong = printed["reports"]
    assert set(right) == set(wrong) == REPORT
    assert [one["verdict"] for one in (right, wrong)] == ["clean", "dirty"]
    assert wrong["path"] == str(project / "wrong.py")
    [finding] = wrong["diagnostics"]
    assert set(finding) == FINDING
    assert finding["range"]["start"] == {"line": 2, "column": 15}
    [evidence] = right["servers"]
    assert set(evidence) == EVIDENCE
    assert (evidence["server"], evidence["how"]) == ("ty", "pull")
    [skipped] = printed["skipped"]
    assert skipped["path"] == str(project / "notes.unheard")
    assert ".unheard" in skipped["reason"]


@server
@pytest.mark.parametrize(("option", "status"), [([], 0), (["--strict"], 3)], ids=["", "strict"])
def test_a_file_in_a_folder_without_a_server_is_listed_and_counts_if_that_is_wanted(
    with_ty, project, option, status
):
    (project / "wrong.py").write_bytes(b"\0")
    done = with_ty("check", *option, ".", cwd=project)
    assert done.returncode == status
    assert "skipped wrong.py: " in done.stdout
    assert "1 clean, " in done.stdout
    assert done.stderr == ""


@server
@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_a_named_file_without_a_server_counts_and_is_told(with_ty, project, format):
    (project / "notes.unheard").touch()
    done = with_ty("check", "--format", format, "right.py", "notes.unheard", cwd=project)
    assert done.returncode == 3
    assert done.stderr == "lspkit: notes.unheard was not checked\n"
    if format == "text":
        assert "skipped notes.unheard: " in done.stdout
        assert "2 files: 1 clean, 1 skipped" in done.stdout


@server
def test_a_binary_file_is_skipped(with_ty, project):
    (project / "binary.py").write_bytes(b"\0")
    done = with_ty("check", "binary.py", cwd=project)
    assert done.returncode == 3
    assert done.stdout.startswith("skipped binary.py: is ")


@server
def test_findings_outweigh_what_was_skipped(with_ty, project):
    (project / "notes.unheard").touch()
    done = with_ty("check", "wrong.py", "notes.unheard", cwd=project)
    assert done.returncode == 1
    assert "skipped notes.unheard: " in done.stdout


@server
@pytest.mark.parametrize("name", ["right.py", "wrong.py"])
def test_a_path_that_is_not_there_is_a_mistake_and_the_others_are_checked(with_ty, project, name):
    done = with_ty("check", name, "none.py", cwd=project)
    assert done.returncode == 2
    assert ("wrong.py:2:15 error " in done.stdout) == (name == "wrong.py")
    assert done.stderr == f"lspkit: none.py does not exist in {project}\n"
    assert ", 1 missing" in done.stdout
    assert "skipped" not in done.stdout


@server
def test_no_time_is_unknown(with_ty, project):
    done = with_ty("check", "--timeout", "0", "right.py", cwd=project)
    assert done.returncode == 3
    assert "unknown right.py: the timeout expired" in done.stdout


@server
def test_files_that_had_no_turn_in_time_are_unknown(with_ty, project):
    done = with_ty("check", "--timeout", "0", "right.py", "wrong.py", cwd=project)
    assert done.returncode == 3
    assert "unknown right.py and 1 more: the timeout expired" in done.stdout


@server
def test_a_milder_severity_counts_more(with_ty, project):
    (project / "mild.py").write_text("x = 1  # ty: ignore[unresolved-import]\n", encoding="utf-8")
    strict = with_ty("check", "--json", "--severity", "hint", "mild.py", cwd=project)
    [report] = json.loads(strict.stdout)["reports"]
    assert report["severity"] == "hint"
    mild = [one for one in report["diagnostics"] if one["severity"] != "error"]
    assert mild, report["diagnostics"]
    assert strict.returncode == 1
    assert with_ty("check", "mild.py", cwd=project).returncode == 0


# Without a server


def test_a_missing_server_is_status_3_with_the_command_that_gets_it(bare, project):
    done = bare("check", "right.py", "wrong.py", cwd=project)
    assert done.returncode == 3
    assert "skipped right.py and 1 more: " in done.stdout
    assert "pip install" in done.stdout
    assert "2 files: 2 skipped" in done.stdout


def test_a_kind_of_file_that_nobody_knows_is_skipped(bare, project):
    (project / "a.unheard").touch()
    done = bare("check", "a.unheard", cwd=project)
    assert done.returncode == 3
    assert "skipped a.unheard: no server is defined for .unheard files" in done.stdout


@pytest.mark.parametrize("name", ["none.py", "no/folder"])
def test_a_path_that_is_not_there_is_named(bare, project, name):
    done = bare("check", name, cwd=project)
    assert done.returncode == 2
    assert done.stdout == "1 file: 1 missing\n"
    assert done.stderr == f"lspkit: {name} does not exist in {project}\n"


def test_many_paths_that_are_not_there_are_counted(bare, project):
    done = bare("check", *(f"{number}.py" for number in range(20)), cwd=project)
    *first, last = done.stderr.splitlines()
    assert first == [f"lspkit: {number}.py does not exist in {project}" for number in range(5)]
    assert last == "lspkit: 15 more paths do not exist"
    assert done.returncode == 2


def test_a_folder_without_anything_to_check_is_not_clean(bare, tmp_path):
    done = bare("check", ".", cwd=tmp_path)
    assert done.returncode == 3
    assert "nothing to check" in done.stdout


@pytest.mark.parametrize("name", ["none", "right.py"])
def test_a_root_that_is_no_folder_is_a_mistake_in_the_call(bare, project, name):
    done = bare("check", "--root", name, "right.py", cwd=project)
    assert done.returncode == 2
    assert done.stderr.startswith("lspkit: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_file_outside_of_the_root_is_skipped(bare, project):
    (project / "sub").mkdir()
    done = bare("check", "--root", "sub", "right.py", cwd=project)
    assert done.returncode == 3
    assert "outside the workspace" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["check"],
        ["check", "--colour", "a.py"],
        ["check", "--format", "yaml", "a.py"],
        ["check", "--severity", "awful", "a.py"],
        ["check", "--timeout", "soon", "a.py"],
        ["check", "--timeout", "-1", "a.py"],
        ["check", "--timeout", "nan", "a.py"],
        ["check", "--timeout", "inf", "a.py"],
        ["check", ""],
        ["check", "right.py", ""],
        ["check", "--root", "", "right.py"],
        ["config", "show", "--root", ""],
        ["trust", "add", ""],
        ["unheard"],
        ["--unheard"],
    ],
    ids=" ".join,
)
def test_a_mistake_in_the_call_is_status_2_with_the_usage(bare, project, words):
    done = bare(*words, cwd=project)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: lspkit")
    assert done.stdout == ""


def test_without_a_command_there_is_help_and_status_2(bare):
    done = bare()
    assert done.returncode == 2
    assert "usage: lspkit" in done.stdout + done.stderr


def test_the_version(bare):
    done = bare("--version")
    assert (done.returncode, done.stdout) == (0, f"lspkit {lspkit.__version__}\n")


@pytest.mark.parametrize("words", [["--help"], ["check", "--help"]], ids=" ".join)
def test_help_is_status_0(bare, words):
    done = bare(*words)
    assert done.returncode == 0
    assert done.stdout.startswith("usage: lspkit")
    assert "check" in done.stdout


@server
def test_a_file_name_that_is_no_utf8_does_not_end_the_server(with_ty, project):
    (project / os.fsdecode(b"caf\xe9.py")).write_text(RIGHT, encoding="utf-8")
    done = with_ty("check", ".", cwd=project)
    assert done.returncode == 1, done.stdout
    why = "the path of the file is not valid UTF-8, and ty cannot be told of it"
    assert f"skipped caf\\udce9.py: {why}\n" in done.stdout
    assert "is gone" not in done.stdout


@pytest.mark.parametrize("format", ["text", "json"])
def test_a_file_name_that_is_no_utf8_is_shown_somehow(bare, project, format):
    (project / os.fsdecode(b"caf\xe9.py")).touch()
    done = bare("check", "--format", format, ".", cwd=project, PYTHONIOENCODING="utf-8")
    assert done.returncode == 3


@pytest.mark.parametrize(
    "sign",
    [
        pytest.param("\x1b[31m", id="escape"),
        pytest.param("\u202e", id="bidi"),
        pytest.param("\n", id="newline"),
    ],
)
def test_a_file_name_cannot_write_to_the_terminal(bare, project, sign):
    (project / f"a{sign}b.py").touch()
    done = bare("check", f"a{sign}b.py", cwd=project)
    assert f"a{sign}b.py" not in done.stdout


@server
def test_an_interrupt_ends_it_without_a_word(with_ty, project):
    for number in range(300):
        (project / f"m{number}.py").write_text(RIGHT, encoding="utf-8")
    with subprocess.Popen(
        with_ty.command("check", "."),
        cwd=project,
        env={**with_ty.environment, "TMPDIR": os.environ["TMPDIR"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for_a_child(process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, said) == (130, "")


def wait_for_a_child(process: subprocess.Popen[str]) -> None:
    """Until it has started its first server, or has ended."""
    watched = psutil.Process(process.pid)
    deadline = time.monotonic() + TIMEOUT
    while not watched.children() and process.poll() is None:
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


# Servers that the configuration disables


def disable(project, *servers):
    (project / ".lspkit").mkdir()
    said = {"lsp": {one: {"disabled": True} for one in servers}}
    (project / ".lspkit" / "lsp.json").write_text(json.dumps(said), encoding="utf-8")


@pytest.mark.parametrize("command", ["check", "definition"])
def test_a_disabled_server_is_not_offered(bare, project, command):
    disable(project, "ty")
    words = ["right.py"] if command == "check" else ["right.py:1:5"]
    done = bare(command, *words, cwd=project)
    assert done.returncode == 3
    told = done.stdout + done.stderr
    assert (
        "pyright-langserver is not installed (ty is disabled in the configuration); basedpyright "
        "does the same; get" in told
    )
    assert "lspkit[python]" not in told


@pytest.mark.parametrize("command", ["check", "definition"])
def test_that_all_servers_for_a_file_are_disabled_is_said(bare, project, command):
    python = [one.id for one in BUILT_IN if ".py" in one.languages]
    disable(project, *python)
    words = ["right.py"] if command == "check" else ["right.py:1:5"]
    done = bare(command, *words, cwd=project)
    assert done.returncode == 3
    told = done.stdout + done.stderr
    assert "no server runs for .py files: ty, pyright, " in told
    assert " and ruff are disabled in the configuration" in told
    assert "is defined" not in told
