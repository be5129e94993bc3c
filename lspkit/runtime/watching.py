"""Servers and the disk: whoever asked to be told about files is told, once, and in time.

A watcher (`watch/`) runs for a root while a server of that root does. What it sees goes to every
server that has registered for it, as one notification; documents that are open there are brought up
to date. Whoever needs to know that nothing is on its way waits for `reading`, and calls `catch_up`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable

import msgspec

from lspkit.changes import ChangedFiles
from lspkit.edits.paths import is_inside
from lspkit.errors import LspkitError
from lspkit.protocol.uris import path_to_uri
from lspkit.protocol.watched import DELETED, FileEvent
from lspkit.runtime.files import Files
from lspkit.runtime.server import Server
from lspkit.runtime.waiting import Waiter
from lspkit.runtime.watch import Changelog, Watchers, is_excluded

#: Seconds since a server began for which questions wait for the first look at its files. A project
#: is looked at in less, unless it is huge.
FIRST_LOOK = 1.0


class Watching:
    """What connects the servers of a pool to the disk."""

    def __init__(self, servers: Callable[[], list[Server]], files: Files) -> None:
        self._servers = servers
        self._files = files
        self._watchers = Watchers(self.announce, excluded=self._is_excluded)
        #: Guards the fields below.
        self._lock = threading.Lock()
        #: Servers whose roots are watched, by identity.
        self._held: dict[int, Server] = {}
        #: What has changed in the languages of these servers.
        self._changelog = Changelog()
        #: When the last one began, by the monotonic clock.
        self._began = 0.0

    def begin(self, server: Server) -> None:
        """A server is about to start: watch its root."""
        with self._lock:
            if id(server) in self._held:
                return
            self._held[id(server)] = server
            self._began = time.monotonic()
        self._changelog.interrupted()
        self._watchers.hold(server.root)

    def registered(self, server: Server) -> None:
        """A server wants to hear of more: also folders outside its root, or left out there."""
        if id(server) not in self._held:
            return
        for folder, deep in server.watched.bases().items():
            if not is_inside(folder, server.root) or server.watched.names(folder):
                self._watchers.also(server.root, folder, deep=deep)
        self._watchers.reconsider()

    def _is_excluded(self, folder: str) -> bool:
        """Whether a folder is passed over: it is one of those, and no glob names it."""
        if not is_excluded(folder):
            return False
        return not any(server.watched.names(folder) for server in list(self._held.values()))

    def end(self, server: Server) -> None:
        """A server is gone."""
        with self._lock:
            held = self._held.pop(id(server), None)
        if held is not None:
            self._watchers.release(server.root)
            self._changelog.interrupted()

    def reading(self) -> tuple[Waiter, float] | None:
        """The first look at the files, and how long to wait for it; None if that is over."""
        until = self._began + FIRST_LOOK
        if not self._held or time.monotonic() >= until:
            return None
        reading = self._watchers.reading()
        return None if reading is None else (reading, until)

    def catch_up(self) -> None:
        """When this returns, the servers have been told of everything up to now."""
        if self._held:
            self._watchers.catch_up()

    def changed(self, after: int | None) -> ChangedFiles:
        """The files of the servers that have changed since a mark."""
        changed = self._changelog.after(after)
        return changed if self._held else msgspec.structs.replace(changed, complete=False)

    def changed_by_us(self, events: Iterable[FileEvent]) -> None:
        """lspkit itself has changed these files: told at once, and not again by the watcher."""
        events = list(events)
        if self._held:
            # The watcher may have been quicker: then there is nothing left to tell.
            untold = {one.path for one in self._watchers.note([event.path for event in events])}
            events = [event for event in events if event.path in untold]
        self.announce(events)

    def announce(self, events: list[FileEvent]) -> None:
        """Tell every server what concerns it. Called by the watcher's thread, too."""
        servers = [server for server in self._servers() if server.is_ready]
        self._changelog.add(
            one.path
            for one in events
            if not one.is_folder and any(_speaks(server, one.path) for server in servers)
        )
        named = [(path_to_uri(event.path), event) for event in events]
        for server in servers:
            self._tell(server, named)

    def _tell(self, server: Server, events: list[tuple[str, FileEvent]]) -> None:
        changes = [
            {"uri": uri, "type": one.kind}
            for uri, one in events
            if server.watched.wanted(one.path, one.kind)
        ]
        files = [(uri, one) for uri, one in events if not one.is_folder]
        try:
            if changes or any(_concerns(server, one.path) for _, one in files):
                server.notes_of_files([uri for uri, _ in files], changes)
            for uri, event in files:
                self._bring_up_to_date(server, uri, event)
        except LspkitError:
            return  # it has just ended; the next one reads the disk itself

    def _bring_up_to_date(self, server: Server, uri: str, event: FileEvent) -> None:
        if event.kind == DELETED:
            server.gone(uri)
        with server.lock:
            document = server.documents.get(uri)
            if document is None or document.stamp is None:
                return  # not open, or with a text of a caller's own
        file = self._files.again(uri)
        try:
            if file is None or file.stamp is None:
                if event.kind == DELETED:
                    server.forget(uri)
            elif file.stamp != document.stamp:
                server.follow_disk(file)
        except LspkitError:
            return  # no text any more; whoever asks about it is told

    def warnings(self) -> list[str]:
        """What is wrong with watching, in words."""
        return self._watchers.warnings()

    def close(self) -> None:
        """Watch nothing any more."""
        self._watchers.close()

    def drop_after_fork(self) -> None:
        """In a forked child: let go."""
        self._lock = threading.Lock()
        self._held = {}
        self._watchers.drop_after_fork()


def _speaks(server: Server, path: str) -> bool:
    """Whether a file is one of a server's languages, and in its root."""
    language = server.choice.definition.language_of(os.path.basename(path))
    return language is not None and is_inside(path, server.root)


def _concerns(server: Server, path: str) -> bool:
    """Whether a server that has not asked for a file may have read it all the same."""
    if not is_inside(path, server.root):
        return False
    return _speaks(server, path) or os.path.basename(path) in server.choice.definition.markers
