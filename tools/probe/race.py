"""Checks that overlap: each has a text of its own, so that the right verdict is known.

The race of the benchmarks also writes files behind lspkit's back; this one is short and needs no
other program.
"""

from __future__ import annotations

import collections
import random
from concurrent.futures import Future
from pathlib import Path

from lspkit.diagnostics.report import Report
from lspkit.errors import LspkitError
from lspkit.types import Value, Verdict
from lspkit.workspace import Workspace
from tools.probe.courses import Template, Text

#: So many checks are under way at most.
UNDER_WAY = 6
#: Seconds for one check.
TIMEOUT = 30.0


class Raced(Value, frozen=True, kw_only=True):
    """The verdicts of a race."""

    reports: int
    #: Another verdict than the text deserves, or findings of another text.
    wrong: int
    #: Those of them that call a broken text clean.
    false_clean: int
    unknown: int
    #: Kinds of proof, as `Evidence.how` names them.
    proof: tuple[str, ...]
    #: Milliseconds of a check, half of them under way together.
    p50: float


def race(ws: Workspace, server: str, template: Template, file: Path, rounds: int) -> Raced:
    """Check many texts of one file, several at once."""
    choice = random.Random(1)
    file.write_text(template.make(0, broken=False).content, encoding="utf-8")
    waiting: collections.deque[tuple[Text, Future[Report]]] = collections.deque()
    results: list[tuple[Text, Report | None]] = []
    for number in range(1, rounds + 1):
        text = template.make(number, broken=choice.random() < 0.5)
        future = ws.submit(ws.check, file, text=text.content, timeout=TIMEOUT)
        waiting.append((text, future))
        if len(waiting) >= UNDER_WAY:
            results.append(_result(*waiting.popleft()))
    results += [_result(*one) for one in waiting]
    return tally(results, server)


def _result(text: Text, future: Future[Report]) -> tuple[Text, Report | None]:
    try:
        return text, future.result()
    except LspkitError:
        return text, None


def tally(results: list[tuple[Text, Report | None]], server: str) -> Raced:
    """Hold the reports against the texts."""
    wrong = false_clean = unknown = 0
    proofs, times = set[str](), []
    for text, report in results:
        if report is None or report.verdict is Verdict.UNKNOWN:
            unknown += 1
            continue
        times.append(report.duration * 1000)
        proofs |= {one.how for one in report.servers if one.server == server}
        lines = {one.range.start.line for one in report.counted}
        is_right = report.verdict is (Verdict.DIRTY if text.broken else Verdict.CLEAN)
        if not is_right or (text.broken and text.line not in lines):
            wrong += 1
            false_clean += text.broken and report.verdict is Verdict.CLEAN
    middle = sorted(times)[len(times) // 2] if times else 0.0
    return Raced(
        reports=len(results),
        wrong=wrong,
        false_clean=false_clean,
        unknown=unknown,
        proof=tuple(sorted(proofs)),
        p50=middle,
    )
