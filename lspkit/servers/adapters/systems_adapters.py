"""Adapters of servers for compiled languages."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from lspkit.diagnostics import freshness_events as events
from lspkit.diagnostics.freshness_events import Began, Case, Judged, Pushed, Quiet
from lspkit.diagnostics.progress_proof import is_named, may_start, runs_of
from lspkit.protocol.capabilities import DOCUMENT_SYMBOLS, InitializeOptions
from lspkit.protocol.open_documents import SyncOptions
from lspkit.protocol.registrations import CREATED, DELETED
from lspkit.servers.adapters.adapter import Adapter, BackgroundIndex
from lspkit.servers.definition import Definition
from lspkit.workspace_boundary import is_inside


class Clangd(Adapter):
    """clangd: checks a document again only if it is changed, saved, or rebuilt by force.

    It takes no notice of files that change on disk. Only a forced rebuild looks again for a missing
    header, or checks an unchanged text. A changed text makes it compare the files that the document
    includes, by size and by modification time in whole seconds.

    What a file includes comes into its index only after findings about the file. The index covers
    the files of a compilation database, and open files. `.clangd` can say where a database is.

    It keeps the syntax trees of three files, and would build that of another one again for an
    answer.

    It publishes at once only if the change asks for it; otherwise it waits for the end of typing.
    """

    change_params: Mapping[str, Any] = {"wantDiagnostics": True}
    touch_params: Mapping[str, Any] = {"forceRebuild": True}
    index = BackgroundIndex(
        title="indexing",
        needs=("compile_commands.json", "build/compile_commands.json", ".clangd"),
        without=(
            "clangd has built no index: a compile_commands.json is missing, or its `directory` "
            "is not an absolute path, so it knows only open files and what they include"
        ),
    )
    # 0.3 to 0.4 s with a few headers of the standard library, and longer on a busy machine.
    index_lag = 2.0


#: How far the clock of a file system may be behind, in nanoseconds.
_BEHIND = 20_000_000
#: For a file that existed when the process was started: its values are unknown.
_OLD = (0, 0, 0)


class Gopls(Adapter):
    """gopls: takes a file for unchanged that has the time and size of the one before it.

    So it does not notice new content that comes from an archive or a cache, or on a file system
    with coarse times.
    """

    def restart_rule(self, definition: Definition, root: str) -> Callable[[str, int], bool]:
        """A new process reads all sources."""
        times = Times()

        def needs_restart(path: str, kind: int) -> bool:
            is_source = definition.language_of(os.path.basename(path)) is not None
            return is_source and is_inside(path, root) and times.hide(path, kind)

        return needs_restart


class Times:
    """The times and sizes of files that have changed since a process was started.

    Kept by the thread that delivers events to the server.
    """

    def __init__(self) -> None:
        self._began = time.time_ns()
        #: Path: modification time, size and ctime. Those of a deleted file are kept, since the
        #: server keeps its content.
        self._known: dict[str, tuple[int, int, int]] = {}

    def hide(self, path: str, kind: int) -> bool:
        """Whether a file has new content, with the time and size that it had before."""
        try:
            status = os.stat(path)
        except OSError:
            kind = DELETED
        if kind == DELETED:
            self._known.setdefault(path, _OLD)
            return False
        known = self._known.get(path, None if kind == CREATED else _OLD)
        now = self._known[path] = status.st_mtime_ns, status.st_size, status.st_ctime_ns
        if known is None:
            return False
        if known == _OLD:
            return status.st_mtime_ns < self._began < status.st_ctime_ns + _BEHIND
        return now[:2] == known[:2] and now != known


class RustAnalyzer(Adapter):
    """rust-analyzer: loads the project and reads files in the background.

    It says by a notification of its own when it has loaded the project. It answers requests from a
    file's old text for a while after the file has changed on disk, but it can be asked for that
    text.

    Its second source of findings is `cargo check`. It cancels that when another file is saved, and
    reports an end then, too. So lspkit alone starts it, one run at a time: each end is a real one,
    and a request after the end shows that the findings have been sent. Cargo runs build scripts,
    and the other findings depend on the sources that they write.
    """

    text_request = "rust-analyzer/viewFileText"
    start_work = "rust-analyzer/runFlycheck"
    stop_work = "rust-analyzer/cancelFlycheck"

    def needs_project(self, method: str) -> bool:
        """It answers from the document alone, rightly also before the project is loaded."""
        return method != DOCUMENT_SYMBOLS

    def initialize(self, options: InitializeOptions) -> InitializeOptions:
        """It sends `experimental/serverStatus` only to clients that name it."""
        return replace(options, experimental={"serverStatusNotification": True})

    def proof_by_progress(self, case: Case) -> Judged:
        """A run that was started after the text was on disk, ended, and had its findings sent."""
        rule = case.rule
        ready = next(event.at for event in case.events if isinstance(event, events.Ready))
        since = max(case.since, ready)
        runs = runs_of(rule, case.events)
        for run in runs:
            if run.asked < since or run.ended is None or run.stopped:
                continue
            answered = (item for item in case.events if isinstance(item, events.RequestAnswered))
            for event in answered:
                if event.tag == rule.ask and event.at >= run.ended:
                    return events.Proven("progress", event.at)
            return case.wait("ordered")  # its findings may not have been sent yet
        if may_start(rule, case.events, case.now):
            return case.wait("start")
        last = runs[-1]
        if last.began is None:
            return case.wait(until=last.asked + events.PATIENCE)
        return case.wait("stop" if self.stop_work and last.asked < since else "")


#: The title of the task that looks at changed documents.
_VALIDATION = "Validate documents"


class Jdtls(Adapter):
    """jdtls: publishes for all open documents, some time after the last change.

    Each run of that may be cancelled by a later change, and may follow one that has validated the
    documents before the change. So a push counts after a run that began after a validation, if the
    server had read the change before. It proves nothing even then: in a race of two files one push
    in some hundred was stale.

    After `didSave` it reads the disk, which may be newer than the document.
    """

    def sync_options(self, options: SyncOptions) -> SyncOptions:
        """No `didSave`, and the whole text with every change."""
        return replace(options, change=min(options.change, 1), save=False)

    def proof_by_progress(self, case: Case) -> Judged:
        """The push after a run, which merely counts."""
        answers = case.answers()
        if not answers:
            return case.wait("ordered")
        start = max(case.since, answers[0])
        begun = [event for event in case.events if isinstance(event, Began)]
        validated = (event.at for event in begun if event.title.startswith(_VALIDATION))
        first = next((max(start, at) for at in validated if at >= case.since), math.inf)
        runs = [event.at for event in begun if is_named(event, case.rule) and event.at >= first]
        for event in case.events if runs else ():
            if isinstance(event, Pushed) and event.uri == case.target.uri and event.at >= runs[0]:
                return Quiet(event.at)
        again = start + case.target.patience
        if runs or case.now < again:
            return case.wait() if runs else case.wait(until=again)
        return case.wait("touch")
