"""Renaming a symbol: the edit that a server proposes, as a preview."""

from __future__ import annotations

import msgspec

from lspkit.edit_types import WorkspaceEdit
from lspkit.errors import LspkitError, PositionError, UnsupportedError
from lspkit.operations.effect_results import FoundFile, Reply
from lspkit.operations.effects import Ask, Effects, FindPlaces, SyncFile
from lspkit.operations.renaming.identifiers import check_new_name
from lspkit.operations.renaming.merged_edit import covers, merge
from lspkit.operations.renaming.method_family import find_family
from lspkit.operations.reply_parsing import decode_replies
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import params_at, position_of
from lspkit.operations.workspace_edit import changes_of, translate_edit
from lspkit.protocol.wire.results import WireEdit, read_edit
from lspkit.types import Caveat, Location

#: Most places in a caveat.
SHOWN = 5


class RenameRequest(PositionRequest[WorkspaceEdit], frozen=True, kw_only=True):
    """Preview the renaming of a symbol."""

    new_name: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.new_name or not self.new_name.strip():
            raise PositionError("a new name is needed", bounds="a name that is not empty")
        check_new_name(self.path, self.new_name)


@operation("rename", RenameRequest, WorkspaceEdit)
def rename(request: RenameRequest) -> Effects[WorkspaceEdit]:
    """The edit of the first server that has one: two edits would change everything twice.

    A method that overrides another one, or is overridden, is renamed with these methods.
    """
    line, column = yield from position_of(request)
    edit = yield from _rename_at(request, line, column)
    # A family is searched on disk, not in a caller's own text.
    if not edit.changes or request.text is not None:
        return edit
    family = yield from find_family(request.path, line, column)
    for member in family.members:
        if covers(edit, member) or member in family.in_libraries:
            continue
        more = yield from _rename_member(request, member)
        edit = (more and merge(edit, more)) or edit
    left = tuple(one for one in family.members if not covers(edit, one))
    if left or family.problems:
        caveats = (*edit.caveats, _not_followed(edit, left, family.problems))
        edit = msgspec.structs.replace(edit, caveats=caveats)
    return edit


def _rename_member(request: RenameRequest, member: Location) -> Effects[WorkspaceEdit | None]:
    """The edit that renames another method of the family; None if there is none."""
    try:
        again = msgspec.structs.replace(
            request, path=str(member.path), line=member.line, column=member.column, symbol=None
        )
        edit = yield from _rename_at(again, member.line, member.column)
    except LspkitError:
        return None  # for example in a library
    return edit


def _not_followed(edit: WorkspaceEdit, left: tuple[Location, ...], problems: list[str]) -> Caveat:
    places = ", ".join(str(one) for one in left[:SHOWN]) + (", …" if len(left) > SHOWN else "")
    told = [f"methods of the same family keep their name: {places}"] if left else []
    return Caveat("overrides not followed", "; ".join([*told, *problems]), edit.server, left)


def _rename_at(request: RenameRequest, line: int, column: int) -> Effects[WorkspaceEdit]:
    """The edit that the server proposes for a position."""
    at = params_at(line, column)
    try:
        prepared: list[Reply] = yield Ask(
            request.path, request.text, "textDocument/prepareRename", at, may_be_library=False
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
        may_be_library=False,
        span="all",
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
    if found is None:
        return WorkspaceEdit()
    edit = yield from translate_edit(*found)
    # The edit is of one server: what another one has failed at does not make it incomplete.
    own = tuple(one for one in found[1].caveats if one.server == found[1].server)
    return msgspec.structs.replace(edit, caveats=own)


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
