"""Nobody waits for a look at the disk longer than he wants to, nor for what others make of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lspkit.protocol.registrations import FileEvent
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.watcher import Watcher, best_notifier
from tests.runtime.watch.watching import (
    PATIENCE,
    Heard,
    files_of,
    needs_inotify,
    shell,
    until_ready,
)


class Gate:
    """Somebody stands in it until it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def stand(self) -> None:
        self.reached.set()
        assert self.opened.wait(PATIENCE)


@contextmanager
def beside(job: object) -> Iterator[None]:
    """Another thread does this meanwhile."""
    thread = threading.Thread(target=job)  # type: ignore[arg-type]
    thread.start()
    try:
        yield
    finally:
        thread.join(PATIENCE)
        assert not thread.is_alive()


@needs_inotify
def test_who_has_no_time_does_not_wait_for_another_who_looks(root: Path, heard: Heard) -> None:
    gate = Gate()

    def excluded(folder: str) -> bool:
        if folder.endswith("slow"):
            gate.stand()
        return False

    watcher = until_ready(Watcher(str(root), heard, excluded=excluded))
    try:
        shell("mkdir slow; echo x > new.py", root)
        with beside(watcher.catch_up):
            assert gate.reached.wait(PATIENCE)
            assert not watcher.catch_up(time.monotonic() + 0.1)
            gate.opened.set()
        assert watcher.catch_up(time.monotonic() + PATIENCE)
        assert heard.lines() == ["+ new.py"]
    finally:
        gate.opened.set()
        watcher.close()


@needs_inotify
def test_a_look_at_everything_ends_at_the_deadline_and_is_gone_on_with(
    root: Path, heard: Heard
) -> None:
    made: list[Notifier] = []

    def make() -> Notifier:
        made.append(best_notifier())
        return made[-1]

    shell("for n in $(seq 300); do mkdir -p many/$n; done", root)
    watcher = until_ready(Watcher(str(root), heard, notifier=make))
    try:
        shell("mv src/a.py many/7/a.py; echo x > many/299/new.py", root)
        made[0].lost = True  # as after an overflow of the kernel's queue
        assert not watcher.catch_up(time.monotonic())
        assert watcher.catch_up()
        assert heard.lines() == ["+ many/299/new.py", "+ many/7/a.py", "- src/a.py"]
        assert watcher.catch_up(time.monotonic() + PATIENCE)
        assert heard.batches == []
    finally:
        watcher.close()


def test_nobody_waits_for_who_hears_of_it_but_those_who_need_to(root: Path, heard: Heard) -> None:
    gate = Gate()

    def hear(events: list[FileEvent]) -> None:
        if not gate.reached.is_set():
            gate.stand()
        heard(events)

    watcher = until_ready(Watcher(str(root), hear))
    try:
        shell("echo x > first.py", root)
        with beside(watcher.catch_up):
            assert gate.reached.wait(PATIENCE)
            assert files_of(watcher) == 4  # somebody has looked, and others may
            shell("echo x > second.py", root)
            assert not watcher.catch_up(time.monotonic() + 0.1)
            assert heard.batches == []
            gate.opened.set()
        assert watcher.catch_up()
        assert [str(Path(one.path).name) for one in heard.events] == ["first.py", "second.py"]
    finally:
        gate.opened.set()
        watcher.close()
