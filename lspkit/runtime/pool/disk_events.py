"""Servers and the disk: each server is told of the files that it registered for, once, in time.

A watcher (`watch/`) runs for a root while a server of that root does, and for the whole workspace,
since a server may read files outside its root. Its events go to every server that has registered
for them, as one notification; open documents are brought up to date. A caller that needs to know
that no event is left waits for `reading`, and calls `catch_up` and `told`.

Each server has a queue of its own: one that cannot be told anything now delays no other.
"""

from __future__ import annotations

import functools
import math
import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from lspkit.edit_types import ChangedFiles
from lspkit.errors import LspkitError
from lspkit.protocol.uris import path_to_uri
from lspkit.protocol.watching.registrations import DELETED, REPLACED, FileEvent
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.files import Files
from lspkit.runtime.pool.event_queue import (
    EventQueue,
    QueuedEvent,
    ServerFileEvent,
    is_hidden_by_text,
    unasked,
)
from lspkit.runtime.pool.own_packages import holds_own_program
from lspkit.runtime.server.file_notes import send_file_notes
from lspkit.runtime.server.server import Server
from lspkit.runtime.watch import Changelog, WatchedRoots, is_excluded
from lspkit.runtime.watch.outer_folders import OuterFolders
from lspkit.servers.project import file_relevance
from lspkit.servers.project.package_folders import MOST, PackageFolder
from lspkit.servers.restriction.compile_commands import header_folders
from lspkit.workspace_boundary import is_inside

#: Seconds after the start of a server for which requests wait for the first scan of its files, and
#: after it has registered for other folders. The scan takes less, unless a project is huge.
FIRST_LOOK = 1.0
#: Seconds that a delivery may take for calls that do not ask this server anything.
BRIEFLY = 0.02
#: Seconds that a delivery may take if no call waits for it.
PATIENTLY = 10.0
#: Servers that use such a file also read headers outside of the workspace.
COMPILED_BY = "compile_commands.json"


class DiskEvents:
    """Connects the servers of a pool to the disk."""

    def __init__(
        self,
        files: Files,
        on_events: Callable[[list[FileEvent]], None],
        on_server_events: Callable[[Server, list[FileEvent]], None],
        later: Callable[[Callable[[], object]], bool],
    ) -> None:
        #: Called with events, first for the pool and then for each server.
        self._on_events, self._on_server_events = on_events, on_server_events
        #: Runs a job on another thread.
        self._later = later
        self._files = files
        self._outer = OuterFolders(files.boundary.root)
        self._watchers = WatchedRoots(
            self.announce,
            excluded=self._is_excluded,
            targets=self._outer,
            on_brief=self._announce_brief,
        )
        #: The changed files of the languages of these servers.
        self._changelog = Changelog()
        #: Guards the fields below. Nothing is sent and nothing is read while it is held.
        self._lock = threading.Lock()
        #: Servers whose roots are watched, by identity. Replaced as a whole: readers need no lock.
        self._held: dict[int, EventQueue] = {}
        #: Folders inside package folders that servers have registered for.
        self._asked: tuple[str, ...] = ()
        #: Package folder: the names in it that are watched by themselves.
        self._chosen: dict[str, set[str]] = {}
        #: The paths of these. Other packages are not watched: there are very many.
        self._closed: set[str] = set()
        #: When the last server began or registered for an outer folder, by the monotonic clock.
        self._began = 0.0

    def begin(self, server: Server) -> None:
        """A server is about to start: watch its root, and the workspace."""
        with self._lock:
            if id(server) in self._held:
                return
            self._began = time.monotonic()  # before the next line, for readers without the lock
            self._held = {**self._held, id(server): EventQueue(server, self._deliver)}
            self._outer.mean(server.root)
        definition = server.choice.definition
        around = self._outer.ask_work_tree() if definition.disk.reads_work_tree else []
        server.watched.add(unasked(server, around[:1]))
        self._changelog.interrupted()
        self._watchers.hold(self._files.boundary.root)
        self._watchers.hold(server.root)
        # The folder that was added last is read first: the workspace, and the root in it.
        for folder in (*around, self._files.boundary.root, server.root) if around else ():
            self._watchers.also(server.root, folder)
        if COMPILED_BY in definition.roots.markers:
            self._later(functools.partial(self._watch_headers, server.root))

    def _watch_headers(self, root: str) -> None:
        for folder in header_folders(root, self._files.boundary.root):
            self._outer.mean(folder)
            self._watchers.also(root, folder)

    def registered(self, server: Server) -> None:
        """A server has registered for more, also folders outside its root or excluded ones."""
        queue = self._held.get(id(server))
        if queue is None:
            return
        around = self._files.boundary.root
        new = {
            folder: deep
            for folder, deep in server.watched.new_bases().items()
            if not holds_own_program(server, folder, around)
        }
        self._outer.ask(new)
        for folder, deep in new.items():
            if not is_inside(folder, around) or server.watched.names_folder(folder):
                # It may have read files outside before it registered for them.
                since = None if is_inside(folder, around) else queue.began
                # The folder that was added last is read first: the nearest one.
                for outer in self._outer.way_from(folder) if deep else (folder,):
                    self._watchers.also(server.root, outer, deep=deep, since=since)
                self._began = time.monotonic()
        if among := [folder for folder in new if self._place(folder).kind]:
            with self._lock:
                self._asked = tuple({*self._asked, *among})
                self._closed.clear()
        self._watchers.reconsider()
        if late := queue.take_wanted():
            queue.delivery.put(QueuedEvent(late))
            self._deliver_soon([queue])

    def _is_excluded(self, folder: str) -> bool:
        """Whether a folder is skipped: it is excluded, and no glob names it."""
        with self._lock:
            if os.path.dirname(folder) in self._closed:
                return True
        place, by_name = self._place(folder), is_excluded(folder)
        servers = [one.server for one in self._held.values()]
        if by_name and any(server.watched.names_folder(folder) for server in servers):
            return False
        if not place.kind or self._is_asked_for(folder, place.top):
            return by_name or not self._outer.admit(folder)
        if not any(server.choice.definition.disk.packages == place.kind for server in servers):
            return True
        return not (place.holds_packages or (place.is_package and self._is_chosen(folder)))

    def _is_asked_for(self, folder: str, top: str) -> bool:
        """Whether a server has registered for this folder inside a package folder."""
        with self._lock:
            among = self._asked
        if any(is_inside(asked, top) for asked in among):
            return any(is_inside(folder, asked) for asked in among)
        return any(one.server.watched.names_folder(top) for one in self._held.values())

    def _place(self, path: str) -> PackageFolder:
        return PackageFolder(path, self._files.boundary.root)

    def _is_chosen(self, package: str) -> bool:
        """Whether a package is one of the first in its folder, which are watched by themselves."""
        above, name = os.path.split(package)
        with self._lock:
            chosen = self._chosen.setdefault(above, set())
            if len(chosen) < MOST:
                chosen.add(name)
            if name in chosen:
                self._closed.add(package)
            return name in chosen

    def end(self, server: Server) -> None:
        """A server has ended."""
        with self._lock:
            queue = self._held.get(id(server))
            self._held = {at: one for at, one in self._held.items() if one is not queue}
            if not self._held:
                self._outer.clear()
        if queue is not None:
            self._watchers.release(server.root)
            self._watchers.release(self._files.boundary.root)
            self._changelog.interrupted()

    def reading(self) -> tuple[Waiter, float] | None:
        """The first scan of the files, and how long to wait for it; None if it is over."""
        if not self._held:
            return None
        until = max(self._began, self._outer.linked_at) + FIRST_LOOK
        if time.monotonic() >= until:
            return None
        reading = self._watchers.reading()
        return None if reading is None else (reading, until)

    def catch_up(self, until: float = math.inf) -> bool:
        """Scan the disk, and tell the servers of all changes up to now; False if time is short.

        A server that is busy is told a little later; `told` waits for that.
        """
        queues = self._held.values()
        if queues and not self._watchers.catch_up(until):
            return False
        for one in queues:
            if one.is_behind:
                one.delivery.put(QueuedEvent([]))
            if one.delivery.queue:
                self._deliver_soon([one])
        return True

    def told(self, server: Server, until: float = math.inf) -> bool:
        """Wait until a server was told of all known changes; False if that takes too long."""
        queue = self._held.get(id(server))
        if queue is None or not (queue.delivery.queue or queue.is_behind):
            return True
        if not queue.deliver(until):
            return False
        if queue.is_behind:
            queue.delivery.put(QueuedEvent([]))
        return queue.deliver(until)

    def _deliver_soon(self, those: list[EventQueue]) -> None:
        """Deliver the queued events, without waiting for a server that is busy."""
        for one in those:
            if not one.deliver(time.monotonic() + BRIEFLY) and not one.is_left:
                one.is_left = True
                self._later(functools.partial(self._deliver_later, one))

    def _deliver_later(self, one: EventQueue) -> None:
        one.is_left = False
        one.deliver(time.monotonic() + PATIENTLY)

    def changed(self, after: int | None) -> ChangedFiles:
        """The files of the servers' languages that have changed since a mark."""
        changed = self._changelog.after(after)
        return changed if self._held else msgspec.structs.replace(changed, complete=False)

    def changed_by_us(self, events: Iterable[FileEvent]) -> None:
        """lspkit itself has changed these files: told at once, and not again by the watcher."""
        events = list(events)
        if self._held:
            # The watcher may have been faster: then nothing is left to tell.
            untold = {one.path for one in self._watchers.note([event.path for event in events])}
            events = [event for event in events if event.path in untold]
        self.announce(events)

    def announce(self, events: list[FileEvent]) -> None:
        """Tell every server the events that concern it. Also called by the watcher's thread."""
        queues = list(self._held.values())
        definitions = [(one.server.choice.definition, one.server.root) for one in queues]
        named = self._queue(queues, events)
        self._changelog.add(
            one.event.path
            for one in named
            if not one.event.is_folder
            and not one.place.kind
            and any(
                file_relevance.is_source_in(by, root, one.event.path) for by, root in definitions
            )
        )
        self._deliver_soon(queues)

    def _announce_brief(self, paths: list[str]) -> None:
        """Files existed, or were gone, for a moment: a server may have noticed by itself.

        Only sources and what may have been a folder with sources are told: nearly all others are
        temporary files.
        """
        kinds = (REPLACED if os.path.lexists(path) else DELETED for path in paths)
        queues = list(self._held.values())
        self._queue(queues, list(map(FileEvent, paths, kinds)), brief=True)
        self._deliver_soon(queues)

    def _queue(
        self, queues: list[EventQueue], events: list[FileEvent], *, brief: bool = False
    ) -> list[ServerFileEvent]:
        """Queue events for all servers."""
        self._on_events(events)
        self._outer.take_notice(events)
        named = [
            ServerFileEvent(path_to_uri(one.path), one, self._place(one.path)) for one in events
        ]
        for one in queues:
            one.delivery.put(QueuedEvent(named, brief))
        return named

    def _deliver(self, queue: EventQueue, queued: QueuedEvent) -> None:
        """Tell a server queued events. One thread at a time, in order."""
        server, events = queue.server, queued.events
        if not events:
            if queue.is_behind:
                queue.is_behind = False
                server.record.request_refresh()
            return
        self._on_server_events(server, [one.event for one in events])
        definition = server.choice.definition
        events = [
            one
            for one in events
            if server.adapter.takes_path(one.event.path) and not self._is_by_chance(server, one)
        ]
        if queued.brief:
            events = [one for one in events if one.is_source(definition) or one.may_hold_sources()]
        if events and server.is_ready and self._tell(queue, events):
            queue.is_behind = True

    def _is_by_chance(self, server: Server, one: ServerFileEvent) -> bool:
        path, definition = one.event.path, server.choice.definition
        if definition.disk.reads_work_tree and self._outer.is_in_work_tree(path):
            return False
        return self._outer.hold(path) and file_relevance.is_by_chance(
            definition, server.watched, path, one.place
        )

    def _tell(self, queue: EventQueue, events: list[ServerFileEvent]) -> bool:
        """Tell a server what concerns it; returns whether it would miss some of it."""
        server, definition = queue.server, queue.server.choice.definition
        compares = server.adapter.compares_seconds
        changes, reread, read = list[dict[str, Any]](), list[str](), dict[str, float | None]()
        missed = False
        for one, meaning in queue.meanings(events):
            changes += [{"uri": one.uri, "type": kind} for kind in meaning.kinds]
            if not one.event.is_folder:
                if meaning.may_read:
                    read[one.uri] = one.written_second() if compares else None
                if meaning.is_source and self._is_reread(server, one):
                    reread.append(one.uri)
            missed = missed or meaning.is_missed or is_hidden_by_text(server, one.event)
        try:
            if changes or read or missed:
                send_file_notes(server.channel, definition, read, changes, reread)
            for one in events:
                if not one.event.is_folder:
                    self._bring_up_to_date(server, one.uri, one.event)
            server.channel.save_held()
        except LspkitError:
            return False  # it has just ended; its successor reads the disk
        return missed

    def _is_reread(self, server: Server, one: ServerFileEvent) -> bool:
        reads = one.is_read_when_closed(server.choice.definition)
        return reads and server.channel.admits(one.event.path)

    def _bring_up_to_date(self, server: Server, uri: str, event: FileEvent) -> None:
        if event.kind == DELETED:
            server.record.gone(uri)
        with server.channel.lock:
            document = server.channel.documents.get(uri)
            if document is None or document.stamp is None:
                return  # not open, or open with a caller's own text
        file = self._files.again(uri)
        try:
            if file is None or file.stamp is None:
                if event.kind == DELETED:
                    server.channel.forget(uri)
            elif file.stamp != document.stamp:
                server.channel.follow_disk(file, holds_save=True)
        except LspkitError:
            return  # no text any more; a request about it raises that

    @property
    def unseen(self) -> str:
        """Why some changes on disk are not known, after `catch_up`; empty if all are."""
        return self._watchers.unseen

    def warnings(self) -> list[str]:
        """The warnings about watching."""
        return [*self._watchers.warnings(), *self._outer.warnings()]

    def close(self) -> None:
        """Watch nothing any more."""
        self._watchers.close()

    def drop_after_fork(self) -> None:
        """In a forked child: drop everything."""
        self._lock = threading.Lock()
        self._held = {}
        self._watchers.drop_after_fork()
