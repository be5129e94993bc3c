"""What servers propose to change: rename and code actions, as previews."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from typing import Any

import msgspec

from lspkit.edit_types import CodeAction, FileEdit, FileOperation, TextEdit, WorkspaceEdit
from lspkit.errors import PositionError, RequestFailedError, UnsupportedError
from lspkit.operations.effects import (
    Ask,
    Effect,
    FindPlaces,
    FoundFile,
    KnownDiagnostics,
    Reply,
    SyncFile,
    TakeKnownDiagnostics,
)
from lspkit.operations.position_translation import Translator, to_wire, translator
from lspkit.operations.reply_parsing import readable, unreadable
from lspkit.operations.request import PositionRequest, check_number, operation
from lspkit.operations.symbol_positions import params_at, position_of
from lspkit.protocol.results import (
    WireAction,
    WireChange,
    WireCommand,
    WireEdit,
    WireTextEdit,
    read_action,
    read_command,
    read_edit,
)
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.wire.raw_items import read_actions, read_pieces
from lspkit.types import Position, shown

KINDS = {"create": "create", "rename": "rename", "delete": "delete"}


class RenameRequest(PositionRequest[WorkspaceEdit], frozen=True, kw_only=True):
    """What would change if this had another name?"""

    new_name: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.new_name or not self.new_name.strip():
            raise PositionError("a new name is needed", bounds="a name that is not empty")


class CodeActionsRequest(PositionRequest[list[CodeAction]], frozen=True, kw_only=True):
    """What can be done here?"""

    end_line: int | None = None
    end_column: int | None = None
    #: Kinds to ask for, such as `quickfix`; empty for all.
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("end_line", self.end_line)
        check_number("end_column", self.end_column)


@operation("rename", RenameRequest, WorkspaceEdit)
def rename(request: RenameRequest) -> Generator[Effect, Any, WorkspaceEdit]:
    """The edit of the first server that has one: two servers would change everything twice."""
    line, column = yield from position_of(request)
    at = params_at(line, column)
    try:
        prepared: list[Reply] = yield Ask(
            request.path, request.text, "textDocument/prepareRename", at
        )
    except UnsupportedError:
        prepared = []
    if prepared and all(reply.result == b"null" for reply in prepared):
        raise PositionError(f"{request.path}:{line}:{column} is nothing that can be renamed")
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
    marked = yield from _marked(*found)
    if marked:
        # Shown to the server without their marks, they are counted as everybody counts them.
        for path in marked:
            yield SyncFile(path, None)
        replies = yield question
        found = yield from _first_edit(replies)
    return (yield from workspace_edit(*found)) if found is not None else WorkspaceEdit()


def _first_edit(
    replies: list[Reply],
) -> Generator[Effect, Any, tuple[WireEdit, Reply] | None]:
    """The first edit that changes something."""
    for reply, wires in (yield from readable(replies, read_edit, whole=True)):
        for wire in wires:
            if _changes(wire):
                return wire, reply
    return None


def _marked(wire: WireEdit, reply: Reply) -> Generator[Effect, Any, list[str]]:
    """The files that an edit is for and that begin with a mark."""
    documents = (one.text_document for one in _changes(wire))
    uris = tuple(one.uri for one in documents if one is not None)
    places: dict[str, FoundFile] = yield FindPlaces(reply.server, reply.view.uri, uris, texts=True)
    return [str(one.path) for one in places.values() if one.marked]


@operation("code_actions", CodeActionsRequest, list[CodeAction])
def code_actions(request: CodeActionsRequest) -> Generator[Effect, Any, list[CodeAction]]:
    """All offers of all servers, the preferred ones first."""
    line, column = yield from position_of(request)
    end = (request.end_line or line, request.end_column or column)
    if end < (line, column):
        raise PositionError(
            f"the range ends at {end[0]}:{end[1]}, before it starts at {line}:{column}",
            bounds=f"{line}:{column} or later",
        )
    reports: list[KnownDiagnostics] = yield TakeKnownDiagnostics(request.path)
    # Here, and not when the question is built: then the server's lock is held.
    known: dict[str, list[msgspec.Raw]] = {}
    for report in reports:
        pieces = read_pieces(report.items).items
        here = [msgspec.Raw(one) for one in pieces if _touches(one, line - 1, end[0] - 1)]
        known.setdefault(report.uri, []).extend(here)
    found: list[CodeAction] = []
    replies: list[Reply] = yield Ask(
        request.path,
        request.text,
        "textDocument/codeAction",
        _about((line, column), end, known, request.only),
    )
    for reply, actions in (yield from readable(replies, read_actions)):
        for raw, wire in actions:
            found.append((yield from _action(raw, wire, reply, request.path)))
    return sorted(found, key=lambda one: (not one.preferred, bool(one.disabled)))


def _about(
    start: tuple[int, int],
    end: tuple[int, int],
    known: dict[str, list[msgspec.Raw]],
    only: tuple[str, ...],
) -> Any:
    def build(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        first, last = to_wire(text, *start, encoding), to_wire(text, *end, encoding)
        context: dict[str, Any] = {"diagnostics": known.get(uri, []), "triggerKind": 1}
        if only:
            context["only"] = list(only)
        range = {"start": first, "end": last}
        return {"textDocument": {"uri": uri}, "range": range, "context": context}

    return build


def _touches(raw: bytes, first: int, last: int) -> bool:
    """Whether a finding lies on one of the lines that are asked about, counted from 0."""
    try:
        range = msgspec.json.decode(raw)["range"]
        return bool(range["start"]["line"] <= last and first <= range["end"]["line"])
    except (KeyError, TypeError, ValueError):
        return False


def _action(
    raw: bytes, wire: WireAction, reply: Reply, via: str
) -> Generator[Effect, Any, CodeAction]:
    edit, unusable = None, ""
    try:
        if wire.edit is not None:
            edit = yield from workspace_edit(wire.edit, reply)
    except RequestFailedError as problem:
        unusable = problem.message
    return CodeAction(
        title=wire.title,
        kind=wire.kind or "",
        preferred=bool(wire.is_preferred),
        disabled=(wire.disabled or {}).get("reason", "") or unusable,
        edit=edit,
        server=reply.server,
        via=via,
        raw=raw.decode(),
        sha256=digest(reply.view.text),
    )


def digest(text: Text) -> str:
    """What a text is recognized by."""
    return hashlib.sha256(text.value.encode(errors="surrogatepass")).hexdigest()


def resolved(action: CodeAction) -> Generator[Effect, Any, WorkspaceEdit | WireCommand]:
    """The edit that an action stands for, which the server may have put off until now.

    Where there is none, the command that the server has to run.
    """
    if action.disabled:
        message = f"{action.title!r} cannot be done now: {action.disabled}"
        raise RequestFailedError(message, server=action.server)
    command = read_command(action.raw.encode())
    # An edit that changes nothing stands beside a command that does.
    if action.edit is not None and (action.edit.changes or command is None):
        return action.edit
    if command is not None and command.bare:
        return command
    try:
        replies: list[Reply] = yield Ask(
            action.via,
            None,
            "codeAction/resolve",
            lambda *_: msgspec.Raw(action.raw.encode()),
            server=action.server,
            ignore_capabilities=True,
        )
    except RequestFailedError:
        if command is None:
            raise
        replies = []  # it has nothing to add to its command
    for reply in replies:
        command = command or read_command(reply.result)
        read = read_action(reply.result)
        if read.dropped:
            raise unreadable(reply)
        for wire in read.items:
            if wire.edit is not None:
                edit = yield from workspace_edit(wire.edit, reply)
                if edit.changes or command is None:
                    return edit
    if command is None:
        message = f"{action.title!r} has neither an edit nor a command"
        raise RequestFailedError(message, server=action.server)
    return command


def edits_in(reply: Reply) -> list[WireEdit]:
    """The edits that a server has sent. One without some of its parts would be another one."""
    read = read_edit(reply.result)
    if read.dropped:
        raise unreadable(reply)
    return read.items


def _unusable(reply: Reply, why: str) -> RequestFailedError:
    message = f"{reply.server} proposes an edit that {why}; nothing of it is used"
    return RequestFailedError(message, server=reply.server)


def workspace_edit(wire: WireEdit, reply: Reply) -> Generator[Effect, Any, WorkspaceEdit]:
    """A server's edit, with the texts that it is for. One that cannot be right is refused."""
    changes = _changes(wire)
    uris = [uri for one in changes for uri in _uris(one)]
    translate = yield from translator(reply, uris, texts=True)
    done = tuple(_change(one, translate, reply) for one in changes)
    return WorkspaceEdit(done, reply.server)


def _changes(wire: WireEdit) -> list[WireChange]:
    """What an edit consists of, in the newer of its two forms."""
    if wire.document_changes is not None:
        return wire.document_changes
    return [_plain(uri, edits) for uri, edits in (wire.changes or {}).items()]


def _plain(uri: str, edits: list[WireTextEdit]) -> WireChange:
    return msgspec.convert(
        {"textDocument": {"uri": uri}, "edits": msgspec.to_builtins(edits)}, WireChange
    )


def _uris(change: WireChange) -> list[str]:
    document = change.text_document.uri if change.text_document is not None else None
    named = (document, change.uri, change.old_uri, change.new_uri)
    return [uri for uri in named if uri is not None]


def _change(wire: WireChange, translate: Translator, reply: Reply) -> FileEdit | FileOperation:
    options = wire.options or {}
    if wire.kind is not None:
        if wire.kind not in KINDS:
            raise _unusable(reply, f"has a change of an unknown kind, {wire.kind[:40]!r}")
        uri = wire.old_uri or wire.uri or ""
        new = translate.place(wire.new_uri).path if wire.new_uri else None
        return FileOperation(
            kind=KINDS[wire.kind],  # type: ignore[arg-type]
            path=translate.place(uri).path if uri else None,
            uri=uri,
            new_path=new,
            new_uri=wire.new_uri or "",
            overwrite=options.get("overwrite", False),
            ignore_if_exists=options.get("ignoreIfExists", False),
            ignore_if_not_exists=options.get("ignoreIfNotExists", False),
            recursive=options.get("recursive", False),
        )
    if wire.text_document is None:
        raise _unusable(reply, "has a change of nothing")
    place = translate.place(wire.text_document.uri)
    try:
        edits = [
            TextEdit(translate.exact(place.text, one.range), one.new_text)
            for one in wire.edits or ()
        ]
    except PositionError as problem:
        where = shown(place.path, wire.text_document.uri)
        raise _unusable(reply, f"is for no place in {where}: {problem.message}") from None
    edits.sort(key=lambda one: one.range)  # stable: inserts at one place keep their order
    return FileEdit(
        path=place.path,
        uri=wire.text_document.uri,
        edits=tuple(edits),
        before=place.text.value if place.text is not None else None,
        after=applied(place.text, edits) if place.text is not None else None,
        version=wire.text_document.version,
    )


def applied(text: Text, edits: list[TextEdit]) -> str:
    """The text with the edits done. They are in order, and none overlaps another."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        start, end = (_offset(text, place) for place in (edit.range.start, edit.range.end))
        pieces += [text.value[at:start], edit.new_text]
        at = max(at, end)
    return "".join([*pieces, text.value[at:]])


def _offset(text: Text, place: Position) -> int:
    if place.line > text.line_count:
        return len(text.value)
    return text.offset(place.line - 1, place.column - 1)
