"""`lspkit check --format github`: annotations, and no other command of the runner.

`commands` reads lines as the runner does (`ActionCommand.cs` of actions/runner).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from lspkit.batch.check_outcome import CheckOutcome
from lspkit.cli.check.check_text import as_annotations, workflow_command
from tests.cli.check.conftest import finding
from tests.cli.check.test_sarif import diagnostic, outcome
from tests.long_tests import some_pairs

INJECTIONS = (
    "::set-output name=x::y",
    "\n::add-mask::secret",
    "\r\n::stop-commands::token\r",
    "##[add-path]/tmp",
    "a::b,c=d%0A::error::e",
    "%0A::add-mask::x",
    "\x85::error::x",
    "\u2028::error::x",
)


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands in an output: name, properties and message."""
    found = []
    for line in re.split(r"\r\n|\r|\n", text):
        if line.lstrip().startswith("::") and "::" in line.lstrip()[2:]:
            head, _, message = line.lstrip()[2:].partition("::")
            name, _, rest = head.partition(" ")
            pairs = [one.split("=", 1) for one in rest.split(",") if "=" in one]
            found.append((name, {key: unescape(value) for key, value in pairs}, unescape(message)))
        elif "##[" in line:
            found.append((line[line.index("##[") :], {}, ""))
    return found


def unescape(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(code, character)
    return text.replace("%25", "%")


def test_a_finding_is_an_annotation(tmp_path):
    text = as_annotations(outcome(tmp_path, diagnostic(tmp_path / "src" / "a.py", code="E1")))
    [(name, properties, message)] = commands(text)
    assert (name, message) == ("error", "wrong")
    place = {"line": "1", "endLine": "1", "col": "2", "endColumn": "4"}
    assert properties == {"file": "src/a.py", "title": "ty (E1)", **place}
    assert text.splitlines()[-1] == "1 file: 1 finding in 1 file"


@pytest.mark.parametrize("text", INJECTIONS)
def test_no_text_is_a_command(tmp_path, text):
    name = text.replace("/", "")
    found = diagnostic(tmp_path / name, 1, text, code=text, source=text, servers=(text,))
    one = outcome(tmp_path, found, skipped={tmp_path / name: text}, failed={tmp_path / name: text})
    told = commands(as_annotations(one))
    assert [name for name, _, _ in told] == ["error", "notice"]
    assert all(
        set(facts) <= {"file", "line", "endLine", "col", "endColumn", "title"}
        for _, facts, _ in told
    )


@pytest.mark.parametrize("text", INJECTIONS)
def test_a_command_says_what_it_was_given(text):
    [(name, properties, message)] = commands(workflow_command("error", text, file=text))
    assert (name, properties["file"], message) == ("error", text, text)


@pytest.mark.slow  # a process each
@pytest.mark.parametrize(
    ("text", "format"), some_pairs(INJECTIONS, ["text", "github", "json"], every=3)
)
def test_the_command_prints_no_other_command_in_a_workflow(check_with, text, format):
    name = re.sub(r"[/\r\n]", "", text) + ".scr"
    found = [finding(message=text, code=text, source=text)]
    done = check_with(found, "--format", format, name=name, GITHUB_ACTIONS="true")
    assert done.returncode == 1
    expected = ["error"] if format == "github" else []
    assert [name for name, _, _ in commands(done.stdout)] == expected
    assert commands(done.stderr) == []
    if format == "json":
        [report] = json.loads(done.stdout)["reports"]
        assert report["diagnostics"][0]["message"] == text


def test_paths_are_relative_to_the_work_tree(tmp_path):
    base = CheckOutcome(base=str(tmp_path), reports=[], skipped={Path("/else/b.py"): "no server"})
    [(_, properties, message)] = commands(as_annotations(base))
    assert properties["file"] == "/else/b.py"
    assert message == "/else/b.py: no server"


def test_a_name_that_is_not_utf_8_is_printed(check_with):
    done = check_with([finding()], "--format", "github", name=os.fsdecode(b"caf\xe9.scr"))
    assert done.returncode == 1
    assert len(commands(done.stdout)) == 1
