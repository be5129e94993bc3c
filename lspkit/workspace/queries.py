"""Methods of a workspace that answer questions about code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import lspkit.operations as ops
from lspkit.answer import Answer
from lspkit.edit_types import CodeAction, WorkspaceEdit
from lspkit.errors import PositionError
from lspkit.operations.request import PositionRequest
from lspkit.runtime.engine_api import Engine, Limits
from lspkit.types import (
    Call,
    CallItem,
    Diagnostic,
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
    list_options,
)

if TYPE_CHECKING:
    from lspkit.operations.hierarchy import ItemRequest

PathLike = str | os.PathLike[str]
#: A result of an earlier call that is a position.
Place = Location | Symbol | HierarchyItem | Call | Diagnostic
T = TypeVar("T")


class Queries:
    """Questions about code, which change nothing.

    A position is a path with a line and a column, or with `symbol=`; or a result of an earlier
    call: a `Location`, a `Symbol`, a `CallItem`, a `Diagnostic`. It stands for its file where a
    call is about a file.
    """

    _engine: Engine

    # Where things are

    def definition(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[Location]:
        """Where the symbol is defined."""
        return self._run_at(ops.DefinitionRequest, path, line, column, more)

    def declaration(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[Location]:
        """Where the symbol is declared."""
        return self._run_at(ops.DeclarationRequest, path, line, column, more)

    def type_definition(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[Location]:
        """Where the type of the symbol is defined."""
        return self._run_at(ops.TypeDefinitionRequest, path, line, column, more)

    def implementation(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[Location]:
        """Where the symbol is implemented."""
        return self._run_at(ops.ImplementationRequest, path, line, column, more)

    def references(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        *,
        include_declaration: bool = True,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[Location]:
        """Where the symbol is used."""
        extra = {"include_declaration": include_declaration}
        return self._run_at(ops.ReferencesRequest, path, line, column, more, extra)

    # What things are

    def hover(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Hover | None:
        """The servers' description of the symbol."""
        return self._run_at(ops.HoverRequest, path, line, column, more)

    def signature_help(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> SignatureHelp | None:
        """The signatures of the call at a position inside its parentheses."""
        return self._run_at(ops.SignatureHelpRequest, path, line, column, more)

    def document_symbols(
        self, path: PathLike | Place, **more: Unpack[FileCallOptions]
    ) -> Answer[Symbol]:
        """The symbols of the file, as a tree if the server sends one."""
        limits, rest = limits_of(more)
        return self._engine.run(ops.DocumentSymbolsRequest(path=file_of(path), **rest), limits)

    def workspace_symbols(
        self, query: str, path: PathLike | Place | None = None, **more: Unpack[CallOptions]
    ) -> Answer[Symbol]:
        """Symbols of the workspace whose name matches the query, the exact ones first.

        The query is a name, a part of one, or `Class.method`. With a path, only the servers of that
        file are asked, otherwise all running servers. If none is running, the servers for the
        workspace's files are started.
        """
        file = None if path is None else file_of(path)
        request = ops.WorkspaceSymbolsRequest(query=query, path=file)
        return self._engine.run(request, Limits(**more))

    # Who calls whom

    def prepare_call_hierarchy(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[CallItem]:
        """The items of the call hierarchy at this position."""
        return self._run_at(ops.CallHierarchyRequest, path, line, column, more)

    def incoming_calls(
        self,
        at: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[Call]:
        """The callers of a function; an item of an earlier answer is sent back to its server."""
        return self._run_from(ops.IncomingCallsRequest, CallItem, at, line, column, more)

    def outgoing_calls(
        self,
        at: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[Call]:
        """The callees of a function; an item of an earlier answer is sent back to its server."""
        return self._run_from(ops.OutgoingCallsRequest, CallItem, at, line, column, more)

    def supertypes(
        self,
        at: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[TypeItem]:
        """The supertypes of this type."""
        return self._run_from(ops.SupertypesRequest, TypeItem, at, line, column, more)

    def subtypes(
        self,
        at: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[PositionCallOptions],
    ) -> Answer[TypeItem]:
        """The subtypes of this type."""
        return self._run_from(ops.SubtypesRequest, TypeItem, at, line, column, more)

    # What could be changed

    def rename(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        new_name: str = "",
        **more: Unpack[PositionCallOptions],
    ) -> WorkspaceEdit:
        """The edit that renames a symbol: a preview, nothing is written.

        A method is renamed with those that it overrides, and with those that override it. If
        something may be missing, `edit.complete` is False, and `edit.caveats` say what.
        """
        return self._run_at(ops.RenameRequest, path, line, column, more, {"new_name": new_name})

    def code_actions(
        self,
        path: PathLike | Place,
        line: int | None = None,
        column: int | None = None,
        *,
        end_line: int | None = None,
        end_column: int | None = None,
        only: Sequence[str] = (),
        **more: Unpack[PositionCallOptions],
    ) -> Answer[CodeAction]:
        """The code actions that servers offer at a position or in a range. None is applied.

        `only` are kinds, such as `quickfix` or `source.organizeImports`; kinds below them fit, too.
        Actions of kind `source` are about the whole file, and need no position.
        """
        if isinstance(only, str):
            raise TypeError(f"only is {only!r}: a list of kinds is needed")
        if isinstance(path, Location | Diagnostic) and end_line is None and end_column is None:
            end_line, end_column = path.range.end.line, path.range.end.column
        extra = {"end_line": end_line, "end_column": end_column, "only": tuple(only)}
        return self._run_at(ops.CodeActionsRequest, path, line, column, more, extra)

    # Inside

    def _run_at(
        self,
        kind: type[PositionRequest[T]],
        at: PathLike | Place,
        line: int | None,
        column: int | None,
        more: PositionCallOptions,
        extra: dict[str, Any] | None = None,
    ) -> T:
        limits, rest = limits_of(more)
        if extra is not None:
            rest.update(extra)
        if type(at) is str:
            path = at
        else:
            path, line, column = _position(at, line, column, rest.get("symbol"))
        if not rest:  # as nearly always
            return self._engine.run(kind(path=path, line=line, column=column), limits)
        return self._engine.run(kind(path=path, line=line, column=column, **rest), limits)

    def _run_from(
        self,
        kind: type[ItemRequest[T]],
        item: type[HierarchyItem],
        at: PathLike | Place,
        line: int | None,
        column: int | None,
        more: PositionCallOptions,
    ) -> T:
        if isinstance(at, item):
            return self._engine.run(kind(item=at), limits_of(more)[0])
        return self._run_at(kind, at, line, column, more)


def _position(
    at: PathLike | Place, line: int | None, column: int | None, symbol: str | None
) -> tuple[str, int | None, int | None]:
    """Path, line and column of a call, which may be given as a result of an earlier call."""
    if isinstance(at, Call):
        at = at.item
    if not isinstance(at, Place):
        return os.fspath(at), line, column
    if line is not None or column is not None or symbol is not None:
        raise TypeError(f"{at} is a position: give neither line, column nor symbol besides")
    return file_of(at), at.line, at.column


def file_of(at: PathLike | Place) -> str:
    """The path of a file that may be given as a result of an earlier call."""
    place = at.item if isinstance(at, Call) else at
    if not isinstance(place, Place):
        return os.fspath(place)
    if place.path is None:
        raise PositionError(f"{place} is in no file", bounds="a position in a file")
    return str(place.path)


list_options(Queries)
