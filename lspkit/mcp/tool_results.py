"""Tools and their results in the types of the SDK."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcp.types import CallToolResult, TextContent, Tool

from lspkit.agent import Toolbox
from lspkit.agent.tools.arguments import bad_input
from lspkit.agent.tools.envelope import (
    Envelope,
    TextBudget,
    ToolOutcome,
    error_text,
    make_envelope,
    to_json,
)
from lspkit.agent.tools.result_data import replace_surrogates
from lspkit.agent.tools.tool_table import offered_tools, spec_of
from lspkit.errors import LspkitError
from lspkit.mcp.client_roots import ClientRoots
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.workspace import Workspace

log = logging.getLogger("lspkit.mcp")


def list_tools(toolbox: Toolbox) -> list[Tool]:
    """The tools that the configuration allows."""
    return [_tool(one) for one in toolbox.schemas("mcp", "per-operation", output=True)]


def _tool(declared: Mapping[str, Any]) -> Tool:
    # No tool reaches beyond the project: servers and files are on this machine.
    annotations = {**declared["annotations"], "openWorldHint": False}
    return Tool.model_validate({**declared, "annotations": annotations})


def call_tool(
    toolbox: Toolbox,
    ws: Workspace,
    name: str,
    arguments: Mapping[str, Any],
    *,
    roots: ClientRoots,
    cancel: CancelToken,
    refresh: Callable[[], object],
) -> CallToolResult:
    """Run a tool by its name in MCP. Never raises. `refresh` updates the configuration first."""
    row = spec_of(name)
    try:
        refresh()
        if row is None or row.mcp != name:
            names = ", ".join(one.mcp for one in offered_tools(ws.config))
            return failure("", bad_input(f"there is no tool {name[:60]}: there are {names}"))
        given = roots.check_arguments(arguments, str(ws.root))
        answer = toolbox.answer(name, given, cancel=cancel, check_path=roots.check_absolute)
    except LspkitError as problem:
        return failure(row.operation if row else "", problem)
    except Exception as problem:
        log.exception("the tool %s failed inside lspkit", name)
        why = LspkitError(f"lspkit itself failed ({type(problem).__name__}); see its log")
        return failure(row.operation if row else "", why)
    return _result(answer.envelope, answer.text)


def failure(operation: str, problem: LspkitError) -> CallToolResult:
    """The result of a call that was not carried out."""
    outcome = ToolOutcome(operation=operation, errors=[problem])
    return _result(make_envelope(outcome, 0, TextBudget()), error_text(problem))


def _result(envelope: Envelope, text: str) -> CallToolResult:
    # Paths that are not UTF-8 have surrogates, which the SDK cannot encode.
    return CallToolResult(
        content=[TextContent(type="text", text=replace_surrogates(text))],
        structured_content=json.loads(to_json(envelope)),
        is_error=not envelope["ok"],
    )
