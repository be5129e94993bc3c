"""What command-line agents send to a hook and read from it.

The inputs are files, with neutral paths: the project is `/project`, and the file is `edited.py`.
Their names begin with the name of the agent. `RECORDED` are inputs that the agent itself has sent
(`tools/record_hook_inputs.py`); the others are written after its documentation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

INPUTS = Path(__file__).parent / "data"
PROJECT = "/project"
FILE = "edited.py"

#: Inputs after an edit that has succeeded.
EDITS = (
    "claude-code-write",
    "claude-code-edit",
    "codex-apply-patch",
    "copilot-cli-create",
    "copilot-cli-edit",
    "copilot-cli-named",
    "gemini-cli-write-file",
    "gemini-cli-replace",
)
#: Inputs that were recorded, and the version of the agent.
RECORDED = {
    "claude-code-write": "Claude Code 2.1.197",
    "claude-code-edit": "Claude Code 2.1.197",
    "codex-apply-patch": "Codex 0.166.0",
}
#: Inputs that say that nothing was edited.
OTHERS = (
    "claude-code-before",
    "claude-code-failure",
    "claude-code-read",
    "codex-bash",
    "codex-delete",
    "copilot-cli-before",
    "copilot-cli-failure",
    "gemini-cli-before",
    "gemini-cli-failure",
)

_STRING, _BOOLEAN = {"type": "string"}, {"type": "boolean"}
#: Fields that most answers may have besides.
_COMMON = {
    "continue": _BOOLEAN,
    "stopReason": _STRING,
    "suppressOutput": _BOOLEAN,
    "systemMessage": _STRING,
    "reason": _STRING,
}


def _enveloped(event: str, decisions: list[str], **more: Any) -> dict[str, Any]:
    """The schema of an answer in which the text for the model belongs to an event."""
    specific = {"hookEventName": {"const": event}, "additionalContext": _STRING, **more}
    return _object(
        **_COMMON,
        decision={"enum": decisions},
        hookSpecificOutput={**_object(**specific), "required": ["hookEventName"]},
    )


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "additionalProperties": False}


#: The JSON Schema of the answer after a tool call, by agent.
ANSWERS = {
    "claude-code": _enveloped("PostToolUse", ["block"], updatedMCPToolOutput={}),
    "codex": _enveloped("PostToolUse", ["block"], updatedMCPToolOutput={}, updatedToolOutput={}),
    "copilot-cli": _object(
        additionalContext=_STRING,
        modifiedResult=_object(resultType={"const": "success"}, textResultForLlm=_STRING),
    ),
    "gemini-cli": _enveloped("AfterTool", ["allow", "deny", "block"], tool_output=_STRING),
}


def input_text(name: str, project: Path | str = PROJECT, file: str = FILE) -> str:
    """The input of this name, about a file in a project."""
    text = (INPUTS / f"{name}.json").read_text(encoding="utf-8")
    return text.replace(FILE, file).replace(PROJECT, str(project))


def agent_of(name: str) -> str:
    """The agent that sends the input of this name."""
    return next(agent for agent in ANSWERS if name.startswith(agent))


def text_for_model(answer: str) -> str:
    """The text that reaches the model."""
    values = json.loads(answer)
    return str(values.get("hookSpecificOutput", values)["additionalContext"])
