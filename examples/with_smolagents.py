"""The same agent with smolagents.

    pip install smolagents
    python examples/with_smolagents.py

All tools of a smolagents agent run through one method; there `EditHooks` gets to see the calls and
may add to the answers. The tools of lspkit are made from the same table as for any other model.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from small_project import CONFIG, TASK, FileTools, make_project, next_move, show, show_call
from smolagents import LogLevel, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.models import MessageRole as Role

import lspkit
from lspkit.agent import EditHooks, Toolbox, tool_schemas


class FunctionTool(Tool):
    """A function as a tool, with its fields by name and type."""

    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, name: str, description: str, fields: dict[str, Any], function: Any) -> None:
        self.name, self.description, self.inputs = name, description, fields
        self.forward = function
        super().__init__()


def tools_of(ws: lspkit.Workspace) -> list[Tool]:
    """Ours for files, and those of lspkit."""
    files, toolbox = FileTools(ws.root), Toolbox(ws)
    text = {"type": "string", "description": "A text."}
    path = {"type": "string", "description": "Relative to the project."}
    fields = {"path": path, "content": text}
    write = FunctionTool("write_file", "Give a file this content.", fields, files.write_file)
    fields = {"path": path, "old": text, "new": text}
    edit = FunctionTool("edit_file", "Replace a piece of text in a file.", fields, files.edit_file)
    return [
        write,
        edit,
        *(asking(toolbox, one["function"]) for one in tool_schemas("openai", "per-operation")),
    ]


def asking(toolbox: Toolbox, function: dict[str, Any]) -> Tool:
    """A tool of lspkit; smolagents wants to be told which fields may be left out."""
    name, parameters = function["name"], function["parameters"]
    fields = {
        field: {
            "description": field,
            **said,
            "nullable": field not in parameters.get("required", ()),
        }
        for field, said in parameters["properties"].items()
    }
    return FunctionTool(
        name, function["description"], fields, lambda **given: toolbox.execute(name, given)
    )


class CheckingAgent(ToolCallingAgent):
    """An agent that is told of errors which its edits have brought."""

    def __init__(self, hooks: EditHooks, **more: Any) -> None:
        super().__init__(**more)
        self.hooks = hooks

    def execute_tool_call(self, tool_name: str, arguments: dict[str, Any] | str) -> Any:
        """A tool that fails raises, and is left alone."""
        answer = super().execute_tool_call(tool_name, arguments)
        return self.hooks.tool_result(tool_name, arguments, answer)


class ScriptedModel(Model):
    """Stands for a model; in smolagents the last word is a tool call, too."""

    def generate(self, messages: list[ChatMessage], **more: Any) -> ChatMessage:
        """The next message of the conversation."""
        answers = [text_of(one) for one in messages if one.role == Role.TOOL_RESPONSE]
        move = next_move(answers)
        name, arguments = ("final_answer", {"answer": move}) if isinstance(move, str) else move
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(function=function, id=f"call_{len(answers)}", type="function")
        return ChatMessage(role=Role.ASSISTANT, content=None, tool_calls=[call])


def text_of(message: ChatMessage) -> str:
    """The words of a message."""
    if isinstance(message.content, str):
        return message.content
    return "".join(part.get("text", "") for part in message.content or ())


def main() -> int:
    """Run the agent on a new project; the exit status says whether the project is in order."""
    with tempfile.TemporaryDirectory() as folder:
        make_project(Path(folder))
        with lspkit.Workspace(folder, config=CONFIG, trusted=True) as ws:
            agent = CheckingAgent(
                EditHooks(ws),
                tools=tools_of(ws),
                model=ScriptedModel(),
                verbosity_level=LogLevel.OFF,
            )
            show("user", TASK)
            answer = agent.run(TASK)
            for step in agent.memory.steps:
                for call in getattr(step, "tool_calls", None) or ():
                    if call.name != "final_answer":
                        show_call(call.name, call.arguments)
                        show("tool", step.observations)
            show("model", str(answer))
            return 0 if ws.check("receipt.py").verdict.clean else 1


if __name__ == "__main__":
    sys.exit(main())
