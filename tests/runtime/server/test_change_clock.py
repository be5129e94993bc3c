"""When a server notices by itself that a file on disk has changed."""

from __future__ import annotations

import math
import os
import threading
import time
from pathlib import Path

import pytest

from lspkit.diagnostics.freshness_events import Rested
from lspkit.protocol.registrations import CHANGED, CREATED, REPLACED, FileEvent
from lspkit.runtime.pool import event_queue
from lspkit.runtime.pool.event_queue import ServerFileEvent
from lspkit.runtime.server import change_clock
from lspkit.runtime.server.change_clock import ChangeClock
from lspkit.servers.project.project_files import PackageFolder

USER, HEADER = "file:///user.cpp", "file:///header.h"
OPENED = [("textDocument/didOpen", {})]
CHANGE = [("textDocument/didChange", {})]
SAVED = [("textDocument/didSave", {})]


def opened() -> ChangeClock:
    """A server that was told of a document."""
    clock = ChangeClock(threading.Lock(), lambda: {USER})
    clock.wrote(USER, OPENED, matters_to_others=False)
    return clock


def later() -> float:
    """A second that begins after all that was done so far."""
    return time.monotonic() + 3600


def finished() -> dict[str, Rested]:
    """The server has finished the document just now."""
    now = time.monotonic()
    return {USER: Rested(uri=USER, at=now, since=now)}


def test_a_file_that_changed_in_a_later_second_is_noticed_with_the_next_change_of_the_text():
    clock = opened()
    clock.files_changed({HEADER: later()}, [], finished())
    assert clock.missed_disk(USER)
    clock.wrote(USER, CHANGE, matters_to_others=True)
    assert not clock.missed_disk(USER)


def test_it_is_not_noticed_without_a_change_of_the_text():
    clock = opened()
    clock.files_changed({HEADER: later()}, [], finished())
    clock.wrote(USER, SAVED, matters_to_others=True)
    assert clock.missed_disk(USER)


@pytest.mark.parametrize("what", ["same second", "new or gone", "told since", "never finished"])
def test_it_may_not_be_noticed(what, monkeypatch):
    monkeypatch.setattr(change_clock, "MARGIN", 0.0)  # so that each case has one reason only
    clock = opened()
    told, rested = clock.told_at(), {} if what == "never finished" else finished()
    second: float | None = later()
    if what == "same second":
        second = math.nextafter(told, math.inf)
    elif what == "new or gone":
        second = None
    elif what == "told since":
        second = math.nextafter(rested[USER].at, math.inf)
        clock.wrote("file:///another.cpp", CHANGE, matters_to_others=True)
    clock.files_changed({HEADER: second}, [], rested)
    clock.wrote(USER, CHANGE, matters_to_others=True)
    assert clock.missed_disk(USER)


def test_what_it_was_told_after_it_had_finished_may_still_be_in_work():
    clock = opened()
    rested = finished()
    clock.wrote(USER, CHANGE, matters_to_others=True)
    clock.files_changed({HEADER: later()}, [], rested)
    clock.wrote(USER, CHANGE, matters_to_others=True)
    assert clock.missed_disk(USER)


def test_one_change_that_may_not_be_noticed_is_enough():
    clock = opened()
    clock.files_changed({HEADER: later(), "file:///new.h": None}, [], finished())
    clock.wrote(USER, CHANGE, matters_to_others=True)
    assert clock.missed_disk(USER)


@pytest.mark.parametrize("number", [change_clock.DISK_CHANGES - 1, change_clock.DISK_CHANGES])
def test_what_is_not_remembered_any_more_counts_as_missed(number):
    """Before very many files that it notices there was a new one."""
    clock = opened()
    others = {f"file:///{one}.h": later() for one in range(number)}
    clock.files_changed({"file:///new.h": None}, [], finished())
    clock.files_changed(others, [], finished())
    clock.wrote(USER, CHANGE, matters_to_others=True)
    assert clock.missed_disk(USER)


def test_of_many_notifications_only_the_last_are_compared():
    clock = opened()
    for _ in range(change_clock.STATES):
        clock.files_changed({HEADER: later()}, [], finished())
    clock.wrote(USER, CHANGE, matters_to_others=True)
    assert not clock.missed_disk(USER)
    rested = finished()
    for _ in range(change_clock.STATES + 1):
        clock.files_changed({HEADER: later()}, [], rested)
    clock.wrote(USER, CHANGE, matters_to_others=True)
    assert clock.missed_disk(USER)


def second_of(path: Path, kind: int) -> float | None:
    event = FileEvent(str(path), kind)
    return ServerFileEvent(path.as_uri(), event, PackageFolder(str(path), "/")).written_second()


def test_the_second_of_a_change_is_that_of_the_modification_time(tmp_path, monkeypatch):
    monkeypatch.setattr(event_queue, "JUST_NOW", 60.0)  # a busy machine takes its time
    path = tmp_path / "header.h"
    path.write_text("")
    found = second_of(path, CHANGED)
    assert found is not None
    assert -0.1 < time.monotonic() - found < 61.0
    assert second_of(path, CREATED) is second_of(path, REPLACED) is None


def test_a_modification_time_that_is_still_to_come_tells_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(event_queue, "JUST_NOW", 3600.0)  # however near it is
    path = tmp_path / "header.h"
    path.write_text("")
    os.utime(path, (time.time() + 600,) * 2)
    assert second_of(path, CHANGED) is None


@pytest.mark.parametrize("shift", [-600, 600])
def test_a_modification_time_by_another_clock_tells_nothing(shift, tmp_path):
    path = tmp_path / "header.h"
    path.write_text("")
    os.utime(path, (time.time() + shift,) * 2)
    assert second_of(path, CHANGED) is None
    assert second_of(tmp_path / "gone.h", CHANGED) is None
