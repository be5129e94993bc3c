"""lspkit against `sansio-lsp-client`, in both directions, on what both of them speak.

What lspkit writes, sansio reads as the same; what sansio writes, lspkit reads as the same; and one
answer of a server means the same values to both. Cutting the stream at any byte is in
`test_framing.py`, what answers mean is in `test_oracle_answers.py`.

Left out, since sansio does not speak it: extra headers, text between messages, broken messages and
questions of a server that it does not know (it raises or hangs); incoming and outgoing calls, type
hierarchy, pulled diagnostics, unregistering, watched files, edits asked for by the server, position
encodings; versions, tags and code descriptions of diagnostics; `WorkspaceSymbol` without a range; a
`LocationLink` outside of a list; numbers that no enumeration knows; results that are neither an
object nor a list; ids of references, which it does not pass on. Its reply of nothing lacks the key
`result`, which lspkit reads as null.
"""

from __future__ import annotations

import json
from typing import Any

import sansio_lsp_client as sansio
from hypothesis import given
from hypothesis import strategies as st
from sansio_lsp_client.io_handler import _make_response, _parse_messages
from sansio_lsp_client.structs import Request, Response, TextDocumentContentChangeEvent

from lspkit.protocol.capabilities import Capabilities, DocumentKey, InitializeOptions
from lspkit.protocol.open_documents import Documents
from lspkit.protocol.session import Session
from lspkit.protocol.text import Text
from lspkit.protocol.wire.framing import FrameReader, frame
from lspkit.protocol.wire.messages import (
    Message,
    NotificationMessage,
    RequestMessage,
    ResponseMessage,
    parse,
)

TEXTS = st.text(max_size=12)
URIS = st.sampled_from(["file:///a.py", "file:///b%20c.py", "untitled:é"])
NUMBERS = st.integers(0, 2**31 - 1)
WELCOME = b'{"capabilities":{}}'
PLACES = st.tuples(URIS, NUMBERS, NUMBERS)


def running() -> Session:
    session = Session(InitializeOptions("file:///top", "root"))
    session.initialize("start")
    session.receive(ResponseMessage(1, WELCOME))
    return session


def client() -> sansio.Client:
    """A client of sansio that runs and has written how it began."""
    client = sansio.Client(root_uri="file:///top")
    [_] = client.recv(frame(b'{"jsonrpc":"2.0","id":0,"result":%s}' % WELCOME))
    return client


def unframed(data: bytes) -> list[bytes]:
    return FrameReader().feed(bytes(data))


def read_by_sansio(*frames: bytes) -> list[Request | Response]:
    buffer = bytearray(b"".join(frames))
    found = list(_parse_messages(buffer))
    assert not buffer
    return found


def position(place: tuple[str, int, int]) -> sansio.TextDocumentPosition:
    uri, line, character = place
    return sansio.TextDocumentPosition(
        textDocument=sansio.TextDocumentIdentifier(uri=uri),
        position=sansio.Position(line=line, character=character),
    )


# lspkit writes, sansio reads


@given(TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_sansio_reads_our_way_through_a_session(name: str, settings: dict[str, str]) -> None:
    session = Session(
        InitializeOptions("file:///r", name, initialization=settings, settings=settings)
    )
    start = session.initialize("tag")
    session.receive(ResponseMessage(1, b'{"capabilities":{}}'))
    frames = [start, *session.initialized(), session.shutdown("tag"), session.exit()]
    found = [one for one in read_by_sansio(*frames) if isinstance(one, Request)]
    assert [one.method for one in found] == [
        *("initialize", "initialized", "workspace/didChangeConfiguration", "shutdown", "exit"),
    ]
    for data, message in zip(frames, found, strict=True):
        [body] = unframed(data)
        written = json.loads(body)
        assert (message.id, message.params) == (written.get("id"), written.get("params"))
    params = found[0].params
    assert params is not None
    assert sansio.WorkspaceFolder.model_validate(params["workspaceFolders"][0]).name == name
    assert params["initializationOptions"] == settings
    assert found[2].params == {"settings": settings}


@given(PLACES, st.sampled_from(["hover", "definition", "references"]))
def test_sansio_reads_our_requests(place: tuple[str, int, int], method: str) -> None:
    session = running()
    wanted = position(place).model_dump()
    id, data = session.request(f"textDocument/{method}", wanted, "tag")
    [request] = read_by_sansio(data)
    assert isinstance(request, Request)
    assert (request.id, request.method) == (id, f"textDocument/{method}")
    assert sansio.TextDocumentPosition.model_validate(request.params) == position(place)


@given(TEXTS, TEXTS, st.sampled_from([1, 2]))
def test_sansio_reads_our_documents(old: str, new: str, kind: int) -> None:
    session = running()
    all = Documents(Capabilities({"textDocumentSync": kind}), "utf-16")
    key = DocumentKey("file:///a.py", "python")
    document, opened = all.sync(key, Text(old), None)
    all.commit(document)
    _, changed = all.sync(key, Text(new), None)
    found = read_by_sansio(*(session.notify(*note) for note in [*opened, *changed]))
    assert all_params(found) == [params for _, params in [*opened, *changed]]
    item = sansio.TextDocumentItem.model_validate(all_params(found)[0]["textDocument"])
    assert (item.uri, item.languageId, item.version, item.text) == (*key_of(key), 1, old)
    for params in all_params(found)[1:]:
        about = sansio.VersionedTextDocumentIdentifier.model_validate(params["textDocument"])
        assert (about.uri, about.version) == (key.uri, 2)
        for change in params["contentChanges"]:
            # sansio wants all keys, also those that the protocol leaves out.
            full = {"range": None, "rangeLength": None, **change}
            event = TextDocumentContentChangeEvent.model_validate(full)
            assert event.model_dump() == change


def all_params(found: list[Any]) -> list[dict[str, Any]]:
    return [one.params for one in found]


def key_of(key: DocumentKey) -> tuple[str, str]:
    return key.uri, key.language


@given(NUMBERS | TEXTS, st.sampled_from(["workspace/workspaceFolders", "x/unknown"]))
def test_sansio_reads_our_answers(id: int | str, method: str) -> None:
    asked = parse(json.dumps({"id": id, "method": method}).encode())
    _, data = running().receive(asked)
    assert data is not None
    [response] = read_by_sansio(data)
    assert isinstance(response, Response)
    assert response.id == id
    if method == "x/unknown":
        assert response.error is not None
        assert sansio.ResponseError.model_validate(response.error).code == -32601
    else:
        assert response.result == [{"uri": "file:///top", "name": "root"}]


# sansio writes, lspkit reads


def test_we_read_how_sansio_begins() -> None:
    messages = [parse(body) for body in unframed(client().send())]
    assert [type(one) for one in messages] == [RequestMessage, NotificationMessage]
    assert isinstance(messages[0], RequestMessage)
    assert (messages[0].id, messages[0].method) == (b"0", "initialize")
    assert json.loads(messages[0].params or b"")["rootUri"] == "file:///top"
    assert messages[1] == NotificationMessage("initialized", b"{}")


@given(PLACES, TEXTS, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=2))
def test_we_read_what_sansio_sends(
    place: tuple[str, int, int], old: str, new: str, settings: dict[str, str]
) -> None:
    theirs, where = client(), position(place)
    theirs.send()
    document = {"uri": place[0]}
    item = sansio.TextDocumentItem(uri=place[0], languageId="python", version=1, text=old)
    about = sansio.VersionedTextDocumentIdentifier(uri=place[0], version=2)
    change = TextDocumentContentChangeEvent.whole_document_change(new)
    theirs.did_open(item)
    theirs.did_change(about, [change])
    theirs.did_save(where.textDocument, new)
    theirs.did_change_configuration(settings)
    ids = [theirs.hover(where), theirs.definition(where), theirs.references(where)]
    ids.append(theirs.documentSymbol(where.textDocument))
    theirs.cancel_last_request()
    theirs.did_close(where.textDocument)
    asked = where.model_dump()
    expected: list[tuple[Any, str, Any]] = [
        (None, "textDocument/didOpen", {"textDocument": item.model_dump()}),
        (
            None,
            "textDocument/didChange",
            {"textDocument": {**document, "version": 2}, "contentChanges": [{"text": new}]},
        ),
        (None, "textDocument/didSave", {"textDocument": document, "text": new}),
        (None, "workspace/didChangeConfiguration", {"settings": settings}),
        (ids[0], "textDocument/hover", asked),
        (ids[1], "textDocument/definition", asked),
        (ids[2], "textDocument/references", {**asked, "context": {"includeDeclaration": True}}),
        (ids[3], "textDocument/documentSymbol", {"textDocument": document}),
        (None, "$/cancelRequest", {"id": ids[3]}),
        (None, "textDocument/didClose", {"textDocument": document}),
    ]
    assert [triple(parse(body)) for body in unframed(theirs.send())] == expected


def triple(message: Message) -> tuple[Any, str, Any]:
    assert isinstance(message, RequestMessage | NotificationMessage)
    id = json.loads(message.id) if isinstance(message, RequestMessage) else None
    return id, message.method, json.loads(message.params or b"null")


@given(NUMBERS, st.none() | st.lists(TEXTS, max_size=3) | st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_we_read_what_sansio_answers(id: int, result: Any) -> None:
    [body] = unframed(_make_response(id, result))
    message = parse(body)
    assert isinstance(message, ResponseMessage)
    assert (message.id, json.loads(message.result)) == (id, result)
