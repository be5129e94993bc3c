"""The five operations on real servers, held against what the same server answers when it is asked
directly, in every encoding that it offers.

For each server and encoding, lspkit and a raw client each have a server of their own on the same
folder, for all tests of this module: a start takes seconds. The fixture has both look at the files
first, so that no test starts a process or a thread that its leak check would count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lspkit
from tests import real_servers
from tests.real.projects import CONFUSED, ENCODINGS, PROJECTS, PULLING, Project, Spot
from tests.real.raw_client import RawClient
from tests.real.reading import (
    Reader,
    plain_diagnostics,
    plain_hover,
    plain_locations,
    plain_symbols,
    units,
)
from tests.real.running import raw_client, workspace

pytestmark = pytest.mark.server

PAIRS = [(server, encoding) for server, offered in ENCODINGS.items() for encoding in offered]

#: Seconds for one question, on a busy machine.
TIMEOUT = 60.0


@dataclass(frozen=True)
class Pair:
    """One folder, and the two who look at it."""

    server: str
    folder: Path
    project: Project
    ws: lspkit.Workspace
    raw: RawClient
    reader: Reader

    def path(self, name: str) -> Path:
        return self.folder / name

    def ask_raw(self, method: str, spot: Spot, **more: Any) -> Any:
        path = self.path(spot.file)
        wire = self.reader.wire(path, *self.project.place(spot))
        return self.raw.ask_at(method, path, *wire, **more)

    def raw_diagnostics(self, name: str) -> list[tuple[Any, ...]]:
        path = self.path(name)
        pulls = self.server in PULLING
        items = self.raw.pulled(path) if pulls else self.raw.pushed(path)
        return self.reader.diagnostics(path, items)


@pytest.fixture(scope="module", params=PAIRS, ids=["-".join(pair) for pair in PAIRS])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    server, encoding = request.param
    real_servers.require(server)
    project = PROJECTS[server]
    folder = tmp_path_factory.mktemp(server)
    project.write(folder)
    with workspace(folder, server, encoding=encoding) as ws:
        ws.check(project.main, timeout=TIMEOUT)
        ws.check(project.near, timeout=TIMEOUT)
        with raw_client(folder, server, encoding) as raw:
            raw.initialize()
            for name in (project.main, project.near):
                raw.open(folder / name, project.language)
            if server == "typescript":  # before that, its answers are those of a single file
                raw.wait_until_loaded()
            pair = Pair(server, folder, project, ws, raw, Reader(encoding))
            for name in (project.main, project.near):
                pair.raw_diagnostics(name)
            yield pair


def test_the_places_asked_about_have_other_columns_in_the_encoding_than_in_characters(
    pair: Pair,
) -> None:
    encoding = pair.reader.encoding
    for spot in (pair.project.far_use, pair.project.near_use):
        before = pair.project.line_before(spot)
        wider = units(before, encoding) > len(before)
        assert wider is (encoding != "utf-32")


@pytest.mark.parametrize("use", ["far_use", "near_use"])
def test_a_definition_is_where_the_server_says(pair: Pair, use: str) -> None:
    spot: Spot = getattr(pair.project, use)
    expected = pair.reader.locations(pair.ask_raw("textDocument/definition", spot))
    target = pair.project.far if use == "far_use" else pair.project.near
    assert {path for path, _ in expected} == {str(pair.path(target))}

    found = pair.ws.definition(spot.file, *pair.project.place(spot), timeout=TIMEOUT)

    assert plain_locations(found) == expected


@pytest.mark.parametrize("use", ["far_use", "near_use"])
@pytest.mark.parametrize("declared", [True, False], ids=["with declaration", "without"])
def test_references_are_where_the_server_says(pair: Pair, use: str, declared: bool) -> None:
    spot: Spot = getattr(pair.project, use)
    every = declared or pair.server in CONFUSED
    context = {"includeDeclaration": every}
    expected = pair.reader.locations(pair.ask_raw("textDocument/references", spot, context=context))
    if every and not declared:
        places = pair.reader.locations(pair.ask_raw("textDocument/declaration", spot))
        expected = [one for one in expected if one not in places]
    assert expected
    if declared:
        assert len({path for path, _ in expected}) >= 2

    found = plain_locations(
        pair.ws.references(
            spot.file, *pair.project.place(spot), include_declaration=declared, timeout=TIMEOUT
        )
    )

    assert [one for one in found if one in expected] == expected
    # Without an index, clangd leaves out a declaration in a header.
    added = [one for one in found if one not in expected]
    definition = pair.reader.locations(pair.ask_raw("textDocument/definition", spot))
    assert added == (definition if added and declared else [])


@pytest.mark.parametrize("use", ["far_use", "near_use", "method"])
def test_hover_tells_what_the_server_tells(pair: Pair, use: str) -> None:
    spot: Spot = getattr(pair.project, use)
    path = pair.path(spot.file)
    expected = pair.reader.hover(path, pair.ask_raw("textDocument/hover", spot))

    found = pair.ws.hover(spot.file, *pair.project.place(spot), timeout=TIMEOUT)

    assert plain_hover(found) == expected


@pytest.mark.parametrize("which", ["main", "near"])
def test_document_symbols_are_the_tree_of_the_server(pair: Pair, which: str) -> None:
    name = getattr(pair.project, which)
    path = pair.path(name)
    raw = pair.raw.request("textDocument/documentSymbol", {"textDocument": {"uri": path.as_uri()}})
    expected = pair.reader.symbols(path, raw)
    if which == "near":
        assert "area" in {child[1] for one in expected for child in one[-1]}

    found = pair.ws.document_symbols(name, timeout=TIMEOUT)

    assert plain_symbols(found) == expected


@pytest.mark.parametrize("which", ["main", "near"])
def test_check_finds_what_the_server_finds(pair: Pair, which: str) -> None:
    name = getattr(pair.project, which)
    expected = pair.raw_diagnostics(name)
    assert "error" in {severity for _, _, severity, _ in expected}

    report = pair.ws.check(name, timeout=TIMEOUT)

    assert plain_diagnostics(report.diagnostics) == expected
    assert report.verdict is lspkit.Verdict.DIRTY


def test_a_symbol_means_the_same_as_its_line_and_column(pair: Pair) -> None:
    file, place = pair.project.near, pair.project.place(pair.project.method)

    by_number = pair.ws.references(file, *place, timeout=TIMEOUT)
    by_symbol = pair.ws.references(file, symbol="Circle.area", timeout=TIMEOUT)

    assert by_number
    assert by_symbol == by_number


@pytest.mark.parametrize("use", ["far_use", "near_use"])
def test_a_word_on_a_line_means_the_same_as_its_line_and_column(pair: Pair, use: str) -> None:
    spot: Spot = getattr(pair.project, use)
    line, column = pair.project.place(spot)
    word = {"far_use": "distance", "near_use": "area"}[use]

    by_number = pair.ws.definition(spot.file, line, column, timeout=TIMEOUT)
    by_word = pair.ws.definition(spot.file, line, symbol=word, timeout=TIMEOUT)

    assert by_number
    assert by_word == by_number


def test_a_position_out_of_range_is_refused_with_the_bounds(pair: Pair) -> None:
    project, file = pair.project, pair.project.main
    lines = project.files[file].split("\n")
    line, _ = project.place(project.far_use)
    last_column = len(lines[line - 1]) + 1

    pair.ws.hover(file, line, last_column, timeout=TIMEOUT)  # the end of a line is a place
    with pytest.raises(lspkit.PositionError) as beyond_the_line:
        pair.ws.hover(file, line, last_column + 1, timeout=TIMEOUT)
    with pytest.raises(lspkit.PositionError) as beyond_the_file:
        pair.ws.hover(file, len(lines) + 1, 1, timeout=TIMEOUT)

    assert beyond_the_line.value.bounds == f"column 1 to {last_column}"
    assert beyond_the_file.value.bounds == f"line 1 to {len(lines)}"


def test_a_second_run_with_an_encoding_of_its_own_choice_finds_the_same_in_the_same_order(
    pair: Pair,
) -> None:
    first = everything(pair.ws, pair.project)
    again = everything(pair.ws, pair.project)
    with workspace(pair.folder, pair.server) as other:
        other.check(pair.project.near, timeout=TIMEOUT)
        second = everything(other, pair.project)

    assert again == first
    assert second == first
    for places in (first["definition"], first["references"]):
        keys = [(str(one.path), one.range) for one in places]
        assert keys == sorted(set(keys))
    findings = [(one.range, one.message) for one in first["check"]]
    assert findings == sorted(set(findings))


def everything(ws: lspkit.Workspace, project: Project) -> dict[str, Any]:
    """The results of the five operations."""
    main, place = project.main, project.place(project.far_use)
    return {
        "check": ws.check(main, timeout=TIMEOUT).diagnostics,
        "definition": ws.definition(main, *place, timeout=TIMEOUT),
        "references": ws.references(main, *place, timeout=TIMEOUT),
        "hover": ws.hover(main, *place, timeout=TIMEOUT),
        "document_symbols": ws.document_symbols(project.near, timeout=TIMEOUT),
    }
