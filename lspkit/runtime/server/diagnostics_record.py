"""What one server has found, and what is known about its freshness."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.diagnostics import freshness_events
from lspkit.diagnostics.configuration_error import (
    CANNOT_READ,
    ConfigurationError,
    as_finding,
    configuration_error,
    unread_option,
)
from lspkit.diagnostics.progress_proof import at_work_since, may_start
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.diagnostics.store import PUSHED, StoredReport
from lspkit.errors import LspkitError
from lspkit.limits import MOST_REPORTED_FILES
from lspkit.protocol.capabilities import EXECUTE_COMMAND
from lspkit.protocol.events import LOG_MESSAGE
from lspkit.protocol.open_documents import View
from lspkit.protocol.uris import path_to_uri, uri_to_path
from lspkit.protocol.wire.results import bounded_report
from lspkit.runtime.server.connection import STDERR_KEPT
from lspkit.runtime.server.document_channel import DocumentChannel
from lspkit.runtime.server.metrics import log_findings
from lspkit.runtime.server.pending_request import PendingRequest
from lspkit.runtime.server.process_state import ProcessState
from lspkit.servers.project.config_inputs import Inputs
from lspkit.servers.project.skipped_files import passed_over
from lspkit.servers.readiness import Loading
from lspkit.servers.selection.choose import Choice
from lspkit.workspace_boundary import folders_above

#: Why an empty list is no proof where the server skips a folder.
PASSED_OVER = (
    "it passes over files in {}/ unless the project says otherwise, so its silence proves nothing"
)
#: Longest part of a line of a server's log that is shown.
LONGEST_LINE = 300
#: A method that no server knows: each answers it with an error, in the order of its requests.
BARRIER = "$/barrier"


class DiagnosticsRecord:
    """The findings of one server, and the channel that they came through."""

    def __init__(
        self,
        channel: DocumentChannel,
        choice: Choice,
        workspace: str,
        on_change: Callable[[str], object],
    ) -> None:
        self._channel = channel
        self._choice = choice
        self._workspace = workspace
        self._on_change = on_change
        #: Whether answers can be trusted: some servers answer before they know the project.
        self.loading = Loading(choice.definition.readiness)
        #: What it has read of its configuration.
        self.inputs = Inputs(choice.definition, choice.root, choice.environments)
        #: Since when it has to read its configuration again, and a request that was sent just
        #: before it was told: log lines before its answer are about the old one. None if it has.
        self._reread: tuple[float, PendingRequest] | None = None
        #: What it says about its configuration.
        self.configuration = ConfigurationRecord(channel, choice, self.pulled)

    def gone(self, uri: str) -> None:
        """A file is deleted; it may never have been open."""
        with self._channel.lock:
            self._channel.observations.store.drop(uri)

    def pushed(self, uri: str, version: int | None, items: bytes) -> None:
        """Keep a push."""
        items, dropped = bounded_report(items)
        with self._channel.lock:
            self._channel.session.dropped["findings"] += dropped
            self._channel.observations.store.push(
                uri, version, items, time.monotonic(), self._channel.client_shown()
            )
        log_findings(self._choice.id, uri, (items,), "pushed")
        self._on_change(uri)

    def overrun(self, dropped: int) -> None:
        """It registered for more files than are watched, so its silence proves nothing."""
        self.beyond("registrations", dropped)
        with self._channel.lock:
            self._channel.observations.overrun = (
                "it has asked to be told of more than lspkit can look after, so it may miss changes"
            )

    def beyond(self, what: str, number: int) -> None:
        """Count what it sent beyond a limit."""
        with self._channel.lock:
            self._channel.session.dropped[what] += number

    def dropped(self) -> dict[str, int]:
        """How much of what it sent was beyond a limit, by kind."""
        with self._channel.lock:
            counts = dict(self._channel.session.dropped)
            counts["reports"] = self._channel.observations.store.dropped
            counts["pieces of work"] = self._channel.session.progress.dropped
        return {what: number for what, number in sorted(counts.items()) if number}

    def loads(self) -> None:
        """It is up: if it has nothing to load, it is ready. The lock is held."""
        if self.loading.is_over(busy=False, late=False):
            self._channel.life.move("loaded")
            self._channel.observations.believe(time.monotonic())

    def has_loaded(self, *, late: bool) -> bool:
        """Whether its answers count. `late`: the time to start any work is over.

        Its findings count from now on, too, unless it loads the project again.
        """
        channel = self._channel
        with channel.lock:
            life, busy = channel.life, bool(channel.session.progress.work)
            if not life.rights.is_loaded and not self.loading.is_over(busy=busy, late=late):
                return False
            if life.state is ProcessState.LOADING:
                life.move("loaded")
            if life.state is not ProcessState.RELOADING:
                channel.observations.believe(time.monotonic())
            return True

    def rereads_since(self) -> float | None:
        """Since when it has to read its configuration again, by the monotonic clock."""
        reread = self._reread
        return None if reread is None else reread[0]

    def noticed(self, method: str, params: dict[str, Any]) -> str:
        """It has sent a notification, which may tell its state.

        Returns the URI of the file whose state this is; empty if it may concern any file.
        """
        with self._channel.lock:
            about = self._channel.observations.noticed(method, params, time.monotonic())
            self._load_by_its_word(method, params)
        return about

    def _load_by_its_word(self, method: str, params: dict[str, Any]) -> None:
        """It may say that it has loaded its project, or loads it again. The lock is held.

        If it says both, its findings count only between the two.
        """
        event = self.loading.notified(method, params)
        if not event or not self._channel.life.rights.is_up:
            return
        if event == "reload" or self._reread is None:  # else it reads its configuration again
            self._channel.life.move(event)
        if event == "reload":
            self._channel.observations.disbelieve()
        elif self._choice.definition.readiness.unready_by is not None:
            self._channel.observations.believe(time.monotonic())

    def logged(self, line: str) -> str:
        """Read a line of its log, which may tell its state.

        Returns why the server is unusable, if the line says so.
        """
        message = {"message": line}
        with self._channel.lock:
            self._load_by_its_word(LOG_MESSAGE, message)
            admission = self._channel.observations.read(message)
            if admission is not None and admission.afresh and self._channel.clock.disk_has_changed:
                self._channel.life.move("outdated")
            config = self._choice.definition.disk.config
            signals = () if config is None else config.says
            has_read = any(signal.fits(LOG_MESSAGE, message) for signal in signals)
            if has_read and self._reread is not None and self._reread[1].waiter.done:
                self._reread = None
                self._channel.life.move("loaded")
        if admission is None or not admission.ends:
            return ""
        part = admission.says.contains
        words = next((row for row in line.splitlines() if part in row), line)
        return f"{admission.means}. It says: {words.strip()[:LONGEST_LINE]}"

    def reread(self) -> None:
        """It is about to be told of a new configuration, and reads it or must be replaced."""
        config = self._choice.definition.disk.config
        try:
            barrier = (
                self._channel.ask(BARRIER, None) if config is not None and config.says else None
            )
        except LspkitError:
            barrier = None  # it is starting, and may have read the old configuration
        with self._channel.lock:
            life = self._channel.life
            if barrier is None or not life.rights.is_loaded:
                life.move("outdated")
            else:
                self._reread = time.monotonic(), barrier
                life.move("reload")

    def request_refresh(self) -> None:
        """Have it read all its files again. No wait: it handles requests in order."""
        refresh = self._choice.definition.disk.refresh
        if refresh is None:
            return
        self.configuration.forget()
        root = path_to_uri(self._choice.root).encode()
        params = msgspec.json.decode(msgspec.json.encode(refresh.params).replace(b"{root}", root))
        send = self._channel.ask if refresh.method == EXECUTE_COMMAND else self._channel.say
        try:
            send(refresh.method, params)
        except LspkitError:
            pass  # it has just ended

    def start_work(self, rule: ProofRule) -> bool:
        """Start the work that this rule waits for; False if earlier work may still be running."""
        with self._channel.lock:
            observations, now = self._channel.observations, time.monotonic()
            ready = [] if observations.ready is None else [observations.ready]
            if not may_start(rule, [*ready, *observations.work], now):
                return False
            observations.work.append(freshness_events.Started(token=rule.token, at=now))
            self._channel.post([(self._choice.adapter.start_work, {})])
            return True

    def stop_work(self, rule: ProofRule) -> bool:
        """Stop work that was started earlier, unless a caller waits for it."""
        with self._channel.lock:
            observations = self._channel.observations
            began = at_work_since(rule, list(observations.work))
            wanted = list(observations.wanted.values())
            if began is None or any(since <= began for since in wanted):
                return False
            observations.work.append(
                freshness_events.Stopped(token=rule.token, at=time.monotonic())
            )
            self._channel.post([(self._choice.adapter.stop_work, {})])
            return True

    def want_work(self, caller: int, since: float | None) -> None:
        """A caller waits for work that was started at `since` or later; None: no longer."""
        with self._channel.lock:
            if since is None:
                self._channel.observations.wanted.pop(caller, None)
            else:
                self._channel.observations.wanted[caller] = since

    def gives_no_versions(self) -> None:
        """Its pushes carry no versions."""
        with self._channel.lock:
            self._channel.observations.versionless = True

    def pulled(
        self,
        uri: str,
        version: int | None,
        items: bytes,
        source: str = PUSHED,
        result_id: str | None = None,
        asked_at: float | None = None,
    ) -> None:
        """Keep its answer about the text on disk."""
        items, dropped = bounded_report(items)
        with self._channel.lock:
            self._channel.session.dropped["findings"] += dropped
            self._channel.observations.store.pulled(
                uri,
                version,
                items,
                time.monotonic(),
                source,
                result_id,
                asked_at,
                self._channel.client_shown(),
            )
        self._on_change(uri)

    def last_said(self, uri: str, source: str = PUSHED) -> StoredReport | None:
        """The newest report of one source about a file."""
        with self._channel.lock:
            return self._channel.observations.store.last(uri, source)

    def is_done_with(self, uri: str) -> bool:
        """Whether it has finished with a file; always True for a server that never says so."""
        with self._channel.lock:
            return self._channel.observations.rests(uri)

    def doubt(self, uri: str) -> str:
        """Why an empty list for a file proves nothing; empty if it is a proof."""
        with self._channel.lock:
            doubt = self._channel.observations.doubt(uri)
        doubt = doubt or self.configuration.doubt(uri)
        path = uri_to_path(uri)
        if doubt or path is None:
            return doubt
        choice = self._choice
        folder = passed_over(path, choice.definition, choice.root, self._workspace)
        if folder:
            return PASSED_OVER.format(folder)
        return choice.adapter.doubt(path, choice.root)

    def remembered(self, uri: str) -> list[StoredReport]:
        """Its last reports about a file, including those about an earlier text."""
        with self._channel.lock:
            return self._channel.observations.store.about(uri)

    def known(self) -> list[StoredReport]:
        """Its reports, without those about an earlier text, or beside another client's texts."""
        with self._channel.lock:
            versions = {document.key.uri: document.since for document in self._channel.documents}
            return [
                report
                for report in self._channel.observations.store.known()
                if (report.version is None or report.version >= versions.get(report.uri, 0))
                and report.client in (0, self._channel.client_number)
            ]

    def is_first(self, view: View) -> bool:
        """Whether this is the text that the document was opened with."""
        with self._channel.lock:
            document = self._channel.documents.get(view.uri)
            return document is not None and document.opened == view.version

    def facts(
        self, view: View, basis: list[freshness_events.FreshnessEvent]
    ) -> tuple[list[freshness_events.FreshnessEvent], StoredReport | None]:
        """The events so far that concern findings about this text, and the findings.

        Both are read under one lock: a moment later they may be about another text.
        """
        with self._channel.lock:
            events = [*basis, *self._channel.observations.about(view.uri)]
            if not self._shows(view):
                # The time was not recorded: at any time since the write, from the next version on.
                version = view.version + 1
                events.append(freshness_events.Superseded(version=version, at=basis[0].at))
            if self._channel.session.is_check_due(view.uri):
                events.append(freshness_events.CheckDue(at=basis[0].at))
            if self._channel.life.end is not None:
                reason = self._channel.life.end.error.message
                events.append(freshness_events.Gone(reason=reason, at=time.monotonic()))
            return events, self._channel.observations.store.last(view.uri)

    def still_shows(self, view: View) -> bool:
        """Whether the text of the document is still this one."""
        with self._channel.lock:
            return self._shows(view)

    def pushed_about(self, view: View) -> tuple[StoredReport | None, bool]:
        """The newest push, and whether the text of the document is still this one."""
        with self._channel.lock:
            return self._channel.observations.store.last(view.uri), self._shows(view)

    def _shows(self, view: View) -> bool:
        """Whether the text of the document is still this one. The lock is held."""
        document = self._channel.documents.get(view.uri)
        return document is not None and document.since <= view.version


class ConfigurationRecord:
    """The configuration as one server has read it. The lock of the channel guards all fields."""

    def __init__(
        self,
        channel: DocumentChannel,
        choice: Choice,
        keep: Callable[[str, int | None, bytes], None],
    ) -> None:
        self._channel = channel
        self._choice = choice
        #: Keeps findings about a file.
        self._keep = keep
        #: Why the server cannot read its configuration, from its own words; None if it can.
        self._error: ConfigurationError | None = None
        self._is_kept = False
        #: The configuration that includes a source, with the files that it extends: by URI of the
        #: source, and of the configuration, with the count of changes at which it was read.
        self._files: dict[str, tuple[tuple[str, ...], int]] = {}
        #: How often any of them may have changed.
        self.changes = 0

    def doubt(self, uri: str) -> str:
        """Why findings in a file are those for another configuration; empty if they are not."""
        error = self.error()
        if error is not None:
            self._keep_finding(error)
            return CANNOT_READ + error.message
        with self._channel.lock:
            reports = [
                (os.path.basename(path), report.items)
                for path in self._files.get(uri, ((), 0))[0]
                for report in self._channel.observations.store.about(path_to_uri(path))
            ]
        unread = unread_option(reports)
        return CANNOT_READ + unread if unread else ""

    def error(self) -> ConfigurationError | None:
        """What the server has said about it."""
        line, config = (
            self._channel.observations.unread_configuration,
            self._choice.definition.disk.config,
        )
        if not line or config is None or self._error is not None:
            return self._error
        connection, root = self._channel.connection, self._choice.root
        log = "" if connection is None else connection.stderr_tail(STDERR_KEPT)
        folders = (root, *folders_above(root))
        error = configuration_error(
            line, log, [os.path.join(folder, name) for folder in folders for name in config.names]
        )
        if error is not None and error.is_whole:  # otherwise its log may still come
            self._error = error
        return error

    def _keep_finding(self, error: ConfigurationError) -> None:
        """Keep what it has said as a finding at the file, once."""
        with self._channel.lock:
            is_kept = self._is_kept or not error.is_whole
            self._is_kept = self._is_kept or error.is_whole
        path = next((path for path in error.paths if os.path.isfile(path)), "")
        if path and not is_kept:
            self._keep(path_to_uri(path), None, as_finding(error, self._choice.id))

    def files_of(self, uri: str) -> tuple[str, ...] | None:
        """The files that configure a source or make up a configuration, if known and current."""
        with self._channel.lock:
            files, changes = self._files.get(uri, ((), -1))
            return files if changes == self.changes else None

    def note(self, uri: str, files: tuple[str, ...], changes: int) -> None:
        """These files do, as of `changes`.

        If one has changed since, what is known about them counts until they are read again.
        """
        with self._channel.lock:
            if len(self._files) >= MOST_REPORTED_FILES:
                self._files.clear()
            self._files[uri] = files, changes

    def forget(self) -> None:
        """A file of data or a package has changed, which may be part of a configuration."""
        with self._channel.lock:
            self.changes += 1
