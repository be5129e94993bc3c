"""What one server has found, and what is known about how fresh that is."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable
from typing import Any

from lspkit.diagnostics import settle
from lspkit.diagnostics.proof import ProofRule
from lspkit.diagnostics.store import PUSHED, StoredReport
from lspkit.errors import LspkitError
from lspkit.protocol.open_documents import OPEN_LIMIT, View
from lspkit.protocol.server_signal import LOG_MESSAGE
from lspkit.protocol.session import Session
from lspkit.protocol.uris import uri_to_path
from lspkit.protocol.wire.bounded_lists import bounded_report
from lspkit.runtime.concurrency.waiting import Waiter
from lspkit.runtime.files import Files
from lspkit.runtime.server.document_channel import DocumentChannel
from lspkit.runtime.server.metrics import log_findings
from lspkit.runtime.server.observations import Observations
from lspkit.runtime.server.pending_request import PendingRequest
from lspkit.servers import Choice
from lspkit.servers.project.config_inputs import Inputs
from lspkit.servers.project.ignore_files import ignoring
from lspkit.servers.project.skipped_files import passed_over
from lspkit.servers.readiness import Loading

#: Why an empty list is no proof where the server leaves a folder out.
PASSED_OVER = (
    "it passes over files in {}/ unless the project says otherwise, so its silence proves nothing"
)
#: So much of a line that a server has written is told.
LONGEST_LINE = 300
#: A question that nobody knows, and that every server refuses at once, in its turn.
BARRIER = "$/barrier"
#: A symbol that no project has.
NO_SYMBOL = "\u2205"
#: The same where a file says what it leaves out.
IGNORED = "it passes over what {} names, so its silence proves nothing"


class DiagnosticsRecord(DocumentChannel):
    """A conversation with a memory of what was found. `Server` adds its life."""

    def __init__(
        self, session: Session, choice: Choice, files: Files, on_change: Callable[[], None]
    ) -> None:
        definition = choice.definition
        opens_as_on_disk = definition.documents.unsaved == "changed"
        key_of = functools.lru_cache(maxsize=OPEN_LIMIT)(definition.key_of)
        super().__init__(session, key_of, files, opens_as_on_disk=opens_as_on_disk)
        self.choice = choice
        self._on_change = on_change
        #: What it has said so far. Guarded by the lock.
        self.heard = Observations(definition)
        #: Whether answers can be trusted: some servers answer before they know the project.
        self.loading = Loading(definition.readiness)
        #: Why it cannot be used (any more).
        self.failure: LspkitError | None = None
        #: What it has read of its configuration.
        self.inputs = Inputs(definition, choice.root)
        #: Whether it goes by what is no longer so, and has to be replaced by a new process.
        self.outdated = False
        #: Whether it has ever answered or found anything. And whether it ended before that, and
        #: another one may be started at once.
        self.was_of_use = self.false_start = False
        #: Since when it is to read its configuration again; None if it has. And a question that it
        #: was asked just before it was told: what it writes before the answer is of another time.
        self.rereading: float | None = None
        self._barrier: PendingRequest | None = None
        #: Changes of files that it was told of since it was last asked because of so many.
        self._files_told = 0

    @property
    def may_be_replaced(self) -> bool:
        """Whether whoever waits for it may ask another process in its place."""
        return self.outdated or self.false_start

    def forget(self, uri: str) -> None:
        """The file is gone, and with it what was wrong with it."""
        super().forget(uri)
        self.gone(uri)

    def gone(self, uri: str) -> None:
        """A file that may never have been open is no more."""
        with self.lock:
            self.heard.store.drop(uri)

    def pushed(self, uri: str, version: int | None, items: bytes) -> None:
        """Keep what it said unasked."""
        items, dropped = bounded_report(items)
        with self.lock:
            self.session.dropped["findings"] += dropped
            self.heard.store.push(uri, version, items, time.monotonic())
        log_findings(self.choice.id, uri, (items,), "pushed")
        self._on_change()

    def overrun(self, dropped: int) -> None:
        """It is not told of all that it wants to hear of, so its silence proves nothing."""
        self.beyond("registrations", dropped)
        with self.lock:
            self.heard.overrun = (
                "it has asked to be told of more than lspkit can look after, so it may miss changes"
            )

    def beyond(self, what: str, number: int) -> None:
        """So much of what it sent was beyond a limit."""
        with self.lock:
            self.session.dropped[what] += number

    def dropped(self) -> dict[str, int]:
        """How much of what it has sent was beyond a limit, by what it is."""
        with self.lock:
            counts = dict(self.session.dropped)
            counts["reports"] = self.heard.store.dropped
            counts["pieces of work"] = self.session.progress.dropped
        return {what: number for what, number in sorted(counts.items()) if number}

    def believe(self) -> None:
        """It knows its project: what it says from now on counts, unless it loads it again."""
        if self.heard.ready is None:
            with self.lock:
                if not self.loading.again:
                    self.heard.believe(time.monotonic())

    def logged(self, line: str) -> str:
        """It has written a line for people, from which some things can be told.

        Returns why it is of no use at all, if that is one of them.
        """
        message = {"message": line}
        self.loading.notified(LOG_MESSAGE, message)
        with self.lock:
            admission = self.heard.read(message)
            if admission is not None and admission.afresh and self._disk:
                self.outdated = True
            config = self.choice.definition.disk.config
            signals = () if config is None else config.says
            has_read = any(one.fits(LOG_MESSAGE, message) for one in signals)
            if has_read and self._barrier is not None and self._barrier.waiter.done:
                self.rereading = self._barrier = None
        if admission is None or not admission.ends:
            return ""
        part = admission.says.contains
        said = next((one for one in line.splitlines() if part in one), line)
        return f"{admission.means}. It says: {said.strip()[:LONGEST_LINE]}"

    def reread(self) -> bool:
        """It is about to be told of a new configuration; whether it has to be replaced for that."""
        config = self.choice.definition.disk.config
        try:
            barrier = self.ask(BARRIER, None) if config is not None and config.says else None
        except LspkitError:
            barrier = None  # it is only just starting, and may have read the old one
        if barrier is None:
            self.outdated = True
            return True
        with self.lock:
            self.rereading, self._barrier = time.monotonic(), barrier
        return False

    def notes_of_files(
        self, changed: Iterable[str], changes: list[dict[str, Any]], reread: Iterable[str] = ()
    ) -> None:
        """The same, and remember that it begins to work at that, if it is one that does."""
        if changes:
            with self.lock:
                self.heard.told_of_files(time.monotonic())
        super().notes_of_files(changed, changes, reread)

    def _tell_of_files(self, changes: list[dict[str, Any]]) -> None:
        """And ask something, whatever the answer, if it would else lose an edit after so many."""
        super()._tell_of_files(changes)
        self._files_told += len(changes)
        if 0 < self.choice.definition.exceptions.loses_edits_after < self._files_told:
            self._files_told = 0
            self._queue(
                PendingRequest("workspace/symbol", Waiter(), None), [], {"query": NO_SYMBOL}
            )

    def start_work(self, rule: ProofRule) -> bool:
        """Let it begin with the work that this rule goes by; False if it may still be at it."""
        with self.lock:
            if not self.heard.started(rule, time.monotonic()):
                return False
            self._post([(rule.start, {})])
            return True

    def stop_work(self, rule: ProofRule) -> bool:
        """Let it leave off with a run from before, unless somebody still waits for that."""
        with self.lock:
            if not self.heard.stopped(rule, time.monotonic()):
                return False
            self._post([(rule.stop, {})])
            return True

    def want_work(self, who: int, since: float | None) -> None:
        """Somebody waits for work that was started then or later; None: no longer."""
        with self.lock:
            if since is None:
                self.heard.wanted.pop(who, None)
            else:
                self.heard.wanted[who] = since

    def gives_no_versions(self) -> None:
        """Its pushes carry no versions."""
        with self.lock:
            self.heard.versionless = True

    def pulled(
        self,
        uri: str,
        version: int | None,
        items: bytes,
        source: str = PUSHED,
        result_id: str | None = None,
        asked_at: float | None = None,
    ) -> None:
        """Keep what it answered about the text on disk."""
        items, dropped = bounded_report(items)
        with self.lock:
            self.session.dropped["findings"] += dropped
            self.heard.store.pulled(
                uri,
                version,
                items,
                time.monotonic(),
                source=source,
                result_id=result_id,
                asked_at=asked_at,
            )
        self._on_change()

    def last_said(self, uri: str, source: str = PUSHED) -> StoredReport | None:
        """The newest report of one source about a file."""
        with self.lock:
            return self.heard.store.last(uri, source)

    def is_done_with(self, uri: str) -> bool:
        """Whether it has nothing more to do with a file; of one that never says so, always."""
        with self.lock:
            return self.heard.rests(uri)

    def doubt(self, uri: str) -> str:
        """Why it proves nothing that it finds nothing in a file; empty if it does prove it."""
        with self.lock:
            said = self.heard.doubt(uri)
        path = uri_to_path(uri)
        if said or path is None:
            return said
        choice = self.choice
        folder = passed_over(path, choice.definition, choice.root, self._files.boundary.root)
        if folder:
            return PASSED_OVER.format(folder)
        names = choice.definition.exceptions.ignore_files
        ignored_by = ignoring(path, names, choice.root) if names else ""
        return IGNORED.format(ignored_by) if ignored_by else ""

    def remembered(self, uri: str) -> list[StoredReport]:
        """The last that it said about a file, also about a text that is no longer there."""
        with self.lock:
            return self.heard.store.about(uri)

    def known(self) -> list[StoredReport]:
        """What it has to say, but nothing about a text that is no longer there."""
        with self.lock:
            versions = {one.key.uri: one.version for one in self.documents}
            return [
                said
                for said in self.heard.store.known()
                if said.version is None or said.version >= versions.get(said.uri, 0)
            ]

    def is_first(self, view: View) -> bool:
        """Whether it is the text that the document was opened with."""
        with self.lock:
            document = self.documents.get(view.uri)
            return document is not None and document.opened == view.version

    def facts(
        self, view: View, basis: list[settle.FreshnessEvent]
    ) -> tuple[list[settle.FreshnessEvent], StoredReport | None]:
        """What has happened so far, as far as it concerns findings about this text; and these.

        Both at once: what is read a moment later may be about another text.
        """
        with self.lock:
            events = [*basis, *self.heard.about(view.uri)]
            if not self._shows(view):
                # Nobody has noted when: at any time since the write, from the next version on.
                version = view.version + 1
                events.append(settle.Superseded(version=version, at=basis[0].at))
            if self.failure is not None:
                reason = self.failure.message
                events.append(settle.Gone(reason=reason, at=time.monotonic()))
            return events, self.heard.store.last(view.uri)

    def still_shows(self, view: View) -> bool:
        """Whether the document has had no other text since."""
        with self.lock:
            return self._shows(view)

    def pushed_about(self, view: View) -> tuple[StoredReport | None, bool]:
        """The newest push, and whether the document has had no other text up to now."""
        with self.lock:
            return self.heard.store.last(view.uri), self._shows(view)

    def _shows(self, view: View) -> bool:
        """Whether the document has had no other text since. The lock is held."""
        document = self.documents.get(view.uri)
        return document is not None and document.since <= view.version
