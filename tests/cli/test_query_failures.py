"""When a question cannot be answered: one line, the right status, and never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.cli.check.conftest import PULL
from tests.cli.running import TIMEOUT
from tests.cli.shop import CALLS, all_answers, scripted_project
from tests.long_tests import some_pairs
from tests.scripted import comes_true

#: Every command about a position, with what follows the position.
AT = {
    "definition": [],
    "references": [],
    "hover": [],
    "implementation": [],
    "calls": [],
    "rename": ["new_name"],
}
#: Their methods, the ones that a server is asked first.
METHODS = {
    "definition": "textDocument/definition",
    "references": "textDocument/references",
    "hover": "textDocument/hover",
    "implementation": "textDocument/implementation",
    "calls": "textDocument/prepareCallHierarchy",
    "rename": "textDocument/rename",
}


@pytest.fixture
def broken_files(tmp_path: Path) -> Path:
    """Files and folders about which nothing can be asked."""
    (tmp_path / "binary.scr").write_bytes(b"\0\xff")
    (tmp_path / "folder.scr").mkdir()
    (tmp_path / "notes.unheard").touch()
    return tmp_path


MISTAKES = {
    "none.scr:1:1": "none.scr does not exist in /",
    "binary.scr:1:1": "binary.scr is ",
    "folder.scr:1:1": "folder.scr is a folder",
    "a.scr:9:1": "line 9 is beyond the end: the file has lines 1 to 3",
    "a.scr:1:99": "column 99 is beyond the end: line 1 has columns 1 to 10",
    "a.scr:0:1": "line is 0: a whole number from 1 is needed",
    "/etc/hosts:1:1": "no server is defined for ",
    "/none/a.scr:1:1": "/none/a.scr does not exist",
    "a.scr/b:1:1": "a.scr/b does not exist",
}


@pytest.mark.parametrize(("command", "target"), some_pairs(AT, list(MISTAKES), every=4))
def test_what_does_not_exist_is_told_on_a_line(bare, broken_files, scripted, command, target):
    answers = {METHODS[command]: None} if command in ("implementation", "calls") else {}
    variables = scripted_project(broken_files, scripted(Script(answers=answers)))
    done = bare(command, target, *AT[command], cwd=broken_files, **variables)
    assert done.returncode == (3 if target.startswith("/etc") else 2)
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith(f"lspkit: {MISTAKES[target]}")


def test_a_symbol_that_does_not_exist_comes_with_candidates(bare, tmp_path, scripted):
    variables = scripted_project(tmp_path, scripted(Script()))
    done = bare("hover", "a.scr", "--symbol", "gret", cwd=tmp_path, **variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "lspkit: a.scr defines no symbol gret; candidates: greet at 1:5\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["hover", "a.scr"], "which position in a.scr? Give a.scr:LINE:COL, or --symbol NAME"),
        (
            ["hover", "a.scr:2"],
            "which column of a.scr:2? Give a.scr:2:COL, or --symbol WORD on that line",
        ),
        (
            ["hover", "a.scr:2:1", "--symbol", "greet"],
            "a position is a line and a column, or a symbol, or a line and a symbol",
        ),
        (["rename", "a.scr:1:5", " "], "a new name is needed"),
        (["symbols"], "give a FILE for its outline, or --query NAME for the whole workspace"),
        (["symbols", "none.scr"], "none.scr does not exist in {folder}"),
        (["status", "--root", "none"], "the workspace root none does not exist"),
        (["tools", "--root", "a.scr"], "the workspace root a.scr is not a folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_half_a_question_is_told_what_is_missing(bare, tmp_path, words, said):
    (tmp_path / "a.scr").write_text("def greet\n😀 greet ok\n", encoding="utf-8")
    done = bare(*words, cwd=tmp_path)
    told = said.replace("{folder}", str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"lspkit: {told}\n")


@pytest.mark.parametrize(
    "words",
    [
        ["definition"],
        ["rename", "a.py:1:1"],
        ["calls", "a.py:1:1", "--in", "--out"],
        ["hover", ""],
        ["hover", "a.py:1:1", "--timeout", "soon"],
        ["tools", "--style", "unheard"],
        ["tools", "--shape", "unheard"],
        ["completion"],
        ["completion", "tcsh"],
    ],
    ids=" ".join,
)
def test_a_mistake_in_the_call_is_status_2_with_the_usage(bare, tmp_path, words):
    done = bare(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"usage: lspkit {words[0]}")


# No server, or one that fails


@pytest.mark.parametrize("command", AT)
def test_a_missing_server_is_status_3_with_the_command_that_gets_it(bare, project, command):
    done = bare(command, "right.py:1:5", *AT[command], cwd=project)
    assert (done.returncode, done.stdout) == (3, "")
    [line] = done.stderr.splitlines()
    assert "pip install" in line


@pytest.mark.parametrize("words", [["symbols", "notes.unheard"], ["symbols", "-q", "x"]], ids=str)
def test_a_kind_of_file_without_a_server_is_status_3(bare, broken_files, words):
    done = bare(*words, cwd=broken_files)
    assert (done.returncode, done.stdout) == (3, "")
    assert len(done.stderr.splitlines()) == 1


FAULTS = {
    "hang": ("did not answer", "give it more time with --timeout"),
    "crash": ("is gone", "`lspkit status --json` shows the command of each server"),
    "error": ("scripted refused textDocument/hover", ": too early (-32803)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_fails_is_status_3_with_the_next_step(bare, tmp_path, scripted, fault):
    options = {"code": -32803, "message": "too early"} if fault == "error" else {}
    argv = scripted(Script(faults=[Fault("textDocument/hover", fault, **options)]))
    variables = scripted_project(tmp_path, argv)
    done = bare("hover", "a.scr:2:3", "--timeout", "6", cwd=tmp_path, **variables)
    assert (done.returncode, done.stdout) == (3, "")
    [line] = done.stderr.splitlines()
    what, step = FAULTS[fault]
    assert what in line
    assert line.endswith(step)


def test_what_a_server_does_not_offer_is_status_3(bare, tmp_path, scripted):
    argv = scripted(Script(capabilities={"hoverProvider": None}))
    done = bare("hover", "a.scr:2:3", cwd=tmp_path, **scripted_project(tmp_path, argv))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "lspkit: textDocument/hover is not supported by scripted\n"


# Other trouble


def test_a_name_that_is_no_utf8_is_a_name(bare, tmp_path, scripted):
    variables = scripted_project(tmp_path, scripted(Script()))
    name = os.fsdecode(b"caf\xe9:1.scr")
    (tmp_path / name).write_text("def pour\n", encoding="utf-8")
    done = bare("definition", f"{name}:1:5", cwd=tmp_path, **variables)
    assert (done.returncode, done.stdout) == (0, "caf\\udce9:1.scr:1:5: def pour\n")
    done = bare("definition", f"{name}.gone:1:5", cwd=tmp_path, **variables)
    assert done.stderr == f"lspkit: caf\\udce9:1.scr.gone does not exist in {tmp_path}\n"


@pytest.mark.parametrize("command", CALLS)
def test_a_closed_pipe_is_quiet(bare, tmp_path, scripted, command):
    argv = scripted(Script(answers=all_answers(tmp_path)))
    variables = scripted_project(tmp_path, argv)
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            bare.command(*CALLS[command]),
            cwd=tmp_path,
            env={**bare.environment, "TMPDIR": os.environ["TMPDIR"], **variables},
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_it_without_a_word(bare, tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("textDocument/hover", "hang")]))
    log = Path(argv[-1]).with_name("log.jsonl")
    variables = scripted_project(tmp_path, argv)
    with subprocess.Popen(
        bare.command("hover", "a.scr:2:3"),
        cwd=tmp_path,
        env={**bare.environment, "TMPDIR": os.environ["TMPDIR"], **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert comes_true(lambda: log.exists() and "textDocument/hover" in log.read_text())
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, printed, said) == (130, "", "")


def test_a_rename_that_is_interrupted_while_it_is_verified_is_undone(bare, tmp_path, scripted):
    hang = Fault(PULL, "hang", nth=2)  # a.scr before the edit, and after it
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[hang]))
    variables = scripted_project(tmp_path, argv)
    before = (tmp_path / "a.scr").read_text(encoding="utf-8")
    with subprocess.Popen(
        bare.command("rename", "a.scr:2:3", "hello", "--apply"),
        cwd=tmp_path,
        env={**bare.environment, "TMPDIR": os.environ["TMPDIR"], **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        Log.of(argv).wait_for_message(PULL, 2)
        assert "hello" in (tmp_path / "a.scr").read_text(encoding="utf-8")
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, printed, said) == (130, "", "")
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == before


EVIL = "boo\x1b[2J\u202e\r\n\tfake.py:1:1: line"


@pytest.mark.parametrize(
    "words",
    [["hover", "a.scr:2:3"], ["symbols", "a.scr"], ["symbols", "a.scr", "--query", "g"]],
    ids=" ".join,
)
def test_what_a_server_says_cannot_write_to_the_terminal(bare, tmp_path, scripted, words):
    place = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
    symbol = {"name": EVIL, "kind": 12, "range": place, "selectionRange": place}
    location = {"uri": (tmp_path / "a.scr").as_uri(), "range": place}
    answers = {
        "textDocument/hover": {"contents": EVIL},
        "textDocument/documentSymbol": [symbol],
        "workspace/symbol": [
            {"name": "g", "kind": 12, "location": location, "containerName": EVIL}
        ],
    }
    variables = scripted_project(tmp_path, scripted(Script(answers=answers)))
    done = bare(*words, cwd=tmp_path, **variables)
    assert done.returncode == 0
    assert "boo" in done.stdout
    assert all(line.replace("\t", "").isprintable() for line in done.stdout.split("\n"))
    if words[0] == "symbols":  # names stay on their line
        assert len(done.stdout.splitlines()) == 1
