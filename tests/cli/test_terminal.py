"""Nothing that a project or a server says writes to the terminal: it is shown, and never obeyed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lspkit.testing import Diagnostics, Fault, Script
from tests.cli.running import TIMEOUT, CommandLine

pytestmark = pytest.mark.slow  # a process each

#: Clears the screen, says that all is well, and hides and turns round what follows. A file may be
#: called so.
EVIL = (
    "boo\x1b[2J\x1b[1;1H\x1b]0;title\x07\x9b31m\x7f\b\u202e\u2066\u200b\u2028\x85\x1c\U000e0041"
    "\r\n1 file: 1 clean\n\x1b[8m"
)
PULL = "textDocument/diagnostic"


def is_harmless(text: str) -> bool:
    """Whether there is nothing but letters and the ends of lines."""
    return all(line.isprintable() for line in text.split("\n"))


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return CommandLine(tmp_path_factory.mktemp("terminal"))


def served(
    command: CommandLine, project: Path, argv: list[str], *words: str, server: str = "scripted"
) -> subprocess.CompletedProcess[str]:
    """Check a file with this server, which the user has configured."""
    (project / "a.scr").write_text("def greet\n", encoding="utf-8")
    said = {"lsp": {server: {"command": argv, "extensions": [".scr"]}}}
    file = project.parent / f"{project.name}.json"
    file.write_text(json.dumps(said), encoding="utf-8")
    variables = {"LSPKIT_CONFIG": str(file), "LSPKIT_TRUST": "always"}
    return command("check", *words, "a.scr", cwd=project, **variables)


def finding(**more: Any) -> dict[str, Any]:
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    return {"range": place, "severity": 1, "message": "wrong", **more}


@pytest.mark.parametrize("field", ["message", "code", "source"])
@pytest.mark.parametrize("format", ["text", "json"])
def test_a_finding_is_a_line(scripted, command, tmp_path, field, format):
    found = finding(**{field: EVIL})
    pulled = Fault(PULL, "result", result={"kind": "full", "items": [found]})
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[pulled]))
    done = served(command, tmp_path, argv, "--format", format)
    assert (done.returncode, done.stderr) == (1, "")
    assert is_harmless(done.stdout)
    if format == "json":
        [report] = json.loads(done.stdout)["reports"]
        assert report["diagnostics"][0][field] == EVIL
    else:
        [line, summary] = done.stdout.splitlines()
        assert line.startswith("a.scr:1:1 error ")
        assert summary == "1 file: 1 finding in 1 file"


def test_so_is_why_nobody_knows(scripted, command, tmp_path):
    refusal = Fault(PULL, "error", code=-32803, message=EVIL)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[refusal]))
    done = served(command, tmp_path, argv)
    assert (done.returncode, done.stderr) == (3, "")
    assert is_harmless(done.stdout)
    [line, summary] = done.stdout.splitlines()
    assert line.startswith("unknown a.scr: scripted")
    assert "boo" in line
    assert summary == "1 file: 1 unknown"


def test_so_are_the_last_words_of_a_server(command, tmp_path):
    words = "\x1b[2J\x9b31m\u202eboo".encode()
    dying = f"import sys; sys.stderr.buffer.write({words!r}); sys.exit(3)"
    done = served(command, tmp_path, [sys.executable, "-c", dying])
    assert done.returncode == 3
    assert is_harmless(done.stdout + done.stderr)
    assert "boo" in done.stdout
    assert len(done.stdout.splitlines()) == 2


def test_a_server_is_called_by_its_name_on_a_line(scripted, command, tmp_path):
    pulled = Fault(PULL, "result", result={"kind": "full", "items": [finding()]})
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[pulled]))
    done = served(command, tmp_path, argv, server=EVIL)
    assert is_harmless(done.stdout + done.stderr)
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    "words",
    [["."], ["--json", "."], [f"./{EVIL}"], [f"./{EVIL}.gone"]],
    ids=["folder", "json", "named", "missing"],
)
def test_names_of_files_are_shown(command, tmp_path, words):
    (tmp_path / f"{EVIL}.py").touch()
    (tmp_path / EVIL).mkdir()
    (tmp_path / EVIL / f"{EVIL}.py").touch()
    done = command("check", *words, cwd=tmp_path)
    # A path that does not exist is a mistake in the call, which is told beside the result.
    assert "boo" in (done.stderr if words[0].endswith(".gone") else done.stdout)
    assert is_harmless(done.stdout + done.stderr)


@pytest.mark.parametrize("option", ["--", "--format=", "--timeout="])
def test_a_name_that_is_taken_for_an_option_is_shown(command, tmp_path, option):
    done = command("check", "a.py", option + EVIL.replace(" ", ""), cwd=tmp_path)
    assert done.returncode == 2
    assert "boo" in done.stderr
    assert is_harmless(done.stdout + done.stderr)
    assert not any(line.startswith("1file") for line in done.stderr.splitlines())


@pytest.mark.parametrize("words", [[], ["--debug"]], ids=["", "with a traceback"])
def test_a_folder_that_is_none_is_a_line(command, tmp_path, words):
    done = subprocess.run(
        command.command(*words, "check", "--root", EVIL, "a.py"),
        cwd=tmp_path,
        env=command.environment,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 2
    assert is_harmless(done.stdout + done.stderr)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("lspkit: the workspace root boo")
    assert last.endswith("does not exist")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that is called so, and configures so, in what it may say and what it may not."""
    folder = tmp_path / EVIL
    (folder / ".lspkit").mkdir(parents=True)
    said = {
        "lsp": {
            "ty": {"settings": {EVIL: EVIL}, "command": [EVIL], "environment": {EVIL: EVIL}},
            EVIL: {"extensions": [f".{EVIL}"], "settings": {"a": EVIL}},
        },
        "timing": {EVIL: 1},
        EVIL: EVIL,
    }
    (folder / ".lspkit" / "lsp.json").write_text(json.dumps(said), encoding="utf-8")
    (folder / "a.py").touch()
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["config", "show"],
        ["config", "show", "--origin"],
        ["config", "show", "--json", "--origin"],
        ["config", "path"],
        ["config", "path", "--json"],
        ["check", "a.py"],
        ["check", "--json", "a.py"],
        ["trust"],
        ["trust", "--yes"],
        ["trust", "remove"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("trust", ["always", ""], ids=["trusted", ""])
@pytest.mark.parametrize("broken", [False, True], ids=["", "broken"])
def test_what_a_project_is_called_and_configures_is_shown(command, project, words, trust, broken):
    if broken:
        said = {"lsp": {EVIL: {"extensions": [EVIL], "command": EVIL}}}
        (project / ".lspkit" / "lsp.json").write_text(json.dumps(said), encoding="utf-8")
    state = {"XDG_STATE_HOME": str(project.parent / "state"), "LSPKIT_TRUST": trust}
    done = command(*words, cwd=project, **state)
    assert "boo" in done.stdout + done.stderr
    assert is_harmless(done.stdout + done.stderr)
    assert not any(line.startswith("1 file: 1 clean") for line in done.stdout.splitlines())
    if "--json" in words:
        json.loads(done.stdout)


def test_what_is_trusted_is_listed_a_line_each(command, project):
    state = {"XDG_STATE_HOME": str(project.parent / "state")}
    command("trust", "--yes", cwd=project, **state)
    done = command("trust", "list", cwd="/", **state)
    assert "boo" in done.stdout
    assert is_harmless(done.stdout + done.stderr)
    assert len(done.stdout.splitlines()) == 1


def test_a_value_is_shown_as_json_that_says_the_same(command, tmp_path):
    said = {"lsp": {"ty": {"settings": {"a": EVIL}}}}
    (tmp_path / ".lsp.json").write_text(json.dumps(said), encoding="utf-8")
    done = command("config", "show", cwd=tmp_path, LSPKIT_TRUST="always")
    [line] = [one for one in done.stdout.splitlines() if one.startswith("lsp.ty.settings.a = ")]
    assert json.loads(line.partition(" = ")[2]) == EVIL
