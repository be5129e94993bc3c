"""The same agent with LangChain.

    pip install langchain
    python examples/with_langchain.py

A middleware wraps every tool call of a LangChain agent; there `EditHooks` gets to see the calls and
may add to the answers. The tools of lspkit are made from the same table as for any other model.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from small_project import CONFIG, TASK, FileTools, make_project, next_move, show, show_call

import lspkit
from lspkit.agent import EditHooks, Toolbox, tool_schemas


def tools_of(ws: lspkit.Workspace) -> list[BaseTool]:
    """Ours for files, whose fields are read off the functions, and those of lspkit."""
    files, toolbox = FileTools(ws.root), Toolbox(ws)
    own = [StructuredTool.from_function(one) for one in (files.write_file, files.edit_file)]
    schemas = [one["function"] for one in tool_schemas("openai", "per-operation")]
    return [*own, *(asking(toolbox, one) for one in schemas)]


def asking(toolbox: Toolbox, function: dict[str, Any]) -> BaseTool:
    """A tool of lspkit."""
    name = function["name"]
    return StructuredTool(
        name=name,
        description=function["description"],
        args_schema=function["parameters"],
        func=lambda **given: toolbox.execute(name, given),
    )


class CheckEdits(AgentMiddleware):
    """Tells the model of errors which its edits have brought."""

    def __init__(self, hooks: EditHooks) -> None:
        super().__init__()
        self.hooks = hooks

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Called around every tool."""
        message = handler(request)
        if isinstance(message, ToolMessage):
            call, failed = request.tool_call, message.status == "error"
            message.content = self.hooks.tool_result(
                call["name"], call["args"], message.content, is_error=failed
            )
        return message


class ScriptedModel(BaseChatModel):
    """Stands for a model."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> ScriptedModel:
        """A real model would be told of them."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **more: Any) -> ChatResult:
        answers = [str(one.content) for one in messages if isinstance(one, ToolMessage)]
        move = next_move(answers)
        if isinstance(move, str):
            message = AIMessage(move)
        else:
            call = {"name": move[0], "args": move[1], "id": f"call_{len(answers)}"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def main() -> int:
    """Run the agent on a new project; the exit status says whether the project is in order."""
    with tempfile.TemporaryDirectory() as folder:
        make_project(Path(folder))
        with lspkit.Workspace(folder, config=CONFIG, trusted=True) as ws:
            middleware = [CheckEdits(EditHooks(ws))]
            agent = create_agent(ScriptedModel(), tools_of(ws), middleware=middleware)
            for message in agent.invoke({"messages": [HumanMessage(TASK)]})["messages"]:
                for call in getattr(message, "tool_calls", ()):
                    show_call(call["name"], call["args"])
                if message.content:
                    who = {"human": "user", "ai": "model"}.get(message.type, message.type)
                    show(who, str(message.content))
            return 0 if ws.check("receipt.py").verdict.clean else 1


if __name__ == "__main__":
    sys.exit(main())
