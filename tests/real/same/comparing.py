"""Comparing what `check_all` says with what the command line says.

Both sides are sets of findings: file, line, message. Each difference that there may be is a row
with its reason; one that no row explains fails the test, and so does a row that explains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lspkit import Report, Verdict
from lspkit.types import Diagnostic
from tests.real.same.command_line import Finding, Said, folded


@dataclass(frozen=True)
class Only:
    """Findings that only the server has, because the command line is not asked for them."""

    reason: str
    applies: Callable[[Diagnostic, Said], bool]


@dataclass(frozen=True)
class Lines:
    """Lines of a message that the command line prints elsewhere."""

    reason: str
    applies: Callable[[str, Said], bool]


@dataclass(frozen=True)
class Rewording:
    """Words that differ without a difference: both sides are rewritten."""

    reason: str
    reword: Callable[[str], str]


Explanation = Only | Lines | Rewording


@dataclass
class Comparison:
    """What is left when all is explained that can be, and which explanations were needed."""

    explanations: Sequence[Explanation]
    used: set[str] = field(default_factory=set)

    def differences(
        self, folder: Path, reports: Mapping[Path, Report], said: Said
    ) -> list[tuple[str, Finding]]:
        """Findings that only one of the two sides has, and which."""
        ours = {
            Finding(str(path.relative_to(folder)), one.range.start.line, self._text(one, said))
            for path, report in reports.items()
            for one in report.diagnostics
            if not self._is_only_ours(one, said)
        }
        theirs = {Finding(one.file, one.line, self._reworded(one.message)) for one in said.findings}
        return [
            *(("only check_all", one) for one in sorted(ours - theirs)),
            *(("only the command line", one) for one in sorted(theirs - ours)),
        ]

    def unused(self) -> set[str]:
        return {one.reason for one in self.explanations} - self.used

    def _is_only_ours(self, one: Diagnostic, said: Said) -> bool:
        for row in self.explanations:
            if isinstance(row, Only) and row.applies(one, said):
                self.used.add(row.reason)
                return True
        return False

    def _text(self, one: Diagnostic, said: Said) -> str:
        lines = [folded(line) for line in one.message.splitlines()]
        for row in self.explanations:
            if isinstance(row, Lines):
                kept = [line for line in lines if not row.applies(line, said)]
                if kept != lines:
                    self.used.add(row.reason)
                lines = kept
        return self._reworded(folded(" ".join(lines)))

    def _reworded(self, message: str) -> str:
        for row in self.explanations:
            if isinstance(row, Rewording) and (new := row.reword(message)) != message:
                self.used.add(row.reason)
                message = new
        return message


def unknown(reports: Mapping[Path, Report]) -> list[str]:
    """Reports without a verdict, with what they say."""
    return [str(one) for one in reports.values() if one.verdict is Verdict.UNKNOWN]


HINTS = Only(
    "hints are for an editor, which greys code out or strikes it through; no compiler prints them",
    lambda one, _: one.severity.value == "hint",
)

PLACED_NOTES = Lines(
    "ty's server has a note in the message, if the place that belongs to it has words of its own; "
    "all such notes are printed with their place, and are no part of the message there",
    lambda line, said: line in said.placed_notes,
)


def _in_order(message: str) -> str:
    return re.sub(
        r'"[^"|]*"(?: \| "[^"|]*")+',
        lambda union: " | ".join(sorted(union[0].split(" | "))),
        message,
    )


UNION_ORDER = Rewording(
    "TypeScript before 7 prints the members of a union as it has come across them, and a server "
    "comes to the files in another order",
    _in_order,
)

CAPITAL = Rewording(
    "clangd begins a message with a capital letter",
    lambda message: message[:1].lower() + message[1:],
)

FIX = Rewording(
    "clangd says in the message whether it knows a fix",
    lambda message: re.sub(r" \(fix(?:es)? available\)$", "", message),
)

INCLUDES = Only(
    "clangd itself looks for includes that nothing is used of",
    lambda one, _: one.source == "clangd" and one.code == "unused-includes",
)

SYNTAX_FIRST = Only(
    "while a file does not follow the grammar, tsc says so and looks no further",
    lambda one, said: said.gave_up and re.fullmatch(r"1\d\d\d", one.code) is None,
)
