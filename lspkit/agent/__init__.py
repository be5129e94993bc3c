"""The interface for models: tools with their schemas, the envelope, and hooks after edits."""

from typing import TYPE_CHECKING

from lspkit.late_imports import late_names

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

#: The names of each module. They are imported when they are first used: the command line needs
#: only the names of the agents.
__getattr__ = late_names(
    __name__,
    {
        "lspkit.agent.hooks.edit_hooks": "EditHooks",
        "lspkit.agent.hooks.summary": "Summary",
        "lspkit.agent.tools.envelope": "Envelope",
        "lspkit.agent.tools.schemas": "Schema Shape Style envelope_schema tool_schemas",
        "lspkit.agent.tools.tool_table": "ESSENTIAL TABLE ToolSpec",
        "lspkit.agent.tools.toolbox": "ToolAnswer Toolbox",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
