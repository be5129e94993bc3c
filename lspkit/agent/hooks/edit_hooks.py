"""Hooks after the tools of an agent: edited files are checked, and errors are reported.

A host calls `tool_result` with the output of a tool, and gives the result to its model. If the tool
has changed files, and the language servers find errors in them, a short text is appended. In all
other cases, also after a failure, the result is the output itself: a hook never makes an edit fail.

`tool_files.py` determines the files of a call and their texts before it, `check_timeout.py` the
timeout; the operation `check_edit` finds the errors, also in other files. `agent_session.py` keeps
what this agent has introduced and what was not answered, until the next edit. `summary.py` makes
the text, and `Prewarmer` handles files that are read.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import logging
import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lspkit.agent.check_timeout import CheckTimeouts
from lspkit.agent.hooks.agent_session import (
    RECENT,
    AgentSession,
    FileState,
    SortedFindings,
    text_of,
)
from lspkit.agent.hooks.summary import Summary
from lspkit.agent.hooks.tool_files import (
    REMOVING,
    Arguments,
    Files,
    Tool,
    ToolKind,
    Touch,
    plain_name,
    touch_of,
)
from lspkit.diagnostics.report import OtherFiles, Report
from lspkit.edit_types import ChangedFiles
from lspkit.errors import (
    PathError,
    RequestTimeoutError,
    ServerBrokenError,
    ServerUnavailableError,
)
from lspkit.operations import ChangedSinceRequest, CheckEditRequest, EditedFile
from lspkit.operations.checks.dependent_files import proven_servers
from lspkit.runtime.concurrency.call import CancelLike
from lspkit.runtime.engine_api import Limits
from lspkit.types import Diagnostic
from lspkit.workspace import Workspace
from lspkit.workspace_boundary import absolute_path

# The files that other calls of the hooks edit at the same time.
#
# Each call reports the findings in its own files. A file that another call edits meanwhile has new
# findings, too, but not because of this edit. Thread-safe: each change of a field is atomic.

#: Edits that are kept after their end.
MOST_EDITS = 256


class ConcurrentEdits:
    """The edits of one workspace."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        #: The paths of each edit, and when its check ended; infinite if it has not.
        self._edits: dict[int, tuple[frozenset[str], float]] = {}

    @contextlib.contextmanager
    def of(self, paths: Sequence[str]) -> Iterator[None]:
        """An edit of these files, until the end of its check."""
        number, edited = next(self._numbers), frozenset(paths)
        self._edits[number] = edited, float("inf")
        self._edits.pop(number - MOST_EDITS, None)
        try:
            yield
        finally:
            self._edits[number] = edited, time.monotonic()

    def without(self, others: OtherFiles, began: float) -> OtherFiles:
        """The findings in other files, without those in files edited since `began`."""
        edits = list(self._edits.values())
        edited = {path for paths, ended in edits if ended > began for path in paths}
        if others.introduced is None or not edited & others.introduced.keys():
            return others
        introduced = {
            path: findings for path, findings in others.introduced.items() if path not in edited
        }
        return msgspec.structs.replace(others, introduced=introduced)


# Sends files to their servers before the first request, without blocking the caller.
#
# An agent that reads a file will probably edit it soon; its servers should be running by then. A
# thread of the workspace sends one file at a time: with several, another thread might have to be
# started, which takes longer than a read may take.
#
# Thread-safe without a lock: each change of a field is atomic.

log = logging.getLogger("lspkit.agent")

#: Seconds during which another read of the same file is ignored.
READ_AGAIN = 1.0
#: Most files in the queue; of more, the oldest are dropped.
MOST = 64
#: Reads that are recorded before old ones are removed.
MOST_READS = 1000


class Prewarmer:
    """The queue of files that will be sent to their servers."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        #: When a file was last read, by the monotonic clock.
        self._read_at: dict[str, float] = {}
        #: Files that have not been sent yet.
        self._waiting: collections.deque[str] = collections.deque(maxlen=MOST)
        #: Those among them that were read, and not edited.
        self._read: set[str] = set()
        #: A token: the sender takes it out, and puts it back when it is done.
        self._turn: list[None] = [None]
        # The first job starts a thread; this must not delay the first read.
        ws.submit(ws.diagnostics)

    def read(self, paths: Sequence[str]) -> list[str]:
        """Record reads of these files; returns those that were not read a moment ago."""
        now = time.monotonic()
        since = now - READ_AGAIN
        new = [path for path in paths if self._read_at.get(path, since) <= since]
        if len(self._read_at) > MOST_READS:
            reads = list(self._read_at.items())
            self._read_at = {path: at for path, at in reads if at > since}
        self._read_at.update(dict.fromkeys(new, now))
        self._read.update(new)
        self.enqueue(new)
        return new

    def note_edited(self, paths: Sequence[str]) -> None:
        """Record edits: the present texts of these files are not those before an edit."""
        self._read.difference_update(paths)

    def enqueue(self, paths: Sequence[str]) -> None:
        """Queue these files."""
        self._waiting.extend(paths)
        self._sync_next()

    def _sync_next(self) -> None:
        while self._waiting:
            try:
                self._turn.pop()
            except IndexError:
                return  # another sender is active, and will continue
            future: object = None
            try:
                path = self._waiting.popleft()
                future = self._send(path)
            except IndexError:
                pass  # another thread took the file
            finally:
                if not isinstance(future, Future):
                    self._turn.append(None)
            if isinstance(future, Future):
                future.add_done_callback(self._sync_done)
                return

    def _send(self, path: str) -> object:
        """Send a file. The text of one that was read is the one before the next edit."""
        was_read = path in self._read
        self._read.discard(path)
        return self._ws.submit(self._ws.sync, path, baseline=was_read)

    def _sync_done(self, future: Future[Any]) -> None:
        """Put the token back after a file was sent, and send the next one."""
        problem = None if future.cancelled() else future.exception()
        if problem is not None:
            log.debug("the servers were not told: %s", problem)
        self._turn.append(None)
        self._sync_next()


T = TypeVar("T")

#: Most files that are checked after a shell command.
MOST_CHANGED = 64
#: Most agents whose sessions are kept, the last used ones.
MOST_SESSIONS = 16
#: Most seconds for the files that an agent has broken and that an edit does not concern.
REST_TIMEOUT = 1.0
#: Errors of a server that may answer after the next edit.
LATE = frozenset({RequestTimeoutError.code, ServerBrokenError.code})
#: The texts of files before a call, by the names that the call uses.
TextsBefore = Mapping[str, str]
#: Between the output of the tool and the appended text.
GAP = "\n\n"


class HookResult(msgspec.Struct, frozen=True):
    """The result of one hook, for hosts that need more than the text."""

    tool: str
    #: None if the hook failed before the kind was known.
    kind: ToolKind | None = None
    #: Reports about the edited files, by path.
    reports: dict[Path, Report] = {}
    #: Findings in other files, of any severity.
    others: dict[Path, list[Diagnostic]] = {}
    #: Findings in other files, with those that the edit introduced, fixed and left apart.
    other_files: OtherFiles = OtherFiles()
    #: Findings that earlier edits of this agent have introduced, and that are still there.
    still: dict[Path, list[Diagnostic]] = {}
    #: The appended text; empty if there is none.
    text: str = ""
    #: Seconds.
    duration: float = 0.0
    #: Failures and unknown results, as text for people.
    warnings: tuple[str, ...] = ()


class EditHooks:
    """The hooks of one workspace, for one agent or several. All methods are thread-safe.

        hooks = EditHooks(ws)
        output = my_write_tool(path=path, content=text)
        output = hooks.tool_result("write_file", {"path": path, "content": text}, output)

    No lock is needed: each change of a field is atomic.
    """

    def __init__(self, ws: Workspace, *, summary: Summary | None = None) -> None:
        self._ws = ws
        #: None: as configured at the time of the call.
        self._summary = summary
        #: Registered tools of the host, by plain name.
        self._tools: dict[str, Tool] = {}
        self._timeouts = CheckTimeouts(ws)
        self._prewarmer = Prewarmer(ws)
        self._edits = ConcurrentEdits()
        #: What has changed so far: what the first command changes is seen, also if nothing is
        #: edited before it. Asked in a thread, since a host may hold a lock now.
        self._start: Future[ChangedFiles] = ws.submit(ws.changed_files)
        #: The mark of the last call of any agent, None: of the start. A new agent begins with it,
        #: since it may be heard of only after its first command has run.
        self._mark: int | None = None
        #: By the host's name for it.
        self._sessions: dict[str, AgentSession] = {}
        self._calls = itertools.count()
        self._tallies: dict[str, _Tally] = {
            name: _Tally() for name in (*map(str, ToolKind), "other", "appended", "failed")
        }
        #: The result of the last edit, in any thread.
        self.last: HookResult | None = None

    def __repr__(self) -> str:
        return f"<EditHooks {self._ws.root}: {self._tallies['appended'].value()} appended>"

    @property
    def counts(self) -> dict[str, int]:
        """Counts of tool calls by kind, of appended texts, and of failures in the hooks."""
        return {name: tally.value() for name, tally in self._tallies.items()}

    def register(self, tool: str, kind: ToolKind | str, files: Files | None = None) -> None:
        """Register a tool, or change the registration.

        `kind` is `write`, `edit`, `patch`, `move`, `delete`, `read` or `shell`. `files` gets the
        files from the arguments; without it the usual names of arguments are used.
        """
        self._tools[plain_name(tool)] = Tool(ToolKind(kind), files)

    def tool_execution_end(self, tool: str, arguments: Arguments, *, session: str = "") -> None:
        """Send the files of a finished tool call to the servers. Does not wait."""
        try:
            touch = touch_of(tool, arguments, self._tools)
            self._tallies["other" if touch is None else touch.kind].add()
            if touch is not None and touch.kind is ToolKind.READ:
                self._read(touch, self._session(session))
            elif touch is not None:
                self._prewarmer.enqueue(self._paths(touch.files))
        except Exception as problem:  # noqa: BLE001 (nothing here may fail an edit)
            self._count_failure(tool, problem)

    def tool_result(
        self,
        tool: str,
        arguments: Arguments,
        output: T,
        *,
        is_error: bool = False,
        timeout: float | None = None,
        cancel: CancelLike | None = None,
        before: TextsBefore | None = None,
        session: str = "",
    ) -> T:
        """The output of a tool; if it is text, with the findings in its files appended.

        It may also be a list of parts: then the findings are one more part. `before` has the texts
        of edited files before the call, by name, if the host knows them. `session` is the host's
        name for the agent, if several work in this workspace.
        """
        if is_error:
            return output
        try:
            touch = touch_of(tool, arguments, self._tools)
            if touch is None:
                return output
            agent = self._session(session)
            if touch.kind is ToolKind.READ:
                self._read(touch, agent)
                return output
            limits = Limits(timeout, cancel)
            self.last = after = self._check_touched(tool, touch, agent, before or {}, limits)
            return self._append(output, after.text)
        except Exception as problem:  # noqa: BLE001 (nothing here may fail an edit)
            self._count_failure(tool, problem)
            self.last = HookResult(tool, warnings=(f"{type(problem).__name__}: {problem}",))
            return output

    # Inside

    def _session(self, name: str) -> AgentSession:
        session = self._sessions.get(name)
        if session is None:
            session = self._sessions.setdefault(name, AgentSession(self._mark))
        session.last_call = next(self._calls)
        if len(self._sessions) > MOST_SESSIONS:
            by_use = sorted(self._sessions.items(), key=lambda entry: entry[1].last_call)
            for oldest, _ in by_use[:-MOST_SESSIONS]:
                self._sessions.pop(oldest, None)
        return session

    def _check_touched(
        self, tool: str, touch: Touch, session: AgentSession, before: TextsBefore, wait: Limits
    ) -> HookResult:
        """Check the files, and summarise the findings."""
        began = time.monotonic()
        paths, gone = self._changed(touch, session, wait)
        if not paths and not gone:
            return HookResult(tool, touch.kind)
        files = self._edited(touch, paths, session, before)
        waiting = [path for path in session.waiting_files() if path not in paths]
        files += [EditedFile(path, session.begin_check(path, None)) for path in waiting]
        blind = {file.path for file in files if session.is_blind(file.path)}
        used = dict.fromkeys((*session.broken_files()[:RECENT], *session.recent_files()))
        if wait.timeout is None:
            own = self._timeout(paths or gone)
            beyond = self._ws.config.timing.dependents_timeout_ms / 1000
            deadline = time.monotonic() + own + beyond
        else:
            own, deadline = None, began + wait.timeout
        request = CheckEditRequest(
            files=tuple(files),
            first=tuple(path for path in used if path not in (*paths, *waiting)),
            gone=gone,
            seconds=own,
        )
        try:
            with self._edits.of(paths):
                left = max(0.0, deadline - time.monotonic())
                result = self._ws.run(request, timeout=left, cancel=wait.cancel)
        except RequestTimeoutError as problem:  # before any server was asked
            for file in files:
                session.end_check(file.path, is_late=True, is_searched=False)
            unchecked = session.first_mentions(map(os.path.realpath, paths))
            session.remember(paths)
            return HookResult(
                tool=tool,
                kind=touch.kind,
                text=self._text({}, [], OtherFiles(), [], unchecked=unchecked, stopped=[]),
                duration=time.monotonic() - began,
                warnings=(str(problem),),
            )
        finally:
            session.abandon_checks(file.path for file in files)
        self._spend(paths)
        others = self._edits.without(result.other_files, began)
        reports = {str(report.path): report for report in result.reports}
        states = states_of(reports, others, blind)
        late = [path for path, report in reports.items() if is_late(report)]
        for file in files:
            is_file_late = os.path.realpath(file.path) in late
            session.end_check(file.path, is_late=is_file_late, is_searched=not others.unsearched)
        rest = [path for path in session.broken_files() if path not in states]
        if rest and not late:
            checked = self._check_rest(rest, Limits(deadline - time.monotonic(), wait.cancel))
            late = [path for path, report in checked.items() if is_late(report)]
            states |= states_of(checked, OtherFiles(), set())
        findings = {
            path: session.take_findings(path, text_of(path) or "", state)
            for path, state in states.items()
        }
        session.mentioned.difference_update(path for path in states if path not in late)
        text = self._text(
            findings,
            [path for path in reports if path not in waiting],
            others,
            late,
            unchecked=session.first_mentions(late),
            stopped=[
                reason
                for server, reason in stopped_servers(reports.values()).items()
                if session.first_mentions([f"server {server}"])
            ],
        )
        session.remember(paths)
        unknown = {report.path: report.why for report in reports.values() if report.why}
        reasons = [f"{path}: {why}" for path, why in (unknown | others.unknown).items()]
        warnings = tuple(reasons + [others.reason] * bool(others.reason))
        took = time.monotonic() - began
        log.debug("%s: %d files checked in %.0f ms", tool, len(reports), took * 1000)
        return HookResult(
            tool=tool,
            kind=touch.kind,
            reports={report.path: report for report in reports.values()},
            others=others.diagnostics,
            other_files=others,
            still={
                Path(path): list(in_file.still)
                for path, in_file in findings.items()
                if in_file.still
            },
            text=text,
            duration=took,
            warnings=warnings,
        )

    def _changed(
        self, touch: Touch, session: AgentSession, limits: Limits
    ) -> tuple[list[str], tuple[str, ...]]:
        """The files that a call has changed, and those that it has removed."""
        paths = self._paths(touch.files)
        named = self._paths(touch.gone) + (paths if touch.kind in REMOVING else [])
        changed = self._changes_on_disk(session, limits)
        if touch.kind is ToolKind.SHELL:
            # The watcher covers files with running servers; the stamps cover other used files.
            seen = (*map(str, changed.files), *session.stamps.changed_files())
            paths = list(dict.fromkeys((*paths, *seen)))[:MOST_CHANGED]
            named += [*map(str, changed.deleted), *session.stamps.gone_files()]
        removed = [path for path in dict.fromkeys(named) if not os.path.lexists(path)]
        gone = tuple(removed[:MOST_CHANGED])
        for path in gone:
            session.forget(path)
        return [path for path in paths if path not in gone], gone

    def _changes_on_disk(self, session: AgentSession, limits: Limits) -> ChangedFiles:
        """The changes since the last call of the agent; none if there is no time to look at them:
        then the next command finds them."""
        seconds = limits.timeout
        if seconds is None:
            seconds = self._ws.config.timing.diagnostics_wait_timeout_ms / 1000
        deadline = time.monotonic() + seconds
        mark = self._first_mark(seconds) if session.mark is None else session.mark
        left = max(0.0, deadline - time.monotonic())
        request = ChangedSinceRequest(after=mark)
        try:
            changed = self._ws.run(request, timeout=left, cancel=limits.cancel)
        except RequestTimeoutError as problem:
            log.debug("not known what has changed on disk: %s", problem)
            return ChangedFiles(mark=0, complete=False)
        session.mark = self._mark = changed.mark
        return changed

    def _first_mark(self, seconds: float) -> int | None:
        """The mark of the start of the hooks; None if there is none."""
        try:
            return self._start.result(seconds).mark
        except Exception as problem:  # noqa: BLE001 (only older changes are not seen then)
            log.debug("not known what changed at first: %r", problem)
            return None

    def _edited(
        self, touch: Touch, paths: Sequence[str], session: AgentSession, before: TextsBefore
    ) -> list[EditedFile]:
        """The files of an edit, with their texts before it: as the host or the arguments tell
        them, else as the agent has read them."""
        named = {path: name for name in touch.files for path in self._paths([name])}
        given = {path: text for name, text in before.items() for path in self._paths([name])}
        self._prewarmer.note_edited(paths)
        files: list[EditedFile] = []
        for path in paths:
            text = session.texts.take(path)
            if path in given:
                text = given[path]
            elif path in named:
                derived = _text_before(touch, named[path], path)
                text = text if derived is None else derived
            files.append(EditedFile(path, session.begin_check(path, text)))
        return files

    def _check_rest(self, paths: Sequence[str], limits: Limits) -> dict[str, Report]:
        """Check files that the agent has broken and that the edit does not concern."""
        seconds = min(max(0.0, limits.timeout or 0.0), REST_TIMEOUT)
        try:
            reports = self._ws.check_all(paths, timeout=seconds, cancel=limits.cancel)
        except RequestTimeoutError as problem:
            log.debug("files of earlier edits are not checked: %s", problem)
            return {}
        return {str(path): report for path, report in reports.items()}

    def _text(
        self,
        findings: Mapping[str, SortedFindings],
        edited: Sequence[str],
        others: OtherFiles,
        late: Sequence[str],
        *,
        unchecked: Sequence[str],
        stopped: Sequence[str],
    ) -> str:
        summary = self._summary or Summary.of(self._ws.config)
        room = msgspec.structs.replace(summary, max_bytes=summary.max_bytes - len(GAP))
        return room.of_findings(
            {Path(path): findings[path] for path in edited},
            {Path(path): in_file for path, in_file in findings.items() if path not in edited},
            root=self._ws.root,
            left_out=others.left_out,
            unsearched=[name for name in others.unsearched if name not in late],
            unchecked=unchecked,
            stopped=stopped,
        )

    def _append(self, output: T, text: str) -> T:
        """Append the text to an output that is a str or a list of parts; any other is unchanged."""
        joined = with_text(output, text) if text else None
        if joined is None:
            return output
        self._tallies["appended"].add()
        return joined  # type: ignore[no-any-return]

    def _timeout(self, paths: Iterable[str]) -> float:
        return max(map(self._timeouts.seconds, _one_of_each(paths)))

    def _spend(self, paths: Iterable[str]) -> None:
        for path in _one_of_each(paths):
            self._timeouts.spend(path)

    def _read(self, touch: Touch, session: AgentSession) -> None:
        new = self._prewarmer.read(self._paths(touch.files))
        session.texts.note(new)
        session.remember(new)

    def _paths(self, files: Iterable[str]) -> list[str]:
        """Absolute paths; invalid paths are left out."""
        paths: list[str] = []
        for file in files:
            try:
                paths.append(absolute_path(file, str(self._ws.root)))
            except PathError as problem:
                log.debug("not a file: %s", problem)
        return paths

    def _count_failure(self, tool: str, problem: Exception) -> None:
        self._tallies["failed"].add()
        log.debug("after %s: %s: %s", tool, type(problem).__name__, problem, exc_info=problem)


class _Tally:
    """A thread-safe counter: `next` on `itertools.count` is atomic."""

    def __init__(self) -> None:
        self._steps, self._looks = itertools.count(), itertools.count()

    def add(self) -> None:
        next(self._steps)

    def value(self) -> int:
        # Reading also advances the counter; so reads are counted separately and subtracted.
        return next(self._steps) - next(self._looks)


def _one_of_each(paths: Iterable[str]) -> list[str]:
    """One file per folder and extension: the others have the same servers."""
    kinds = {(os.path.dirname(path), os.path.splitext(path)[1]): path for path in paths}
    return list(kinds.values())


def with_text(output: object, text: str) -> Any:
    """The output of a tool with a text at its end; None if it has a form that is not known.

    Known are texts, and lists of parts: of texts, or of the content blocks of models and of MCP.

    >>> with_text([{"type": "text", "text": "Done."}], "ERROR")
    [{'type': 'text', 'text': 'Done.'}, {'type': 'text', 'text': 'ERROR'}]
    """
    if isinstance(output, str):
        return f"{output}{GAP}{text}" if output else text
    if not isinstance(output, list) or not output:
        return None
    if all(isinstance(part, str) for part in output):
        return [*output, text]
    if all(isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in output):
        return [*output, {"type": "text", "text": text}]
    return None


def is_late(report: Report) -> bool:
    """Whether a server that runs, or restarts, has not answered for the file."""
    return any(server.timed_out or server.code in LATE for server in report.servers)


def stopped_servers(reports: Iterable[Report]) -> dict[str, str]:
    """The servers that do not run for these files, each with the reason and what to do."""
    return {
        server.server: server.reason
        for report in reports
        for server in report.servers
        if server.code == ServerUnavailableError.code and server.server
    }


def states_of(
    reports: Mapping[str, Report], others: OtherFiles, blind: Container[str]
) -> dict[str, FileState]:
    """The findings of the examined files by path. Of blind ones, nothing from before is known."""
    states = {
        str(path): FileState(
            findings,
            None if others.introduced is None else others.introduced.get(path, ()),
            (others.remaining or {}).get(path, ()),
            ()
            if path in others.unknown
            else {id for finding in findings for id in finding.servers},
        )
        for path, findings in others.diagnostics.items()
    }
    for path, report in reports.items():
        known = report.introduced is not None and path not in blind
        states[path] = FileState(
            report.diagnostics,
            report.introduced if known else None,
            (report.remaining or ()) if known else (),
            proven_servers(report.servers),
        )
    return states


def _text_before(touch: Touch, name: str, path: str) -> str | None:
    if touch.kind not in (ToolKind.EDIT, ToolKind.PATCH, ToolKind.MOVE):
        return None
    text = text_of(path)
    if text is None or touch.kind is ToolKind.MOVE:
        return text
    return touch.text_before(name, text)
