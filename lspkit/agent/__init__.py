"""What a model sees: tools with their schemas, the envelope, and what is told after an edit."""

from lspkit.agent.hooks.edit_hooks import EditHooks
from lspkit.agent.hooks.summary import Summary
from lspkit.agent.tools.envelope import Envelope
from lspkit.agent.tools.schemas import Schema, Shape, Style, envelope_schema, tool_schemas
from lspkit.agent.tools.tool_table import ESSENTIAL, TABLE, Row
from lspkit.agent.tools.toolbox import Answer, Toolbox

__all__ = [
    "ESSENTIAL",
    "TABLE",
    "Answer",
    "EditHooks",
    "Envelope",
    "Row",
    "Schema",
    "Shape",
    "Style",
    "Summary",
    "Toolbox",
    "envelope_schema",
    "tool_schemas",
]
