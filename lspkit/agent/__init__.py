"""What a model sees: tools with their schemas, the envelope, and what is told after an edit."""

from lspkit.agent.envelope import Envelope
from lspkit.agent.hooks import EditHooks
from lspkit.agent.schemas import Schema, Shape, Style, envelope_schema, tool_schemas
from lspkit.agent.summary import Summary
from lspkit.agent.table import ESSENTIAL, TABLE, Row
from lspkit.agent.toolbox import Answer, Toolbox

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
