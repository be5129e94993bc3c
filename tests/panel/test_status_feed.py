"""The feed of the panel: a status for events, but few; and nothing is left when it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import lspkit
from lspkit.errors import WorkspaceClosedError
from lspkit.panel.status_feed import SHORTEST, StatusFeed, Update
from tests.panel.samples import ROOT, FixedEngine, shop
from tests.scripted import comes_true


class Pauses:
    """Pauses that last until a test says so."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.go_on = threading.Semaphore(0)

    def __call__(self, closing: threading.Event, seconds: float) -> None:
        self.seconds.append(seconds)
        self.go_on.acquire(timeout=20)


@contextmanager
def feed(engine: FixedEngine, pauses: Pauses) -> Iterator[list[Update]]:
    """A feed with a clock that stands still, and its updates."""
    updates: list[Update] = []
    with lspkit.Workspace.on_engine(engine, ROOT) as ws:
        made = StatusFeed(ws, updates.append, clock=lambda: 0.0, pause=pauses)
        made.start()
        try:
            yield updates
        finally:
            pauses.go_on.release(1000)
            made.close()
            made.close()


def test_a_storm_of_events_is_one_status_per_pause():
    engine, pauses = FixedEngine(shop()), Pauses()
    with feed(engine, pauses) as updates:
        assert comes_true(lambda: updates)
        for number in range(1, 4):
            for _ in range(200):
                engine.tell()
            assert comes_true(lambda number=number: len(pauses.seconds) == number)
            assert engine.taken() == number
            pauses.go_on.release()
            assert comes_true(lambda number=number: engine.taken() == number + 1)
    assert set(pauses.seconds) == {SHORTEST}


def test_an_event_during_a_status_is_not_lost():
    engine, pauses = FixedEngine(shop()), Pauses()
    with feed(engine, pauses) as updates:
        assert comes_true(lambda: updates)
        engine.tell()
        assert comes_true(lambda: pauses.seconds)
        engine.tell(shop())
        pauses.go_on.release()
        assert comes_true(lambda: updates[-1] is engine.status)


def test_the_end_of_the_workspace_is_told_once():
    engine, pauses = FixedEngine(shop()), Pauses()
    with lspkit.Workspace.on_engine(engine, ROOT) as ws:
        updates: list[Update] = []
        made = StatusFeed(ws, updates.append, pause=pauses)
        made.start()
        assert comes_true(lambda: updates)
        ws.close()
        assert comes_true(lambda: isinstance(updates[-1], WorkspaceClosedError))
        assert comes_true(lambda: not made._thread.is_alive())
        made.refresh()
        made.close()
    assert len([one for one in updates if isinstance(one, WorkspaceClosedError)]) == 1


def test_one_that_was_never_started_can_be_closed():
    with lspkit.Workspace.on_engine(FixedEngine(shop()), ROOT) as ws:
        StatusFeed(ws, lambda _: None).close()
