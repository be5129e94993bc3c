"""Declarations of the tools for the APIs of models: four styles, two shapes.

They are generated from the table. The schemas are flat, since the large vendors refuse `anyOf` and
similar keywords at the top level: the three ways to give a position are described in words, and
checked by `arguments.py`. Aliases of fields are accepted but not declared, since every word costs
tokens in each conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import msgspec

from lspkit.agent.tools.result_data import data_schema, object_schema
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
#: A JSON Schema, or a declaration that contains one.
Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def tool_schemas(
    style: Style = "openai",
    shape: Shape = "single",
    *,
    config: Config | None = None,
    output: bool = False,
) -> list[Schema]:
    """The tools as a list for the API of a model.

    Tools that the configuration disables are left out. `output` adds schemas of the results, only
    in the style `mcp`.
    """
    if style not in WRAPPED:
        raise ValueError(f"{style!r} is not a style: choose one of {', '.join(WRAPPED)}")
    if shape not in get_args(Shape):
        raise ValueError(f"{shape!r} is not a shape: choose one of {', '.join(get_args(Shape))}")
    rows = offered_tools(config)
    if shape == "per-operation":
        tools = [_Tool(row.tool, (row,), _own_input(row)) for row in rows]
    else:
        tools = [_Tool(SINGLE, rows, _single_input(rows))] if rows else []
    return [WRAPPED[style](tool, output) for tool in tools]


class _Tool(msgspec.Struct, frozen=True):
    """A tool with its operations, independent of the style."""

    name: str
    rows: tuple[ToolSpec, ...]
    input: Schema

    @property
    def row(self) -> ToolSpec | None:
        """Its operation, None for the single tool."""
        return None if self.name == SINGLE else self.rows[0]

    @property
    def text(self) -> str:
        """The description for a model."""
        if self.row is not None:
            return self.row.description
        sentences = [SINGLE_TEXT, *(f"{row.operation}: {row.text}" for row in self.rows)]
        if any(row.at_place for row in self.rows):
            sentences.append(POSITION)
        return " ".join(sentences)

    @property
    def only_reads(self) -> bool:
        """Whether it never writes files."""
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
    return _object({field.name: _property(field) for field in row.fields.values()}, required)


def _single_input(rows: Sequence[ToolSpec]) -> Schema:
    properties: Schema = {
        "operation": {"type": "string", "enum": [row.operation for row in rows]},
    }
    taken = {name for row in rows for name in row.fields}
    properties |= {field.name: _property(field) for name, field in FIELDS.items() if name in taken}
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
    """The JSON Schema of the envelope, for one operation or for all."""
    data = [data_schema(operation.result) for operation in ([row] if row else TABLE)]
    unique = [schema for number, schema in enumerate(data) if schema not in data[:number]]
    text, number, flag = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}
    place = {"path": text, "line": number, "column": number}
    finding = object_schema({**place, "severity": text, "message": text, "code": text})
    errors = object_schema(
        {"serverId": text, "message": text, "code": text},
        # Only for an edit that was undone.
        {"introduced": {"type": "array", "items": finding}},
    )
    flags = dict.fromkeys(("partial", "timedOut", "empty", "truncated"), flag)
    warnings = {"type": "array", "items": text}
    meta = object_schema(
        {"durationMs": number, "serverHits": number, **flags, "warnings": warnings},
        # Only if not all results are shown.
        {"total": number},
    )
    return object_schema(
        {
            "ok": flag,
            "operation": text,
            "data": {"anyOf": [*unique, {"type": "null"}]},
            "errors": {"type": "array", "items": errors},
            "meta": meta,
        }
    )
