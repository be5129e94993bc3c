"""What happens after a tool of an agent has run: its edits are checked, and it is told of errors.

A host calls `tool_result` with what a tool has said, and gives the result to its model. If the tool
has changed files, and the language servers find errors in them, a short text is appended. In all
other cases, whatever goes wrong, the result is what the tool has said: an edit that has succeeded
cannot fail here.

Which files a call touches is told by `tool_files.py`, how long they are waited for by
`check_timeout.py`, what of other files is shown by `known_files.py`; the text is made by
`summary.py`, and files that are read are seen to by `prewarm.py`.
"""

from __future__ import annotations

import collections
import itertools
import logging
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lspkit.agent.check_timeout import CheckTimeouts
from lspkit.agent.hooks.file_stamps import FileStamps
from lspkit.agent.hooks.known_files import Known, check_other_files, findings_by_path, new_findings
from lspkit.agent.hooks.prewarm import Prewarmer
from lspkit.agent.hooks.summary import Summary
from lspkit.agent.hooks.tool_files import (
    Arguments,
    Files,
    Tool,
    ToolKind,
    Touch,
    plain_name,
    touch_of,
)
from lspkit.boundary import absolute_path
from lspkit.diagnostics.report import OtherFiles, Report
from lspkit.errors import PathError
from lspkit.runtime.concurrency.waiting import CancelLike
from lspkit.types import Diagnostic
from lspkit.workspace import Workspace

log = logging.getLogger("lspkit.agent")
T = TypeVar("T")

#: A shell command's files are checked up to this many.
MOST_CHANGED = 64
#: So many files that an agent has lately dealt with are asked about again after a write.
RECENT = 8
#: Between what the tool has said and what is appended.
GAP = "\n\n"


class HookResult(msgspec.Struct, frozen=True):
    """What came of one edit, for hosts that want more than the text."""

    tool: str
    #: None if it could not be told what the tool does.
    kind: ToolKind | None = None
    #: Of the touched files, by path, with verdicts and evidence.
    reports: dict[Path, Report] = {}
    #: Findings in other files, of any severity.
    others: dict[Path, list[Diagnostic]] = {}
    #: What was appended; empty if nothing was.
    text: str = ""
    #: Seconds.
    duration: float = 0.0
    #: What went wrong or was not known, in words for people.
    warnings: tuple[str, ...] = ()


class EditHooks:
    """The hooks of one workspace. Every method may be called from any number of threads.

        hooks = EditHooks(ws)
        said = my_write_tool(path=path, content=text)
        said = hooks.tool_result("write_file", {"path": path, "content": text}, said)

    No lock is needed: each field below is only ever changed in single steps.
    """

    def __init__(self, ws: Workspace, *, summary: Summary | None = None) -> None:
        self._ws = ws
        #: None: as the configuration has it at the time.
        self._summary = summary
        #: Tools of the host, by plain name.
        self._tools: dict[str, Tool] = {}
        self._timeouts = CheckTimeouts(ws)
        self._stamps = FileStamps()
        self._prewarmer = Prewarmer(ws)
        #: Files that the agent has dealt with, the last one last.
        self._recent: collections.deque[str] = collections.deque(maxlen=8 * RECENT)
        #: Up to where the changes on disk were looked at.
        self._mark: int | None = None
        #: What was known about all files after the last edit, if only news are of interest.
        self._known: Known | None = None
        self._tallies: dict[str, _Tally] = {
            name: _Tally() for name in (*map(str, ToolKind), "other", "appended", "failed")
        }
        #: What came of the last edit, whichever thread it was in.
        self.last: HookResult | None = None

    def __repr__(self) -> str:
        return f"<EditHooks {self._ws.root}: {self._tallies['appended'].value()} appended>"

    @property
    def counts(self) -> dict[str, int]:
        """How many tools have ended, by kind; how many texts were appended; what failed here."""
        return {name: tally.value() for name, tally in self._tallies.items()}

    def register(self, tool: str, kind: ToolKind | str, files: Files | None = None) -> None:
        """Make a tool known, or known otherwise.

        `kind` is `write`, `edit`, `patch`, `read` or `shell`. `files` tells the files from the
        arguments; without it the usual names of arguments are looked for.
        """
        self._tools[plain_name(tool)] = Tool(ToolKind(kind), files)

    def tool_execution_end(self, tool: str, arguments: Arguments) -> None:
        """A tool has run: let the servers see its files. Waits for nothing."""
        try:
            touch = touch_of(tool, arguments, self._tools)
            self._tallies["other" if touch is None else touch.kind].add()
            if touch is not None and touch.kind is ToolKind.READ:
                self._read(touch)
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
    ) -> T:
        """What a tool has said, with what the servers find in its files, if that is a text."""
        if is_error:
            return output
        try:
            touch = touch_of(tool, arguments, self._tools)
            if touch is None:
                return output
            if touch.kind is ToolKind.READ:
                self._read(touch)
                return output
            self.last = after = self._check_touched(tool, touch, timeout, cancel)
            return self._append(output, after.text)
        except Exception as problem:  # noqa: BLE001 (nothing here may fail an edit)
            self._count_failure(tool, problem)
            self.last = HookResult(tool, warnings=(f"{type(problem).__name__}: {problem}",))
            return output

    # Inside

    def _check_touched(
        self, tool: str, touch: Touch, timeout: float | None, cancel: CancelLike | None
    ) -> HookResult:
        """Check the files, and say what was found."""
        ws, began = self._ws, time.monotonic()
        paths = self._paths(touch.files)
        changed = ws.changed_files(self._mark)
        self._mark = changed.mark
        if touch.kind is ToolKind.SHELL:
            # The watcher sees what servers run for; the rest is known if it was dealt with before.
            seen = (*map(str, changed.files), *self._stamps.changed())
            paths = list(dict.fromkeys((*paths, *seen)))[:MOST_CHANGED]
        if not paths:
            return HookResult(tool, touch.kind)
        summary = self._summary or Summary.of(ws.config)
        if summary.new_only and self._known is None:
            self._known = ws.diagnostics()
        limit = self._timeout(paths) if timeout is None else timeout
        reports = ws.check_all(paths, timeout=limit, cancel=cancel)
        self._spend(paths)
        beside = OtherFiles()
        if touch.kind is ToolKind.WRITE:
            beside = check_other_files(ws, reports, self._recent_files(), began + limit, cancel)
        others = findings_by_path(beside)
        text = self._summary_text(summary, reports, others)
        self._remember(paths)
        unknown = {str(path): one.why for path, one in reports.items() if one.why}
        warnings = tuple(f"{path}: {why}" for path, why in (unknown | beside.unknown).items())
        took = time.monotonic() - began
        log.debug("%s: %d files checked in %.0f ms", tool, len(reports), took * 1000)
        return HookResult(tool, touch.kind, reports, others, text, took, warnings)

    def _summary_text(self, summary: Summary, reports: dict[Path, Report], others: Known) -> str:
        if summary.new_only:
            before, self._known = self._known or {}, {**self._ws.diagnostics(), **others}
            others = new_findings(others, before)
        room = msgspec.structs.replace(summary, max_bytes=summary.max_bytes - len(GAP))
        return room.of_reports(reports.values(), others, root=self._ws.root)

    def _append(self, output: T, text: str) -> T:
        """Only a text can be appended to; anything else is the host's own."""
        if not text or not isinstance(output, str):
            return output
        self._tallies["appended"].add()
        joined: Any = f"{output}{GAP}{text}" if output else text
        return joined  # type: ignore[no-any-return]

    def _timeout(self, paths: Iterable[str]) -> float:
        return max(map(self._timeouts.seconds, _one_of_each(paths)))

    def _spend(self, paths: Iterable[str]) -> None:
        for path in _one_of_each(paths):
            self._timeouts.spend(path)

    def _read(self, touch: Touch) -> None:
        self._remember(self._prewarmer.read(self._paths(touch.files)))

    def _recent_files(self) -> list[Path]:
        """The files that were dealt with last, the last one first."""
        return [Path(one) for one in dict.fromkeys(reversed(self._recent.copy()))][:RECENT]

    def _paths(self, files: Iterable[str]) -> list[str]:
        """Whole paths, as every other door reads them; what is no path is left out."""
        paths: list[str] = []
        for file in files:
            try:
                paths.append(absolute_path(file, str(self._ws.root)))
            except PathError as problem:
                log.debug("not a file: %s", problem)
        return paths

    def _remember(self, paths: Sequence[str]) -> None:
        self._recent.extend(paths)
        self._stamps.note(paths)

    def _count_failure(self, tool: str, problem: Exception) -> None:
        self._tallies["failed"].add()
        log.debug("after %s: %s: %s", tool, type(problem).__name__, problem, exc_info=problem)


class _Tally:
    """A number that any thread may add to: a step of `itertools.count` is never lost."""

    def __init__(self) -> None:
        self._steps, self._looks = itertools.count(), itertools.count()

    def add(self) -> None:
        next(self._steps)

    def value(self) -> int:
        # To look is a step, too; so looks are counted on their own and taken off.
        return next(self._steps) - next(self._looks)


def _one_of_each(paths: Iterable[str]) -> list[str]:
    """A file of each folder and extension: the others have the same servers."""
    kinds = {(os.path.dirname(path), os.path.splitext(path)[1]): path for path in paths}
    return list(kinds.values())
