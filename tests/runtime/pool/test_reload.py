"""`reload()` puts in force which files may be touched, also for those that were touched before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.testing import Log, Script
from tests.scripted import SOURCE, config_for

SECRET = {"exclude": ["**/secret/**"]}
Say = Callable[..., None]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for name in ("a.scr", "secret/b.scr"):
        file = tmp_path / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SOURCE, encoding="utf-8")
    return tmp_path / "work"


@pytest.fixture
def argv(scripted: Any, work: Path) -> list[str]:
    """A server that finds what it is asked for in the file that becomes a secret."""
    place = {"start": {"line": 1, "character": 3}, "end": {"line": 1, "character": 8}}
    found = [{"uri": (work / "secret" / "b.scr").as_uri(), "range": place}]
    argv: list[str] = scripted(Script(answers={"textDocument/definition": found}))
    return argv


@pytest.fixture
def say(work: Path, argv: list[str]) -> Say:
    """Write the configuration."""

    def say(**security: Any) -> None:
        said = {**config_for(argv), "security": security}
        work.with_name("lsp.json").write_text(json.dumps(said), encoding="utf-8")

    say()
    return say


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(lspkit.PathError) as caught:
        act()
    return caught.value.code


def test_what_is_excluded_from_now_on_is_not_touched(work, say):
    secret = work / "secret" / "b.scr"
    with lspkit.Workspace(work, config=work.with_name("lsp.json")) as ws:
        assert ws.document_symbols("secret/b.scr")
        assert ws.document_symbols(secret)
        say(**SECRET)
        ws.reload()
        for path in ("secret/b.scr", secret):
            assert refusal(lambda path=path: ws.document_symbols(path)) == "EEXCLUDED"
        assert refusal(lambda: ws.write("secret/c.scr", "x")) == "EEXCLUDED"
        assert refusal(lambda: ws.write(secret, "x")) == "EEXCLUDED"
        assert refusal(lambda: ws.delete(secret)) == "EEXCLUDED"
        assert ws.document_symbols("a.scr")
        say()
        ws.reload()
        assert ws.document_symbols("secret/b.scr")
    assert secret.read_text(encoding="utf-8") == SOURCE


def test_nor_is_it_read_where_a_server_points_to_it(work, say):
    with lspkit.Workspace(work, config=work.with_name("lsp.json")) as ws:
        assert [str(one.range.start) for one in ws.definition("a.scr", 2, 4)] == ["2:3"]
        say(**SECRET)
        ws.reload()
        # In the units of the server: the text that would tell more is not looked at.
        assert [str(one.range.start) for one in ws.definition("a.scr", 2, 4)] == ["2:4"]


def test_nor_is_it_shown_to_a_server_any_longer(work, argv, say):
    secret = work / "secret" / "b.scr"
    with lspkit.Workspace(work, config=work.with_name("lsp.json")) as ws:
        ws.document_symbols(secret)
        say(**SECRET)
        ws.reload()
        secret.write_text("def password\n", encoding="utf-8")
        ws.check("a.scr")
    log = Log.of(argv)
    [closed] = log.messages("textDocument/didClose")
    assert closed["params"]["textDocument"]["uri"] == secret.as_uri()
    assert "password" not in json.dumps(log.messages("textDocument/didChange"))
    assert len(log.pids()) == 1


def test_what_lies_outside_is_allowed_and_forbidden(work, say):
    outside = work.with_name("outside.scr")
    outside.write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(work, config=work.with_name("lsp.json")) as ws:
        assert refusal(lambda: ws.document_symbols(outside)) == "EOUTSIDE"
        say(allowExternalPaths=True)
        ws.reload()
        assert ws.document_symbols(outside)
        say()
        ws.reload()
        assert refusal(lambda: ws.document_symbols(outside)) == "EOUTSIDE"


def test_a_file_that_makes_no_sense_changes_nothing(work, say):
    say(**SECRET)
    with lspkit.Workspace(work, config=work.with_name("lsp.json")) as ws:
        say(exclude="all")
        with pytest.raises(lspkit.ConfigError):
            ws.reload()
        assert refusal(lambda: ws.document_symbols("secret/b.scr")) == "EEXCLUDED"
