"""The table of the operations for models.

A row has the three names of an operation and its request in `operations/`. The fields of a tool,
which of them are required, and the type of the result come from that request. Schemas, validation,
permissions and the reference page are generated from these rows.
"""

from __future__ import annotations

import functools
from typing import Any

import msgspec

import lspkit.operations as ops
from lspkit.config import Config
from lspkit.config.model import Permission
from lspkit.limits import LONGEST_NAME, LONGEST_OBJECT, LONGEST_PATH
from lspkit.operations.request import OPERATIONS, PositionRequest, Request

#: Lines and columns as the protocol can carry them.
LARGEST = 2**31 - 1


class Field(msgspec.Struct, frozen=True):
    """A field of a tool."""

    #: The name in schemas.
    name: str
    #: `string`, `integer`, `boolean` or `object`.
    type: str
    #: What is valid, for error messages.
    expected: str
    #: Other accepted names.
    aliases: tuple[str, ...] = ()
    #: A description for the model, if the name is not enough.
    hint: str = ""
    #: Most characters of a text, or of an object as JSON.
    longest: int = LONGEST_NAME


#: Fields for models, by their names in requests.
FIELDS = {
    "path": Field(
        "filePath",
        "string",
        "a path, absolute or relative to the workspace",
        ("path",),
        longest=LONGEST_PATH,
    ),
    "line": Field("line", "integer", "a whole number from 1"),
    "column": Field("character", "integer", "a whole number from 1", ("column",)),
    "symbol": Field("symbol", "string", "a name, such as Class.method"),
    "include_declaration": Field(
        "includeDeclaration", "boolean", "true or false", ("include_declaration",)
    ),
    "query": Field("query", "string", "a name, or a part of one"),
    "item": Field(
        "callHierarchyItem",
        "object",
        "an item of an earlier answer with its member raw, or an item of the protocol",
        hint="From an earlier answer, instead of a position",
        longest=LONGEST_OBJECT,
    ),
    "new_name": Field("newName", "string", "a name that is not empty", ("new_name",)),
    "apply": Field("apply", "boolean", "true or false", hint="Write the files"),
    "force": Field("force", "boolean", "true or false", hint="Even if incomplete"),
}

#: How to give a position, for a model.
POSITION = "Position: line+character (1-based), symbol (e.g. Class.method), or line+symbol."


@functools.cache  # without the cache, msgspec takes a millisecond
def _fields_of(request: type[Request[Any]]) -> dict[str, bool]:
    """The fields of a request, and whether each is required."""
    return {field.name: field.required for field in msgspec.structs.fields(request)}


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One operation."""

    #: Its name in the single tool.
    operation: str
    #: The name of its own tool, and that in MCP.
    tool: str
    mcp: str
    request: type[Request[Any]]
    #: The request that is used instead if a file is given.
    in_file: type[Request[Any]] | None = None
    #: The method of the protocol.
    method: str
    #: Fields besides those of the request.
    more: tuple[str, ...] = ()
    #: The default permission.
    permission: Permission = "allow"
    #: Whether `navigationTools` disables it.
    navigation: bool = True
    title: str
    #: A description for a model, in one sentence.
    text: str
    #: The alternative after a failure; `{search}` is a search command.
    instead: str = "search for the name: {search}"

    @property
    def result(self) -> Any:
        """The type of the result."""
        return OPERATIONS[self.request].result

    @property
    def fields(self) -> dict[str, Field]:
        """Its fields, by their names in the request."""
        own = _fields_of(self.request)
        return {name: FIELDS[name] for name in (*own, *self.more) if name in FIELDS}

    @property
    def required(self) -> list[str]:
        """The required fields, by their names in the request."""
        own = _fields_of(self.request)
        return [name for name in self.fields if own.get(name)]

    @property
    def at_place(self) -> bool:
        """Whether it takes a position."""
        return issubclass(self.request, PositionRequest)

    @property
    def description(self) -> str:
        """The description for a model."""
        return f"{self.text} {POSITION}" if self.at_place else self.text

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, each once."""
        return tuple(dict.fromkeys((self.tool, self.mcp, self.operation)))

    def called_as(self, tool: str) -> str:
        """How messages name it to a model that called `tool`."""
        return self.operation if tool == SINGLE else tool


TABLE = (
    ToolSpec(
        operation="goToDefinition",
        tool="lsp_definition",
        mcp="lsp_goto_definition",
        request=ops.DefinitionRequest,
        method="textDocument/definition",
        title="Go to definition",
        text="Where a symbol is defined.",
    ),
    ToolSpec(
        operation="goToTypeDefinition",
        tool="lsp_type_definition",
        mcp="lsp_goto_type_definition",
        request=ops.TypeDefinitionRequest,
        method="textDocument/typeDefinition",
        title="Go to type definition",
        text="Where the type of a symbol is defined.",
    ),
    ToolSpec(
        operation="goToImplementation",
        tool="lsp_implementation",
        mcp="lsp_goto_implementation",
        request=ops.ImplementationRequest,
        method="textDocument/implementation",
        title="Go to implementation",
        text="Where an interface or method is implemented.",
    ),
    ToolSpec(
        operation="findReferences",
        tool="lsp_references",
        mcp="lsp_find_references",
        request=ops.ReferencesRequest,
        method="textDocument/references",
        title="Find references",
        text="All uses of a symbol.",
    ),
    ToolSpec(
        operation="hover",
        tool="lsp_hover",
        mcp="lsp_hover",
        request=ops.HoverRequest,
        method="textDocument/hover",
        title="Hover",
        text="Type and documentation of a symbol.",
    ),
    ToolSpec(
        operation="documentSymbol",
        tool="lsp_document_symbols",
        mcp="lsp_document_symbols",
        request=ops.DocumentSymbolsRequest,
        method="textDocument/documentSymbol",
        title="Symbols of a file",
        text="Outline of a file: its classes, functions, variables.",
        instead="read the file",
    ),
    ToolSpec(
        operation="workspaceSymbol",
        tool="lsp_symbols",
        mcp="lsp_workspace_symbols",
        request=ops.WorkspaceSymbolsRequest,
        method="workspace/symbol",
        title="Symbols of the workspace",
        text="Find symbols by name in the whole project; filePath picks the language.",
    ),
    ToolSpec(
        operation="prepareCallHierarchy",
        tool="lsp_call_hierarchy",
        mcp="lsp_prepare_call_hierarchy",
        request=ops.CallHierarchyRequest,
        method="textDocument/prepareCallHierarchy",
        title="Prepare call hierarchy",
        text="The function at a place, as an item for incoming and outgoing calls.",
    ),
    ToolSpec(
        operation="incomingCalls",
        tool="lsp_incoming_calls",
        mcp="lsp_incoming_calls",
        request=ops.IncomingCallsRequest,
        method="callHierarchy/incomingCalls",
        title="Incoming calls",
        text="Who calls a function.",
    ),
    ToolSpec(
        operation="outgoingCalls",
        tool="lsp_outgoing_calls",
        mcp="lsp_outgoing_calls",
        request=ops.OutgoingCallsRequest,
        method="callHierarchy/outgoingCalls",
        title="Outgoing calls",
        text="What a function calls.",
        instead="read the function",
    ),
    ToolSpec(
        operation="diagnostics",
        tool="lsp_diagnostics",
        mcp="lsp_diagnostics",
        request=ops.DiagnosticsRequest,
        in_file=ops.CheckRequest,
        method="textDocument/diagnostic",
        navigation=False,
        title="Diagnostics",
        text="Errors in a file, checked now; without filePath what is known of all files.",
        instead="run the project's own checks or tests",
    ),
    ToolSpec(
        operation="rename",
        tool="lsp_rename",
        mcp="lsp_rename",
        request=ops.RenameRequest,
        method="textDocument/rename",
        more=("apply", "force"),
        permission="ask",
        title="Rename",
        text="Rename a symbol everywhere; a preview unless apply is true.",
        instead="find the places and edit them one by one: {search}",
    ),
)

#: The tool with all operations.
SINGLE = "lsp"
SINGLE_TITLE = "Code intelligence"
SINGLE_TEXT = "Ask a language server about code."

#: The tools that every agent needs.
ESSENTIAL = (
    "lsp_definition",
    "lsp_references",
    "lsp_hover",
    "lsp_symbols",
    "lsp_document_symbols",
    "lsp_rename",
)

_BY_NAME = {name: row for row in TABLE for name in row.names}


def spec_of(name: object) -> ToolSpec | None:
    """The row with this name, None if there is none."""
    return _BY_NAME.get(name) if isinstance(name, str) else None


def offered_tools(config: Config | None = None) -> tuple[ToolSpec, ...]:
    """The tools that a configuration enables."""
    if config is None:
        return TABLE
    if not config.enabled:
        return ()
    return tuple(row for row in TABLE if config.navigation_tools or not row.navigation)
