"""For tests of the file watcher: somebody who hears, and another process that does things."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from lspkit.protocol.registrations import CHANGED, CREATED, DELETED, REPLACED, FileEvent
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.tree_snapshot import TreeSnapshot
from lspkit.runtime.watch.watcher import Watcher

#: Seconds until a test gives up.
PATIENCE = 20.0

#: Everything that gives hints, or none.
NOTIFIERS: dict[str, Callable[[], Notifier]] = {"polling": Notifier}
if sys.platform == "linux":
    from lspkit.runtime.watch.inotify import InotifyNotifier

    NOTIFIERS = {"inotify": InotifyNotifier, **NOTIFIERS}

needs_inotify = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")

#: As parameters. The ones that are not for this system are tried when there is time.
ALL = [
    pytest.param(name, marks=[] if number == 0 else [pytest.mark.slow])
    for number, name in enumerate(NOTIFIERS)
]

#: Starts a watcher of the root with a notifier of that name, and waits until it is ready.
Start = Callable[..., Watcher]

_SIGNS = {CREATED: "+", CHANGED: "~", DELETED: "-", REPLACED: "±"}


class Heard:
    """Remembers what was announced."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.batches: list[list[FileEvent]] = []
        self._changed = threading.Condition()

    def __call__(self, events: list[FileEvent]) -> None:
        with self._changed:
            self.batches.append(events)
            self._changed.notify_all()

    @property
    def events(self) -> list[FileEvent]:
        return [event for batch in self.batches for event in batch]

    def lines(self) -> list[str]:
        """What was announced up to now and not asked for yet, as `+ a/b.py`, in order of names."""
        with self._changed:
            batches, self.batches = self.batches, []
        return lines((event for batch in batches for event in batch), self.root)

    def after(self, script: str, watcher: Watcher, folder: Path | None = None) -> list[str]:
        """The lines of what another process does, in the root or in another folder."""
        shell(script, folder or self.root)
        watcher.catch_up()
        return self.lines()

    def wait_for(self, *wanted: str) -> list[str]:
        """All lines, once these are among them."""
        deadline = time.monotonic() + PATIENCE
        with self._changed:
            while not set(wanted) <= set(found := lines(self.events, self.root)):
                left = deadline - time.monotonic()
                assert self._changed.wait(left), f"only heard of {found}, and not of {wanted}"
        return found


def lines(events: Iterable[FileEvent], root: Path) -> list[str]:
    """Events of files as `+ a/b.py`, in order of names."""
    return _lines((event for event in events if not event.is_folder), root)


def folders(events: Iterable[FileEvent], root: Path) -> list[str]:
    """The same for folders."""
    return _lines((event for event in events if event.is_folder), root)


def _lines(events: Iterable[FileEvent], root: Path) -> list[str]:
    return sorted(
        (f"{_SIGNS[event.kind]} {Path(event.path).relative_to(root)}" for event in events),
        key=lambda line: line[2:],
    )


def shell(script: str, cwd: Path) -> None:
    """Let another process do something, and wait until it has."""
    subprocess.run(["sh", "-ec", script], cwd=cwd, check=True, timeout=PATIENCE)


def until_ready(watcher: Watcher) -> Watcher:
    """Wait until everything that was requested is read."""
    reading = watcher.reading()
    assert reading is None or reading.wait(PATIENCE)
    return watcher


def also(watcher: Watcher, folder: Path, **options: Any) -> None:
    """Watch another folder, and wait until it is read."""
    watcher.also(str(folder), **options)
    until_ready(watcher)


def files_of(watcher: Watcher) -> int:
    """How many files are known."""
    with watcher._caller_lock, watcher._turn:
        return 0 if watcher._scanner is None else files_in(watcher._scanner.snapshot)


def files_in(snapshot: TreeSnapshot) -> int:
    """How many files a snapshot holds."""
    return sum(stamp >= 0 for entries in snapshot.folders.values() for stamp in entries.values())
