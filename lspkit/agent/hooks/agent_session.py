"""What the hooks remember of one agent from one of its calls to the next.

A workspace may serve several agents. The findings that one of them has introduced, and its edits
that no server has answered for, are its own: the others are told that they were there before.
Thread-safe: each change of a field or of a table is atomic.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

import msgspec

from lspkit.agent.hooks.file_stamps import FileStamps
from lspkit.agent.hooks.own_findings import FileState, SortedFindings, sort_findings
from lspkit.agent.hooks.read_texts import ReadTexts, count_kept
from lspkit.diagnostics.compare import Before
from lspkit.protocol.text import Text

T = TypeVar("T")

#: Most recently used files that are checked again after an edit.
RECENT = 8
#: How often an edit without an answer is checked again, each time with the next edit.
MOST_TRIES = 3
#: Most files of other calls that are checked with an edit: those without an answer, and those in
#: which the agent has introduced findings.
MOST_FILES = 20
#: Most files whose introduced findings, or edits without an answer, are kept, the last ones.
MOST_KEPT = 200


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
        #: The texts that the agent has read.
        self.texts = ReadTexts()
        self.stamps = FileStamps()
        #: Files that the agent has used, most recent last.
        self._recent: collections.deque[str] = collections.deque(maxlen=8 * RECENT)
        #: By path: the text at the last check, and the findings in it that this agent's edits have
        #: introduced.
        self.introduced: dict[str, Before] = {}
        #: By path: the edits that no server has answered for.
        self._unanswered: dict[str, Unanswered] = {}
        #: Those among them whose check has not ended.
        self._in_check: set[str] = set()
        #: What the agent was told once: files without an answer, servers that do not run.
        self.mentioned: set[str] = set()

    def remember(self, paths: Sequence[str]) -> None:
        """Note that the agent has used these files."""
        self._recent.extend(paths)
        self.stamps.note(paths)

    def recent_files(self) -> list[str]:
        """The recently used files, most recent first."""
        return list(dict.fromkeys(reversed(self._recent.copy())))[:RECENT]

    def waiting_files(self) -> list[str]:
        """The edited files without an answer that are checked with the next edit."""
        known = [path for path in list(self._unanswered) if path not in self._in_check]
        return list(islice(filter(os.path.isfile, known), MOST_FILES))

    def broken_files(self) -> list[str]:
        """The files in which this agent has introduced findings, the last ones first."""
        known = reversed(list(self.introduced))
        return list(islice(filter(os.path.isfile, known), MOST_FILES))

    def begin_check(self, path: str, before: str | None) -> str | None:
        """Note an edit that is about to be checked; returns the text to compare it with."""
        earlier = self._unanswered.get(path)
        waiting = Unanswered(before) if earlier is None else earlier
        self._in_check.add(path)
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


def drop_oldest(table: dict[str, T], text: Callable[[T], str]) -> None:
    """Keep the last entries of a table, as many as are allowed with their texts."""
    entries = list(table.items())
    kept = count_kept((text(entry) for _, entry in reversed(entries)), MOST_KEPT)
    for path, _ in entries[: len(entries) - kept]:
        table.pop(path, None)
