"""The summary for a model after an edit: the findings of several files as one short text. Pure.

Four limits apply one after the other: findings per file, other files, total lines, total bytes. The
most severe findings are kept, and shown in line order. Only whole lines are removed; a file without
remaining lines is only counted. All text from the repository, including file names, is inside tags,
so that the text outside them is lspkit's own.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from lspkit.agent.hooks.agent_session import SortedFindings
from lspkit.config import Config
from lspkit.config.model import DiagnosticsConfig
from lspkit.diagnostics.render import (
    LONGEST,
    block,
    findings_word,
    line_of,
    more_files,
    name_of,
    other_counts,
    select_worst,
    tagged_list,
    unsearched_line,
)
from lspkit.types import Diagnostic, Severity

#: The first words, so that a model does not take errors for a failed edit and repeat it.
APPLIED = "The edit was applied."

#: Where findings come from that are listed again.
FROM_EARLIER = "from your earlier edits that are still there"
#: Findings from earlier edits that are listed again.
SHORT_LIST = 5
#: Characters of their messages.
SHORT_MESSAGE = 120

#: The defaults of the configuration.
_DEFAULTS = DiagnosticsConfig()


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a summary."""

    #: Milder findings are left out.
    severity: Severity = Severity(_DEFAULTS.severity)
    #: Findings of one file.
    max_per_file: int = _DEFAULTS.max_per_file
    #: Files besides those that were edited.
    max_other_files: int = _DEFAULTS.max_other_files
    #: Findings in all.
    max_total_lines: int = _DEFAULTS.max_total_lines
    #: Bytes of the whole text in UTF-8.
    max_bytes: int = _DEFAULTS.max_bytes
    #: Whether only introduced findings are shown, with the number of remaining ones.
    new_only: bool = _DEFAULTS.new_only

    @classmethod
    def of(cls, config: Config) -> Summary:
        """The limits of a configuration."""
        limits = config.diagnostics
        return cls(
            severity=Severity(limits.severity),
            max_per_file=limits.max_per_file,
            max_other_files=limits.max_other_files,
            max_total_lines=limits.max_total_lines,
            max_bytes=limits.max_bytes,
            new_only=limits.new_only,
        )

    @classmethod
    def compact(cls, config: Config | None = None) -> Summary:
        """For a model with a small context: 2 KiB, and 3 other files."""
        base = cls() if config is None else cls.of(config)
        return msgspec.structs.replace(base, max_bytes=2048, max_other_files=3)

    def text(
        self,
        edited: Mapping[Path, SortedFindings],
        others: Mapping[Path, SortedFindings],
        *,
        root: Path,
        left_out: int = 0,
        unsearched: Sequence[str] = (),
        unchecked: Sequence[str] = (),
        stopped: Sequence[str] = (),
    ) -> str:
        """The text about edited files and others; empty if there is nothing to say, or no room.

        With `new_only`, new findings come first, then those that earlier edits of the same agent
        have introduced as a short list, and those from before as a number. `left_out` is the number
        of files that depend on the edit and were not checked, `unsearched` are names of what the
        edit changed and whose uses could not be searched, `unchecked` are names of edited files
        without an answer, and `stopped` says which servers do not run.
        """
        files = [self._file(path, edited[path], root) for path in sorted(edited)]
        other_files = [
            self._file(path, findings, root)
            for path, findings in sorted(others.items())
            if path not in edited
        ]
        worst = sorted((file for file in other_files if file.total), key=_FileSummary.order)
        still = {
            path: self._select(findings.still if self.new_only else ())
            for path, findings in sorted({**edited, **others}.items())
        }
        what = findings_word(self.severity)
        names, files_without_answer = (
            [name.removeprefix(f"{root}/") for name in listed] for listed in (unsearched, unchecked)
        )
        draft = _Draft(
            what=what,
            edited=tuple(file for file in files if file.total),
            others=tuple(sorted(worst[: self.max_other_files], key=lambda file: file.path)),
            unnamed=max(0, len(worst) - self.max_other_files) if self.max_other_files else 0,
            remaining=self._count_old(edited),
            elsewhere=self._count_old(others),
            still=tuple(_short_list(still, root, what)),
            still_count=sum(map(len, still.values())),
            left_out=left_out,
            unsearched=tuple(names),
            unanswered=(
                *tagged_list("Could not be checked in time", "files", files_without_answer),
                *tagged_list(
                    "Servers of this file that do not run", "reasons", stopped, "; ", LONGEST
                ),
            ),
        )
        return draft.fit(self.max_total_lines, self.max_bytes)

    def _count_old(self, files: Mapping[Path, SortedFindings]) -> int:
        if not self.new_only:
            return 0
        return sum(len(self._select(findings.old)) for findings in files.values())

    def _file(self, path: Path, findings: SortedFindings, root: Path) -> _FileSummary:
        counted = self._select(findings.new if self.new_only else findings.all)
        kept = select_worst(counted, self.max_per_file)
        worst = min((finding.severity.rank for finding in counted), default=0)
        return _FileSummary(path, name_of(path, root), tuple(kept), len(counted), worst)

    def _select(self, findings: Sequence[Diagnostic]) -> list[Diagnostic]:
        return [finding for finding in findings if finding.severity.counts(self.severity)]


class _FileSummary(msgspec.Struct, frozen=True):
    """The findings of one file that may be shown."""

    path: Path
    name: str
    #: In line order.
    kept: tuple[Diagnostic, ...]
    #: Including those over the limit.
    total: int
    #: Rank of its most severe finding.
    worst: int

    def order(self) -> tuple[int, int, Path]:
        """A sort key: the first files in this order are shown."""
        return (self.worst, -self.total, self.path)


#: A line of a draft: rank of its severity, number of its file, index in the file.
_Line = tuple[int, int, int]


class _Draft(msgspec.Struct, frozen=True):
    """All findings that could be shown, before the total limits."""

    what: str
    edited: tuple[_FileSummary, ...]
    others: tuple[_FileSummary, ...]
    #: The number of further files.
    unnamed: int
    remaining: int
    elsewhere: int
    #: Lines about findings from earlier edits, and the number of these findings.
    still: tuple[str, ...]
    still_count: int
    left_out: int
    unsearched: tuple[str, ...]
    #: Lines.
    unanswered: tuple[str, ...]

    def fit(self, most_lines: int, most_bytes: int) -> str:
        """The text with as many lines as fit."""
        if not (
            self.edited
            or self.others
            or self.remaining
            or self.still
            or self.left_out
            or self.unsearched
            or self.unanswered
        ):
            return ""
        lines = self._lines()[:most_lines]
        if len(self.still) > 1 and len(self._render(lines).encode()) > most_bytes:
            # New findings come first: of those from earlier edits only the number is left.
            number = f"LSP {self.what} {FROM_EARLIER}: {self.still_count}"
            return msgspec.structs.replace(self, still=(number,)).fit(most_lines, most_bytes)

        def size(count: int) -> int:
            return len(self._render(lines[:count]).encode())

        count = len(lines)
        if size(count) > most_bytes:
            # Without a line, "... and 1 more" may be added, so the size is not quite monotonic.
            count = bisect.bisect_right(range(count), most_bytes, key=size) - 1
            while count >= 0 and size(count) > most_bytes:
                count -= 1
        if count < 0 and self.still:
            return msgspec.structs.replace(self, still=()).fit(most_lines, most_bytes)
        return self._render(lines[:count]) if count >= 0 else ""

    def _lines(self) -> list[_Line]:
        """All lines: by severity, then edited files first, then by path and position."""
        return sorted(
            (finding.severity.rank, number, place)
            for number, file in enumerate((*self.edited, *self.others))
            for place, finding in enumerate(file.kept)
        )

    def _render(self, lines: Sequence[_Line]) -> str:
        """The text with these lines; without lines, only the name of the first file."""
        places: dict[int, list[int]] = {} if lines else {0: []}
        for _, number, place in lines:
            places.setdefault(number, []).append(place)
        numbered = list(enumerate((*self.edited, *self.others)))
        blocks = [_block(file, places[number]) for number, file in numbered if number in places]
        edited = sum(number < len(self.edited) for number in places)
        text_lines: list[str] = []
        for lines_of_file in blocks[:edited]:
            text_lines += [f"LSP {self.what} detected in this file, please fix:", *lines_of_file]
        if self.remaining:
            text_lines.append(f"LSP {self.what} from before the edit that remain: {self.remaining}")
        if blocks[edited:]:
            text_lines.append(f"LSP {self.what} detected in other files:")
            for lines_of_file in blocks[edited:]:
                text_lines += lines_of_file
        text_lines += more_files(len(numbered) + self.unnamed - len(blocks))
        text_lines += self.still
        text_lines += other_counts(self.what, self.elsewhere if self.others else 0, self.left_out)
        text_lines += unsearched_line(self.unsearched)
        text_lines += self.unanswered
        return f"{APPLIED} " + "\n".join(text_lines)


def _short_list(still: Mapping[Path, Sequence[Diagnostic]], root: Path, what: str) -> list[str]:
    """The findings from earlier edits as lines."""
    files = [(path, findings) for path, findings in still.items() if findings]
    lines = [f"LSP {what} {FROM_EARLIER}:"] if files else []
    room = SHORT_LIST
    for number, (path, findings) in enumerate(files):
        if not room:
            return [*lines, *more_files(len(files) - number)]
        kept = select_worst(findings, room)
        room -= len(kept)
        shown = [line_of(finding, SHORT_MESSAGE) for finding in kept]
        lines += block(name_of(path, root), shown, len(findings) - len(kept))
    return lines


def _block(file: _FileSummary, places: Iterable[int]) -> list[str]:
    shown = [line_of(file.kept[place]) for place in sorted(places)]
    return block(file.name, shown, file.total - len(shown))
