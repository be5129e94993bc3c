"""Hooks after the tools of an agent: edited files are checked, and errors are reported.

A host calls `tool_result` with the output of a tool, and gives the result to its model. If the tool
has changed files, and the language servers find errors in them, a short text is appended. In all
other cases, also after a failure, the result is the output itself: a hook never makes an edit fail.

`tool_files.py` determines the files of a call and their texts before it, `check_timeout.py` the
timeout; the operation `check_edit` finds the errors, also in other files. `summary.py` makes the
text, and `prewarm.py` handles files that are read.
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
from lspkit.agent.hooks.concurrent_edits import ConcurrentEdits
from lspkit.agent.hooks.file_stamps import FileStamps
from lspkit.agent.hooks.prewarm import Prewarmer
from lspkit.agent.hooks.read_texts import ReadTexts, text_of
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
from lspkit.errors import PathError
from lspkit.operations import CheckEditRequest, EditedFile
from lspkit.runtime.concurrency.call import CancelLike
from lspkit.types import Diagnostic
from lspkit.workspace import Workspace
from lspkit.workspace_boundary import absolute_path

log = logging.getLogger("lspkit.agent")
T = TypeVar("T")

#: Most files that are checked after a shell command.
MOST_CHANGED = 64
#: Most recently used files that are checked again after an edit.
RECENT = 8
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
    #: The appended text; empty if there is none.
    text: str = ""
    #: Seconds.
    duration: float = 0.0
    #: Failures and unknown results, as text for people.
    warnings: tuple[str, ...] = ()


class EditHooks:
    """The hooks of one workspace. All methods are thread-safe.

        hooks = EditHooks(ws)
        said = my_write_tool(path=path, content=text)
        said = hooks.tool_result("write_file", {"path": path, "content": text}, said)

    No lock is needed: each change of a field is atomic.
    """

    def __init__(self, ws: Workspace, *, summary: Summary | None = None) -> None:
        self._ws = ws
        #: None: as configured at the time of the call.
        self._summary = summary
        #: Registered tools of the host, by plain name.
        self._tools: dict[str, Tool] = {}
        self._timeouts = CheckTimeouts(ws)
        self._stamps = FileStamps()
        self._prewarmer = Prewarmer(ws)
        self._texts = ReadTexts()
        #: Files that the agent has used, most recent last.
        self._recent: collections.deque[str] = collections.deque(maxlen=8 * RECENT)
        self._edits = ConcurrentEdits()
        #: The mark of the last `changed_files`.
        self._mark: int | None = None
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

    def tool_execution_end(self, tool: str, arguments: Arguments) -> None:
        """Send the files of a finished tool call to the servers. Does not wait."""
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
        """The output of a tool; if it is a str, with the findings in its files appended."""
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
        """Check the files, and summarise the findings."""
        ws, began = self._ws, time.monotonic()
        paths = self._paths(touch.files)
        named = self._paths(touch.gone) + (paths if touch.kind in REMOVING else [])
        changed = ws.changed_files(self._mark)
        self._mark = changed.mark
        if touch.kind is ToolKind.SHELL:
            # The watcher covers files with running servers; the stamps cover other used files.
            seen = (*map(str, changed.files), *self._stamps.changed_files())
            paths = list(dict.fromkeys((*paths, *seen)))[:MOST_CHANGED]
            named += [*map(str, changed.deleted), *self._stamps.gone_files()]
        removed = [one for one in dict.fromkeys(named) if not os.path.lexists(one)]
        gone = tuple(removed[:MOST_CHANGED])
        paths = [one for one in paths if one not in gone]
        if not paths and not gone:
            return HookResult(tool, touch.kind)
        summary = self._summary or Summary.of(ws.config)
        own = self._timeout(paths or gone) if timeout is None else None
        beyond = ws.config.timing.dependents_timeout_ms / 1000
        limit = timeout if own is None else own + beyond
        recent = tuple(one for one in self._recent_files() if one not in paths)
        request = CheckEditRequest(
            files=self._edited(touch, paths), first=recent, gone=gone, seconds=own
        )
        with self._edits.of(paths):
            found = ws.run(request, timeout=limit, cancel=cancel)
        self._spend(paths)
        room = msgspec.structs.replace(summary, max_bytes=summary.max_bytes - len(GAP))
        beside = self._edits.without(found.other_files, began)
        text = room.of_reports(found.reports, beside, root=ws.root)
        self._remember(paths)
        unknown = {str(one.path): one.why for one in found.reports if one.why}
        warnings = tuple(f"{path}: {why}" for path, why in (unknown | beside.unknown).items())
        took = time.monotonic() - began
        log.debug("%s: %d files checked in %.0f ms", tool, len(found.reports), took * 1000)
        return HookResult(
            tool=tool,
            kind=touch.kind,
            reports={one.path: one for one in found.reports},
            others={Path(path): findings for path, findings in beside.diagnostics.items()},
            other_files=beside,
            text=text,
            duration=took,
            warnings=warnings,
        )

    def _edited(self, touch: Touch, paths: Sequence[str]) -> tuple[EditedFile, ...]:
        """The files of an edit, with their texts before it: as the arguments tell them, else as
        the agent has read them."""
        named = {path: name for name in touch.files for path in self._paths([name])}
        self._prewarmer.note_edited(paths)
        found: list[EditedFile] = []
        for path in paths:
            read = self._texts.take(path)
            told = _text_before(touch, named[path], path) if path in named else None
            found.append(EditedFile(path, read if told is None else told))
        return tuple(found)

    def _append(self, output: T, text: str) -> T:
        """Append the text to an output that is a str; any other output is unchanged."""
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
        new = self._prewarmer.read(self._paths(touch.files))
        self._texts.note(new)
        self._remember(new)

    def _recent_files(self) -> list[str]:
        """The recently used files, most recent first."""
        return list(dict.fromkeys(reversed(self._recent.copy())))[:RECENT]

    def _paths(self, files: Iterable[str]) -> list[str]:
        """Absolute paths; invalid paths are left out."""
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


def _text_before(touch: Touch, name: str, path: str) -> str | None:
    if touch.kind not in (ToolKind.EDIT, ToolKind.PATCH, ToolKind.MOVE):
        return None
    text = text_of(path)
    if text is None or touch.kind is ToolKind.MOVE:
        return text
    return touch.text_before(name, text)
