"""Combines a notifier and a snapshot: hints go in, events come out.

Has no thread and no lock; the watcher ensures that one thread at a time is here. It also decides
what to do without hints: when some were lost, everything is compared; when the limit of watches is
reached, everything is polled; and what could not be read is tried again.
"""

from __future__ import annotations

import errno
import logging
import math
import os
import sys
import time
from collections.abc import Callable

from lspkit.protocol.watching.registrations import DELETED, REPLACED, FileEvent
from lspkit.runtime.watch.event_report import merged
from lspkit.runtime.watch.notifier import Hints, Notifier, PollingNotifier
from lspkit.runtime.watch.outer_folders import OuterFolders
from lspkit.runtime.watch.tree_snapshot import TreeSnapshot

log = logging.getLogger("lspkit.runtime")

#: Seconds between two looks at paths without hints.
POLL = 2.0
#: Polling takes at most this share of the time.
SHARE = 0.1
#: Where hints come late, comparing everything before a request takes at most this share of the
#: time, unless it took fewer processor seconds than `CHEAP`.
SHARE_OF_CALLERS, CHEAP = 0.25, 0.02

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
        # Processor seconds of the last comparison of everything, when it began, and when it ended.
        self._cost, self._began, self._looked = 0.0, 0.0, 0.0
        self.notifier: Notifier
        try:
            self.notifier = make()
        except (OSError, AttributeError, ImportError) as problem:
            log.debug("files cannot be watched", exc_info=True)
            self.limit = str(problem)
            self.notifier = PollingNotifier()

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
            notifier.exact
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

    def look_by_the_clock(self, until: float = math.inf) -> None:
        """Compare paths that have no hints."""
        if self.notifier.blind and not self.snapshot.behind:
            self.look_everywhere(until)
        if self.snapshot.unsure or self.snapshot.missing():
            self.snapshot.try_again(until)

    def look_now(self, until: float = math.inf, since: float = 0.0) -> bool:
        """Compare all that may have changed up to now, without waiting; see `look`.

        Where there are no hints, everything is compared, unless that has begun `since` then.
        """
        snapshot, hinted = self.snapshot, self.collect()
        if not snapshot.behind and (
            self._is_needed(since)
            or (not self.notifier.exact and not snapshot.due and self._is_cheap())
        ):
            self.look_everywhere(until)
        if snapshot.unsure or snapshot.missing():
            snapshot.try_again(until)
        over = (not hinted and not self.is_behind) or self.look(until)
        return over and not self._is_needed(since)  # an earlier comparison may have been continued

    def _is_needed(self, since: float) -> bool:
        """Whether everything has to be compared to know the changes up to this time."""
        return self.notifier.blind and self._began < since

    def _is_cheap(self) -> bool:
        """Whether a caller may be delayed by a comparison of everything."""
        waited = time.monotonic() - self._looked
        return self._cost < CHEAP or self._cost < waited * SHARE_OF_CALLERS

    def look_everywhere(self, until: float = math.inf) -> None:
        """Compare everything, and record the processor time."""
        started, self._began = time.thread_time(), time.monotonic()
        self.snapshot.look_everywhere(until)
        self._cost, self._looked = time.thread_time() - started, time.monotonic()

    def _go_on(self, until: float) -> None:
        """Continue an unfinished comparison."""
        if self.snapshot.behind:
            started = time.thread_time()
            self.snapshot.go_on(until)
            self._cost += time.thread_time() - started
            self._looked = time.monotonic()

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
        old, self.notifier, self.limit = self.notifier, PollingNotifier(), ""
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
    # Imported here: each is for some systems only.
    if sys.platform == "linux":
        from lspkit.runtime.watch.inotify import InotifyNotifier

        return InotifyNotifier()
    from lspkit.runtime.watch.watchfiles_backend import WatchfilesNotifier

    return WatchfilesNotifier()
