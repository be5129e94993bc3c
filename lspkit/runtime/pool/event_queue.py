"""File events for one server, and the queue of them."""

from __future__ import annotations

import collections
import math
import os
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lspkit.protocol.capabilities import Registration
from lspkit.protocol.registrations import CHANGED, METHOD, FileEvent, WatchRegistrations
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.concurrency.ordered_delivery import Delivery, is_free
from lspkit.runtime.server.server import Server
from lspkit.servers.definition import Definition
from lspkit.servers.project import file_relevance
from lspkit.servers.project.project_files import PackageFolder

#: Seconds from a change to its event, at most, unless the machine is very busy.
JUST_NOW = 2.0
#: How many events that a server has not registered for are kept, in case it does so later.
UNWANTED = 100
#: For how many events of a server it is remembered what they mean.
MOST_MEANINGS = 4096


class ServerFileEvent(NamedTuple):
    """An event of a file or folder, for one server."""

    uri: str
    event: FileEvent
    place: PackageFolder

    def is_source(self, definition: Definition) -> bool:
        """Whether it is a file of a language of the server."""
        return definition.language_of(os.path.basename(self.event.path)) is not None

    def is_read_when_closed(self, definition: Definition) -> bool:
        """Whether a server reads this source only after a `didClose`."""
        if definition.disk.reads_closed == "never":
            return False
        return definition.disk.reads_closed == "always" or self.has_another_time()

    def has_another_time(self) -> bool:
        """Whether the modification time of a file differs from the time of the event."""
        try:
            there = os.stat(self.event.path)
        except OSError:
            return False
        # Setting an old modification time, or moving a file in, changes its ctime.
        another = there.st_mtime_ns < there.st_ctime_ns
        return another or abs(time.time() - there.st_mtime) > JUST_NOW

    def written_second(self) -> float | None:
        """When the second began in which a file was last written, by the monotonic clock.

        None for a file that is new or gone, or whose modification time is by another clock.
        """
        if self.event.kind != CHANGED or self.has_another_time():
            return None
        try:
            modified = os.stat(self.event.path).st_mtime
        except OSError:
            return None
        now = time.time()
        return None if modified > now else math.floor(modified) - now + time.monotonic()

    def may_hold_sources(self) -> bool:
        """Whether it may have been a folder, judged by its name."""
        return not os.path.splitext(self.event.path)[1]


class EventMeaning(NamedTuple):
    """What an event means to one server, as long as that registers for nothing else."""

    #: The kinds of change to send; none if the server has not registered for them.
    kinds: tuple[int, ...]
    #: Whether it is a file of a language of the server.
    is_source: bool
    #: As the functions of `file_relevance.py`.
    may_read: bool
    is_missed: bool


def meaning_of(
    definition: Definition, root: str, watched: WatchRegistrations, one: ServerFileEvent
) -> EventMeaning:
    """The meaning of an event for a server with these registrations. Nothing is read from disk."""
    event, path = one.event, one.event.path
    return EventMeaning(
        kinds_for(watched, event),
        is_source=one.is_source(definition),
        may_read=file_relevance.may_read(definition, path),
        is_missed=file_relevance.is_missed(definition, root, watched, event, one.place),
    )


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
        #: Event: its meaning, for these registrations. Read and changed during delivery.
        self._known: dict[FileEvent, EventMeaning] = {}
        self._known_for: object = None
        #: The last events that the server has not registered for. Guarded by its lock.
        self._unwanted: collections.deque[ServerFileEvent] = collections.deque(maxlen=UNWANTED)

    def deliver(self, until: float) -> bool:
        """Deliver all queued events; False if that is not possible in time."""
        return not self.delivery.queue or (
            is_free(self.server.channel.lock, until) and self.delivery.deliver(until)
        )

    def meanings(self, events: list[ServerFileEvent]) -> list[tuple[ServerFileEvent, EventMeaning]]:
        """The events, each with its meaning. Those that the server does not want are kept.

        Some servers register only after they have read files and answered about them.
        """
        watched, server_lock = self.server.watched, self.server.channel.lock
        while True:
            edition = watched.edition
            found = [(one, self._meaning(one)) for one in events]
            unwanted = [one for one, meaning in found if not meaning.kinds]
            if not unwanted:
                return found
            with server_lock:
                if watched.edition is edition:  # else `take_wanted` may have come too early
                    self._unwanted.extend(unwanted)
                    return found

    def _meaning(self, one: ServerFileEvent) -> EventMeaning:
        """What an event means to the server. The same files change again and again."""
        server, watched = self.server, self.server.watched
        if watched.edition is not self._known_for or len(self._known) > MOST_MEANINGS:
            self._known, self._known_for = {}, watched.edition
        known = self._known.get(one.event)
        if known is None:
            known = meaning_of(server.choice.definition, server.root, watched, one)
            self._known[one.event] = known
        return known

    def take_wanted(self) -> list[ServerFileEvent]:
        """The kept events that the server has registered for by now; they are kept no longer."""
        with self.server.channel.lock:
            late = [one for one in self._unwanted if kinds_for(self.server.watched, one.event)]
            for one in late:
                self._unwanted.remove(one)
        return late


def is_hidden_by_text(server: Server, event: FileEvent) -> bool:
    """Whether a server does not notice that a file was created, since it is shown a text of it."""
    misses = file_relevance.misses_created(server.choice.definition, event.kind)
    return misses and server.channel.shows_unsaved(path_to_uri(event.path))


def unasked(server: Server, outer: Iterable[str] = ()) -> Registration:
    """A registration for files that a server is told of without registering, also in `outer`."""
    globs = server.choice.definition.disk.told_of
    bases = [path_to_uri(folder) for folder in outer]
    more = [{"baseUri": base, "pattern": one} for base in bases for one in globs]
    watchers = [{"globPattern": one} for one in (*globs, *more)]
    return Registration(id="", method=METHOD, options={"watchers": watchers})
