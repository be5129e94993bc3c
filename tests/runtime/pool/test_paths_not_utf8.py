"""Files whose names are not UTF-8, with a server that ends when it is told of one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.servers.adapters.python_adapters import Ty
from lspkit.testing import Log
from lspkit.testing.plugin import Scripted
from tests.runtime.pool.test_disk_events import SCR
from tests.runtime.server_log import define, wait_until_heard
from tests.scripted import workspace

ODD, NEW = os.fsdecode(b"odd\xff.scr"), os.fsdecode(b"new\xff.scr")


@pytest.fixture
def argv(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    define(monkeypatch, ProofRule(how="pull"), adapter=Ty())
    return scripted(SCR)


def was_told_of_odd_names(argv: list[str]) -> bool:
    return "%FF" in str(Log.of(argv).messages())


@pytest.mark.parametrize("first", ["a.scr", ODD], ids=["usual first", "odd first"])
def test_only_that_file_is_not_checked(tmp_path: Path, argv: list[str], first: str) -> None:
    (tmp_path / ODD).write_text("ok\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        ws.check_all([first])
        reports = ws.check_all(["a.scr", ODD])
    assert reports[tmp_path / "a.scr"].verdict.dirty
    [evidence] = reports[tmp_path / ODD].servers
    assert evidence.how == "none"
    assert evidence.reason == (
        "the path of the file is not valid UTF-8, and scripted cannot be told of it"
    )
    assert not was_told_of_odd_names(argv)


def test_a_query_says_why_it_is_not_answered(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / ODD).write_text("def pour\n", encoding="utf-8")
    with workspace(tmp_path, argv) as ws:
        assert ws.definition("a.scr", 2, 4)
        with pytest.raises(lspkit.ServerUnavailableError, match="not valid UTF-8"):
            ws.definition(ODD, 1, 5)
    assert not was_told_of_odd_names(argv)


def test_the_server_is_not_notified_of_changes_of_such_files(
    tmp_path: Path, argv: list[str]
) -> None:
    (tmp_path / ODD).write_text("ok\n", encoding="utf-8")
    with workspace(tmp_path, argv) as ws:
        ws.check("a.scr")
        (tmp_path / ODD).unlink()
        (tmp_path / NEW).write_text("ok\n", encoding="utf-8")
        (tmp_path / "last.scr").write_text("ok\n", encoding="utf-8")
        ws.check("a.scr")
        wait_until_heard(Log.of(argv), "last.scr")
    assert not was_told_of_odd_names(argv)


def test_overlays_of_such_files_are_not_shown(tmp_path: Path, argv: list[str]) -> None:
    with workspace(tmp_path, argv) as ws, ws.overlay({ODD: "ERROR\n"}):
        ws.check("a.scr")
    assert not was_told_of_odd_names(argv)
