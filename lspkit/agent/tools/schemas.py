"""Tools as the interfaces of models want them declared: four styles, two shapes.

Everything is read off the table. The schemas are flat, since the large vendors refuse `anyOf` and
its kin at the top: that a position may be given in three ways is said in words, and held by
`arguments.py`. Other names for fields are taken but not declared, because every word here is paid
for in each conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import msgspec

from lspkit.agent.tools.result_data import data_schema
from lspkit.agent.tools.tool_table import (
    FIELDS,
    POSITION,
    SINGLE,
    SINGLE_TEXT,
    SINGLE_TITLE,
    TABLE,
    Field,
    ToolSpec,
    offered_tools,
)
from lspkit.config import Config

Style = Literal["openai", "anthropic", "mcp", "json-schema"]
Shape = Literal["single", "per-operation"]
#: A JSON Schema, or a declaration that holds one.
Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def tool_schemas(
    style: Style = "openai",
    shape: Shape = "single",
    *,
    config: Config | None = None,
    output: bool = False,
) -> list[Schema]:
    """The tools as a list that can be handed to a model's interface.

    A configuration leaves out what it switches off. `output` adds what the tools return, in the
    style `mcp`, which alone has a place for it.
    """
    if style not in WRAPPED:
        raise ValueError(f"{style!r} is no style: choose one of {', '.join(WRAPPED)}")
    if shape not in get_args(Shape):
        raise ValueError(f"{shape!r} is no shape: choose one of {', '.join(get_args(Shape))}")
    rows = offered_tools(config)
    if shape == "per-operation":
        tools = [_Tool(row.tool, (row,), _own_input(row)) for row in rows]
    else:
        tools = [_Tool(SINGLE, rows, _single_input(rows))] if rows else []
    return [WRAPPED[style](tool, output) for tool in tools]


class _Tool(msgspec.Struct, frozen=True):
    """A tool before it has a style, with what it can do."""

    name: str
    rows: tuple[ToolSpec, ...]
    input: Schema

    @property
    def row(self) -> ToolSpec | None:
        """What it does, unless it is the tool that does everything."""
        return None if self.name == SINGLE else self.rows[0]

    @property
    def text(self) -> str:
        """What a model is told about it."""
        if self.row is not None:
            return self.row.description
        told = [SINGLE_TEXT, *(f"{row.operation}: {row.text}" for row in self.rows)]
        return " ".join([*told, *([POSITION] if any(row.at_place for row in self.rows) else [])])

    @property
    def only_reads(self) -> bool:
        """Whether it can never write."""
        return not any("apply" in row.more for row in self.rows)


def _openai(tool: _Tool, _: bool) -> Schema:
    function = {"name": tool.name, "description": tool.text, "parameters": tool.input}
    return {"type": "function", "function": function}


def _anthropic(tool: _Tool, _: bool) -> Schema:
    return {"name": tool.name, "description": tool.text, "input_schema": tool.input}


def _mcp(tool: _Tool, output: bool) -> Schema:
    declared = {
        "name": tool.row.mcp if tool.row else tool.name,
        "title": tool.row.title if tool.row else SINGLE_TITLE,
        "description": tool.text,
        "inputSchema": tool.input,
        "annotations": {"readOnlyHint": tool.only_reads},
    }
    return {**declared, "outputSchema": envelope_schema(tool.row)} if output else declared


def _json_schema(tool: _Tool, _: bool) -> Schema:
    return {"$schema": DIALECT, "title": tool.name, "description": tool.text, **tool.input}


#: How each style wraps a tool.
WRAPPED: dict[str, Callable[[_Tool, bool], Schema]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "mcp": _mcp,
    "json-schema": _json_schema,
}


def _own_input(row: ToolSpec) -> Schema:
    required = [FIELDS[name].name for name in row.required]
    return _object({one.name: _property(one) for one in row.fields.values()}, required)


def _single_input(rows: Sequence[ToolSpec]) -> Schema:
    properties: Schema = {
        "operation": {"type": "string", "enum": [row.operation for row in rows]},
    }
    taken = {name for row in rows for name in row.fields}
    properties |= {one.name: _property(one) for name, one in FIELDS.items() if name in taken}
    return _object(properties, ["operation"])


def _property(field: Field) -> Schema:
    made: Schema = {"type": field.type}
    if field.type == "integer":
        made["minimum"] = 1
    if field.hint:
        made["description"] = field.hint
    return made


def _object(properties: Schema, required: list[str]) -> Schema:
    made: Schema = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    return {**made, "additionalProperties": False}


def envelope_schema(row: ToolSpec | None = None) -> Schema:
    """What the tools return: of one operation, or of any."""
    data = [data_schema(one.result) for one in ([row] if row else TABLE)]
    unique = [one for number, one in enumerate(data) if one not in data[:number]]
    text, number, flag = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}
    errors = _all_required({"serverId": text, "message": text, "code": text})
    flags = dict.fromkeys(("partial", "timedOut", "empty", "truncated"), flag)
    warnings = {"type": "array", "items": text}
    meta = _all_required(
        {"durationMs": number, "serverHits": number, **flags, "warnings": warnings}
    )
    # How many there are altogether is told only where not all of them are shown.
    meta["properties"]["total"] = number
    return _all_required(
        {
            "ok": flag,
            "operation": text,
            "data": {"anyOf": [*unique, {"type": "null"}]},
            "errors": {"type": "array", "items": errors},
            "meta": meta,
        }
    )


def _all_required(properties: Schema) -> Schema:
    """An object that has all of these."""
    return _object(dict(properties), list(properties))
