"""A notifier and a snapshot put together: hints go in, events come out.

Has no thread and no lock; the watcher sees to it that one thread at a time is here. Also decides
what to do where hints fail: when some were lost everything is looked at, when there can be no more
watches everything is looked at by the clock, and what could not be read is tried again.
"""

from __future__ import annotations

import errno
import logging
import math
import time
from collections.abc import Callable

from lspkit.runtime.watch.backend import PollingNotifier
from lspkit.runtime.watch.notifier import Hints, Notifier
from lspkit.runtime.watch.tree_snapshot import TreeSnapshot

log = logging.getLogger("lspkit.runtime")

#: Seconds between two looks at what nobody hints at.
POLL = 2.0
#: Looking by the clock is done at most in this share of the time.
SHARE = 0.1
#: Looking at everything on the way to a question is done at most in this share of the time, unless
#: it took fewer processor seconds than `CHEAP`.
SHARE_OF_CALLERS, CHEAP = 0.25, 0.02

_LIMITS = {errno.ENOSPC: "the limit for watches is reached", errno.ENOMEM: "no memory is left"}


class Scanner:
    """Finds out what has happened. Not for two threads at once, except for `wait` and `wake`."""

    def __init__(self, make: Callable[[], Notifier], excluded: Callable[[str], bool]) -> None:
        self.snapshot = TreeSnapshot(self._watch, self._unwatch, excluded, self._watch_file)
        #: Why watches are to be given up, and empty if they are not.
        self.limit = ""
        self._hints: Hints = {}
        # Processor seconds that the last look at everything took, and when it ended.
        self._cost, self._looked = 0.0, 0.0
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
        """Take in the hints that there are; whether there were any, or more will come soon."""
        hinted = self.notifier.drain(self._hints) or self.notifier.lost
        return hinted or bool(self.notifier.writing)

    @property
    def is_behind(self) -> bool:
        """Whether there was no time to compare everything that was to be."""
        return bool(self.snapshot.behind or self._hints)

    def look(self, until: float = math.inf) -> bool:
        """Compare what was hinted at, in whatever state it is; False if there was no time for all.

        Then it is gone on with the next time.
        """
        self.notifier.writing.clear()
        self._go_on(until)
        if self.notifier.lost and not self.snapshot.behind:
            self.notifier.lost = False
            self.look_everywhere(until)
        for path in list(self._hints):
            if self.snapshot.behind or time.monotonic() >= until:
                break
            # Taken out only when it was looked at: an interrupt may come at any time.
            self.snapshot.look(path, anew=self._hints[path], until=until)
            if path in self.notifier.away:
                self.snapshot.was_away(path)
                self.notifier.away.discard(path)
            del self._hints[path]
        return not self.is_behind and not self.notifier.lost

    def look_by_the_clock(self, until: float = math.inf) -> None:
        """Compare what nobody hints at."""
        if self.notifier.blind and not self.snapshot.behind:
            self.look_everywhere(until)
        if self.snapshot.unsure or self.snapshot.missing():
            self.snapshot.try_again(until)

    def look_now(self, until: float = math.inf) -> bool:
        """Compare all that may have changed up to now, without any waiting; see `look`."""
        self.collect()
        is_new = not self.snapshot.due and not self.snapshot.behind
        if not self.notifier.exact and is_new and self._is_cheap():
            self.look_everywhere(until)
        if self.snapshot.unsure or self.snapshot.missing():
            self.snapshot.try_again(until)
        return self.look(until)

    def _is_cheap(self) -> bool:
        """Whether a caller may be made to wait for a look at everything."""
        waited = time.monotonic() - self._looked
        return self._cost < CHEAP or self._cost < waited * SHARE_OF_CALLERS

    def look_everywhere(self, until: float = math.inf) -> None:
        """Compare everything, and remember what that took."""
        started = time.thread_time()
        self.snapshot.look_everywhere(until)
        self._cost, self._looked = time.thread_time() - started, time.monotonic()

    def _go_on(self, until: float) -> None:
        """Compare what there was no time for."""
        if self.snapshot.behind:
            started = time.thread_time()
            self.snapshot.go_on(until)
            self._cost += time.thread_time() - started
            self._looked = time.monotonic()

    def read_some(self, seconds: float) -> None:
        """Read folders that are due for the first time."""
        until = time.monotonic() + seconds
        while self.snapshot.due and time.monotonic() < until:
            self.snapshot.read_next()

    def give_up_watches(self) -> str:
        """Look by the clock from now on; the words for the user.

        All watches are given back: else no other program of this user could have any.
        """
        log.debug("files are polled: %s", self.limit)
        warning = (
            f"files are looked at every {POLL:g} s or less often, because the system cannot watch "
            f"them: {self.limit}. Exclude folders, or raise the limit "
            "(on Linux fs.inotify.max_user_watches and max_user_instances)."
        )
        old, self.notifier, self.limit = self.notifier, PollingNotifier(), ""
        old.close()
        self.notifier.lost = True  # everything is looked at once more
        return warning

    def _watch(self, folder: str, follow: bool) -> None:
        if self.limit:
            return
        try:
            self.notifier.watch(folder, follow)
        except OSError as problem:
            if problem.errno not in _LIMITS:
                raise
            # Goes on without: who has the thread gives all of them up soon.
            self.limit = _LIMITS[problem.errno]
            self.notifier.wake()

    def _watch_file(self, path: str) -> None:
        if self.limit:
            return
        try:
            self.notifier.watch_file(path)
        except OSError:
            log.debug("%s cannot be watched by itself", path, exc_info=True)

    def _unwatch(self, folder: str) -> None:
        self.notifier.unwatch(folder)
