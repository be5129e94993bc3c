"""Servers and the disk: each server is told of the files that it registered for, once, in time.

One watcher (`watch/`) runs while any server does: one thread, and one instance of inotify, of which
a user has about 128. It watches the root of each server, and the whole workspace, since a server
may read files outside its root. Its events go to every server that has registered for them, as one
notification; open documents are brought up to date. A caller that needs to know that no event is
left waits for `first_scan`, and calls `catch_up` and `deliver_to`.

Each server has a queue of its own: one that cannot be told anything now delays no other.
"""

from __future__ import annotations

import collections
import functools
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lspkit.edit_types import ChangedFiles
from lspkit.errors import LspkitError
from lspkit.protocol.capabilities import Registration
from lspkit.protocol.registrations import (
    CHANGED,
    CREATED,
    DELETED,
    METHOD,
    REPLACED,
    FileEvent,
    WatchRegistrations,
    separate_notes,
)
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.concurrency.ordered_delivery import Delivery, is_free
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.files import Files
from lspkit.runtime.process.usage import files_of_command
from lspkit.runtime.server.document_channel import DocumentChannel
from lspkit.runtime.server.pending_request import PendingRequest
from lspkit.runtime.server.server import Server
from lspkit.runtime.watch.watched_folders import OuterFolders, is_excluded
from lspkit.runtime.watch.watcher import Watcher
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.definition import Definition
from lspkit.servers.project import file_relevance
from lspkit.servers.project.project_files import MOST, NODE, PackageFolder
from lspkit.servers.restriction.compile_commands import header_folders
from lspkit.workspace_boundary import is_inside

#: Seconds from a change to its event, at most, unless the machine is very busy.
JUST_NOW = 2.0
#: How many events that a server has not registered for are kept, in case it does so later.
UNWANTED = 100
#: A symbol that no project has.
NO_SYMBOL = "\u2205"
#: Seconds after the start of a server for which requests wait for the first scan of its files, and
#: after it has registered for other folders. The scan takes less, unless a project is huge.
FIRST_LOOK = 1.0
#: Seconds that a delivery may take for calls that do not ask this server anything.
BRIEFLY = 0.02
#: Seconds that a delivery may take if no call waits for it.
PATIENTLY = 10.0
#: Servers that use such a file also read headers outside of the workspace.
COMPILED_BY = "compile_commands.json"
#: How many changes are remembered.
REMEMBERED = 10_000


class ServerFileEvent(NamedTuple):
    """An event of a file or folder, for one server."""

    uri: str
    event: FileEvent
    place: PackageFolder

    def is_source(self, definition: Definition) -> bool:
        """Whether it is a file of a language of the server."""
        return definition.language_of(os.path.basename(self.event.path)) is not None

    def is_read_when_closed(self, definition: Definition) -> bool:
        """Whether it is a source that the server reads only after a `didClose`.

        Some do so if the modification time of a file differs from the time of the event.
        """
        reads = definition.disk.reads_closed
        if reads == "never" or not self.is_source(definition):
            return False
        if reads == "always":
            return True
        try:
            there = os.stat(self.event.path)
        except OSError:
            return False
        # Setting an old modification time, or moving a file in, changes its ctime.
        another = there.st_mtime_ns < there.st_ctime_ns
        return another or abs(time.time() - there.st_mtime) > JUST_NOW

    def may_hold_sources(self) -> bool:
        """Whether it may have been a folder, judged by its name."""
        return not os.path.splitext(self.event.path)[1]


def kinds_for(watched: WatchRegistrations, event: FileEvent) -> tuple[int, ...]:
    """The kinds of change to send to a server; none if it has not registered for them."""
    if event.is_folder:  # only the event of a file is translated
        return (event.kind,) if watched.wants(event.path, event.kind) else ()
    return watched.kinds_to_send(event.path, event.kind)


class QueuedEvent(NamedTuple):
    """Events that are sent to a server together; `brief`: files existed or were gone for a moment.

    Without events it is the order to read everything again, if something was missed.
    """

    events: list[ServerFileEvent]
    brief: bool = False


class EventQueue:
    """A server whose root is watched, and its queue."""

    def __init__(self, server: Server, tell: Callable[[EventQueue, QueuedEvent], None]) -> None:
        self.server = server
        self.delivery = Delivery[QueuedEvent](lambda queued: tell(self, queued))
        #: Folders that are watched until it ends. `DiskEvents` guards them.
        self.folders: set[str] = set()
        #: Before the server was started (`time.time_ns`).
        self.began = time.time_ns()
        #: Whether it has to read everything again before its next request. Set during delivery.
        self.is_behind = False
        #: Whether a delivery by another thread is planned.
        self.is_left = False
        #: The last events that the server has not registered for. Guarded by its lock.
        self._unwanted: collections.deque[ServerFileEvent] = collections.deque(maxlen=UNWANTED)

    def deliver(self, until: float) -> bool:
        """Deliver all queued events; False if that is not possible in time."""
        return not self.delivery.queue or (
            is_free(self.server.channel.lock, until) and self.delivery.deliver(until)
        )

    def kinds(self, events: list[ServerFileEvent]) -> list[tuple[ServerFileEvent, tuple[int, ...]]]:
        """The events, each with the kinds of change to send. Those without are kept.

        Some servers register only after they have read files and answered about them.
        """
        watched, server_lock = self.server.watched, self.server.channel.lock
        while True:
            edition = watched.edition
            kinds = [(event, kinds_for(watched, event.event)) for event in events]
            unwanted = [event for event, to_send in kinds if not to_send]
            if not unwanted:
                return kinds
            with server_lock:
                if watched.edition is edition:  # else `take_wanted` may have come too early
                    self._unwanted.extend(unwanted)
                    return kinds

    def take_wanted(self) -> list[ServerFileEvent]:
        """The kept events that the server has registered for by now; they are kept no longer."""
        with self.server.channel.lock:
            late = [
                event for event in self._unwanted if kinds_for(self.server.watched, event.event)
            ]
            for event in late:
                self._unwanted.remove(event)
        return late


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
        #: Guards the fields below. Nothing is sent and nothing is read while it is held.
        self._lock = threading.Lock()
        self._outer = OuterFolders(files.boundary.root, self._lock)
        #: The changed files of the languages of these servers.
        self._changelog = Changelog(self._lock)
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
        #: Guards the fields below, and the folders of each queue. The first is set as long as a
        #: server is held, and remains after `close`.
        self._watcher_lock = threading.Lock()
        self._watcher: Watcher | None = None
        self._is_closed = False

    def begin(self, server: Server) -> None:
        """A server is about to start: watch its root, and the workspace."""
        with self._lock:
            if id(server) in self._held:
                return
            self._began = time.monotonic()  # before the next lines, for readers without the lock
            queue = EventQueue(server, self._deliver)
            self._held = {**self._held, id(server): queue}
        self._outer.mean(server.root)
        definition, workspace = server.choice.definition, self._files.boundary.root
        around = self._outer.ask_work_tree() if definition.disk.reads_work_tree else []
        server.watched.add(unasked(server, around[:1]))
        self._changelog.interrupted()
        # The folder that was added last is read first: the workspace, and the root in it.
        for folder in (*around, workspace, server.root):
            self._watch(queue, folder)
        if COMPILED_BY in definition.roots.markers:
            self._later(functools.partial(self._watch_headers, queue))

    def _watch_headers(self, queue: EventQueue) -> None:
        for folder in header_folders(queue.server.root, self._files.boundary.root):
            self._outer.mean(folder)
            self._watch(queue, folder)

    def _watch(
        self, queue: EventQueue, folder: str, *, deep: bool = True, since: int | None = None
    ) -> None:
        """Watch a folder until the server ends; see `Watcher.also`."""
        folder = os.path.abspath(folder)
        with self._watcher_lock:
            if self._is_closed or self._held.get(id(queue.server)) is not queue:
                return
            queue.folders.add(folder)
            if self._watcher is None:
                self._watcher = Watcher(
                    self._files.boundary.root,
                    self.announce,
                    excluded=self._is_excluded,
                    outer=self._outer,
                    on_brief=self._announce_brief,
                )
            self._watcher.also(folder, deep=deep, since=since)

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
                    self._watch(queue, outer, deep=deep, since=since)
                self._began = time.monotonic()
        if among := [folder for folder in new if PackageFolder(folder, around).kind]:
            with self._lock:
                self._asked = tuple({*self._asked, *among})
                self._closed.clear()
        watcher = self._watcher
        if watcher is not None:
            watcher.reconsider()
        if late := queue.take_wanted():
            queue.delivery.put(QueuedEvent(late))
            self._deliver_soon([queue])

    def _is_excluded(self, folder: str) -> bool:
        """Whether a folder is skipped: it is excluded, and no glob names it."""
        with self._lock:
            if os.path.dirname(folder) in self._closed:
                return True
        place, by_name = PackageFolder(folder, self._files.boundary.root), is_excluded(folder)
        servers = [queue.server for queue in self._held.values()]
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
        if any(is_inside(registered, top) for registered in among):
            return any(is_inside(folder, registered) for registered in among)
        return any(queue.server.watched.names_folder(top) for queue in self._held.values())

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
        """A server has ended: folders that no other one needs are watched no longer."""
        with self._lock:
            queue = self._held.get(id(server))
            self._held = {at: other for at, other in self._held.items() if other is not queue}
        self._outer.clear(is_unused=lambda: not self._held)
        if queue is None:
            return
        with self._watcher_lock:
            watcher = self._watcher
            needed = {folder for other in self._held.values() for folder in other.folders}
            if not needed:
                self._watcher = None
            elif watcher is not None:
                for folder in queue.folders - needed:
                    watcher.forget(folder)
        if watcher is not None and not needed:
            watcher.close()
        self._changelog.interrupted()

    def first_scan(self) -> tuple[Waiter, float] | None:
        """The first scan of the files, and how long to wait for it; None if it is over."""
        watcher, until = self._watcher, max(self._began, self._outer.linked_at) + FIRST_LOOK
        if watcher is None or time.monotonic() >= until:
            return None
        reading = watcher.reading()
        return None if reading is None else (reading, until)

    def catch_up(self, until: float = math.inf) -> bool:
        """Scan the disk, and tell the servers of all changes up to now; False if time is short.

        A server that is busy is told a little later; `deliver_to` waits for that.
        """
        watcher = self._watcher
        if watcher is not None and not watcher.catch_up(until):
            return False
        for queue in self._held.values():
            if queue.is_behind:
                queue.delivery.put(QueuedEvent([]))
            if queue.delivery.queue:
                self._deliver_soon([queue])
        return True

    def deliver_to(self, server: Server, until: float = math.inf) -> bool:
        """Wait until a server was told of all known changes; False if that takes too long."""
        queue = self._held.get(id(server))
        if queue is None or not (queue.delivery.queue or queue.is_behind):
            return True
        if not queue.deliver(until):
            return False
        if queue.is_behind:
            queue.delivery.put(QueuedEvent([]))
        return queue.deliver(until)

    def _deliver_soon(self, queues: list[EventQueue]) -> None:
        """Deliver the queued events, without waiting for a server that is busy."""
        for queue in queues:
            if not queue.deliver(time.monotonic() + BRIEFLY) and not queue.is_left:
                queue.is_left = True
                self._later(functools.partial(self._deliver_later, queue))

    def _deliver_later(self, queue: EventQueue) -> None:
        queue.is_left = False
        queue.deliver(time.monotonic() + PATIENTLY)

    def changed(self, after: int | None) -> ChangedFiles:
        """The files of the servers' languages that have changed since a mark."""
        changed = self._changelog.after(after)
        return changed if self._held else msgspec.structs.replace(changed, complete=False)

    def changed_by_us(self, events: Iterable[FileEvent]) -> None:
        """lspkit itself has changed these files: told at once, and not again by the watcher."""
        events, watcher = list(events), self._watcher
        if watcher is not None:
            # The watcher may have been faster: then nothing is left to tell.
            left = {event.path for event in watcher.note([event.path for event in events])}
            events = [event for event in events if event.path in left]
        self.announce(events)

    def announce(self, events: list[FileEvent], *, brief: bool = False) -> None:
        """Tell every server the events that concern it. Also called by the watcher's thread."""
        queues, workspace = list(self._held.values()), self._files.boundary.root
        self._on_events(events)
        named = [
            ServerFileEvent(path_to_uri(event.path), event, PackageFolder(event.path, workspace))
            for event in events
        ]
        for queue in queues:
            queue.delivery.put(QueuedEvent(named, brief))
        if not brief:
            servers = [queue.server for queue in queues]
            self._changelog.add(
                event.path
                for _, event, place in named
                if not event.is_folder and not place.kind and _is_source(servers, event.path)
            )
        self._deliver_soon(queues)

    def _announce_brief(self, paths: list[str]) -> None:
        """Files existed, or were gone, for a moment: a server may have noticed by itself.

        Only sources and what may have been a folder with sources are told: nearly all others are
        temporary files.
        """
        kinds = (REPLACED if os.path.lexists(path) else DELETED for path in paths)
        self.announce(list(map(FileEvent, paths, kinds)), brief=True)

    def _deliver(self, queue: EventQueue, queued: QueuedEvent) -> None:
        """Tell a server queued events. One thread at a time, in order."""
        server, events = queue.server, queued.events
        if not events:
            if queue.is_behind:
                queue.is_behind = False
                server.record.request_refresh()
            return
        self._on_server_events(server, [event.event for event in events])
        definition = server.choice.definition
        events = [
            event
            for event in events
            if server.adapter.takes_path(event.event.path) and not self._is_by_chance(server, event)
        ]
        if queued.brief:
            events = [
                event for event in events if event.is_source(definition) or event.may_hold_sources()
            ]
        if events and server.is_up and self._tell(queue, events):
            queue.is_behind = True

    def _is_by_chance(self, server: Server, event: ServerFileEvent) -> bool:
        path, definition = event.event.path, server.choice.definition
        if definition.disk.reads_work_tree and self._outer.is_in_work_tree(path):
            return False
        return self._outer.hold(path) and file_relevance.is_by_chance(
            definition, server.watched, path, event.place
        )

    def _tell(self, queue: EventQueue, events: list[ServerFileEvent]) -> bool:
        """Tell a server what concerns it; returns whether it would miss some of it."""
        server, definition = queue.server, queue.server.choice.definition
        changes, reread, read = list[dict[str, Any]](), list[str](), list[str]()
        missed = False
        for event, kinds in queue.kinds(events):
            file, path = event.event, event.event.path
            changes += [{"uri": event.uri, "type": kind} for kind in kinds]
            if not file.is_folder:
                if file_relevance.may_read(definition, path):
                    read.append(event.uri)
                if event.is_read_when_closed(definition) and server.channel.admits(path):
                    reread.append(event.uri)
            missed = (
                missed
                or file_relevance.is_missed(
                    definition, server.root, server.watched, file, event.place
                )
                or is_hidden_by_text(server, file)
            )
        try:
            if changes or read or missed:
                send_file_notes(server.channel, definition, read, changes, reread)
            for event in events:
                if not event.event.is_folder:
                    self._bring_up_to_date(server, event.uri, event.event)
            server.channel.save_held()
        except LspkitError:
            return False  # it has just ended; its successor reads the disk
        return missed

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
        watcher = self._watcher
        return "" if watcher is None else watcher.unseen

    def warnings(self) -> list[str]:
        """The warnings about watching."""
        watcher = self._watcher
        return [*(watcher.warnings() if watcher is not None else ()), *self._outer.warnings()]

    def close(self) -> None:
        """Watch nothing any more. May be called again, after an interrupt."""
        with self._watcher_lock:
            self._is_closed = True
            watcher = self._watcher
        if watcher is not None:
            watcher.close()

    def drop_after_fork(self) -> None:
        """In a forked child: drop everything."""
        self._lock, self._watcher_lock = threading.Lock(), threading.Lock()
        self._outer = OuterFolders(self._files.boundary.root, self._lock)
        self._changelog = Changelog(self._lock)
        self._held, self._is_closed = {}, True
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.drop_after_fork()


def _is_source(servers: list[Server], path: str) -> bool:
    return any(
        file_relevance.is_source_in(server.choice.definition, server.root, path)
        for server in servers
    )


class Changelog:
    """Changed files, in order. For any thread."""

    def __init__(self, lock: threading.Lock) -> None:
        #: The owner's lock. Guards the fields below.
        self._lock = lock
        self._paths: collections.deque[str] = collections.deque(maxlen=REMEMBERED)
        #: The first mark, in microseconds since 1970: no two logs have a mark in common.
        self._first = time.time_ns() // 1000
        #: Raised by every change.
        self._count = self._first
        #: Marks before this one are from a time when less was watched.
        self._gap = self._first

    def add(self, paths: Iterable[str]) -> None:
        """Add changed files."""
        added = list(paths)  # before the lock is taken: it may be computed only now
        with self._lock:
            self._paths += added
            self._count += len(added)

    def interrupted(self) -> None:
        """More may have changed up to now than was seen."""
        with self._lock:
            self._paths.append("")  # no file: it makes all earlier marks older than the gap
            self._count += 1
            self._gap = self._count

    def after(self, mark: int | None) -> ChangedFiles:
        """The changes since a mark that was returned before.

        After a mark of another log, all that is remembered, which is not complete.
        """
        with self._lock:
            mark = self._count if mark is None else mark
            own = self._first <= mark <= self._count
            forgotten = self._count - len(self._paths)
            start = max(0, mark - forgotten) if own else 0
            news = set(itertools.islice(self._paths, start, None))
            count, complete = self._count, own and mark >= max(forgotten, self._gap)
        named = sorted(path for path in news if path)
        there = tuple(Path(path) for path in named if os.path.isfile(path))
        gone = tuple(Path(path) for path in named if not os.path.lexists(path))
        return ChangedFiles(count, there, complete, gone)


def is_hidden_by_text(server: Server, event: FileEvent) -> bool:
    """Whether a server does not notice that a file was created, since it is shown a text of it."""
    misses = file_relevance.misses_created(server.choice.definition, event.kind)
    return misses and server.channel.shows_unsaved(path_to_uri(event.path))


def unasked(server: Server, outer: Iterable[str] = ()) -> Registration:
    """A registration for files that a server is told of without registering, also in `outer`."""
    globs = server.choice.definition.disk.told_of
    bases = [path_to_uri(folder) for folder in outer]
    more = [{"baseUri": base, "pattern": glob} for base in bases for glob in globs]
    watchers = [{"globPattern": pattern} for pattern in (*globs, *more)]
    return Registration(id="", method=METHOD, options={"watchers": watchers})


def send_file_notes(
    channel: DocumentChannel,
    definition: Definition,
    changed: Iterable[str],
    changes: list[dict[str, Any]],
    reread: Iterable[str],
) -> None:
    """Files on disk have changed; notify the server of those it has registered for.

    `changed` are URIs; `reread` are files that it must be made to read again.
    """
    with channel.lock:
        if definition.disk.skips_open:
            # Not those with a caller's own text: when it ends, the server may read the file.
            opened = {
                document.key.uri
                for document in channel.documents
                if isinstance(document.stamp, tuple)
            }
            changes = [
                change
                for change in changes
                if change["type"] != CHANGED or change["uri"] not in opened
            ]
        if changes:
            # Some servers start work when they are told of files.
            channel.observations.told_of_files(time.monotonic())
        for uri in reread:
            channel.post(channel.documents.reread(channel.key_of(uri)))
        if changes:
            _tell(channel, definition, changes)
        channel.clock.files_changed(changed, [change["uri"] for change in changes])


def _tell(channel: DocumentChannel, definition: Definition, changes: list[dict[str, Any]]) -> None:
    """Notify it; send a request, too, if it would lose an edit otherwise. The lock is held."""
    adapter = adapter_of(definition)
    created = any(change["type"] == CREATED for change in changes)
    if created and adapter.blocks_on_new_files:
        _end_requests(channel)
    for note in separate_notes(changes) if definition.disk.sorts_changes else [changes]:
        channel.post([("workspace/didChangeWatchedFiles", {"changes": note})])
    channel.files_told += len(changes)
    if 0 < adapter.loses_edits_after < channel.files_told:
        channel.files_told = 0
        pending = PendingRequest("workspace/symbol", Waiter(), None)
        channel.enqueue(pending, {"query": NO_SYMBOL})


def _end_requests(channel: DocumentChannel) -> None:
    """Change a document, so that it stops its work on requests, also on cancelled ones.

    Prefers a document without a request, because an answer about a changed one does not count. The
    lock is held.
    """
    waited_for = {pending.uri for pending in list(channel.session.pending.values())}
    opened = [document.key.uri for document in channel.documents]
    if opened:
        channel.renumber(min(opened, key=lambda uri: uri in waited_for))


def holds_own_program(server: Server, folder: str, workspace: str) -> bool:
    """Whether a folder holds the packages of a running server, and none of the project.

    TypeScript registers for all packages around it: thousands of folders, which take long to read
    and do not change.
    """
    if os.path.basename(folder) != NODE or is_inside(folder, workspace):
        return False
    real = os.path.realpath(folder)
    if any(os.path.realpath(searched) == real for searched in _searched(server.root)):
        return False
    connection = server.channel.connection
    # Often a script starts the program: then only the process knows where that is.
    started = files_of_command(connection.child.pid) if connection is not None else []
    words = [word for word in (*server.choice.argv, *started) if os.path.isabs(word)]
    return any(is_inside(os.path.realpath(word), folder) for word in words)


def _searched(root: str) -> Iterator[str]:
    """The folders in which a project looks for packages; they may be links to another place."""
    here, above = "", root
    while above != here:
        yield os.path.join(above, NODE)
        here, above = above, os.path.dirname(above)
