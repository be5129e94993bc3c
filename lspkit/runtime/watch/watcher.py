"""One thread that watches folders, and `catch_up`, which has it up to date at once.

`Scanner` combines a notifier and a snapshot: hints go in, events come out. It also decides what to
do without hints: when some were lost, everything is compared; when the limit of watches is reached,
everything is polled; and what could not be read is tried again.

The thread sleeps until a notifier gives a hint, waits a moment for more hints, has the snapshot
compare, and announces the events. `catch_up` does so without that moment, in the caller's thread:
everything that had happened before the call is announced when it returns.
So a request can be sent right after another process has written a file.

Locks: `_turn` is held while comparing. Events are queued under it and announced without it, by the
first thread that can and in order, so no foreign code runs while others wait for a comparison. The
thread releases and takes `_turn` many times while it reads folders for the first time, or compares
everything; callers hold `_caller_lock` while they wait for `_turn`, and the thread lets them go
first.

Before the first read is over `catch_up` does not wait for it; a caller that needs it waits for
`reading`. Changes meanwhile are announced when the read gets to them; only a deletion in a folder
that was not read yet cannot be known.
"""

from __future__ import annotations

import collections
import errno
import logging
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable

from lspkit.protocol.registrations import DELETED, REPLACED, FileEvent
from lspkit.runtime.concurrency.ordered_delivery import Delivery, time_left
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.watch.event_report import Batch, batch_of, merged
from lspkit.runtime.watch.notifier import Hints, Notifier
from lspkit.runtime.watch.tree_snapshot import TreeSnapshot, can_exist
from lspkit.runtime.watch.watched_folders import OuterFolders, is_excluded

log = logging.getLogger("lspkit.runtime")

#: Seconds between two looks at paths without hints.
POLL = 2.0
#: Polling takes at most this share of the time.
SHARE = 0.1
#: Seconds without a hint after which events are announced.
SETTLE = 0.01
#: Seconds since the first hint after which events are announced, even if hints keep coming.
LONGEST = 0.12
#: Seconds that the first read holds `_turn`, and then leaves the interpreter to others: a thread
#: that waits often would otherwise wait for the interpreter each time, up to 5 ms.
SLICE, PAUSE = 0.0005, 0.0002
#: Seconds that a comparison holds `_turn`, where there is very much to compare.
LONG_SLICE = 0.05

_LIMITS = {errno.ENOSPC: "the limit for watches is reached", errno.ENOMEM: "no memory is left"}


class Scanner:
    """Finds out what has changed. For one thread at a time, except `wait` and `wake`."""

    def __init__(
        self,
        make: Callable[[], Notifier],
        excluded: Callable[[str], bool],
        outer: OuterFolders | None = None,
    ) -> None:
        self._outer = outer
        self.snapshot = TreeSnapshot(self._watch, self._unwatch, excluded, self._watch_file, outer)
        #: Why the watches have to be given up; empty if they need not be.
        self.limit = ""
        self._hints: Hints = {}
        # Processor seconds of the last comparison of everything, and when it began.
        self._cost, self._began = 0.0, 0.0
        self.notifier: Notifier
        try:
            self.notifier = make()
        except (OSError, AttributeError, ImportError) as problem:
            log.debug("files cannot be watched", exc_info=True)
            self.limit = str(problem)
            self.notifier = Notifier()

    def wait(self) -> None:
        """Block until there may be something to look at."""
        timeout: float | None = None
        if self.notifier.blind:
            timeout = max(POLL, self._cost / SHARE)
        elif self.snapshot.unsure or self.snapshot.missing():
            timeout = POLL
        try:
            self.notifier.wait(timeout)
        except OSError as problem:
            self.limit = problem.strerror or str(problem)

    def collect(self) -> bool:
        """Read the present hints; returns whether there were any, or more will come soon."""
        hinted = self.notifier.drain(self._hints) or self.notifier.lost
        return hinted or bool(self.notifier.writing)

    @property
    def is_behind(self) -> bool:
        """Whether a comparison is unfinished for lack of time."""
        return bool(self.snapshot.behind or self._hints)

    def is_quiet(self) -> bool:
        """Read the present hints; whether it is certain that nothing has to be compared.

        That is so before nearly every request.
        """
        notifier, snapshot = self.notifier, self.snapshot
        return (
            not notifier.blind
            and not self.limit
            and not (notifier.drain(self._hints) or notifier.lost or notifier.writing)
            and not (self._hints or snapshot.behind or snapshot.due or snapshot.unsure)
            and not (snapshot.report.events or snapshot.report.brief)
            and snapshot.folders.keys() >= snapshot.tops
        )

    def look(self, until: float = math.inf) -> bool:
        """Compare the paths of all hints; False if there was no time for all.

        The next call continues then.
        """
        self.notifier.writing.clear()
        self._go_on(until)
        if self.notifier.lost and not self.snapshot.behind:
            self.notifier.lost = False
            self.look_everywhere(until)
        for path in list(self._hints):
            if self.snapshot.behind or time.monotonic() >= until:
                break
            self.snapshot.look(path, anew=self._hints.pop(path), until=until)
            if path in self.notifier.away:
                self.snapshot.report.add_brief(path)
                self.notifier.away.discard(path)
        return not self.is_behind and not self.notifier.lost

    def look_now(self, until: float = math.inf, since: float = 0.0) -> bool:
        """Compare all that may have changed up to now, without waiting; see `look`.

        Where there are no hints, everything is compared, unless that has begun `since` then.
        """
        snapshot, hinted = self.snapshot, self.collect()
        if not snapshot.behind and self._is_needed(since):
            self.look_everywhere(until)
        if snapshot.unsure or snapshot.missing():
            snapshot.try_again(until)
        over = (not hinted and not self.is_behind) or self.look(until)
        return over and not self._is_needed(since)  # an earlier comparison may have been continued

    def _is_needed(self, since: float) -> bool:
        """Whether everything has to be compared to know the changes up to this time."""
        return self.notifier.blind and self._began < since

    def look_everywhere(self, until: float = math.inf) -> None:
        """Compare everything, and record the processor time."""
        started, self._began = time.thread_time(), time.monotonic()
        self.snapshot.look_everywhere(until)
        self._cost = time.thread_time() - started

    def _go_on(self, until: float) -> None:
        """Continue an unfinished comparison."""
        if self.snapshot.behind:
            started = time.thread_time()
            self.snapshot.go_on(until)
            self._cost += time.thread_time() - started

    def take_own(self, paths: list[str], seconds: float) -> list[FileEvent]:
        """Compare paths that lspkit itself has just changed, and take their events out."""
        self.collect()
        until = time.monotonic() + seconds
        self.look(until)
        snapshot, report = self.snapshot, self.snapshot.report
        for path in paths:
            if not snapshot.look(path, until=until):
                report.events += events_of_unwatched(path)
        names, below = set(paths), tuple(os.path.join(path, "") for path in paths)

        def is_own(path: str) -> bool:
            return path in names or path.startswith(below)

        happened = merged(report.events)
        mine = [event for event in happened if is_own(event.path)]
        report.events = [event for event in happened if not is_own(event.path)]
        report.brief = [path for path in report.brief if not is_own(path)]
        return mine

    def read_some(self, seconds: float) -> None:
        """Read folders that were not read yet."""
        until = time.monotonic() + seconds
        while self.snapshot.due and time.monotonic() < until:
            self.snapshot.read_next()

    def give_up_watches(self) -> str:
        """Poll from now on; returns the warning for the user.

        All watches are released: otherwise no other program of this user could have any.
        """
        log.debug("files are polled: %s", self.limit)
        warning = (
            "all files are looked at before each call, which takes time, because the system cannot "
            f"watch them: {self.limit}. Exclude folders, or raise the limit "
            "(on Linux fs.inotify.max_user_watches and max_user_instances)."
        )
        old, self.notifier, self.limit = self.notifier, Notifier(), ""
        old.close()
        self.notifier.lost = True  # everything is compared once more
        return warning

    def _watch(self, folder: str, follow: bool) -> None:
        if self.limit:
            return
        try:
            self.notifier.watch(folder, follow)
        except OSError as problem:
            if problem.errno not in _LIMITS:
                raise
            # Continues without it: the watcher's thread gives up all watches soon.
            self.limit = _LIMITS[problem.errno]
            self.notifier.wake()

    def _watch_file(self, path: str) -> None:
        if self.limit:
            return
        try:
            self.notifier.watch_file(path)
        except OSError as problem:
            log.debug("%s cannot be watched by itself", path, exc_info=True)
            self.limit = _LIMITS.get(problem.errno or 0, "")

    def _unwatch(self, path: str) -> None:
        self.notifier.unwatch(path)
        if self._outer is not None:
            self._outer.release(path)


def events_of_unwatched(path: str) -> list[FileEvent]:
    """The event of an unwatched path that lspkit itself has changed; none for a folder.

    Whether it is new is not known.
    """
    if os.path.isdir(path):
        return []
    return [FileEvent(path, REPLACED if os.path.lexists(path) else DELETED)]


def best_notifier() -> Notifier:
    """The notifier for this system; raises `OSError` if it is not available."""
    if sys.platform != "linux":
        return Notifier()
    from lspkit.runtime.watch.inotify import InotifyNotifier  # here: only for this system

    return InotifyNotifier()


class Watcher:
    """Watches a folder and reports files that were created, changed and deleted in it.

    `on_events` is called by one thread at a time, with at most one event for each file. It should
    be quick: a request may wait for it.
    """

    def __init__(
        self,
        root: str,
        on_events: Callable[[list[FileEvent]], None],
        *,
        excluded: Callable[[str], bool] = is_excluded,
        outer: OuterFolders | None = None,
        notifier: Callable[[], Notifier] = best_notifier,
        on_brief: Callable[[list[str]], None] = lambda _: None,
    ) -> None:
        self._on_events = on_events
        #: Called, before `on_events`, with paths that existed or were missing for a moment only.
        self._on_brief = on_brief
        self._make_scanner: Callable[[], Scanner] = lambda: Scanner(notifier, excluded, outer)
        #: The warning for the user; empty if there is none.
        self.warning = ""
        #: Acquired in this order. They guard the three fields below, and the content of the first.
        #: No callback is called meanwhile.
        self._caller_lock, self._turn = threading.RLock(), threading.RLock()
        self._scanner: Scanner | None = None
        self._thread: OwnThread | None = None
        #: Events to announce. Never delivered while `_turn` is held.
        self._delivery = Delivery(self._announce)

        self._stopped = False  # set for good
        self._hurry = Waiter()  # complete when the thread should not wait for more hints
        #: What to watch and what to forget, carried out by the thread; and who waits until all that
        #: was ordered before is read. Adding and removing are atomic.
        self._orders: collections.deque[Callable[[TreeSnapshot], None]] = collections.deque()
        self._readers: collections.deque[Waiter] = collections.deque()
        self.also(root)
        with self._caller_lock:
            self._start()

    def __repr__(self) -> str:
        state = "closed" if self._stopped else "ready" if self.is_ready else "reading"
        return f"<Watcher {state}, {self.watches} watches>"

    @property
    def is_ready(self) -> bool:
        """Whether everything that was requested has been read."""
        scanner = self._scanner
        return scanner is not None and not self._orders and not scanner.snapshot.due

    @property
    def unseen(self) -> str:
        """Why some changes are not known; empty if all are."""
        scanner = self._scanner
        if scanner is None:
            return self.warning
        folder = next(iter(scanner.snapshot.unsure), "")
        return folder and f"{folder} cannot be read now, so changes in it are not known"

    def warnings(self) -> list[str]:
        """The warnings for the user."""
        return [warning for warning in dict.fromkeys((self.warning, self.unseen)) if warning]

    @property
    def watches(self) -> int:
        """How many folders the system watches."""
        scanner = self._scanner
        return 0 if scanner is None else scanner.notifier.watches

    def also(self, folder: str, *, deep: bool = True, since: int | None = None) -> None:
        """Watch another folder, also an excluded one. Returns at once.

        Without `deep` only the files directly in it are watched. What has changed `since` then
        (`time.time_ns`) is announced; the default is now.
        """
        folder, began = os.path.abspath(folder), since or time.time_ns()
        if not self._stopped and can_exist(folder):
            self._order(lambda snapshot: snapshot.add(folder, deep=deep, since=began))

    def reading(self) -> Waiter | None:
        """Complete when everything requested up to now was read; None if it was."""
        if self.is_ready or self._thread is None:
            return None
        waiter = Waiter()
        self._readers.append(waiter)
        self._rouse()
        return None if self._stopped else waiter

    def forget(self, folder: str) -> None:
        """Stop watching a requested folder, unless it lies in another one."""
        folder = os.path.abspath(folder)
        self._order(lambda snapshot: snapshot.remove(folder))

    def reconsider(self) -> None:
        """The result of `excluded` may have changed: watch folders that are no longer excluded."""
        self._order(lambda snapshot: snapshot.reconsider())

    def catch_up(self, until: float = math.inf) -> bool:
        """Announce all changes up to now before this returns.

        With inotify what was hinted at is compared, and where the system gives no hints, everything
        is. False if it was not over at that time of the monotonic clock: there may be more changes.
        If `on_events` calls this, its events are announced afterwards.
        """
        since = time.monotonic()
        while not self._stopped:
            if self._look_for_caller(until, since):
                return not self._delivery.queue or self._delivery.deliver(until)
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE)
        return True

    def _look_for_caller(self, until: float, since: float) -> bool:
        """Take `_turn`, if possible in time, and compare for a while; whether that is all."""
        if not self._caller_lock.acquire(timeout=time_left(until)):
            return False
        try:
            if not self._turn.acquire(timeout=time_left(until)):
                return False
            try:
                return self._look_in_turn(until, since)
            finally:
                self._turn.release()
        finally:
            self._caller_lock.release()

    def _look_in_turn(self, until: float, since: float) -> bool:
        if self._thread is None:
            self._start()
        scanner = self._scanner
        if scanner is None or scanner.is_quiet():
            return True
        if scanner.limit:
            scanner.notifier.wake()  # the thread gives up the watches first
            return False
        over = scanner.look_now(min(until, time.monotonic() + LONG_SLICE), since)
        self._take_up(scanner)
        if scanner.snapshot.due or not over:
            scanner.notifier.wake()
        return over

    def note(self, paths: Iterable[str]) -> list[FileEvent]:
        """The caller has just changed these paths: returns its events, which are not announced.

        A path that was announced before this call has no event. A path that is not watched always
        has one.
        """
        own = [os.path.abspath(path) for path in paths]
        if self._stopped:
            return []
        with self._caller_lock, self._turn:
            scanner = self._scanner
            if scanner is None:
                return [event for path in own for event in events_of_unwatched(path)]
            mine = scanner.take_own(own, LONG_SLICE)
            self._take_up(scanner)
            if scanner.snapshot.due or scanner.is_behind:
                scanner.notifier.wake()
        self._delivery.deliver()
        return mine

    def close(self) -> None:
        """End the thread. May be called again, and from `on_events`."""
        self._stopped = True
        self._rouse()
        thread = self._thread
        if thread is None:
            self._shut()
        elif threading.get_ident() not in (thread.ident, self._delivery.by):
            joined([thread])

    def drop_after_fork(self) -> None:
        """In a forked child: the watcher is the parent's. Takes no lock and does not wait."""
        self._stopped = True
        scanner, self._scanner = self._scanner, None
        if scanner is not None:
            scanner.notifier.drop_after_fork()

    def _order(self, job: Callable[[TreeSnapshot], None]) -> None:
        self._orders.append(job)
        self._rouse()

    def _rouse(self) -> None:
        """Have the thread look at its orders now."""
        self._hurry.complete()
        scanner = self._scanner
        if scanner is not None:
            scanner.notifier.wake()

    def _start(self) -> None:
        """Start the thread, if possible. `_caller_lock` is held."""
        self._thread = OwnThread(self._run, "watcher")
        self.warning = ""
        try:
            self._thread.start()
        except RuntimeError as problem:
            # The next request tries again.
            self._thread = None
            self.warning = f"files cannot be watched, and changes by others go unseen: {problem}"
            self._complete_readers(len(self._readers))

    def _run(self) -> None:
        try:
            time.sleep(PAUSE)  # the thread that started this continues first
            scanner = self._make_scanner()
            with self._caller_lock, self._turn:
                self._scanner = scanner
            while not self._stopped:
                self._go_on(scanner)
        except Exception:
            log.exception("the file watcher of lspkit failed")
            self.warning = "the file watcher has failed, and changes by others go unseen"
        finally:
            self._shut()

    def _go_on(self, scanner: Scanner) -> None:
        readers = len(self._readers)  # before the orders: each waits for those given before it
        if self._orders:
            with self._caller_lock, self._turn:
                self._orders[0](scanner.snapshot)
                self._orders.popleft()  # not before: readers without the lock see one of both
        elif scanner.limit:
            with self._caller_lock, self._turn:
                self.warning = scanner.give_up_watches()
                self._look_now(scanner)
        elif scanner.snapshot.due or scanner.is_behind:
            if scanner.snapshot.due:
                with self._caller_lock:
                    pass  # waiting callers go first
                with self._turn:
                    scanner.read_some(SLICE)
            with self._caller_lock, self._turn:
                self._look_now(scanner)
            time.sleep(PAUSE)
        else:
            self._complete_readers(readers)
            self._wait(scanner)
        self._delivery.deliver()

    def _look_now(self, scanner: Scanner, since: float = 0.0) -> None:
        """Compare what has changed up to now. `_turn` is held."""
        scanner.look_now(time.monotonic() + LONG_SLICE, since)
        self._take_up(scanner)

    def _wait(self, scanner: Scanner) -> None:
        """Sleep until there are hints, and then until no more come for a moment."""
        hurry = self._hurry = Waiter()
        scanner.wait()
        until = time.monotonic() + LONGEST
        with self._caller_lock, self._turn:
            more = scanner.collect()
        while more and time.monotonic() < until and not self._orders and not self._stopped:
            if hurry.wait(SETTLE):
                break
            with self._caller_lock, self._turn:
                more = scanner.collect()
        with self._caller_lock, self._turn:
            self._look_now(scanner, since=time.monotonic())

    def _take_up(self, scanner: Scanner) -> None:
        """Queue the events when everything was compared: a rename is reported as a whole.

        `_turn` is held, which keeps the order.
        """
        report = scanner.snapshot.report
        if scanner.snapshot.behind or not (report.events or report.brief):
            return
        self._delivery.put(batch_of(report.events, report.brief))
        report.events, report.brief = [], []

    def _announce(self, batch: Batch) -> None:
        if batch.brief:
            self._on_brief(batch.brief)
        if batch.events:
            self._on_events(batch.events)

    def _shut(self) -> None:
        self._stopped = True
        with self._caller_lock, self._turn:
            scanner, self._scanner = self._scanner, None
            if scanner is not None:
                scanner.notifier.close()
        self._complete_readers(len(self._readers))

    def _complete_readers(self, count: int) -> None:
        for _ in range(count):
            self._readers.popleft().complete()
