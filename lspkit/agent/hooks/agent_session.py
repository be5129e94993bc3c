"""What the hooks remember of one agent from one of its calls to the next.

A workspace may serve several agents. The findings that one of them has introduced, and its edits
that no server has answered for, are its own: the others are told that they were there before.
Thread-safe: each change of a field or of a table is atomic.
"""

from __future__ import annotations

import collections
import itertools
import os
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from lspkit.diagnostics.compare import Before, compare_findings
from lspkit.protocol.text import Text
from lspkit.types import Diagnostic

T = TypeVar("T")

#: Bytes of the largest file whose text is kept or reconstructed.
LARGEST = 2**21
#: Characters of all texts that one table of one agent keeps.
MOST_CHARACTERS = 2**22
#: Most files whose texts, introduced findings, or edits without an answer are kept, the last ones.
MOST_KEPT = 200
#: Most recently used files that are checked again after an edit.
RECENT = 8
#: How often an edit without an answer is checked again, each time with the next edit.
MOST_TRIES = 3
#: Most files of other calls that are checked with an edit: those without an answer, and those in
#: which the agent has introduced findings.
MOST_FILES = 20


def text_of(path: str) -> str | None:
    """The text of a file; None if it is too large, or has none."""
    try:
        if os.path.getsize(path) > LARGEST or not os.path.isfile(path):
            return None
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        return None


def drop_oldest(table: dict[str, T], text: Callable[[T], str]) -> None:
    """Keep the last entries of a table, as many as are allowed with their texts."""
    entries = list(table.items())
    sizes = itertools.accumulate(len(text(entry)) for _, entry in reversed(entries))
    kept = sum(size <= MOST_CHARACTERS for size in itertools.islice(sizes, MOST_KEPT))
    for path, _ in entries[: len(entries) - kept]:
        table.pop(path, None)


# Detects changes of files that an agent has used.
#
# A shell command may change any file. The stamps of files that were used in hooks are stored, and
# compared after a command. Thread-safe: each operation on the table is atomic.

#: Most files whose stamps are kept, the most recently used ones.
MOST_STAMPS = 500

_Stamp = tuple[int, int, int]


class FileStamps:
    """Size, time and inode of files."""

    def __init__(self) -> None:
        self._stamps: dict[str, _Stamp] = {}

    def note(self, paths: Iterable[str]) -> None:
        """Store the present stamps of these files."""
        for path in paths:
            self._stamps.pop(path, None)
            stamp = _stamp(path)
            if stamp is not None:
                self._stamps[path] = stamp
        known = list(self._stamps.items())
        if len(known) > MOST_STAMPS:
            self._stamps = dict(known[-MOST_STAMPS:])

    def changed_files(self) -> list[str]:
        """The existing files whose stamps have changed, sorted."""
        stamps = {path: (stamp, _stamp(path)) for path, stamp in list(self._stamps.items())}
        return sorted(
            path for path, (before, now) in stamps.items() if now is not None and now != before
        )

    def gone_files(self) -> list[str]:
        """The files that no longer exist, sorted. Each is returned once."""
        gone = sorted(path for path in list(self._stamps) if _stamp(path) is None)
        for path in gone:
            self._stamps.pop(path, None)
        return gone


def _stamp(path: str) -> _Stamp | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ino)


# Which findings of a file an edit has introduced, an earlier edit of the agent, or none. Pure.


class FileState(msgspec.Struct, frozen=True):
    """The findings of one file after an edit."""

    findings: Sequence[Diagnostic]
    #: Those among them that an edit has introduced; None: the state before it is not known.
    introduced: Sequence[Diagnostic] | None
    #: Those that were there before the edit.
    remaining: Sequence[Diagnostic]
    #: The servers whose findings are all known.
    proven: Container[str]


class SortedFindings(msgspec.Struct, frozen=True):
    """The findings of one file, as one agent sees them."""

    #: Introduced by the present edit.
    new: tuple[Diagnostic, ...] = ()
    #: Introduced by an earlier edit of this agent.
    still: tuple[Diagnostic, ...] = ()
    #: From before the first edit of this agent.
    old: tuple[Diagnostic, ...] = ()
    #: Introduced earlier by this agent, of servers that have not answered now.
    unproven: tuple[Diagnostic, ...] = ()
    #: All that are known now.
    all: tuple[Diagnostic, ...] = ()


def sort_findings(own: Before | None, text: Text, state: FileState) -> SortedFindings:
    """Which findings are new, which ones this agent has introduced earlier, and which are old."""
    still: list[Diagnostic] = []
    unproven: list[Diagnostic] = []
    if own is not None:
        _, _, still = compare_findings(own, text, state.findings, state.proven)
        unproven = [
            finding
            for finding in own.findings
            if not all(server in state.proven for server in finding.servers)
            and not any(finding.message == other.message for other in still)
        ]
    introduced = state.findings if state.introduced is None else state.introduced
    new = [finding for finding in introduced if finding not in still]
    old = [finding for finding in state.remaining if finding not in still]
    return SortedFindings(
        tuple(new), tuple(still), tuple(old), tuple(unproven), tuple(state.findings)
    )


class Unanswered(msgspec.Struct, frozen=True):
    """An edited file that was not checked in time, or whose users were not searched."""

    #: The text before the first edit without an answer; None if it is not known.
    before: str | None
    #: The checks without an answer.
    tries: int = 0
    #: Whether the file itself was not checked at the last try.
    is_late: bool = True


class AgentSession:
    """The state of one agent."""

    def __init__(self, mark: int | None = None) -> None:
        #: The mark of the last `changed_files`; None: that of the start of the hooks.
        self.mark = mark
        #: The number of its last call, among the calls of all agents; a new one has none yet.
        self.last_call: float = float("inf")
        #: By path: the text at the last read. A shell command or a write does not tell the text
        #: that it replaces, and the servers see the file only later. So it is read at once: it is
        #: the one before the next edit.
        self._texts: dict[str, str] = {}
        self.stamps = FileStamps()
        #: Files that the agent has used, most recent last.
        self._recent: collections.deque[str] = collections.deque(maxlen=8 * RECENT)
        #: By path: the text at the last check, and the findings in it that this agent's edits have
        #: introduced.
        self.introduced: dict[str, Before] = {}
        #: By path: the edits that no server has answered for.
        self._unanswered: dict[str, Unanswered] = {}
        #: Those among them whose check has not ended: the call that edits a file is told first.
        self._in_check: set[str] = set()
        #: What the agent was told once: files without an answer, servers that do not run.
        self.mentioned: set[str] = set()

    def remember(self, paths: Sequence[str]) -> None:
        """Note that the agent has used these files."""
        self._recent.extend(paths)
        self.stamps.note(paths)

    def note_read(self, paths: Sequence[str]) -> None:
        """Note that the agent has read these files, with their present texts."""
        for path in paths:
            self._texts.pop(path, None)
            text = text_of(path)
            if text is not None:
                self._texts[path] = text
        drop_oldest(self._texts, str)
        self.remember(paths)

    def take_text(self, path: str) -> str | None:
        """The text at the last read; after that, it is not kept any more."""
        return self._texts.pop(path, None)

    def recent_files(self) -> list[str]:
        """The recently used files, most recent first."""
        return list(dict.fromkeys(reversed(self._recent.copy())))[:RECENT]

    def waiting_files(self) -> list[str]:
        """The edited files without an answer that are checked with the next edit."""
        known = [path for path in list(self._unanswered) if path not in self._in_check]
        return list(itertools.islice(filter(os.path.isfile, known), MOST_FILES))

    def broken_files(self) -> list[str]:
        """The files in which this agent has introduced findings, the last ones first."""
        known = reversed(list(self.introduced))
        return list(itertools.islice(filter(os.path.isfile, known), MOST_FILES))

    def begin_check(self, path: str, before: str | None) -> str | None:
        """Note an edit that is about to be checked; returns the text to compare it with."""
        earlier = self._unanswered.get(path)
        self._in_check.add(path)
        waiting = Unanswered(before) if earlier is None else earlier
        self._unanswered[path] = msgspec.structs.replace(waiting, tries=waiting.tries + 1)
        drop_oldest(self._unanswered, lambda edit: edit.before or "")
        return waiting.before

    def abandon_checks(self, paths: Iterable[str]) -> None:
        """Note that nobody waits for the answers about these files any more."""
        self._in_check.difference_update(paths)

    def is_blind(self, path: str) -> bool:
        """Whether the text before an edit is not known, and the file was not checked since: then
        what the servers know from before may be what this agent has introduced."""
        waiting = self._unanswered.get(path)
        if waiting is None or waiting.before is not None:
            return False
        return waiting.tries > 1 and waiting.is_late

    def end_check(self, path: str, *, is_late: bool, is_searched: bool) -> None:
        """Note whether the servers have checked an edited file, and searched its users."""
        waiting = self._unanswered.pop(path, None)
        if waiting is not None and waiting.tries < MOST_TRIES and (is_late or not is_searched):
            self._unanswered[path] = msgspec.structs.replace(waiting, is_late=is_late)

    def forget(self, path: str) -> None:
        """Note that a file is gone."""
        for name in (path, os.path.realpath(path)):
            self._unanswered.pop(name, None)
            self.introduced.pop(name, None)

    def first_mentions(self, names: Iterable[str]) -> list[str]:
        """Those that the agent has not been told of before."""
        new = [name for name in dict.fromkeys(names) if name not in self.mentioned]
        self.mentioned.update(new)
        return new

    def take_findings(self, path: str, text: str, state: FileState) -> SortedFindings:
        """Sort the findings of a file, and keep those that this agent has introduced."""
        own = self.introduced.get(path)
        result = sort_findings(own, Text(text), state)
        kept = (*result.still, *result.new, *result.unproven)
        self.introduced.pop(path, None)
        if kept:
            self.introduced[path] = Before(Text(text), kept)
        drop_oldest(self.introduced, lambda state: state.text.value)
        return result
