"""When a server notices by itself that a file on disk has changed."""

from __future__ import annotations

import threading
import time

import pytest

from lspkit.runtime.server.change_clock import ChangeClock

USER, HEADER = "file:///user.cpp", "file:///header.h"
OPENED = [("textDocument/didOpen", {})]
CHANGED = [("textDocument/didChange", {})]
SAVED = [("textDocument/didSave", {})]


def opened() -> ChangeClock:
    """A server that was told of a document."""
    clock = ChangeClock(threading.Lock(), lambda: {USER})
    clock.wrote(USER, OPENED, matters_to_others=False)
    return clock


def finished() -> float:
    """A time at which it has finished the document."""
    return time.monotonic()


def test_a_file_that_changed_in_a_later_second_is_noticed_with_the_next_change_of_the_text():
    clock = opened()
    rested = finished()
    clock.files_changed({HEADER: time.monotonic()}, [], {USER: rested})
    assert clock.missed_disk(USER)
    clock.wrote(USER, CHANGED, matters_to_others=True)
    assert not clock.missed_disk(USER)


def test_it_is_not_noticed_without_a_change_of_the_text():
    clock = opened()
    rested = finished()
    clock.files_changed({HEADER: time.monotonic()}, [], {USER: rested})
    clock.wrote(USER, SAVED, matters_to_others=True)
    assert clock.missed_disk(USER)


@pytest.mark.parametrize("what", ["same second", "new or gone", "told since", "never finished"])
def test_it_may_not_be_noticed(what):
    clock = opened()
    second: float | None = finished() - 0.001
    rested = {USER: time.monotonic()}
    if what == "new or gone":
        second = None
    elif what == "told since":
        clock.wrote("file:///another.cpp", CHANGED, matters_to_others=True)
        rested = {USER: second or 0.0}
    elif what == "never finished":
        rested = {}
    clock.files_changed({HEADER: second}, [], rested)
    clock.wrote(USER, CHANGED, matters_to_others=True)
    assert clock.missed_disk(USER)


def test_what_it_was_told_after_it_had_finished_may_still_be_in_work():
    clock = opened()
    rested = finished()
    clock.wrote(USER, CHANGED, matters_to_others=True)
    clock.files_changed({HEADER: time.monotonic()}, [], {USER: rested})
    clock.wrote(USER, CHANGED, matters_to_others=True)
    assert clock.missed_disk(USER)


def test_one_change_that_may_not_be_noticed_is_enough():
    clock = opened()
    rested = {USER: finished()}
    clock.files_changed({HEADER: time.monotonic(), "file:///new.h": None}, [], rested)
    clock.wrote(USER, CHANGED, matters_to_others=True)
    assert clock.missed_disk(USER)
