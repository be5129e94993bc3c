"""One thread that watches folders, and the way to have it caught up at once.

The thread sleeps until a notifier hints at something, waits a moment for more of the same, lets the
snapshot compare, and announces what has really happened. `catch_up` does the same without the
moment, in the thread of the caller: with a notifier that is exact, everything that had happened
before the call is announced when it returns. So a question can be asked right after another process
has written a file.

Door and turn. Whoever compares has the turn. What is found is queued with the turn and announced
without it, by whoever comes first and in the order in which it was found, so that nobody's code
runs while others wait for a look. The thread gives the turn away and takes it again many times
while it reads folders for the first time, or everything once more; callers hold the door while they
wait for it, and the thread lets those at the door go first.

Before the first reading is over `catch_up` does not wait for it; who wants to asks for `reading`.
Changes that come meanwhile are announced when the reading gets to them; only of a deletion in a
folder that was not read yet nobody can know.
"""

from __future__ import annotations

import collections
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lspkit.protocol.watch_registrations import DELETED, REPLACED, FileEvent
from lspkit.runtime.concurrency.ordered_delivery import Delivery, time_left
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.watch.backend import best_notifier
from lspkit.runtime.watch.coalesce import among, merged
from lspkit.runtime.watch.excluded_folders import is_excluded
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.scanner import Scanner

log = logging.getLogger("lspkit.runtime")

#: Seconds without a hint after which what there is gets announced.
SETTLE = 0.01
#: The same if hints keep coming, or a file is still being written, since the first.
LONGEST = 0.12
#: Seconds that the first reading keeps the turn, and then leaves the interpreter to others: who
#: waits for something often would else wait for the interpreter as often, up to 5 ms each time.
SLICE, PAUSE = 0.0005, 0.0002
#: Seconds that comparing keeps the turn, where there is very much to compare.
LONG_SLICE = 0.05

# What the thread is to do, and who waits for the reading that it causes.
_Order = tuple[Callable[[Scanner], None], Waiter | None]


class _Batch(NamedTuple):
    """What is to be announced together."""

    #: Where something came and went, or was away, unseen.
    brief: list[str]
    events: list[FileEvent]


class Watcher:
    """Watches a folder and tells of files that were created, changed and deleted in it.

    `on_events` is called by one thread at a time, with one event at most for each file. It is best
    quick: a question may be waiting for it.
    """

    def __init__(
        self,
        root: str,
        on_events: Callable[[list[FileEvent]], None],
        *,
        excluded: Callable[[str], bool] = is_excluded,
        notifier: Callable[[], Notifier] = best_notifier,
        on_brief: Callable[[list[str]], None] = lambda _: None,
    ) -> None:
        self._on_events = on_events
        #: Told, before `on_events`, of paths where something came and went, or was away, unseen.
        self._on_brief = on_brief
        self._excluded = excluded
        self._make_notifier = notifier
        #: What is wrong, in words for the user; empty if nothing is.
        self.warning = ""
        #: Taken in this order. They guard the three fields below, and what is in the first. Nobody
        #: is called back meanwhile.
        self._door, self._turn = threading.RLock(), threading.RLock()
        self._lookout: Scanner | None = None
        self._thread: OwnThread | None = None
        #: What is to be announced. Never delivered by who has the turn.
        self._found = Delivery(self._announce)

        self._stop = threading.Event()
        # Set when the thread has something better to do than to wait for more of the same.
        self._hurry = threading.Event()
        # Adding and taking are single steps.
        self._orders: collections.deque[_Order] = collections.deque()
        # The thread's alone: told when nothing is due any more.
        self._readers: list[Waiter] = []
        #: Complete once the root was read for the first time.
        self.ready = self.also(root)
        with self._door:
            self._start()

    def __repr__(self) -> str:
        state = "closed" if self._stop.is_set() else "ready" if self.is_ready else "reading"
        return f"<Watcher {state}, {self.watches} watches>"

    @property
    def is_ready(self) -> bool:
        """Whether everything that was asked for has been read."""
        lookout = self._lookout
        return lookout is not None and not self._orders and not lookout.snapshot.due

    @property
    def watches(self) -> int:
        """How many folders the system watches for us."""
        lookout = self._lookout
        return 0 if lookout is None else lookout.notifier.watches

    @property
    def files(self) -> int:
        """How many files are known."""
        if self._stop.is_set():
            return 0
        with self._door, self._turn:
            return 0 if self._lookout is None else self._lookout.snapshot.files

    def also(self, folder: str, *, deep: bool = True) -> Waiter:
        """Watch another folder, too, also an excluded one; complete once it was read.

        Without `deep` only the files that lie directly in it are of interest.
        """
        folder, since, waiter = os.path.abspath(folder), time.time_ns(), Waiter()
        if self._stop.is_set() or not _can_be(folder):
            waiter.complete()
            return waiter
        self._order(lambda lookout: lookout.snapshot.add(folder, deep=deep, since=since), waiter)
        return waiter

    def reading(self) -> Waiter | None:
        """Complete once everything that was asked for up to now was read; None if it was."""
        if self.is_ready or self._stop.is_set() or self._thread is None:
            return None
        waiter = Waiter()
        self._order(lambda lookout: None, waiter)
        return waiter

    def forget(self, folder: str) -> None:
        """No longer watch a folder that was asked for, unless it lies in another such."""
        folder = os.path.abspath(folder)
        self._order(lambda lookout: lookout.snapshot.remove(folder))

    def reconsider(self) -> None:
        """`excluded` may answer otherwise by now: watch those that it excludes no more."""
        self._order(lambda lookout: lookout.snapshot.reconsider())

    def catch_up(self, until: float = math.inf) -> bool:
        """Announce, before this returns, what has happened up to now.

        That is exact with inotify. Without it everything is looked at, if that is cheap or was
        not done lately. False if it was not over at that time of the monotonic clock: then there
        may be more. Called from `on_events`, what it finds is announced after that.
        """
        while not self._stop.is_set():
            if self._look_for_caller(until):
                return self._found.deliver(until)
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE)
        return True

    def _look_for_caller(self, until: float) -> bool:
        """Take the turn, if it can be had in time, and compare for a while; whether that is all."""
        # From the lock into the list within one call of C code: no interrupt can come between.
        door: list[bool] = []
        turn: list[bool] = []
        try:
            door.extend(map(self._door.acquire, (True,), (time_left(until),)))
            if not door[0]:
                return False
            try:
                turn.extend(map(self._turn.acquire, (True,), (time_left(until),)))
                return turn[0] and self._look_in_turn(until)
            finally:
                if turn and turn[0]:
                    self._turn.release()
        finally:
            if door and door[0]:
                self._door.release()

    def _look_in_turn(self, until: float) -> bool:
        if self._thread is None:
            self._start()
        lookout = self._lookout
        if lookout is None:
            return True
        over = lookout.look_now(min(until, time.monotonic() + LONG_SLICE))
        self._take_up(lookout)
        if lookout.snapshot.due or not over:
            lookout.notifier.wake()
        return over

    def note(self, paths: Iterable[str]) -> list[FileEvent]:
        """The caller has just changed these paths: its events, which are not announced.

        A path that was announced before this call has no event any more. A path that nobody
        watches has one in any case.
        """
        own = [os.path.abspath(path) for path in paths]
        if self._stop.is_set():
            return []
        with self._door, self._turn:
            lookout = self._lookout
            if lookout is None:
                return [event for path in own for event in _unseen(path)]
            lookout.collect()
            until = time.monotonic() + LONG_SLICE
            lookout.look(until)
            snapshot = lookout.snapshot
            for path in own:
                if not snapshot.look(path, until=until):
                    snapshot.events += _unseen(path)
            happened, is_own = merged(snapshot.events), among(own)
            mine = [event for event in happened if is_own(event.path)]
            snapshot.events = [event for event in happened if not is_own(event.path)]
            snapshot.brief = [path for path in snapshot.brief if not is_own(path)]
            self._take_up(lookout)
            if snapshot.due or lookout.is_behind:
                lookout.notifier.wake()
        self._found.deliver()
        return mine

    def close(self) -> None:
        """End it. May be called again, and from `on_events`."""
        self._stop.set()
        self._hurry.set()
        self._wake()
        thread = self._thread
        if thread is None:
            self._shut()
        elif threading.get_ident() not in (thread.ident, self._found.by):
            joined([thread])

    def drop_after_fork(self) -> None:
        """In a forked child: it is the parent's. Takes no lock and waits for nobody."""
        self._stop.set()
        lookout, self._lookout = self._lookout, None
        if lookout is not None:
            lookout.notifier.drop_after_fork()

    def _order(self, job: Callable[[Scanner], None], waiter: Waiter | None = None) -> None:
        self._orders.append((job, waiter))
        self._hurry.set()
        self._wake()

    def _wake(self) -> None:
        lookout = self._lookout
        if lookout is not None:
            lookout.notifier.wake()

    def _start(self) -> None:
        self._thread = OwnThread(self._run, "watcher")
        self.warning = ""
        try:
            self._thread.start()
        except RuntimeError as problem:
            # The next question tries again.
            self._thread = None
            self.warning = f"files cannot be watched, and changes by others go unseen: {problem}"
            self._tell_readers()

    def _run(self) -> None:
        try:
            time.sleep(PAUSE)  # who started this goes on first
            lookout = Scanner(self._make_notifier, self._excluded)
            with self._door, self._turn:
                self._lookout = lookout
            while not self._stop.is_set():
                self._go_on(lookout)
        except Exception:
            log.exception("the file watcher of lspkit failed")
            self.warning = "the file watcher has failed, and changes by others go unseen"
        finally:
            self._shut()

    def _go_on(self, lookout: Scanner) -> None:
        if self._orders:
            with self._door, self._turn:
                job, waiter = self._orders[0]
                job(lookout)
                self._orders.popleft()  # not before: who looks without a lock sees one of both
            self._readers += [waiter] if waiter is not None else []
        elif lookout.limit:
            with self._door, self._turn:
                self.warning = lookout.give_up_watches()
                self._look_now(lookout)
        elif lookout.snapshot.due:
            with self._door:
                pass  # those who stand at the door go first
            with self._turn:
                lookout.read_some(SLICE)
            with self._door, self._turn:
                self._look_now(lookout)
            time.sleep(PAUSE)
        elif lookout.is_behind:
            with self._door, self._turn:
                self._look_now(lookout)
            time.sleep(PAUSE)
        else:
            self._tell_readers(pending=False)
            self._wait(lookout)
        self._found.deliver()

    def _look_now(self, lookout: Scanner) -> None:
        """Find out what has happened up to now. With the turn."""
        lookout.look_now(time.monotonic() + LONG_SLICE)
        self._take_up(lookout)

    def _wait(self, lookout: Scanner) -> None:
        """Sleep until there is something, and until there is no more of it for a moment."""
        self._hurry.clear()
        lookout.wait()
        until = time.monotonic() + LONGEST
        with self._door, self._turn:
            more = lookout.collect()
        while more and time.monotonic() < until and not self._orders and not self._stop.is_set():
            if self._hurry.wait(SETTLE):
                break
            with self._door, self._turn:
                more = lookout.collect()
        with self._door, self._turn:
            until = time.monotonic() + LONG_SLICE
            lookout.look_by_the_clock(until)
            lookout.look(until)
            self._take_up(lookout)

    def _take_up(self, lookout: Scanner) -> None:
        """Queue what was found, once everything was compared: a rename is told as a whole.

        With the turn, so that it is queued in order.
        """
        snapshot = lookout.snapshot
        if snapshot.behind or not (snapshot.events or snapshot.brief):
            return
        told = merged(snapshot.events, away=snapshot.brief)
        found = _Batch(_unseen_between(snapshot.events, snapshot.brief, told), told)
        # Queued first: after an interrupt it is announced twice, and not never.
        self._found.put(found)
        snapshot.events, snapshot.brief = [], []

    def _announce(self, found: _Batch) -> None:
        if found.brief:
            self._on_brief(found.brief)
        if found.events:
            self._on_events(found.events)

    def _shut(self) -> None:
        self._stop.set()
        with self._door, self._turn:
            lookout, self._lookout = self._lookout, None
            if lookout is not None:
                lookout.notifier.close()
        self._tell_readers()

    def _tell_readers(self, *, pending: bool = True) -> None:
        """Everything was read; with `pending`, nothing more will be."""
        readers, self._readers = self._readers, []
        if pending:
            readers += [waiter for _, waiter in list(self._orders) if waiter is not None]
        for reader in readers:
            reader.complete()


def _can_be(path: str) -> bool:
    """Whether a system could have such a path. A server may ask for any."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _unseen(path: str) -> list[FileEvent]:
    """What to say of a path that is not watched, and was changed by ourselves.

    Whether it is new is not known.
    """
    if os.path.isdir(path):
        return []
    return [FileEvent(path, REPLACED if os.path.lexists(path) else DELETED)]


def _unseen_between(events: list[FileEvent], brief: list[str], told: list[FileEvent]) -> list[str]:
    """Where something came and went, or was away, and what is told does not say so."""
    gone = (event.path for event in events if event.kind == DELETED)
    return sorted({*brief, *gone} - {event.path for event in told})
