"""Which server a file of somebody else's clone is shown to, inside of a repository with trust."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.pool import pool, server_choices
from lspkit.servers.definition_parts import HARMLESS
from lspkit.testing import Log, Script
from tests.runtime.exchange.test_forwarding import TEXT, answering, answers, asking, question
from tests.runtime.exchange.test_forwarding import file as vue_file
from tests.runtime.server_log import OPEN, define
from tests.scripted import config_for

__all__ = ["vue_file"]


@pytest.fixture(autouse=True)
def nobody_speaks_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LSPKIT_TRUST")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository, and a clone in it."""
    for folder in (tmp_path, tmp_path / "clone"):
        (folder / ".git").mkdir(parents=True)
        (folder / "a.scr").write_text("def greet\n")
    return tmp_path


def trusting(project: Path, config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "security": {"trustedProjectRoots": [str(project)]}}


def shown(argv: list[str]) -> dict[str, list[str]]:
    """By root of a server: the files that were opened in it."""
    roots, opened = dict[int, str](), dict[str, list[str]]()
    for entry in Log.of(argv).entries():
        got = entry.got or {}
        if got.get("method") == "initialize":
            roots[entry.pid] = got["params"]["rootUri"]
            opened.setdefault(roots[entry.pid], [])
        elif got.get("method") == OPEN:
            opened[roots[entry.pid]].append(got["params"]["textDocument"]["uri"])
    return opened


def uri(path: Path) -> str:
    return path_to_uri(str(path))


def test_a_file_of_a_clone_is_shown_to_a_restricted_server_of_its_own(
    project, scripted, monkeypatch
):
    define(monkeypatch, trust=HARMLESS)
    argv, clone = scripted(Script()), project / "clone"
    with lspkit.Workspace(project, config=trusting(project, config_for(argv))) as ws:
        for name in ("a.scr", "clone/a.scr"):
            assert ws.document_symbols(name)[0].name == "greet"
    assert shown(argv) == {
        uri(project): [uri(project / "a.scr")],
        uri(clone): [uri(clone / "a.scr")],
    }


def test_what_becomes_a_clone_later_is_not_shown_to_the_server_that_knew_the_folder(
    project, scripted, monkeypatch
):
    define(monkeypatch, trust=HARMLESS)
    argv, plain = scripted(Script()), project / "plain"
    plain.mkdir()
    (plain / "a.scr").write_text("def greet\n")
    with lspkit.Workspace(project, config=trusting(project, config_for(argv))) as ws:
        assert ws.document_symbols("plain/a.scr")[0].name == "greet"
        shutil.rmtree(plain)
        shutil.copytree(project / "clone", plain)
        (plain / "a.scr").write_text("def evil\n")
        assert ws.document_symbols("plain/a.scr")[0].name == "evil"
    first = Log.of(argv).pids()[0]
    told = [entry.got for entry in Log.of(argv).entries() if entry.pid == first]
    assert "def evil" not in repr(told)
    assert uri(plain) in shown(argv)


def test_a_server_whose_root_becomes_a_clone_is_replaced_by_a_restricted_one(
    project, scripted, monkeypatch
):
    define(monkeypatch, trust=HARMLESS)
    monkeypatch.setattr(pool, "LOOK_AGAIN", 0.0)
    monkeypatch.setattr(server_choices, "LOOK_LASTS", 0.0)
    argv, package = scripted(Script()), project / "package"
    package.mkdir()
    (package / "mark").touch()
    (package / "a.scr").write_text("def greet\n")
    config = trusting(project, config_for(argv, roots=["mark"]))
    with lspkit.Workspace(project, config=config) as ws:
        for is_trusted in (True, False, True):
            assert ws.document_symbols("package/a.scr")[0].name == "greet"
            [server] = ws._engine.pool.servers()
            assert server.root == str(package)
            assert server.choice.permit.trusted is is_trusted
            if is_trusted:
                (package / ".git").mkdir()
            else:
                (package / ".git").rmdir()
    assert len(Log.of(argv).pids()) == 3


def test_a_server_cannot_have_a_file_of_a_clone_shown_to_its_companion(vue_file, scripted):
    folder = vue_file.parent
    (folder / ".git").mkdir()
    (folder / "clone" / ".git").mkdir(parents=True)
    foreign = folder / "clone" / "b.vue"
    foreign.write_text(TEXT)
    vue, types = scripted(asking(question(foreign))), scripted(answering())
    servers = {"vue": {"command": vue}, "vue-typescript": {"command": types}}
    with lspkit.Workspace(folder, config=trusting(folder, {"lsp": servers})) as ws:
        assert [one.name for one in ws.document_symbols("a.vue")] == ["greet"]
        assert answers(vue) == [[[7, None]]]
    assert uri(foreign) not in str(shown(types))
