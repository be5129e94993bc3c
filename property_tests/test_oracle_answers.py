"""One answer of a server means the same to lspkit and to `sansio-lsp-client`.

Answers are made by hypothesis, framed, and read by both. What sansio does not speak is listed in
`test_oracle.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sansio_lsp_client as sansio
from hypothesis import given
from hypothesis import strategies as st
from sansio_lsp_client.structs import LocationLink, MarkedString, MarkupContent

from lspkit.protocol import events
from lspkit.protocol.capabilities import InitializeOptions, Registration
from lspkit.protocol.session import Session
from lspkit.protocol.wire import results
from lspkit.protocol.wire.framing import FrameReader, frame
from lspkit.protocol.wire.messages import parse

TEXTS = st.text(max_size=12)
URIS = st.sampled_from(["file:///a.py", "file:///b%20c.py", "untitled:é"])
NUMBERS = st.integers(0, 2**31 - 1)
# JavaScript has no integers; some servers write `3.0`.
WIRE_NUMBERS = NUMBERS | st.integers(0, 99).map(float)
POSITIONS = st.fixed_dictionaries({"line": WIRE_NUMBERS, "character": WIRE_NUMBERS})
RANGES = st.fixed_dictionaries({"start": POSITIONS, "end": POSITIONS})
EXTRA = {"unknownField": st.just({"x": [1]})}
LOCATIONS = st.fixed_dictionaries({"uri": URIS, "range": RANGES}, optional=EXTRA)
LINKS = st.fixed_dictionaries(
    {"targetUri": URIS, "targetRange": RANGES, "targetSelectionRange": RANGES},
    optional={"originSelectionRange": RANGES, **EXTRA},
)
MARKED = st.fixed_dictionaries({"language": TEXTS.filter(bool), "value": TEXTS})
MARKUP = st.fixed_dictionaries({"kind": st.sampled_from(["markdown", "plaintext"]), "value": TEXTS})
HOVERS = st.none() | st.fixed_dictionaries(
    {"contents": TEXTS | MARKED | MARKUP | st.lists(TEXTS | MARKED, max_size=4)},
    optional={"range": RANGES, **EXTRA},
)
KINDS = st.integers(1, 26)
TREES = st.recursive(
    st.fixed_dictionaries(
        {"name": TEXTS, "kind": KINDS, "range": RANGES, "selectionRange": RANGES},
        optional={"detail": TEXTS, "children": st.just([])},
    ),
    lambda inner: st.fixed_dictionaries(
        {"name": TEXTS, "kind": KINDS, "range": RANGES, "selectionRange": RANGES},
        optional={"children": st.lists(inner, max_size=3), **EXTRA},
    ),
    max_leaves=6,
)
FLAT = st.fixed_dictionaries(
    {"name": TEXTS, "kind": KINDS, "location": LOCATIONS}, optional={"containerName": TEXTS}
)
FINDINGS = st.fixed_dictionaries(
    {"range": RANGES, "message": TEXTS},
    optional={
        "severity": st.integers(1, 4),
        "code": NUMBERS | TEXTS,
        "source": TEXTS,
        "relatedInformation": st.lists(
            st.fixed_dictionaries({"location": LOCATIONS, "message": TEXTS}), max_size=2
        ),
        **EXTRA,
    },
)
WHERE = sansio.TextDocumentPosition(
    textDocument=sansio.TextDocumentIdentifier(uri="file:///a.py"),
    position=sansio.Position(line=0, character=0),
)
#: method: how sansio asks it.
ASKED: dict[str, Callable[[sansio.Client], Any]] = {
    "textDocument/hover": lambda client: client.hover(WHERE),
    "textDocument/definition": lambda client: client.definition(WHERE),
    "textDocument/declaration": lambda client: client.declaration(WHERE),
    "textDocument/typeDefinition": lambda client: client.typeDefinition(WHERE),
    "textDocument/implementation": lambda client: client.implementation(WHERE),
    "textDocument/references": lambda client: client.references(WHERE),
    "textDocument/documentSymbol": lambda client: client.documentSymbol(WHERE.textDocument),
    "workspace/symbol": lambda client: client.workspace_symbol("x"),
}
LINKING = [name for name in ASKED if name.endswith(("efinition", "declaration", "implementation"))]


class Pair:
    """A session of each kind, running, that hears the same."""

    def __init__(self) -> None:
        welcome: dict[str, Any] = {"capabilities": {}}
        self.ours = Session(InitializeOptions("file:///top", "root"))
        self.ours.initialize("start")
        self.theirs = sansio.Client(root_uri="file:///top")
        event, _ = self.hear({"id": 1, "result": welcome}, {"id": 0, "result": welcome})
        assert event == events.Initialized("start")

    def hear(self, ours: dict[str, Any], theirs: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """One message of the server, to each under its own id: what each makes of it."""
        [body] = FrameReader().feed(framed(ours))
        event, _ = self.ours.receive(parse(body))
        [other] = self.theirs.recv(framed(theirs or ours))
        return event, other

    def asked(self, method: str, **outcome: Any) -> tuple[Any, Any]:
        """Both ask, and both hear the same outcome."""
        id, _ = self.ours.request(method, {}, "tag")
        other = ASKED[method](self.theirs)
        return self.hear({"id": id, **outcome}, {"id": other, **outcome})


def framed(message: dict[str, Any]) -> bytes:
    return frame(json.dumps({"jsonrpc": "2.0", **message}).encode())


def told(method: str, params: dict[str, Any]) -> tuple[Any, Any]:
    return Pair().hear({"method": method, "params": params})


def plain(range: Any) -> Any:
    """A range of either as numbers, which have to be integers."""
    if range is None:
        return None
    ends = (range.start, range.end)
    return [(one.line, one.character, type(one.line), type(one.character)) for one in ends]


def theirs_as_places(result: Any) -> list[Any]:
    items = result if isinstance(result, list) else [result] if result else []
    return [
        (one.targetUri, plain(one.targetSelectionRange))
        if isinstance(one, LocationLink)
        else (one.uri, plain(one.range))
        for one in items
    ]


def ours_as_places(raw: bytes) -> list[Any]:
    read = results.read_locations(raw)
    assert read.dropped == 0
    return [(one.place[0], plain(one.place[1])) for one in read.items if one.place]


@given(
    st.sampled_from(LINKING),
    st.none() | LOCATIONS | st.lists(LOCATIONS | LINKS, max_size=4),
)
def test_places_are_the_same_to_both(method: str, result: Any) -> None:
    event, other = Pair().asked(method, result=result)
    assert ours_as_places(event.result) == theirs_as_places(other.result)


@given(st.none() | st.lists(LOCATIONS, max_size=4))
def test_references_are_the_same_to_both(result: Any) -> None:
    event, other = Pair().asked("textDocument/references", result=result)
    assert ours_as_places(event.result) == theirs_as_places(other.result)


def section(part: Any) -> Any:
    """A piece of hover of either: its language or kind, and its text."""
    match part:
        case str():
            return part
        case MarkedString():
            return part.language, None, part.value
        case MarkupContent():
            return None, part.kind.value, part.value
        case results.WireMarkup():
            return part.language, part.kind, part.value
    raise AssertionError(part)


@given(HOVERS)
def test_a_hover_is_the_same_to_both(result: Any) -> None:
    event, other = Pair().asked("textDocument/hover", result=result)
    read = results.read_hover(event.result)
    assert read.dropped == 0
    if result is None:
        assert (read.items, other.contents) == ([], [])
        return
    [hover] = read.items
    ours, theirs = (
        one.contents if isinstance(one.contents, list) else [one.contents] for one in (hover, other)
    )
    assert [section(part) for part in ours] == [section(part) for part in theirs]
    assert plain(hover.range) == plain(other.range)


def tree(symbol: Any, selection: str) -> Any:
    below = [tree(child, selection) for child in symbol.children or []]
    ranges = plain(symbol.range), plain(getattr(symbol, selection))
    return symbol.name, int(symbol.kind), symbol.detail, *ranges, below


@given(st.none() | st.lists(TREES, max_size=3))
def test_a_tree_of_symbols_is_the_same_to_both(result: Any) -> None:
    event, other = Pair().asked("textDocument/documentSymbol", result=result)
    read = results.read_symbols(event.result)
    assert read.dropped == 0
    assert [tree(one, "selection_range") for one in read.items] == [
        tree(one, "selectionRange") for one in other.result
    ]


@given(
    st.sampled_from(["textDocument/documentSymbol", "workspace/symbol"]),
    st.lists(FLAT, min_size=1, max_size=3),
)
def test_a_list_of_symbols_is_the_same_to_both(method: str, result: Any) -> None:
    event, other = Pair().asked(method, result=result)
    ours = [
        (one.name, one.kind, one.location and one.location.place, one.container_name)
        for one in results.read_symbols(event.result).items
    ]
    assert [(name, kind, (at[0], plain(at[1])), box) for name, kind, at, box in ours if at] == [
        (one.name, one.kind, (one.location.uri, plain(one.location.range)), one.containerName)
        for one in other.result
    ]


@given(URIS, st.lists(FINDINGS, max_size=4))
def test_diagnostics_are_the_same_to_both(uri: str, items: list[Any]) -> None:
    event, other = told("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": items})
    read = results.read_diagnostics(event.items)
    assert (event.uri, read.dropped) == (other.uri, 0)
    assert [
        (
            *(plain(one.range), one.text, one.severity, one.code, one.source),
            [
                (two.location.uri, plain(two.location.range), two.message)
                for two in one.related_information or []
            ],
        )
        for one in read.items
    ] == [
        (
            *(plain(one.range), one.message, one.severity, one.code, one.source),
            [
                (two.location.uri, plain(two.location.range), two.message)
                for two in one.relatedInformation or []
            ],
        )
        for one in other.diagnostics
    ]


@given(st.sampled_from([*ASKED]), st.integers(-(2**31), 2**31), TEXTS)
def test_an_error_is_the_same_to_both(method: str, code: int, text: str) -> None:
    event, other = Pair().asked(method, error={"code": code, "message": text})
    assert event == events.Failed("tag", method, code, text)
    assert (other.code, other.message) == (code, text)


@given(st.sampled_from(["logMessage", "showMessage"]), st.integers(1, 5), TEXTS)
def test_words_for_people_are_the_same_to_both(method: str, level: int, text: str) -> None:
    event, other = told(f"window/{method}", {"type": level, "message": text})
    assert (event.level, event.text) == (other.type, other.message) == (level, text)


@given(NUMBERS | TEXTS, TEXTS, TEXTS, st.integers(0, 100))
def test_progress_is_the_same_to_both(
    token: int | str, title: str, text: str, percentage: int
) -> None:
    pair = Pair()

    def hear(**value: Any) -> tuple[Any, Any]:
        return pair.hear({"method": "$/progress", "params": {"token": token, "value": value}})

    event, other = hear(kind="begin", title=title)
    assert (event.token, event.title) == (other.token, other.value.title)
    _, other = hear(kind="report", message=text, percentage=percentage)
    work = pair.ours.progress.work[token]
    assert (work.message, work.percentage) == (other.value.message, other.value.percentage)
    event, other = hear(kind="end")
    assert (type(event), event.token) == (events.ProgressEnded, other.token)
    assert not pair.ours.progress.work


@given(NUMBERS | TEXTS, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_a_registration_is_the_same_to_both(id: int | str, name: str, options: Any) -> None:
    entry = {"id": name, "method": "x/y", "registerOptions": options}
    message = {"method": "client/registerCapability", "params": {"registrations": [entry]}}
    event, other = Pair().hear({"id": id, **message})
    [theirs] = other.registrations
    assert event.registrations == (Registration(theirs.id, theirs.method, theirs.registerOptions),)
