"""Every command takes `--json`, and prints valid JSON: the result, or the error."""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.agent import tool_schemas
from lspkit.cli import build_parser
from lspkit.testing import Script
from tests.cli.shop import CALLS, all_answers, scripted_project
from tests.scripted import SOURCE, config_for

#: A call of each command that fails: in the command itself, or in the parser.
FAILURE = {
    "check": ["check", "--root", "none", "a.scr"],
    "config": ["config", "unheard"],
    "trust": ["trust", "add", "none", "--yes"],
    "definition": ["definition", "a.scr:9:9"],
    "references": ["references", "a.scr", "--symbol", "unheard"],
    "hover": ["hover", "none.scr:1:1"],
    "implementation": ["implementation", "a.scr:2"],
    "symbols": ["symbols"],
    "calls": ["calls", "a.scr:1:99"],
    "rename": ["rename", "a.scr:2:3"],
    "status": ["status", "--root", "none"],
    "panel": ["panel", "none"],
    "tools": ["tools", "--style", "unheard"],
    "completion": ["completion", "tcsh"],
    "serve": ["serve", "none"],
    "stop": ["stop", "none"],
    "mcp": ["mcp", "--fd", "0", "1"],
    "install": ["install", "unheard"],
    "servers": ["servers", "--root", "none"],
    "doctor": ["doctor", "none"],
}
#: Commands that print no result: two run until they are ended, one answers in the form of an agent.
WITHOUT_RESULT = {"serve", "mcp", "hook"}


def commands() -> list[str]:
    [found] = [one for one in build_parser()._actions if isinstance(one.choices, dict)]
    assert isinstance(found, argparse._SubParsersAction)
    return list(found.choices)


@pytest.fixture
def run(bare, tmp_path, scripted):
    """Run a command with `--json` in a folder with the scripted server."""
    folder = tmp_path / "project"
    folder.mkdir()
    variables = scripted_project(folder, scripted(Script(answers=all_answers(folder))))

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        done: subprocess.CompletedProcess[str] = bare(*words, "--json", cwd=folder, **variables)
        return done

    return command


def test_every_command_is_in_both_tables():
    assert set(commands()) == set(CALLS) | WITHOUT_RESULT == set(FAILURE) | {"hook"}


@pytest.mark.parametrize("command", CALLS)
def test_success_is_json(run, command):
    done = run(*CALLS[command])
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found
    assert "error" not in found


@pytest.mark.parametrize("command", FAILURE)
def test_failure_is_json_and_a_line_for_people(run, command):
    done = run(*FAILURE[command])
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["code"].startswith("E")
    assert error["message"]
    assert done.stderr.splitlines()[-1].startswith("lspkit: ")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["check", "--root", "none", "a.scr"], "ENOENT"),
        (["hover", "a.scr:9:9"], "EPOSITION"),
        (["hover", "a.scr:1"], "EUSAGE"),
        (["hover"], "EUSAGE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_an_error_has_the_code_of_the_api(run, words, code):
    assert json.loads(run(*words).stdout)["error"]["code"] == code


def test_the_fields_of_an_error_are_those_of_the_api(run):
    error = json.loads(run("hover", "a.scr", "--symbol", "gret").stdout)["error"]
    assert error["candidates"] == ["greet at 1:5"]
    error = json.loads(run("hover", "a.scr:9:1").stdout)["error"]
    assert error["bounds"] == "line 1 to 3"


@pytest.mark.parametrize(
    "words", [["hover", "a.scr:1:1"], ["definition", "a.scr:1:1"]], ids=" ".join
)
def test_nothing_found_is_json_as_well(run, words):
    done = run(*words)
    assert (done.returncode, done.stderr) == (1, "")
    assert not json.loads(done.stdout)


def test_a_result_is_that_of_the_api(run, tmp_path: Path, scripted):
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "a.scr").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(folder, config=config_for(scripted(Script()))) as ws:
        expected = {
            "references": [one.to_dict() for one in ws.references("a.scr", 2, 3)],
            "symbols": [one.to_dict() for one in ws.document_symbols("a.scr")],
            "rename": ws.rename("a.scr", 2, 3, "hello").to_dict(),
        }
    for command, answer in expected.items():
        found: Any = json.loads(run(*CALLS[command]).stdout)
        there = json.dumps(answer).replace(str(folder), str(tmp_path / "project"))
        assert found == json.loads(there)


def test_an_edit_that_was_applied_says_what_it_touched(run):
    done = run(*CALLS["rename"], "--apply")
    assert (done.returncode, done.stderr) == (0, "")
    applied = json.loads(done.stdout)
    assert [Path(one["path"]).name for one in applied["touched"]] == ["a.scr"]
    assert Path(applied["touched"][0]["path"]).read_text(encoding="utf-8").startswith("def hello\n")


def test_a_status_has_a_row_for_each_server(run):
    status = json.loads(run("status").stdout)
    assert "scripted" in {row["server"] for row in status["rows"]}


@pytest.mark.parametrize("style", ["openai", "anthropic", "mcp", "json-schema"])
@pytest.mark.parametrize("shape", ["single", "per-operation"])
def test_tools_are_those_of_the_api(run, style, shape):
    done = run("tools", "--style", style, "--shape", shape)
    assert json.loads(done.stdout) == tool_schemas(style, shape)


def test_tools_that_the_configuration_disables_are_left_out(bare, tmp_path):
    (tmp_path / ".lsp.json").write_text('{"lsp": false}', encoding="utf-8")
    done = bare("tools", cwd=tmp_path, LSPKIT_TRUST="always")
    assert (done.returncode, done.stdout) == (1, "[]\n")
    assert done.stderr == "lspkit: the configuration disables all tools\n"


def test_projects_that_are_trusted_are_listed(run):
    assert json.loads(run("trust", "list").stdout) == []
    added = json.loads(run("trust", "add", "--yes").stdout)
    assert added["trusted"] is True
    [entry] = json.loads(run("trust", "list").stdout)
    assert (entry["path"], entry["state"]) == (added["path"], "trusted")
    assert run("trust", "remove").returncode == 0
    done = run("trust", "add")
    assert done.returncode == 2
    assert json.loads(done.stdout)["trusted"] is False
