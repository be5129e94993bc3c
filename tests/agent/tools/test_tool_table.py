"""The table of operations: its rows, and what is read off the requests that they point at."""

from __future__ import annotations

from typing import Any

import pytest

import lspkit
from lspkit.agent.tools.result_data import SHAPES
from lspkit.agent.tools.tool_table import ESSENTIAL, FIELDS, TABLE, offered_tools, spec_of
from lspkit.config import read_config
from lspkit.operations.request import OPERATIONS
from tests.agent.tools.calling import load
from tests.operations.driving import Canned, Engine, at

#: operation, tool, MCP name, always needed, may be given, permission.
EXPECTED = """
goToDefinition lsp_definition lsp_goto_definition filePath line,character,symbol allow
goToTypeDefinition lsp_type_definition lsp_goto_type_definition filePath line,character,symbol allow
goToImplementation lsp_implementation lsp_goto_implementation filePath line,character,symbol allow
findReferences lsp_references lsp_find_references filePath line,character,symbol,includeDeclaration allow
hover lsp_hover lsp_hover filePath line,character,symbol allow
documentSymbol lsp_document_symbols lsp_document_symbols filePath - allow
workspaceSymbol lsp_symbols lsp_workspace_symbols query filePath allow
prepareCallHierarchy lsp_call_hierarchy lsp_prepare_call_hierarchy filePath line,character,symbol allow
incomingCalls lsp_incoming_calls lsp_incoming_calls - filePath,line,character,symbol,callHierarchyItem allow
outgoingCalls lsp_outgoing_calls lsp_outgoing_calls - filePath,line,character,symbol,callHierarchyItem allow
diagnostics lsp_diagnostics lsp_diagnostics - filePath allow
rename lsp_rename lsp_rename filePath,newName line,character,symbol,apply,force ask
"""  # noqa: E501


def words(names: list[str]) -> str:
    return ",".join(names) or "-"


def test_every_operation_has_its_names_fields_and_permission():
    told = [
        " ".join(
            [
                row.operation,
                row.tool,
                row.mcp,
                words([FIELDS[name].name for name in row.required]),
                words([one.name for key, one in row.fields.items() if key not in row.required]),
                row.permission,
            ]
        )
        for row in TABLE
    ]
    assert told == EXPECTED.strip().splitlines()


def test_no_name_means_two_things():
    names = [name for row in TABLE for name in row.names]
    assert len(names) == len(set(names))
    assert all(name in spec_of(name).names for name in names)
    assert spec_of("lsp_nothing") is None
    assert spec_of(["lsp_hover"]) is None


def test_every_result_has_a_shape():
    for row in TABLE:
        assert row.result in SHAPES
        if row.in_file is not None:
            assert SHAPES[OPERATIONS[row.in_file].result].schema == SHAPES[row.result].schema


@pytest.mark.parametrize(
    "row",
    [row for row in TABLE if row.at_place or row.operation == "documentSymbol"],
    ids=lambda row: row.operation,
)
def test_a_row_names_the_request_of_the_protocol_that_its_operation_makes(row):
    item = {"name": "two", "kind": 12, "uri": "file:///code/a.py", "range": at(1, 0, 3)}
    prepared = {"prepareCallHierarchy": [item], "prepareRename": at(1, 0, 3)}
    answers = {f"textDocument/{name}": value for name, value in prepared.items()}
    engine = Engine([Canned(answers=answers)])
    values: dict[str, Any] = {"path": "/code/a.py", "line": 2, "column": 1, "new_name": "x"}
    engine.run(row.request(**{name: values[name] for name in row.fields if name in values}))
    assert row.method in {method for _, method, _ in engine.asked}


def test_the_tools_that_every_agent_needs_are_tools():
    assert [spec_of(name).tool for name in ESSENTIAL] == list(ESSENTIAL)


@pytest.mark.parametrize(
    ("config", "tools"),
    [
        ({}, [row.tool for row in TABLE]),
        ({"navigationTools": False}, ["lsp_diagnostics"]),
        ({"lsp": False}, []),
        ({"lsp": False, "navigationTools": True}, []),
    ],
)
def test_the_configuration_leaves_tools_out(config, tools):
    assert [row.tool for row in offered_tools(read_config(config))] == tools


def test_the_methods_of_a_workspace_are_what_the_rows_run():
    for row in TABLE:
        assert hasattr(lspkit.Workspace, OPERATIONS[row.request].name)


def test_the_page_about_the_tools_is_up_to_date():
    page = load("tools/write_tool_page.py")
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), (
        "run: python tools/write_tool_page.py"
    )
