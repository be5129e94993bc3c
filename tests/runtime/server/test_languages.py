"""The language of a document is its own, in whatever way it comes to be opened.

One process has files of several languages, and which of them started it must not matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import OFFERED, ProofRule
from lspkit.servers.definition_parts import DiskReactions, DocumentSync
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.runtime.server_log import OPEN, POKE, asked, define, name_of, outside
from tests.scripted import config_for

#: What the configuration says, by extension or name.
LANGUAGES = {".one": "alpha", ".two": "beta", "whole": "gamma", "conf.*": "delta"}
#: A file of each.
FILES = {"a.one": "alpha", "B.TWO": "beta", "whole": "gamma", "conf.x.one": "delta"}


def opened(argv: list[str]) -> list[tuple[str, str]]:
    """Every document that the server was told of, with its language."""
    return [
        (name_of(message), message["params"]["textDocument"]["languageId"])
        for message in Log.of(argv).messages(OPEN)
    ]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_text("fine\n", encoding="utf-8")
    return folder


Started = Callable[..., tuple[lspkit.Workspace, list[str], Path]]


@pytest.fixture
def started(work: Path, scripted: Callable[..., list[str]]) -> Started:
    def start(**timing: int) -> tuple[lspkit.Workspace, list[str], Path]:
        argv = scripted(
            Script(
                diagnostics=Diagnostics(how="pull"),
                faults=[
                    Fault(POKE, "crash", code=3),
                    Fault("initialize", "delay", seconds=0.2),
                ],
            )
        )
        file = work.with_name("lsp.json")
        said = config_for(argv, extensions=[], languageIds=LANGUAGES)
        file.write_text(json.dumps({**said, "restart": {"baseMs": 0}, "timing": timing}))
        return lspkit.Workspace(work, config=file), argv, file

    return start


@pytest.mark.parametrize("order", [list(FILES), list(reversed(FILES))], ids=["", "reversed"])
def test_a_file_that_is_asked_about_is_opened_with_its_language(started, order):
    ws, argv, _ = started()
    with ws:
        for name in order:
            ws.document_symbols(name)
            ws.check(name)
    assert opened(argv) == [(name, FILES[name]) for name in order]
    assert len(Log.of(argv).pids()) == 1


def test_so_is_one_with_a_text_of_a_callers_own(started):
    ws, argv, _ = started()
    with ws:
        for name in FILES:
            ws.check(name, text="other\n")
    assert set(opened(argv)) == set(FILES.items())


def test_so_are_files_that_are_synced_before_the_server_is_up(started):
    ws, argv, _ = started()
    with ws:
        for name in FILES:
            ws.sync(name, text="other\n")
        ws.check("a.one")
    assert set(opened(argv)) == set(FILES.items())


def test_so_are_texts_that_stand_for_files(started, work, monkeypatch):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="opened", unsaved_files=True))
    ws, argv, _ = started()
    with ws, ws.overlay(dict.fromkeys([*FILES, "new.one", "new.two"], "other\n")):
        ws.check("B.TWO")
    expected = {**FILES, "new.one": "alpha", "new.two": "beta"}
    assert set(opened(argv)) == set(expected.items())


def test_so_are_files_that_have_to_be_read_again(started, work, monkeypatch):
    define(monkeypatch, ProofRule(how="pull"), disk=DiskReactions(reads_closed="always"))
    ws, argv, _ = started()
    with ws:
        ws.check("a.one")
        code = "for path in paths: path.write_text('new')"
        outside(code, *(work / name for name in FILES), work / "new.two")
        ws.check("a.one")
    assert set(opened(argv)) == {*FILES.items(), ("new.two", "beta")}


def _crash(ws: lspkit.Workspace, _: Path, __: list[str]) -> None:
    with pytest.raises(lspkit.ServerBrokenError):
        ws.request("a.one", POKE)


def _reload(ws: lspkit.Workspace, file: Path, _: list[str]) -> None:
    said = json.loads(file.read_text())
    said["lsp"]["scripted"]["settings"] = {"another": 1}
    file.write_text(json.dumps(said))
    ws.reload()


def _leave_idle(_: lspkit.Workspace, __: Path, argv: list[str]) -> None:
    Log.of(argv).wait_for_message("exit")


@pytest.mark.parametrize("end", [_crash, _reload, _leave_idle])
def test_the_next_process_opens_each_with_its_language(started, end):
    ws, argv, file = started(**({"idleShutdownMs": 1000} if end is _leave_idle else {}))
    with ws:
        for name in FILES:
            ws.check(name)
        end(ws, file, argv)
        # By another file than the one that started the first process.
        ws.check("B.TWO")
        Log.of(argv).wait_for(lambda _: len(opened(argv)) >= 2 * len(FILES))
    assert len(Log.of(argv).pids()) == 2
    assert sorted(opened(argv)) == sorted([*FILES.items()] * 2)


def test_a_new_language_in_the_configuration_is_told(started):
    ws, argv, file = started()
    with ws:
        ws.check("a.one")
        said = json.loads(file.read_text())
        said["lsp"]["scripted"]["languageIds"] = {**LANGUAGES, ".one": "omega"}
        file.write_text(json.dumps(said))
        ws.reload()
        ws.check("a.one")
    assert opened(argv) == [("a.one", "alpha"), ("a.one", "omega")]


def test_a_server_is_asked_about_the_languages_that_it_registered_for(work, scripted):
    selector = [{"language": "beta"}]
    argv = scripted(
        Script(
            capabilities={
                "definitionProvider": None,
                "diagnosticProvider": {
                    "interFileDependencies": False,
                    "workspaceDiagnostics": False,
                    "documentSelector": selector,
                },
                "hoverProvider": {"documentSelector": selector},
            },
            diagnostics=Diagnostics(how="none"),
        )
    )
    config = config_for(argv, extensions=[], languageIds=LANGUAGES)
    with lspkit.Workspace(work, config=config) as ws:
        with pytest.raises(lspkit.UnsupportedError):
            ws.hover("a.one", 1, 1)
        ws.hover("B.TWO", 1, 1)
        with pytest.raises(lspkit.UnsupportedError):
            ws.hover("whole", 1, 1)
    assert asked(Log.of(argv), "textDocument/hover") == ["B.TWO"]
