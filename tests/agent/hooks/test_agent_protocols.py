"""The inputs of command-line agents are understood, and the answers have the documented form."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lspkit.agent.hooks.agent_protocols import (
    MOST_BYTES,
    PROTOCOLS,
    HookCall,
    IgnoredInput,
    Moment,
    answer,
    read_call,
    touched_files,
)
from lspkit.agent.hooks.tool_files import ToolKind, Touch
from lspkit.cli.command_table import AGENTS
from tests.agent.hooks.agent_inputs import (
    ANSWERS,
    EDITS,
    INPUTS,
    OTHERS,
    RECORDED,
    agent_of,
    input_text,
    text_for_model,
)


def call_of(text: str, agent: str | None = None) -> HookCall:
    call = read_call(text.encode(), agent)
    assert isinstance(call, HookCall), call
    return call


def ignored(data: bytes, agent: str | None = None) -> IgnoredInput:
    found = read_call(data, agent)
    assert isinstance(found, IgnoredInput), found
    return found


def test_every_agent_and_every_input_is_tested():
    assert sorted({one.agent for one in PROTOCOLS}) == list(AGENTS)
    assert sorted(ANSWERS) == list(AGENTS)
    assert {agent_of(name) for name in EDITS} == set(AGENTS)
    assert {agent_of(name) for name in RECORDED if name in EDITS} == {"claude-code", "codex"}
    assert sorted([*EDITS, *OTHERS]) == sorted(path.stem for path in INPUTS.glob("*.json"))


@pytest.mark.parametrize("name", [*EDITS, *OTHERS])
def test_the_agent_is_recognised(name):
    call = call_of(input_text(name))
    assert call.protocol.agent == agent_of(name)
    assert call == call_of(input_text(name), agent_of(name))
    assert call.cwd == "/project"
    assert call.session


@pytest.mark.parametrize("name", EDITS)
def test_the_edited_file_is_found(name):
    touch = touched_files(call_of(input_text(name)))
    assert touch is not None
    assert touch.kind in (ToolKind.WRITE, ToolKind.EDIT, ToolKind.PATCH)
    assert touch.files == ("/project/edited.py",)


@pytest.mark.parametrize("name", EDITS)
def test_an_answer_has_the_documented_form(name):
    text = 'The edit was applied.\n<diagnostics file="a">\nERROR [1:1] "😀"\n</diagnostics>'
    said = answer(call_of(input_text(name)), text)
    jsonschema.validate(json.loads(said), ANSWERS[agent_of(name)])
    assert text_for_model(said) == text
    assert said.isascii()
    assert "\n" not in said


@pytest.mark.parametrize("name", EDITS)
def test_without_a_text_there_is_no_answer(name):
    assert answer(call_of(input_text(name)), "") == ""


@pytest.mark.parametrize(
    ("name", "moment", "touch"),
    [
        ("claude-code-before", Moment.BEFORE, Touch(ToolKind.READ, ("/project/edited.py",))),
        ("copilot-cli-before", Moment.BEFORE, Touch(ToolKind.READ, ("/project/edited.py",))),
        ("gemini-cli-before", Moment.BEFORE, Touch(ToolKind.READ, ("/project/edited.py",))),
        ("claude-code-failure", Moment.FAILED, None),
        ("copilot-cli-failure", Moment.FAILED, None),
        ("gemini-cli-failure", Moment.AFTER, None),
        ("claude-code-read", Moment.AFTER, Touch(ToolKind.READ, ("/project/edited.py",))),
        ("codex-bash", Moment.AFTER, Touch(ToolKind.SHELL)),
        ("codex-delete", Moment.AFTER, Touch(ToolKind.PATCH, gone=("/project/edited.py",))),
    ],
)
def test_what_is_no_edit_is_told_from_one(name, moment, touch):
    call = call_of(input_text(name))
    assert call.moment is moment
    assert touched_files(call) == touch


@pytest.mark.parametrize("name", ["claude-code-before", "gemini-cli-before", "copilot-cli-failure"])
def test_only_a_call_that_was_made_is_answered(name):
    assert answer(call_of(input_text(name)), "text") == ""


#: The names of tools in the documentation of each agent.
TOOLS = {
    "claude-code": {
        "Write": "write",
        "Edit": "edit",
        "MultiEdit": "edit",
        "Read": "read",
        "Bash": "shell",
        "mcp__files__write_file": "write",
        "Grep": None,
        "Task": None,
    },
    "codex": {"apply_patch": "patch", "Bash": "shell", "update_plan": None},
    "copilot-cli": {
        "create": "write",
        "edit": "edit",
        "str_replace_editor": "edit",
        "apply_patch": "patch",
        "view": "read",
        "bash": "shell",
        "powershell": "shell",
        "glob": None,
        "ask_user": None,
    },
    "gemini-cli": {
        "write_file": "write",
        "replace": "edit",
        "read_file": "read",
        "run_shell_command": "shell",
        "list_directory": None,
        "search_file_content": None,
    },
}


@pytest.mark.parametrize(
    ("agent", "tool", "kind"),
    [(agent, tool, kind) for agent in AGENTS for tool, kind in TOOLS[agent].items()],
)
def test_the_tools_of_each_agent_are_known(agent, tool, kind):
    name = next(name for name in EDITS if agent_of(name) == agent)
    values = json.loads(input_text(name))
    field = call_of(json.dumps(values)).protocol.fields
    values |= {field.tool: tool, field.arguments: {"path": "a.py"}}
    touch = touched_files(call_of(json.dumps(values)))
    assert (None if touch is None else touch.kind) == kind


def settings(agent: str) -> tuple[str, dict[str, Any]]:
    """The event and the entry in the settings that the documentation shows for an agent."""
    page = (Path(__file__).parents[3] / "docs" / "command-line-agents.md").read_text("utf-8")
    titles = {"copilot-cli": "GitHub Copilot CLI"}
    title = titles.get(agent) or agent.replace("-", " ").title().replace("Cli", "CLI")
    section = page.partition(f"\n## {title}\n")[2]
    block = re.search(r"```json\n(.*?)```", section, re.S)
    assert block is not None
    [(event, [entry])] = json.loads(block[1])["hooks"].items()
    return event, entry


@pytest.mark.parametrize("agent", AGENTS)
def test_the_settings_in_the_documentation_run_the_hook_after_every_edit(agent):
    event, entry = settings(agent)
    [command] = entry.get("hooks", [entry])
    assert command["type"] == "command"
    assert "lspkit hook" in (command.get("command"), command.get("bash"))
    names = [name for name in EDITS if agent_of(name) == agent]
    calls = [json.loads(input_text(name)) for name in names]
    assert event in {"postToolUse", *(one.get("hook_event_name") for one in calls)}
    edits = [tool for tool, kind in TOOLS[agent].items() if kind in ("write", "edit", "patch")]
    matched = {tool for tool in TOOLS[agent] if re.fullmatch(entry["matcher"], tool)}
    assert matched == {tool for tool in edits if "__" not in tool}


def changed(name: str, **more: Any) -> str:
    return json.dumps({**json.loads(input_text(name)), **more})


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("claude-code-write", {"tool_response": {"success": False}}),
        ("gemini-cli-replace", {"tool_response": {"error": {"message": "no"}}}),
        ("copilot-cli-edit", {"toolResult": {"resultType": "denied"}}),
        ("copilot-cli-named", {"tool_result": {"result_type": "failure"}}),
    ],
)
def test_a_failed_call_has_no_files(name, result):
    call = call_of(changed(name, **result))
    assert call.is_error
    assert touched_files(call) is None


@pytest.mark.parametrize("result", ["done", None, [], {"other": 1}, {"error": None}])
def test_a_result_that_says_nothing_of_success_is_one(result):
    assert not call_of(changed("gemini-cli-replace", tool_response=result)).is_error


def test_paths_are_relative_to_the_folder_of_the_agent():
    call = call_of(changed("codex-apply-patch", cwd="/project/inner"))
    touch = touched_files(call)
    assert touch is not None
    assert touch.files == ("/project/inner/edited.py",)


@pytest.mark.parametrize("cwd", ["", "relative", 3, None, ["/"]])
def test_a_folder_that_is_no_absolute_path_is_none(cwd):
    call = call_of(changed("claude-code-write", cwd=cwd))
    assert call.cwd == ""
    assert touched_files(call) is None


def test_a_command_with_a_patch_is_that_patch():
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.py\n+1\n*** End Patch\nEOF"
    call = call_of(changed("codex-bash", tool_input={"command": patch}))
    assert touched_files(call) == Touch(ToolKind.PATCH, ("/project/a.py",))


# What is ignored


@pytest.mark.parametrize("data", [b"", b"nonsense", b"{", b"\xff\xfe{}x", b"[" * 100_000])
def test_what_is_no_json_is_foreign(data):
    assert ignored(data).is_foreign


@pytest.mark.parametrize("data", [b"[]", b"{}", b"null", b'"PostToolUse"', b"1e999", b"NaN"])
def test_other_json_is_ignored(data):
    assert not ignored(data).is_foreign


@pytest.mark.parametrize(
    "more",
    [
        {"hook_event_name": "Stop"},
        {"hook_event_name": "posttooluse"},
        {"hook_event_name": ["PostToolUse"]},
        {"hook_event_name": None},
        {"tool_name": 3},
        {"tool_name": None},
        {"tool_input": [1]},
        {"tool_input": None},
    ],
)
def test_an_input_with_something_else_in_it_is_ignored(more):
    assert ignored(changed("claude-code-write", **more).encode()).why


def test_an_agent_that_was_named_is_the_only_one():
    text = input_text("gemini-cli-replace").encode()
    assert ignored(text, "claude-code").why
    assert isinstance(read_call(text, "gemini-cli"), HookCall)


def test_an_input_that_is_too_large_is_not_read():
    assert "bytes" in ignored(b" " * (MOST_BYTES + 1)).why
