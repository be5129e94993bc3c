"""What is declared to models: valid in every style and shape, no larger than need be."""

from __future__ import annotations

import itertools
import json

import jsonschema
import pytest

from lspkit.agent import TABLE, envelope_schema, tool_schemas
from lspkit.config import read_config
from tests.agent.tools.calling import load

STYLES = ("openai", "anthropic", "mcp", "json-schema")
SHAPES = ("single", "per-operation")
META = jsonschema.Draft202012Validator

#: Where a style keeps the schema of the input.
INPUT = {
    "openai": lambda tool: tool["function"]["parameters"],
    "anthropic": lambda tool: tool["input_schema"],
    "mcp": lambda tool: tool["inputSchema"],
    "json-schema": lambda tool: tool,
}


@pytest.mark.parametrize(("style", "shape"), list(itertools.product(STYLES, SHAPES)))
def test_every_schema_is_one_by_the_meta_schema(style, shape):
    tools = tool_schemas(style, shape)
    assert len(tools) == (1 if shape == "single" else len(TABLE))
    for tool in tools:
        META.check_schema(INPUT[style](tool))
        assert INPUT[style](tool)["type"] == "object"


@pytest.mark.parametrize("style", STYLES)
def test_every_style_declares_the_same_input(style):
    plain = [
        {name: one[name] for name in one if name not in ("$schema", "title", "description")}
        for one in tool_schemas("json-schema", "per-operation")
    ]
    tools = [INPUT[style](tool) for tool in tool_schemas(style, "per-operation")]
    assert [{name: tool[name] for name in plain[0] if name in tool} for tool in tools] == [
        {name: one[name] for name in plain[0] if name in one} for one in plain
    ]


@pytest.mark.parametrize("style", STYLES)
def test_no_schema_has_an_alternative_at_its_top(style):
    # The interfaces of the large vendors refuse such tools.
    for shape in SHAPES:
        for tool in tool_schemas(style, shape):
            assert not {"anyOf", "oneOf", "allOf", "not", "enum"} & set(INPUT[style](tool))


def test_the_single_tool_knows_all_operations_and_all_fields():
    (tool,) = tool_schemas("anthropic", "single")
    properties = tool["input_schema"]["properties"]
    assert tool["name"] == "lsp"
    assert properties.pop("operation")["enum"] == [row.operation for row in TABLE]
    assert set(properties) == {one.name for row in TABLE for one in row.fields.values()}


def test_mcp_has_names_titles_and_hints_of_its_own():
    tools = {tool["name"]: tool for tool in tool_schemas("mcp", "per-operation")}
    assert list(tools) == [row.mcp for row in TABLE]
    writing = [name for name, one in tools.items() if not one["annotations"]["readOnlyHint"]]
    assert writing == ["lsp_rename"]
    assert tools["lsp_hover"]["title"] == "Hover"
    assert tool_schemas("mcp", "single")[0]["annotations"] == {"readOnlyHint": False}


def test_what_the_tools_return_is_declared_where_it_is_asked_for():
    for tool, row in zip(tool_schemas("mcp", "per-operation", output=True), TABLE, strict=True):
        assert tool["outputSchema"] == envelope_schema(row)
        META.check_schema(tool["outputSchema"])
    META.check_schema(envelope_schema())


@pytest.mark.parametrize("style", STYLES)
def test_the_configuration_leaves_tools_out_of_both_shapes(style):
    off, fewer = read_config({"lsp": False}), read_config({"navigationTools": False})
    assert [tool_schemas(style, shape, config=off) for shape in SHAPES] == [[], []]
    assert len(tool_schemas(style, "per-operation", config=fewer)) == 1
    (single,) = tool_schemas(style, "single", config=fewer)
    assert INPUT[style](single)["properties"]["operation"]["enum"] == ["diagnostics"]
    assert set(INPUT[style](single)["properties"]) == {"operation", "filePath"}
    assert "rename" not in json.dumps(single)


def test_a_style_or_shape_that_nobody_knows_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="openai, anthropic, mcp, json-schema"):
        tool_schemas("gemini", "single")
    with pytest.raises(ValueError, match="single, per-operation"):
        tool_schemas("openai", "both")


def test_a_caller_who_changes_a_schema_changes_his_own():
    tool_schemas("openai", "single")[0]["function"]["parameters"]["properties"].clear()
    assert tool_schemas("openai", "single")[0]["function"]["parameters"]["properties"]


@pytest.mark.slow
def test_the_schemas_stay_within_their_budget_of_tokens():
    tokens = load("benchmarks/schema_tokens.py")
    counts = list(tokens.counted())
    assert len(counts) == len(STYLES) * 2 * 2
    for one in counts:
        assert one.essential <= tokens.ESSENTIAL_BUDGET == 900, one
        assert one.all <= tokens.ALL_BUDGET == 1600, one
