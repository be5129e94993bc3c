"""Which changes on disk a server may have missed, and how it is made to look at them."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

import pytest

from lspkit.diagnostics.proof import ProofRule
from lspkit.protocol.watched import CHANGED, CREATED, DELETED, FileEvent
from lspkit.runtime import disk_changes
from lspkit.runtime.disk_changes import DiskChanges, written_in
from lspkit.testing import Log, Say, Script
from tests.runtime.told import define
from tests.scripted import workspace

A, B, C = (f"file:///{name}.h" for name in "abc")
STATUS = "server/status"
DID_CHANGE = "textDocument/didChange"


@pytest.fixture
def clock(monkeypatch):
    """The wall clock, in seconds, to be set."""
    shown = [1000.5]
    monkeypatch.setattr(disk_changes, "wall_clock", lambda: shown[0])
    return shown


def changes(*, notices_seconds: bool = True) -> DiskChanges:
    """Of a server that is done with version 1 of A, in second 1000."""
    made = DiskChanges(notices_seconds=notices_seconds)
    made.looked(A)
    made.rests(A, 1)
    return made


def test_a_document_has_missed_what_happened_to_others_since_it_was_looked_at():
    disk = DiskChanges(notices_seconds=False)
    assert not disk
    assert not disk.missed(A)
    disk.note({A: None})
    assert disk
    assert (disk.missed(A), disk.missed(B)) == (False, True)
    disk.looked(B)
    assert not disk.missed(B)
    disk.note({C: None})
    assert disk.missed(B)
    disk.all_seen()
    assert not disk.missed(B)


@pytest.mark.parametrize(
    ("written", "missed"),
    [
        ({B: 1001}, False),
        ({B: 1001, C: 1002}, False),
        ({B: 1000}, True),  # it may have read it earlier in that second
        ({B: 999}, True),
        ({B: None}, True),
        ({B: 1001, C: 1000}, True),
        ({A: 1000}, False),
        ({}, False),
    ],
)
def test_a_change_shows_a_server_what_was_written_in_a_later_second(clock, written, missed):
    disk = changes()
    disk.note(written)
    disk.changes(A, 1)
    assert disk.missed(A) is missed


def test_a_server_that_was_not_done_may_have_read_it_since(clock):
    disk = changes()
    disk.note({B: 1001})
    disk.changes(A, 2)
    assert disk.missed(A)


def test_a_server_that_does_not_notice_seconds_has_to_be_made_to_look(clock):
    disk = changes(notices_seconds=False)
    disk.note({B: 1001})
    disk.changes(A, 1)
    assert disk.missed(A)


def test_the_second_of_a_change_is_that_of_its_file(tmp_path, clock):
    path = tmp_path / "a.h"
    path.touch()
    os.utime(path, (990.0, 999.9))
    assert written_in(FileEvent(str(path), CHANGED)) == 999
    assert written_in(FileEvent(str(path), CREATED)) is None
    assert written_in(FileEvent(str(path), DELETED)) is None
    os.utime(path, (1001.0, 1001.0))
    assert written_in(FileEvent(str(path), CHANGED)) is None, "of the future"
    assert written_in(FileEvent(str(tmp_path / "gone.h"), CHANGED)) is None


def _sent(argv: list[str]) -> list[tuple[str, bool]]:
    """The changes that a server was told of: of which file, and whether it was made to look."""
    return [
        (Path(one["params"]["textDocument"]["uri"]).name, "look" in one["params"])
        for one in Log.of(argv).messages(DID_CHANGE)
    ]


@pytest.mark.parametrize(
    ("later", "sent"),
    [
        (1, [("a.scr", False), ("b.scr", False)]),
        (0, [("a.scr", False), ("a.scr", True), ("b.scr", False), ("b.scr", True)]),
    ],
)
def test_two_files_that_change_at_once_are_looked_at_again_only_if_need_be(
    tmp_path, scripted, monkeypatch, later, sent
):
    define(
        monkeypatch,
        ProofRule(how="version", single=True, rests=True),
        looks_again="touch",
        touch_with={"look": True},
        rests_by=(STATUS, {"state": "idle"}),
        notices_seconds=True,
    )
    paths = [tmp_path / name for name in ("a.scr", "b.scr")]
    says = [
        Say(method, notification=_idle(path), seconds=0.05)  # when it has published
        for path, method in itertools.product(paths, ("textDocument/didOpen", DID_CHANGE))
    ]
    for path in paths:
        path.write_text("fine\n", encoding="utf-8")
    argv = scripted(Script(say=says))
    begun = int(time.time())
    monkeypatch.setattr(disk_changes, "wall_clock", lambda: float(begun))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert all(one.verdict.clean for one in ws.check_all(paths).values())
        monkeypatch.setattr(disk_changes, "wall_clock", lambda: begun + later + 0.5)
        for path in paths:
            path.write_text("as fine\n", encoding="utf-8")
            os.utime(path, (begun + later, begun + later))
        assert all(one.verdict.clean for one in ws.check_all(paths).values())
    assert sorted(_sent(argv)) == sent


def _idle(path: Path) -> dict[str, object]:
    return {"method": STATUS, "params": {"uri": path.as_uri(), "state": "idle"}}
