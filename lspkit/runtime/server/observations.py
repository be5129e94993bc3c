"""What one server has reported so far that decides whether its findings are fresh.

The newest report about each file, the work that began and ended, whether its answers count yet, and
its own notifications that make its findings doubtful. Guarded by the server's lock.
"""

from __future__ import annotations

import collections
from typing import Any

from lspkit.diagnostics import freshness_events
from lspkit.diagnostics.finished_files import FinishedFiles
from lspkit.diagnostics.store import DiagnosticsStore
from lspkit.limits import LONGEST_WORDS, MOST_REPORTED_FILES
from lspkit.protocol.events import LOG_MESSAGE, PROGRESS
from lspkit.protocol.uris import normalize_uri
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import Admission

#: How many events of work are remembered.
REMEMBERED = 64


class Observations:
    """The observations of one server process."""

    def __init__(self, definition: Definition) -> None:
        self._proofs = definition.proofs
        self._doubts = definition.caveats.doubts
        self._goes_by_work = any(rule.token or rule.how == "progress" for rule in self._proofs)
        self._rests_by = [signal for rule in definition.proofs for signal in rule.rests_by]
        self._admissions = definition.caveats.admissions
        self._fails = () if definition.disk.config is None else definition.disk.config.fails
        self.store = DiagnosticsStore()
        #: Since when its answers count; None if they do not yet.
        self.ready: freshness_events.Ready | None = None
        self.work: collections.deque[freshness_events.FreshnessEvent] = collections.deque(
            maxlen=REMEMBERED
        )
        #: Whether its pushes carry no versions, where its definition does not say so.
        self.versionless = False
        #: Why its findings about a file do not count, by URI; "" stands for all files.
        self._doubtful: dict[str, str] = {}
        #: Why none of its findings count: it exceeded a limit.
        self.overrun = ""
        #: The log line by which it said that it does not check.
        self.admitted: Admission | None = None
        #: The first line by which it said that it cannot read its configuration.
        self.unread_configuration = ""
        #: The files that it says it is done with.
        self._finished = FinishedFiles()
        #: Callers that wait for work: id, and the earliest start of that work.
        self.wanted: dict[int, float] = {}

    def believe(self, now: float) -> None:
        """Its answers count from now on."""
        if self.ready is None:
            self.ready = freshness_events.Ready(at=now)

    def disbelieve(self) -> None:
        """They no longer count: it is loading its project again."""
        self.ready = None

    def began(self, token: str | int, title: str, now: float) -> None:
        """A piece of work began; its name is its token or its title."""
        if self._is_doubt(title):
            self._doubtful[""] = f"it says: {title}"
        self.work.append(freshness_events.Began(token=_name(token, title), title=title, at=now))

    def ended(self, token: str | int, title: str, now: float) -> None:
        """It ended."""
        self.work.append(freshness_events.Ended(token=_name(token, title), at=now))
        if self._is_doubt(title):
            self._doubtful.pop("", None)

    def _is_doubt(self, title: str) -> bool:
        """Whether this title says that the server cannot check anything."""
        return any(doubt.fits(PROGRESS, {"title": title}) for doubt in self._doubts)

    def told_of_files(self, now: float) -> None:
        """It is about to be told of changed files: some servers start work then."""
        for rule in self._proofs:
            if rule.how == "version" and rule.token:
                self.work.append(freshness_events.Started(token=rule.token, at=now))

    def rests(self, uri: str) -> bool:
        """Whether it says that it has finished a file, or never says so."""
        return not self._rests_by or self._finished.get(uri) is not None

    def sent(self, uri: str, version: int, now: float) -> None:
        """It is sent another text, or another version, of a file."""
        if self._rests_by:
            self._finished.sent(uri, version, now)

    def about(self, uri: str) -> list[freshness_events.FreshnessEvent]:
        """The events that decide about the freshness of one file."""
        events: list[freshness_events.FreshnessEvent] = [] if self.ready is None else [self.ready]
        push = self.store.last(uri)
        if push is not None:
            events.append(freshness_events.Pushed(uri=uri, version=push.version, at=push.at))
        rested = self._finished.get(uri)
        if rested is not None:
            events.append(rested)
        if self._goes_by_work:
            events += self.work
        return events

    def noticed(self, method: str, params: dict[str, Any], now: float) -> str:
        """It has sent a notification, which may make its findings doubtful, or no longer so.

        Returns the URI of the file whose state this is; empty if it may concern any file.
        """
        uri = ""
        if any(method == signal.method for signal in self._rests_by):
            uri = _uri_in(params)
            if any(signal.fits(method, params) for signal in self._rests_by):
                self._finished.rests(uri, now, self.store.last(uri))
            else:
                self._finished.works(uri, now)
        for doubt in self._doubts:
            if doubt.fits(method, params):
                self._doubt(_uri_in(params), _words_of(method, params))
            elif method == doubt.method:
                self._doubtful.pop(_uri_in(params), None)
        return uri

    def _doubt(self, uri: str, reason: str) -> None:
        if len(self._doubtful) < MOST_REPORTED_FILES or uri in self._doubtful:
            self._doubtful[uri] = reason
        else:
            self.overrun = "it puts more files in doubt than are remembered"

    def read(self, message: dict[str, str]) -> Admission | None:
        """It has logged a line. Returns the first admission that it does not check."""
        if not self.unread_configuration and any(
            signal.fits(LOG_MESSAGE, message) for signal in self._fails
        ):
            self.unread_configuration = message["message"][:LONGEST_WORDS]
        if self.admitted is not None:
            return None
        for admission in self._admissions:
            if admission.says.fits(LOG_MESSAGE, message):
                self.admitted = admission
                break
        return self.admitted

    def doubt(self, uri: str) -> str:
        """Why its findings about a file do not count; empty if they do."""
        admitted = "" if self.admitted is None else self.admitted.means
        return self._doubtful.get(uri) or self._doubtful.get("", "") or self.overrun or admitted


def _name(token: str | int, title: str) -> str:
    return token if isinstance(token, str) else title


def _uri_in(params: dict[str, Any]) -> str:
    """The file that a notification is about, wherever the params name it."""
    for value in (params, *params.values()):
        if isinstance(value, dict) and isinstance(value.get("uri"), str):
            return normalize_uri(value["uri"])
    return ""


def _words_of(method: str, params: dict[str, Any]) -> str:
    words = params.get("message")
    return f"{method}: {words[:LONGEST_WORDS]}" if isinstance(words, str) else f"it says {method}"
