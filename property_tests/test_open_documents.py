"""A server that follows the notifications has the client's text, whatever happened before.

The server here is as small as the rules of the protocol: it opens, changes by range or as a
whole, and closes. It counts units by encoding the line, so it shares no code with lspkit.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from lspkit.protocol.capabilities import Capabilities, DocumentKey
from lspkit.protocol.open_documents import Documents, Note
from lspkit.protocol.text import Encoding, Text

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])
KINDS = st.sampled_from([1, 2])
# Few pieces, so that texts have beginnings and ends in common; \u2028 and \x0c end no line.
PIECES = st.sampled_from(["a", "é", "🙂", "😀", "\u0301", "\r\n", "\r", "\n", "\u2028", "\x0c"])
TEXTS = st.lists(PIECES, max_size=10).map("".join) | st.text(max_size=10)
LANGUAGES = st.sampled_from(["python", "python", "python", "cython"])
NAMES = st.sampled_from("abcd")
OPENED_OR_CHANGED = ("textDocument/didOpen", "textDocument/didChange")


class Server:
    """Does what it is told, and minds what the protocol forbids."""

    def __init__(self, encoding: str, *, strict: bool = True) -> None:
        self.codec, self.size = CODECS[encoding]
        self.strict = strict
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}

    def told(self, note: Note) -> None:
        method, params = note
        document = params["textDocument"]
        uri = document["uri"]
        match method:
            case "textDocument/didOpen":
                assert uri not in self.texts, "opened twice"
                self.new_version(uri, document["version"])
                self.texts[uri] = document["text"]
            case "textDocument/didChange":
                self.new_version(uri, document["version"])
                for change in params["contentChanges"]:
                    self.texts[uri] = self.changed(self.texts[uri], change)
            case "textDocument/didSave":
                assert uri in self.texts
            case "textDocument/didClose":
                # A document that may not be open is closed to be sure; servers put up with that.
                assert uri in self.texts or not self.strict
                self.texts.pop(uri, None)
            case _:
                raise AssertionError(method)

    def new_version(self, uri: str, version: int) -> None:
        assert version > self.versions.get(uri, 0)
        self.versions[uri] = version

    def changed(self, text: str, change: dict[str, Any]) -> str:
        if "range" not in change:
            return str(change["text"])
        start, end = (self.offset(text, change["range"][key]) for key in ("start", "end"))
        assert start <= end
        return text[:start] + str(change["text"]) + text[end:]

    def offset(self, text: str, position: dict[str, int]) -> int:
        lines = re.split("(?<=\n)|(?<=\r)(?!\n)", text)
        line = lines[position["line"]]
        units = line.rstrip("\r\n").encode(self.codec)
        assert position["character"] * self.size <= len(units), "beyond the end of the line"
        # Fails where a character would be split.
        before = units[: position["character"] * self.size].decode(self.codec)
        return sum(map(len, lines[: position["line"]])) + len(before)


def documents(kind: int, encoding: Encoding, limit: int) -> Documents:
    said = {"openClose": True, "change": kind, "save": True}
    return Documents(Capabilities({"textDocumentSync": said}), encoding, limit=limit)


@st.composite
def edits(draw: st.DrawFn, text: str) -> str:
    """A text that is another one with a piece of it exchanged, or something new."""
    if not text or draw(st.integers(0, 3)) == 0:
        return draw(TEXTS)
    start = draw(st.integers(0, len(text)))
    # Mostly one character, so that also half of a Windows line break goes or comes.
    end = draw(st.integers(start, len(text)) | st.just(min(start + 1, len(text))))
    return text[:start] + draw(st.just("") | PIECES | TEXTS) + text[end:]


@given(st.data(), ENCODINGS, KINDS)
def test_following_the_notes_gives_back_the_text(
    data: st.DataObject, encoding: Encoding, kind: int
) -> None:
    all, server = documents(kind, encoding, 3), Server(encoding)
    texts: dict[str, str] = {}
    for _ in range(data.draw(st.integers(1, 8))):
        before = len(all)
        key = DocumentKey(f"file:///{data.draw(NAMES)}", data.draw(LANGUAGES))
        text = data.draw(edits(texts.get(key.uri, "")))
        stamp = data.draw(st.sampled_from([None, "disk"]))
        document, notes = all.sync(key, Text(text), stamp)
        for note in notes:
            server.told(note)
        all.commit(document)
        texts[key.uri] = text
        assert server.texts[key.uri] == text
        assert server.versions[key.uri] == document.version
        assert server.texts == {uri: texts[uri] for uri in server.texts}
        assert set(server.texts) == {one.key.uri for one in all}
        # Those that show what is on disk give way to one that is opened or changed; no other text
        # is ever forgotten. A text that the server knows already costs nobody his place.
        drafts = {one.key.uri for one in all if not one.is_on_disk}
        if any(method in OPENED_OR_CHANGED for method, _ in notes):
            assert len(server.texts) <= max(3, len(drafts | {key.uri}))
        else:
            assert len(server.texts) == before


def common(one: str, other: str) -> int:
    """How long the beginning is that both have."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


@st.composite
def before_and_after(draw: st.DrawFn) -> tuple[str, str]:
    old = draw(TEXTS)
    return old, draw(edits(old))


@given(before_and_after(), ENCODINGS)
@example(("a\r\nb", "a\rb"), "utf-16")
@example(("a\r\nb", "a\nb"), "utf-16")
@example(("a\rb", "a\r\nb"), "utf-16")
@example(("a\nb", "a\r\nb"), "utf-16")
def test_one_change_is_sent_and_it_has_no_more_text_than_it_needs(
    texts: tuple[str, str], encoding: Encoding
) -> None:
    old, new = texts
    all, server = documents(2, encoding, 3), Server(encoding)
    key = DocumentKey("file:///a", "python")
    document, opened = all.sync(key, Text(old), None)
    all.commit(document)
    _, notes = all.sync(key, Text(new), None)
    for note in [*opened, *notes]:
        server.told(note)
    assert server.texts[key.uri] == new
    assert len(notes) == (old != new)
    for _, params in notes:
        [change] = params["contentChanges"]
        start = common(old, new)
        end = common(old[start:][::-1], new[start:][::-1])
        # A Windows line break at either side is replaced whole.
        assert len(change["text"]) <= len(new) - start - end + 2


def interrupted(data: st.DataObject, encoding: Encoding, kind: int, limit: int) -> None:
    """Syncs of which any may be cut off after any of its notes."""
    all, server = documents(kind, encoding, limit), Server(encoding, strict=False)
    for _ in range(data.draw(st.integers(1, 10))):
        key = DocumentKey(f"file:///{data.draw(NAMES)}", data.draw(LANGUAGES))
        text = data.draw(TEXTS)
        document, notes = all.sync(key, Text(text), None)
        sent = data.draw(st.sampled_from([None, 0, 1, 2, 9]))
        for note in notes[:sent]:
            server.told(note)
        if sent is None:
            all.commit(document)
            assert server.texts[key.uri] == text
            assert server.versions[key.uri] == document.version


@given(st.data(), ENCODINGS, KINDS)
def test_the_text_is_right_again_after_any_interrupt(
    data: st.DataObject, encoding: Encoding, kind: int
) -> None:
    interrupted(data, encoding, kind, limit=100)


@given(st.data(), ENCODINGS, KINDS)
def test_the_text_is_right_again_after_an_interrupt_that_lost_an_eviction(
    data: st.DataObject, encoding: Encoding, kind: int
) -> None:
    interrupted(data, encoding, kind, limit=1)
