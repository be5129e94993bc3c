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
from lspkit.diagnostics.report import OtherFiles, Report
from lspkit.types import Diagnostic

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

    #: Findings of other severities are left out.
    severities: tuple[str, ...] = _DEFAULTS.include_severities
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
            severities=limits.include_severities,
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

    def of_reports(
        self,
        reports: Iterable[Report],
        others: OtherFiles | None = None,
        *,
        root: Path,
        after_edit: bool = True,
    ) -> str:
        """The text about checked files; with `new_only`, only about introduced findings.

        If the state before the edit is not known, all findings are shown. The text says that the
        edit was applied; without `after_edit`, for a check only, it does not.
        """
        others = others or OtherFiles()
        old = others.remaining or {}
        return self.of_findings(
            {
                report.path: SortedFindings(
                    tuple(report.diagnostics if report.introduced is None else report.introduced),
                    old=tuple(report.remaining or ()),
                    all=tuple(report.diagnostics),
                )
                for report in reports
            },
            {
                path: SortedFindings(
                    tuple(others.shown.get(path, ())),
                    old=tuple(old.get(path, ())),
                    all=tuple(others.diagnostics.get(path, ())),
                )
                for path in others.diagnostics.keys() | others.shown.keys() | old.keys()
            },
            root=root,
            left_out=others.left_out,
            unsearched=others.unsearched,
            after_edit=after_edit,
        )

    def of_findings(
        self,
        edited: Mapping[Path, SortedFindings],
        others: Mapping[Path, SortedFindings],
        *,
        root: Path,
        left_out: int = 0,
        unsearched: Sequence[str] = (),
        unchecked: Sequence[str] = (),
        stopped: Sequence[str] = (),
        after_edit: bool = True,
    ) -> str:
        """The text about edited files and others; with `new_only`, new findings come first.

        Then those that earlier edits of the same agent have introduced are a short list, and those
        from before are a number.
        """
        everything = {**edited, **others}
        return self.text(
            {path: self._shown(findings) for path, findings in edited.items()},
            {path: self._shown(findings) for path, findings in others.items()},
            root=root,
            remaining=self._count_old(edited),
            elsewhere=self._count_old(others),
            still={path: findings.still for path, findings in everything.items()}
            if self.new_only
            else {},
            left_out=left_out,
            unsearched=[name.removeprefix(f"{root}/") for name in unsearched],
            unchecked=[name.removeprefix(f"{root}/") for name in unchecked],
            stopped=stopped,
            after_edit=after_edit,
        )

    def text(
        self,
        touched: Mapping[Path, Sequence[Diagnostic]],
        others: Mapping[Path, Sequence[Diagnostic]] | None = None,
        *,
        root: Path,
        remaining: int = 0,
        after_edit: bool = True,
        elsewhere: int = 0,
        still: Mapping[Path, Sequence[Diagnostic]] | None = None,
        left_out: int = 0,
        unsearched: Sequence[str] = (),
        unchecked: Sequence[str] = (),
        stopped: Sequence[str] = (),
    ) -> str:
        """The findings by file as text; empty if there are none, or no room for them.

        `remaining` and `elsewhere` are the numbers of findings from before, in these files and in
        others; `still` are findings from earlier edits; `left_out` is the number of files that
        depend on the edit and were not checked, `unsearched` are names of what the edit changed and
        whose uses could not be searched, `unchecked` are names of edited files without an answer,
        and `stopped` says which servers do not run.
        """
        edited = [self._file(path, touched[path], root) for path in sorted(touched)]
        other_files = [
            self._file(path, findings, root)
            for path, findings in sorted((others or {}).items())
            if path not in touched
        ]
        worst = sorted((file for file in other_files if file.total), key=_FileSummary.order)
        counted = {path: self._select(findings) for path, findings in sorted((still or {}).items())}
        what = findings_word(self.severities)
        draft = _Draft(
            what=what,
            edited=tuple(file for file in edited if file.total),
            others=tuple(sorted(worst[: self.max_other_files], key=lambda file: file.path)),
            unnamed=max(0, len(worst) - self.max_other_files) if self.max_other_files else 0,
            remaining=remaining,
            lead=f"{APPLIED} " if after_edit else "",
            elsewhere=elsewhere,
            still=tuple(_short_list(counted, root, what)),
            still_count=sum(map(len, counted.values())),
            left_out=left_out,
            unsearched=tuple(unsearched),
            unanswered=(
                *tagged_list("Could not be checked in time", "files", unchecked),
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

    def _shown(self, findings: SortedFindings) -> Sequence[Diagnostic]:
        return findings.new if self.new_only else findings.all

    def _file(self, path: Path, findings: Sequence[Diagnostic], root: Path) -> _FileSummary:
        counted = self._select(findings)
        kept = select_worst(counted, self.max_per_file)
        worst = min((finding.severity.rank for finding in counted), default=0)
        return _FileSummary(path, name_of(path, root), tuple(kept), len(counted), worst)

    def _select(self, findings: Sequence[Diagnostic]) -> list[Diagnostic]:
        return [finding for finding in findings if finding.severity.value in self.severities]


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
    #: The first words.
    lead: str
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
        return self.lead + "\n".join(text_lines)


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
