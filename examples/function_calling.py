"""An agent without a framework: a loop of function calls, in the form that most models speak.

    python examples/function_calling.py

The model is offered its own tools for files and those of lspkit for questions about code. After
each call, `EditHooks` has a look: if the tool has changed a file, and the language server finds
errors in it, they are told at the end of the tool's answer. Here the model makes a type error, sees
it there, and mends it in its next turn.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from small_project import CONFIG, TASK, FileTools, make_project, next_move, show, show_call

import lspkit
from lspkit.agent import EditHooks, Toolbox, tool_schemas

Message = dict[str, Any]


def schema(name: str, description: str, *fields: str) -> dict[str, Any]:
    """A tool of our own, declared as the model wants it."""
    parameters = {
        "type": "object",
        "properties": {field: {"type": "string"} for field in fields},
        "required": list(fields),
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


TOOLS = [
    schema("write_file", "Give a file this content.", "path", "content"),
    schema("edit_file", "Replace a piece of text in a file.", "path", "old", "new"),
    *tool_schemas("openai", "per-operation"),
]


def scripted_model(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
    """Stands for a request to a model: takes the conversation, returns the next message."""
    move = next_move([message["content"] for message in messages if message["role"] == "tool"])
    if isinstance(move, str):
        return {"role": "assistant", "content": move}
    name, arguments = move
    if name not in {tool["function"]["name"] for tool in tools}:
        raise ValueError(f"the model was not offered {name}")
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


class Agent:
    """A workspace, tools, and the loop."""

    def __init__(self, ws: lspkit.Workspace) -> None:
        self.files = FileTools(ws.root)
        self.toolbox = Toolbox(ws)
        self.hooks = EditHooks(ws)

    def run(self, task: str) -> list[Message]:
        """Let the model work until it calls no tool any more."""
        messages: list[Message] = [{"role": "user", "content": task}]
        while True:
            message = scripted_model(messages, TOOLS)
            messages.append(message)
            if not message.get("tool_calls"):
                return messages
            for call in message["tool_calls"]:
                name = call["function"]["name"]
                answer = self.call(name, json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": answer})

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Do what the model wants, and tell it what came of it."""
        if name.startswith("lsp_"):
            return self.toolbox.execute(name, arguments)
        try:
            answer = getattr(self.files, name)(**arguments)
        except (OSError, ValueError, TypeError) as problem:
            # A failed edit is the model's to see as it is.
            return self.hooks.tool_result(name, arguments, f"Error: {problem}", is_error=True)
        return self.hooks.tool_result(name, arguments, answer)


def main() -> int:
    """Run the agent on a new project; the exit status says whether the project is in order."""
    with tempfile.TemporaryDirectory() as folder:
        make_project(Path(folder))
        # The project is our own, so its servers may run.
        with lspkit.Workspace(folder, config=CONFIG, trusted=True) as ws:
            for message in Agent(ws).run(TASK):
                for call in message.get("tool_calls", ()):
                    show_call(call["function"]["name"], json.loads(call["function"]["arguments"]))
                if message["content"]:
                    who = {"assistant": "model"}.get(message["role"], message["role"])
                    show(who, message["content"])
            return 0 if ws.check("receipt.py").verdict.clean else 1


if __name__ == "__main__":
    sys.exit(main())
