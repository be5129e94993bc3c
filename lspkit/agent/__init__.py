"""The interface for models: tools with their schemas, the envelope, and hooks after edits."""

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
