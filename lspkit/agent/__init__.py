"""The interface for models: tools with their schemas, the envelope, and hooks after edits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lspkit.agent.hooks.edit_hooks import EditHooks
    from lspkit.agent.hooks.summary import Summary
    from lspkit.agent.tools.envelope import Envelope
    from lspkit.agent.tools.schemas import Schema, Shape, Style, envelope_schema, tool_schemas
    from lspkit.agent.tools.tool_table import ESSENTIAL, TABLE, ToolSpec
    from lspkit.agent.tools.toolbox import ToolAnswer, Toolbox

__all__ = [
    "ESSENTIAL",
    "TABLE",
    "EditHooks",
    "Envelope",
    "Schema",
    "Shape",
    "Style",
    "Summary",
    "ToolAnswer",
    "ToolSpec",
    "Toolbox",
    "envelope_schema",
    "tool_schemas",
]

#: The names of each module. They are imported when they are first used: a call of `lspkit
#: hook` mostly needs only the protocols of the agents.
_NAMES = {
    "hooks.edit_hooks": "EditHooks",
    "hooks.summary": "Summary",
    "tools.envelope": "Envelope",
    "tools.schemas": "Schema Shape Style envelope_schema tool_schemas",
    "tools.tool_table": "ESSENTIAL TABLE ToolSpec",
    "tools.toolbox": "ToolAnswer Toolbox",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'lspkit.agent' has no attribute {name!r}")
    return getattr(import_module(f"lspkit.agent.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
