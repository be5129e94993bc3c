"""The hook protocols of command-line agents: their inputs, and the answers to them. Pure.

Such an agent runs a program before or after a tool call, with a JSON object on standard input. Each
protocol is a row of `PROTOCOLS`, as the documentation of the agent describes it. All of them take a
JSON object on standard output, with exit status 0, and pass a text in it on to the model; without
output there is nothing to pass on. Exit status 2 is never used: it blocks the call, or hides its
result from the model.
"""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from lspkit.agent.hooks.tool_files import Arguments, Tool, ToolKind, Touch, touch_of

#: Most bytes of an input. A larger one is ignored.
MOST_BYTES = 32 * 1024 * 1024


class Moment(enum.Enum):
    """When the agent runs the hook."""

    BEFORE = "before"
    AFTER = "after"
    #: After a call that has failed.
    FAILED = "failed"


class Fields(msgspec.Struct, frozen=True):
    """The names of the fields in the input."""

    tool: str = "tool_name"
    arguments: str = "tool_input"
    result: str = "tool_response"
    cwd: str = "cwd"
    session: str = "session_id"


class AgentProtocol(msgspec.Struct, frozen=True):
    """One form of input, and the answer to it. An agent may have several forms."""

    agent: str
    #: A field and its value (None: any value), and the moment that they mean.
    moments: tuple[tuple[str, str | None, Moment], ...]
    fields: Fields = Fields()
    #: Fields that tell this form from those further down in the table.
    marks: tuple[str, ...] = ()
    #: A field of the result with the text of the file before an edit.
    original: str = ""
    #: A field of the result, and its value after success. If it is missing, the call succeeded.
    success: tuple[str, object] | None = None
    #: Tools by plain name whose names mean something else, or nothing, elsewhere.
    tools: Mapping[str, Tool] = {}
    #: The event that the answer names; empty: the answer has no envelope.
    event: str = ""


def _named(before: str, after: str, failed: str = "") -> tuple[tuple[str, str, Moment], ...]:
    """The moments of an agent that names its events."""
    events = {after: Moment.AFTER, before: Moment.BEFORE, failed: Moment.FAILED}
    return tuple(("hook_event_name", name, moment) for name, moment in events.items() if name)


_COPILOT_TOOLS = {"create": Tool(ToolKind.WRITE), "powershell": Tool(ToolKind.SHELL)}
_LIKE_CLAUDE = _named("PreToolUse", "PostToolUse", "PostToolUseFailure")

#: The first row that fits is used.
PROTOCOLS = (
    AgentProtocol(
        agent="copilot-cli",
        # Its events have no names in the input.
        moments=(
            ("toolResult", None, Moment.AFTER),
            ("error", None, Moment.FAILED),
            ("toolArgs", None, Moment.BEFORE),
        ),
        fields=Fields("toolName", "toolArgs", "toolResult", session="sessionId"),
        marks=("toolName",),
        success=("resultType", "success"),
        tools=_COPILOT_TOOLS,
    ),
    # Copilot uses this form for events that are configured as in Claude Code.
    AgentProtocol(
        agent="copilot-cli",
        moments=_LIKE_CLAUDE,
        fields=Fields(result="tool_result"),
        marks=("tool_result",),
        success=("result_type", "success"),
        tools=_COPILOT_TOOLS,
    ),
    AgentProtocol(
        agent="codex",
        moments=_LIKE_CLAUDE,
        marks=("turn_id",),
        event="PostToolUse",
    ),
    AgentProtocol(
        agent="gemini-cli",
        moments=_named("BeforeTool", "AfterTool"),
        success=("error", None),
        event="AfterTool",
    ),
    AgentProtocol(
        agent="claude-code",
        moments=_LIKE_CLAUDE,
        original="originalFile",
        success=("success", True),
        event="PostToolUse",
    ),
)


class HookCall(msgspec.Struct, frozen=True):
    """A tool call that an agent has told a hook of."""

    protocol: AgentProtocol
    moment: Moment
    tool: str
    arguments: Arguments
    #: The folder of the agent, an absolute path; empty if it was not sent.
    cwd: str = ""
    session: str = ""
    is_error: bool = False
    result: object = None


class IgnoredInput(msgspec.Struct, frozen=True):
    """An input without a tool call."""

    why: str
    #: Whether it is no JSON: then the program that sent it is probably no agent.
    is_foreign: bool = False


def read_call(data: bytes, agent: str | None = None) -> HookCall | IgnoredInput:
    """The tool call in an input; `agent` restricts the forms to those of one agent."""
    if len(data) > MOST_BYTES:
        return IgnoredInput(f"the input has more than {MOST_BYTES} bytes")
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return IgnoredInput("the input is not JSON", is_foreign=True)
    if not isinstance(values, dict):
        return IgnoredInput("the input is not a JSON object")
    protocols = [protocol for protocol in PROTOCOLS if agent in (None, protocol.agent)]
    for protocol in protocols:
        moment = _moment(protocol, values)
        if moment is not None:
            return _call(protocol, moment, values)
    return IgnoredInput("the input is not an event before or after a tool call of a known agent")


def touched_files(call: HookCall) -> Touch | None:
    """The kind and the files of a call, with absolute paths; None if there is nothing to do.

    A call that was not made yet counts as a read of its files. A command that contains a patch
    counts as that patch.
    """
    if call.is_error or not call.cwd:
        return None
    touch = touch_of(call.tool, call.arguments, call.protocol.tools)
    if touch is None:
        return None
    kind = touch.kind
    if call.moment is Moment.BEFORE:
        kind = ToolKind.READ
    elif kind is ToolKind.SHELL and (touch.files or touch.gone):
        kind = ToolKind.PATCH
    gone = touch.gone if kind is not ToolKind.READ else ()
    if not touch.files and not gone and kind is not ToolKind.SHELL:
        return None
    files, removed = (tuple(_absolute(names, call.cwd)) for names in (touch.files, gone))
    return Touch(kind, files, gone=removed)


def texts_before(call: HookCall, text_of: Callable[[str], str | None]) -> dict[str, str]:
    """The texts of edited files before a call, by absolute path, as far as the call tells them.

    `text_of` returns the present text of a file. Where the text before is not certain, it is left
    out.
    """
    touch = touch_of(call.tool, call.arguments, call.protocol.tools)
    if touch is None or call.moment is not Moment.AFTER:
        return {}
    original = call.protocol.original
    whole = call.result.get(original) if isinstance(call.result, Mapping) and original else None
    if isinstance(whole, str) and len(touch.files) == 1:
        return dict.fromkeys(_absolute(touch.files, call.cwd), whole)
    if touch.kind is ToolKind.SHELL and touch.files:
        touch = msgspec.structs.replace(touch, kind=ToolKind.PATCH)
    if touch.kind not in (ToolKind.EDIT, ToolKind.PATCH):
        return {}
    texts: dict[str, str] = {}
    for name, path in zip(touch.files, _absolute(touch.files, call.cwd), strict=True):
        text = text_of(path)
        before = None if text is None else touch.text_before(name, text)
        if before is not None:
            texts[path] = before
    return texts


def answer(call: HookCall, text: str) -> str:
    """What the agent reads on standard output, so that its model sees the text."""
    if not text or call.moment is not Moment.AFTER:
        return ""
    context = {"additionalContext": text}
    event = call.protocol.event
    plain = {"hookSpecificOutput": {"hookEventName": event, **context}} if event else context
    return json.dumps(plain)


def _moment(protocol: AgentProtocol, values: Mapping[str, Any]) -> Moment | None:
    """The moment of the input; None if it does not have this form."""
    if not all(mark in values for mark in protocol.marks):
        return None
    for field, value, moment in protocol.moments:
        if field in values and value in (None, values[field]):
            return moment
    return None


def _call(
    protocol: AgentProtocol, moment: Moment, values: Mapping[str, Any]
) -> HookCall | IgnoredInput:
    fields = protocol.fields
    tool, arguments = values.get(fields.tool), values.get(fields.arguments)
    if not isinstance(tool, str):
        return IgnoredInput(f"{fields.tool} is not a string")
    if not isinstance(arguments, dict | str):
        return IgnoredInput(f"{fields.arguments} is neither an object nor a string")
    cwd, session = values.get(fields.cwd), values.get(fields.session)
    return HookCall(
        protocol,
        moment,
        tool,
        arguments,
        cwd if isinstance(cwd, str) and os.path.isabs(cwd) else "",
        session if isinstance(session, str) else "",
        moment is Moment.FAILED or _has_failed(protocol, values.get(fields.result)),
        values.get(fields.result),
    )


def _has_failed(protocol: AgentProtocol, result: object) -> bool:
    if protocol.success is None or not isinstance(result, Mapping):
        return False
    field, value = protocol.success
    return field in result and result[field] != value


def _absolute(files: Iterable[str], cwd: str) -> Iterable[str]:
    return (os.path.join(cwd, file) for file in files)
