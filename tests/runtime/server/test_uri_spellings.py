"""A server that spells a URI its own way still speaks of the same document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import OFFERED
from lspkit.protocol.events import Signal
from lspkit.protocol.uris import path_to_uri
from lspkit.servers.definition_parts import Caveats
from lspkit.testing import Diagnostics, Say, Script
from tests.runtime.server_log import OPEN, PULL, WHOLE, define, finding, full, messages_of
from tests.scripted import config_for

NAME = "c++ @scope.scr"
DEFINITION = "textDocument/definition"
#: Three characters before the word, each of two units of UTF-16.
WIDE = "😀😀😀greet\n"
WORD = {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 11}}


def bare(path: Path) -> str:
    """As Go writes it: only what has to be is encoded."""
    return f"file://{path}".replace(" ", "%20")


def all_encoded(path: Path) -> str:
    """As nobody should: every byte of the name, in small letters."""
    return path_to_uri(str(path.parent)) + "/" + "".join(f"%{byte:02x}" for byte in NAME.encode())


def with_host(path: Path) -> str:
    return path_to_uri(str(path)).replace("file:///", "file://localhost/")


def with_one_slash(path: Path) -> str:
    return path_to_uri(str(path)).replace("file:///", "FILE:/")


@pytest.fixture(params=[bare, all_encoded, with_host, with_one_slash], ids=lambda one: one.__name__)
def spelled(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URI of the file, in a spelling that is not lspkit's."""
    spelling: str = request.param(tmp_path / NAME)
    assert spelling != path_to_uri(str(tmp_path / NAME))
    return spelling


def opened(folder: Path, argv: list[str], text: str = "greet\n") -> lspkit.Workspace:
    (folder / NAME).write_text(text, encoding="utf-8")
    (folder / "a.scr").write_text("greet\n", encoding="utf-8")
    return lspkit.Workspace(folder, config=config_for(argv))


def published(uri: str, *found: dict[str, Any], version: int = 1) -> Say:
    params = {"uri": uri, "version": version, "diagnostics": list(found)}
    note = {"method": "textDocument/publishDiagnostics", "params": params}
    return Say(OPEN, notification=note)


def test_a_push_about_it_is_about_the_file(tmp_path, scripted, spelled):
    script = Script(diagnostics=Diagnostics(how="none"), say=[published(spelled, finding())])
    with opened(tmp_path, scripted(script)) as ws:
        report = ws.check(NAME)
        known = ws.diagnostics(NAME)
        ws.delete(NAME)
        after = ws.diagnostics()
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["wrong"])
    assert list(known) == [tmp_path / NAME]
    assert after == {}


def test_a_pull_of_another_file_that_tells_of_it_is_about_the_file(tmp_path, scripted, spelled):
    related = full(relatedDocuments={spelled: full(finding())})
    script = Script(diagnostics=Diagnostics(how="pull"), answers={PULL: related})
    with opened(tmp_path, scripted(script)) as ws:
        ws.check("a.scr")
        assert list(ws.diagnostics(NAME)) == [tmp_path / NAME]


def test_the_file_itself_is_no_other_file_of_its_project(tmp_path, scripted, spelled):
    entry = {"uri": spelled, "version": None, **full(finding())}
    script = Script(
        diagnostics=Diagnostics(how="pull"),
        capabilities={"diagnosticProvider": {"workspaceDiagnostics": True}},
        answers={PULL: full(finding()), WHOLE: {"items": [entry]}},
    )
    with opened(tmp_path, scripted(script)) as ws:
        report = ws.check(NAME, scope="project")
    assert messages_of(report) == ["wrong"]
    assert report.other_files.diagnostics == {}


def test_a_doubt_about_it_is_a_doubt_about_the_file(tmp_path, scripted, spelled, monkeypatch):
    define(monkeypatch, OFFERED, caveats=Caveats(doubts=(Signal("test/lost"),)))
    doubt = {"method": "test/lost", "params": {"uri": spelled}}
    script = Script(diagnostics=Diagnostics(how="pull"), say=[Say(OPEN, notification=doubt)])
    with opened(tmp_path, scripted(script)) as ws:
        report = ws.check(NAME)
    assert report.verdict.unknown
    assert "test/lost" in report.why


def test_a_place_in_it_is_read_in_the_text_that_was_asked_about(tmp_path, scripted, spelled):
    script = Script(answers={DEFINITION: [{"uri": spelled, "range": WORD}]})
    with opened(tmp_path, scripted(script)) as ws:
        [place] = ws.definition(NAME, 1, 5, text=WIDE)
    assert (place.path, str(place.range)) == (tmp_path / NAME, "1:4-1:9")
    assert place.uri == spelled


def test_a_place_in_it_is_read_in_the_text_that_the_server_has(tmp_path, scripted, spelled):
    """Another file was asked about; this one is open with a text that is not on disk."""
    script = Script(answers={DEFINITION: [{"uri": spelled, "range": WORD}]})
    with opened(tmp_path, scripted(script)) as ws:
        ws.document_symbols(NAME)
        ws.document_symbols("a.scr")
        ws.sync(NAME, text=WIDE)
        [place] = ws.definition("a.scr", 1, 2)
    assert str(place.range) == "1:4-1:9"


def test_the_same_place_in_two_spellings_is_one(tmp_path, scripted, spelled):
    own = path_to_uri(str(tmp_path / NAME))
    places = [{"uri": uri, "range": WORD} for uri in (spelled, own)]
    with opened(tmp_path, scripted(Script(answers={DEFINITION: places})), WIDE) as ws:
        assert len(ws.definition(NAME, 1, 5)) == 1


def test_an_edit_of_it_is_for_the_text_that_was_asked_about(tmp_path, scripted, spelled):
    edit = {"changes": {spelled: [{"range": WORD, "newText": "meet"}]}}
    script = Script(answers={"textDocument/rename": edit})
    with opened(tmp_path, scripted(script), "\ufeff" + WIDE) as ws:
        found = ws.rename(NAME, 1, 5, new_name="meet")
        ws.apply(found)
    assert (tmp_path / NAME).read_text(encoding="utf-8-sig") == "😀😀😀meet\n"
