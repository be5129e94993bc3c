"""`lspkit check` tells what of the configuration is not used, beside the result."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import CommandLine


@pytest.fixture
def file(project: Path) -> Path:
    made = project / ".lspkit" / "lsp.json"
    made.parent.mkdir()
    return made


def check(bare: CommandLine, file: Path, text: str) -> subprocess.CompletedProcess[str]:
    file.write_text(text, encoding="utf-8")
    return bare("check", "--json", ".", cwd=file.parent.parent)


def test_a_broken_file_of_the_project_is_told_with_its_mistake(bare, file):
    done = check(bare, file, '{"lsp": {"ruff": {"disabled": tru}}')
    ignored, why = done.stderr.splitlines()
    assert ignored.startswith(f"lspkit: {file}: the whole file is ignored")
    assert why.startswith(f"lspkit: {file}:1: ")
    assert "is not valid JSON" in why
    assert set(json.loads(done.stdout)) == {"reports", "skipped", "hints"}


def test_a_name_that_is_misspelt_is_one_line(bare, file):
    done = check(bare, file, '{"timng": 1}')
    [line] = done.stderr.splitlines()
    assert line.startswith(f"lspkit: {file}:1: timng: ")


def test_a_file_without_mistakes_is_not_spoken_of(bare, file):
    assert check(bare, file, '{"lsp": {"ruff": {"disabled": true}}}').stderr == ""


def test_very_many_warnings_are_counted(bare, file):
    done = check(bare, file, json.dumps({f"unheard{number}": 1 for number in range(30)}))
    *lines, last = done.stderr.splitlines()
    assert len(lines) == 10
    assert last == "lspkit: 20 more warnings, shown by: lspkit config show"


def test_what_is_held_back_is_told_once(bare, file):
    done = check(bare, file, '{"lsp": {"x": {"command": ["./x"], "extensions": [".x"]}}}')
    [line] = done.stderr.splitlines()
    assert "held back: lsp.x.command." in line


@pytest.mark.parametrize("command", ["status", "tools"])
def test_other_commands_tell_it_as_well(bare, file, command):
    file.write_text('{"timng": 1}', encoding="utf-8")
    done = bare(command, "--json", cwd=file.parent.parent)
    [line] = done.stderr.splitlines()
    assert line.startswith(f"lspkit: {file}:1: timng: ")
    assert json.loads(done.stdout)


def test_a_warning_cannot_write_to_the_terminal(bare, file):
    done = check(bare, file, json.dumps({"a\x1b[31m\nb": 1}))
    assert "\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_the_environment_names_and_is_not_there_is_told(bare, project):
    named = project / "none.json"
    done = bare("check", ".", cwd=project, LSPKIT_CONFIG=str(named))
    expected = f"lspkit: {named}: LSPKIT_CONFIG names this file, which does not exist\n"
    assert done.stderr == expected
