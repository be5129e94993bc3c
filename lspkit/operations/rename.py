"""Renaming a symbol: the edit that a server proposes, as a preview."""

from __future__ import annotations

from lspkit.edit_types import WorkspaceEdit
from lspkit.errors import PositionError, UnsupportedError
from lspkit.operations.effects import Ask, Effects, FindPlaces, FoundFile, Reply, SyncFile
from lspkit.operations.reply_parsing import decode_replies
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import params_at, position_of
from lspkit.operations.workspace_edit import changes_of, translate_edit
from lspkit.protocol.wire.results import WireEdit, read_edit


class RenameRequest(PositionRequest[WorkspaceEdit], frozen=True, kw_only=True):
    """Preview the renaming of a symbol."""

    new_name: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.new_name or not self.new_name.strip():
            raise PositionError("a new name is needed", bounds="a name that is not empty")


@operation("rename", RenameRequest, WorkspaceEdit)
def rename(request: RenameRequest) -> Effects[WorkspaceEdit]:
    """The edit of the first server that has one: two edits would change everything twice."""
    line, column = yield from position_of(request)
    at = params_at(line, column)
    try:
        prepared: list[Reply] = yield Ask(
            request.path, request.text, "textDocument/prepareRename", at
        )
    except UnsupportedError:
        prepared = []
    if prepared and all(reply.result == b"null" for reply in prepared):
        raise PositionError(f"{request.path}:{line}:{column} cannot be renamed")
    question = Ask(
        request.path,
        request.text,
        "textDocument/rename",
        params_at(line, column, newName=request.new_name),
    )
    replies: list[Reply] = yield question
    found = yield from _first_edit(replies)
    if found is None:
        return WorkspaceEdit()
    marked = yield from _files_with_mark(*found)
    if marked:
        # After a sync the server has the texts without byte order marks, and counts like lspkit.
        for path in marked:
            yield SyncFile(path, None)
        replies = yield question
        found = yield from _first_edit(replies)
    return (yield from translate_edit(*found)) if found is not None else WorkspaceEdit()


def _first_edit(replies: list[Reply]) -> Effects[tuple[WireEdit, Reply] | None]:
    """The first edit that is not empty."""
    for reply, wires in (yield from decode_replies(replies, read_edit, whole=True)):
        for wire in wires:
            if changes_of(wire):
                return wire, reply
    return None


def _files_with_mark(wire: WireEdit, reply: Reply) -> Effects[list[str]]:
    """The files of an edit that begin with a byte order mark."""
    documents = (one.text_document for one in changes_of(wire))
    uris = tuple(one.uri for one in documents if one is not None)
    places: dict[str, FoundFile] = yield FindPlaces(reply.server, reply.view.uri, uris, texts=True)
    return [str(one.path) for one in places.values() if one.marked]
