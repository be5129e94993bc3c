"""Hooks after the tools of an agent: edited files are checked, and errors are reported.

A host calls `tool_result` with the output of a tool, and gives the result to its model. If the tool
has changed files, and the language servers find errors in them, a short text is appended. In all
other cases, also after a failure, the result is the output itself: a hook never makes an edit fail.

`tool_files.py` determines the files of a call and their texts before it, `check_timeout.py` the
timeout; the operation `check_edit` finds the errors, also in other files. `agent_session.py` keeps
what this agent has introduced and what was not answered, until the next edit. `summary.py` makes
the text.
"""

from __future__ import annotations

import collections
import itertools
import logging
import math
import os
import time
from collections.abc import Container, Iterable, Mapping, Sequence
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
from lspkit.diagnostics.report import EditReport, OtherFiles, Report
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

log = logging.getLogger("lspkit.agent")
T = TypeVar("T")

#: Edits that are remembered after their end, among those of all agents.
MOST_EDITS = 256
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
#: The effects of an edit on other files, where none are known.
NO_OTHERS = OtherFiles()
#: Between the output of the tool and the appended text.
GAP = "\n\n"


class HookResult(msgspec.Struct, frozen=True):
    """The result of one hook, for hosts that need more than the text."""

    tool: str = ""
    #: None if the hook failed before the kind was known.
    kind: ToolKind | None = None
    #: Reports about the edited files, by path.
    reports: dict[Path, Report] = {}
    #: Findings in other files, with those that the edit introduced, fixed and left apart.
    other_files: OtherFiles = NO_OTHERS
    #: Findings that earlier edits of this agent have introduced, and that are still there.
    still: dict[Path, list[Diagnostic]] = {}
    #: The appended text; empty if there is none.
    text: str = ""
    #: Seconds.
    duration: float = 0.0
    #: Failures and unknown results, as text for people.
    warnings: tuple[str, ...] = ()


class _Edit(msgspec.Struct):
    """The files that one call edits. They are not edited by what other calls do meanwhile."""

    paths: frozenset[str]
    #: When its check ended.
    ended: float = math.inf


class _EditCheck(msgspec.Struct, frozen=True):
    """The check after one call of a tool."""

    session: AgentSession
    #: The files that the call has edited.
    edited: list[str]
    #: These, and those of earlier edits without an answer, with their texts before.
    files: list[EditedFile]
    began: float
    #: When the answer has to be there.
    deadline: float
    cancel: CancelLike | None


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
        #: The last edits of all agents.
        self._edits: collections.deque[_Edit] = collections.deque(maxlen=MOST_EDITS)
        #: What has changed so far: what the first command changes is seen, also if nothing is
        #: edited before it. Asked in a thread, since a host may hold a lock now.
        self._start: Future[ChangedFiles] = ws.submit(ws.changed_files)
        #: The mark of the last call of any agent, None: of the start. A new agent begins with it,
        #: since it may be heard of only after its first command has run.
        self._mark: int | None = None
        #: By the host's name for it.
        self._sessions: dict[str, AgentSession] = {}
        self._calls = itertools.count()
        #: Tool calls by kind, appended texts, and failures in the hooks.
        self._counts = dict.fromkeys((*map(str, ToolKind), "other", "appended", "failed"), 0)
        #: The result of the last edit, in any thread.
        self.last: HookResult | None = None

    def __repr__(self) -> str:
        return f"<EditHooks {self._ws.root}: {self._counts['appended']} appended>"

    @property
    def counts(self) -> dict[str, int]:
        """Counts of tool calls by kind, of appended texts, and of failures in the hooks."""
        return self._counts.copy()

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
            self._counts["other" if touch is None else touch.kind] += 1
            if touch is not None and touch.kind is ToolKind.READ:
                self._read(touch, self._session(session))
            elif touch is not None:
                self._send(self._paths(touch.files))
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
        seconds, deadline = self._deadline(paths or gone, wait.timeout, began)
        used = dict.fromkeys((*session.broken_files()[:RECENT], *session.recent_files()))
        request = CheckEditRequest(
            files=tuple(files),
            first=tuple(path for path in used if path not in (*paths, *waiting)),
            gone=gone,
            seconds=seconds,
        )
        check = _EditCheck(session, paths, files, began, deadline, wait.cancel)
        edit = _Edit(frozenset(paths))
        self._edits.append(edit)
        try:
            left = max(0.0, deadline - time.monotonic())
            result = self._ws.run(request, timeout=left, cancel=wait.cancel)
        except RequestTimeoutError as problem:  # before any server was asked
            for file in files:
                session.end_check(file.path, is_late=True, is_searched=False)
            unchecked = session.first_mentions(map(os.path.realpath, paths))
            after = HookResult(text=self._text({}, unchecked=unchecked), warnings=(str(problem),))
        else:
            self._spend(paths)
            after = self._evaluate(check, result)
        finally:
            edit.ended = time.monotonic()
            session.abandon_checks(file.path for file in files)
        session.remember(paths)
        took = time.monotonic() - began
        log.debug("%s: %d files checked in %.0f ms", tool, len(after.reports), took * 1000)
        return msgspec.structs.replace(after, tool=tool, kind=touch.kind, duration=took)

    def _deadline(
        self, paths: Iterable[str], timeout: float | None, began: float
    ) -> tuple[float | None, float]:
        """The seconds for an edited file, None: those of the call; and the end of the call."""
        if timeout is not None:
            return None, began + timeout
        seconds = max(map(self._timeouts.seconds, _one_of_each(paths)))
        beyond = self._ws.config.timing.dependents_timeout_ms / 1000
        return seconds, time.monotonic() + seconds + beyond

    def _evaluate(self, check: _EditCheck, result: EditReport) -> HookResult:
        """What the servers have answered, for the agent: what is new, and what is still there."""
        session = check.session
        others = self._without_other_edits(result.other_files, check.began)
        reports = {str(report.path): report for report in result.reports}
        blind = {file.path for file in check.files if session.is_blind(file.path)}
        states = states_of(reports, others, blind)
        late = [path for path, report in reports.items() if is_late(report)]
        for file in check.files:
            is_file_late = os.path.realpath(file.path) in late
            session.end_check(file.path, is_late=is_file_late, is_searched=not others.unsearched)
        rest = [path for path in session.broken_files() if path not in states]
        if rest and not late:
            checked = self._check_rest(rest, check)
            late = [path for path, report in checked.items() if is_late(report)]
            states |= states_of(checked, NO_OTHERS, set())
        findings = {
            path: session.take_findings(path, text_of(path) or "", state)
            for path, state in states.items()
        }
        session.mentioned.difference_update(path for path in states if path not in late)
        waiting = [file.path for file in check.files if file.path not in check.edited]
        text = self._text(
            findings,
            edited=[path for path in reports if path not in waiting],
            others=others,
            late=late,
            unchecked=session.first_mentions(late),
            stopped=[
                reason
                for server, reason in stopped_servers(reports.values()).items()
                if session.first_mentions([f"server {server}"])
            ],
        )
        unknown = {report.path: report.why for report in result.reports if report.why}
        reasons = [f"{path}: {why}" for path, why in (unknown | others.unknown).items()]
        return HookResult(
            reports={report.path: report for report in reports.values()},
            other_files=others,
            still={Path(path): list(file.still) for path, file in findings.items() if file.still},
            text=text,
            warnings=tuple(filter(None, [*reasons, others.reason])),
        )

    def _without_other_edits(self, others: OtherFiles, began: float) -> OtherFiles:
        """The findings in other files, without those in files that were edited since `began`.

        A file that another call edits meanwhile has new findings, but not because of this edit.
        """
        if others.introduced is None:
            return others
        edits = [edit.paths for edit in self._edits.copy() if edit.ended > began]
        introduced = {
            path: findings
            for path, findings in others.introduced.items()
            if not any(str(path) in paths for paths in edits)
        }
        return msgspec.structs.replace(others, introduced=introduced)

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
        files: list[EditedFile] = []
        for path in paths:
            text = session.take_text(path)
            if path in given:
                text = given[path]
            elif path in named:
                derived = _text_before(touch, named[path], path)
                text = text if derived is None else derived
            files.append(EditedFile(path, session.begin_check(path, text)))
        return files

    def _check_rest(self, paths: Sequence[str], check: _EditCheck) -> dict[str, Report]:
        """Check files that the agent has broken and that the edit does not concern."""
        seconds = min(max(0.0, check.deadline - time.monotonic()), REST_TIMEOUT)
        try:
            reports = self._ws.check_all(paths, timeout=seconds, cancel=check.cancel)
        except RequestTimeoutError as problem:
            log.debug("files of earlier edits are not checked: %s", problem)
            return {}
        return {str(path): report for path, report in reports.items()}

    def _text(
        self,
        findings: Mapping[str, SortedFindings],
        *,
        edited: Sequence[str] = (),
        others: OtherFiles = NO_OTHERS,
        late: Sequence[str] = (),
        unchecked: Sequence[str] = (),
        stopped: Sequence[str] = (),
    ) -> str:
        summary = self._summary or Summary.of(self._ws.config)
        room = msgspec.structs.replace(summary, max_bytes=summary.max_bytes - len(GAP))
        return room.text(
            {Path(path): findings[path] for path in edited},
            {Path(path): file for path, file in findings.items() if path not in edited},
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
        self._counts["appended"] += 1
        return joined  # type: ignore[no-any-return]

    def _spend(self, paths: Iterable[str]) -> None:
        for path in _one_of_each(paths):
            self._timeouts.spend(path)

    def _read(self, touch: Touch, session: AgentSession) -> None:
        paths = self._paths(touch.files)
        session.note_read(paths)
        self._send(paths)

    def _send(self, paths: Sequence[str]) -> None:
        """Send files to their servers, which should run by the next edit. Does not wait."""
        for path in paths[:MOST_CHANGED]:
            self._ws.submit(self._ws.sync, path)

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
        self._counts["failed"] += 1
        log.debug("after %s: %s: %s", tool, type(problem).__name__, problem, exc_info=problem)


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
