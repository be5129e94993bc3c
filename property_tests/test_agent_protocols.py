"""Whatever is sent to a hook, it is read, and nothing is raised."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lspkit.agent.hooks.agent_protocols import (
    PROTOCOLS,
    HookCall,
    answer,
    read_call,
    touched_files,
)
from lspkit.cli.command_table import AGENTS

FIELDS = sorted(
    {field for one in PROTOCOLS for field in one.marks}
    | {field for one in PROTOCOLS for field, _, _ in one.moments}
    | {name for one in PROTOCOLS for name in (one.fields.tool, one.fields.arguments)}
    | {name for one in PROTOCOLS for name in (one.fields.result, one.fields.cwd)}
)
EVENTS = sorted({value for one in PROTOCOLS for _, value, _ in one.moments if value})
WORDS = st.sampled_from(
    [*EVENTS, "Write", "apply_patch", "bash", "/project", "a.py", "\0", "\ud800"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["path", "file_path", "command", "success"]), inner)
    ),
    max_leaves=8,
)
INPUTS = st.dictionaries(st.sampled_from(FIELDS), VALUES)


def understood(data: bytes, agent: str | None) -> HookCall | None:
    """The call, if there is one. It has an answer only where it has files or is a command."""
    call = read_call(data, agent)
    if not isinstance(call, HookCall):
        assert call.why
        return None
    touch = touched_files(call)
    assert touch is None or all(one.startswith("/") for one in touch.files)
    said = answer(call, "text")
    assert not said or json.loads(said)
    return call


@given(st.binary(), st.sampled_from(AGENTS) | st.none())
def test_any_bytes_are_read(data: bytes, agent: str | None) -> None:
    understood(data, agent)


@given(INPUTS, st.sampled_from(AGENTS) | st.none())
def test_any_object_is_read(values: dict[str, Any], agent: str | None) -> None:
    understood(json.dumps(values).encode(), agent)


@given(st.sampled_from(["Write", "apply_patch", "Bash"]), VALUES, VALUES, VALUES)
def test_any_call_is_read(tool: str, arguments: Any, result: Any, cwd: Any) -> None:
    values = {
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": arguments,
        "tool_response": result,
        "cwd": cwd,
    }
    call = understood(json.dumps(values).encode(), None)
    assert (call is not None) == isinstance(arguments, dict | str)
