"""Edits that servers propose: from the protocol's form to `WorkspaceEdit`, with the texts."""

from __future__ import annotations

from lspkit.edit_types import FileEdit, FileOperation, TextEdit, WorkspaceEdit
from lspkit.errors import PositionError, RequestFailedError
from lspkit.operations.host import Host
from lspkit.operations.host_results import Reply
from lspkit.operations.position_translation import Translator, make_translator
from lspkit.operations.reply_parsing import undecodable_error
from lspkit.protocol.text import Text
from lspkit.protocol.wire.results import WireChange, WireDocument, WireEdit, read_edit
from lspkit.types import Position, display_path

KINDS = {"create": "create", "rename": "rename", "delete": "delete"}


def decode_edits(reply: Reply) -> list[WireEdit]:
    """The edits that a server sent. An edit is never used without some of its parts."""
    read = read_edit(reply.result)
    if read.dropped:
        raise undecodable_error(reply)
    return read.items


def _unusable_edit_error(reply: Reply, why: str) -> RequestFailedError:
    message = f"{reply.server} proposes an edit that {why}; nothing of it is used"
    return RequestFailedError(message, server=reply.server)


def translate_edit(host: Host, wire: WireEdit, reply: Reply) -> WorkspaceEdit:
    """A server's edit with the texts that it is for. An invalid edit is refused."""
    changes = changes_of(wire)
    uris = [uri for change in changes for uri in _uris(change)]
    translate = make_translator(host, reply, uris, texts=True)
    done = tuple(_change(change, translate, reply) for change in changes)
    return WorkspaceEdit(done, reply.server)


def changes_of(wire: WireEdit) -> list[WireChange]:
    """The changes of an edit, in the form of `documentChanges`."""
    if wire.document_changes is not None:
        return wire.document_changes
    return [
        WireChange(text_document=WireDocument(uri), edits=edits)
        for uri, edits in (wire.changes or {}).items()
    ]


def _uris(change: WireChange) -> list[str]:
    document = change.text_document.uri if change.text_document is not None else None
    named = (document, change.uri, change.old_uri, change.new_uri)
    return [uri for uri in named if uri is not None]


def _change(wire: WireChange, translate: Translator, reply: Reply) -> FileEdit | FileOperation:
    options = wire.options or {}
    if wire.kind is not None:
        if wire.kind not in KINDS:
            raise _unusable_edit_error(
                reply, f"has a change of an unknown kind, {wire.kind[:40]!r}"
            )
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
        raise _unusable_edit_error(reply, "has a change without a document")
    place = translate.place(wire.text_document.uri)
    try:
        edits = [
            TextEdit(translate.exact(place.text, edit.range), edit.new_text)
            for edit in wire.edits or ()
        ]
    except PositionError as problem:
        where = display_path(place.path, wire.text_document.uri)
        raise _unusable_edit_error(
            reply, f"is not for a place in {where}: {problem.message}"
        ) from None
    edits.sort(key=lambda edit: edit.range)  # stable: inserts at one place keep their order
    return FileEdit(
        path=place.path,
        uri=wire.text_document.uri,
        edits=tuple(edits),
        before=place.text.value if place.text is not None else None,
        after=apply_text_edits(place.text, edits) if place.text is not None else None,
        version=wire.text_document.version,
    )


def apply_text_edits(text: Text, edits: list[TextEdit]) -> str:
    """The text after the edits, which are in order and do not overlap."""
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
