"""Methods of a workspace that answer questions about code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

import lspkit.operations as ops
from lspkit.edit_types import CodeAction, WorkspaceEdit
from lspkit.operations.hierarchy import ItemRequest
from lspkit.operations.request import PositionRequest
from lspkit.runtime.engine_api import Engine, Limits
from lspkit.types import (
    Call,
    CallItem,
    HierarchyItem,
    Hover,
    Location,
    SignatureHelp,
    Symbol,
    TypeItem,
)
from lspkit.workspace.call_options import (
    CallOptions,
    FileCallOptions,
    PositionCallOptions,
    limits_of,
)
from lspkit.workspace.method_signatures import list_options

PathLike = str | os.PathLike[str]
T = TypeVar("T")


class Queries:
    """Questions about code, which change nothing."""

    _engine: Engine

    # Where things are

    def definition(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[Location]:
        """Where the symbol is defined."""
        return self._run_at(ops.DefinitionRequest, path, line, column, more)

    def declaration(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[Location]:
        """Where the symbol is declared."""
        return self._run_at(ops.DeclarationRequest, path, line, column, more)

    def type_definition(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[Location]:
        """Where the type of the symbol is defined."""
        return self._run_at(ops.TypeDefinitionRequest, path, line, column, more)

    def implementation(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[Location]:
        """Where the symbol is implemented."""
        return self._run_at(ops.ImplementationRequest, path, line, column, more)

    def references(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        *,
        include_declaration: bool = True,
        **more: Unpack[PositionCallOptions],
    ) -> list[Location]:
        """Where the symbol is used."""
        extra = {"include_declaration": include_declaration}
        return self._run_at(ops.ReferencesRequest, path, line, column, more, extra)

    # What things are

    def hover(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Hover | None:
        """The servers' description of the symbol."""
        return self._run_at(ops.HoverRequest, path, line, column, more)

    def signature_help(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> SignatureHelp | None:
        """The signatures of the call at a position inside its parentheses."""
        return self._run_at(ops.SignatureHelpRequest, path, line, column, more)

    def document_symbols(self, path: PathLike, **more: Unpack[FileCallOptions]) -> list[Symbol]:
        """The symbols of the file, as a tree if the server sends one."""
        limits, rest = limits_of(more)
        return self._engine.run(ops.DocumentSymbolsRequest(path=os.fspath(path), **rest), limits)

    def workspace_symbols(
        self, query: str, path: PathLike | None = None, **more: Unpack[CallOptions]
    ) -> list[Symbol]:
        """Symbols of the workspace whose name matches the query.

        With a path, only the servers of that file are asked, otherwise all running servers. If none
        is running, the servers for the workspace's files are started.
        """
        where = None if path is None else os.fspath(path)
        request = ops.WorkspaceSymbolsRequest(query=query, path=where)
        return self._engine.run(request, Limits(**more))

    # Who calls whom

    def prepare_call_hierarchy(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[CallItem]:
        """The items of the call hierarchy at this position."""
        return self._run_at(ops.CallHierarchyRequest, path, line, column, more)

    def incoming_calls(
        self,
        at: PathLike | CallItem,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[Call]:
        """The callers of a position, a symbol, or an item of an earlier answer."""
        return self._run_from(ops.IncomingCallsRequest, at, line, column, more)

    def outgoing_calls(
        self,
        at: PathLike | CallItem,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[Call]:
        """The callees of a position, a symbol, or an item of an earlier answer."""
        return self._run_from(ops.OutgoingCallsRequest, at, line, column, more)

    def supertypes(
        self,
        at: PathLike | TypeItem,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[TypeItem]:
        """The supertypes of this type."""
        return self._run_from(ops.SupertypesRequest, at, line, column, more)

    def subtypes(
        self,
        at: PathLike | TypeItem,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> list[TypeItem]:
        """The subtypes of this type."""
        return self._run_from(ops.SubtypesRequest, at, line, column, more)

    # What could be changed

    def rename(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        new_name: str = "",
        **more: Unpack[PositionCallOptions],
    ) -> WorkspaceEdit:
        """The edit that renames a symbol: a preview, nothing is written."""
        return self._run_at(ops.RenameRequest, path, line, column, more, {"new_name": new_name})

    def code_actions(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        *,
        end_line: int | None = None,
        end_column: int | None = None,
        only: Sequence[str] = (),
        **more: Unpack[PositionCallOptions],
    ) -> list[CodeAction]:
        """The code actions that servers offer at a position or in a range. None is applied."""
        if isinstance(only, str):
            raise TypeError(f"only is {only!r}: a list of kinds is needed")
        extra = {"end_line": end_line, "end_column": end_column, "only": tuple(only)}
        return self._run_at(ops.CodeActionsRequest, path, line, column, more, extra)

    # Inside

    def _run_at(
        self,
        kind: type[PositionRequest[T]],
        path: PathLike,
        line: int | None,
        column: int | None,
        more: PositionCallOptions,
        extra: dict[str, Any] | None = None,
    ) -> T:
        limits, rest = limits_of(more)
        rest.update(extra or {})
        request = kind(path=os.fspath(path), line=line, column=column, **rest)
        return self._engine.run(request, limits)

    def _run_from(
        self,
        kind: type[ItemRequest[T]],
        at: PathLike | HierarchyItem,
        line: int | None,
        column: int | None,
        more: PositionCallOptions,
    ) -> T:
        if isinstance(at, HierarchyItem):
            return self._engine.run(kind(item=at), limits_of(more)[0])
        return self._run_at(kind, at, line, column, more)


list_options(Queries)
