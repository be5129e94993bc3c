"""What is true about a report of the overlap race, worked out without lspkit's own bookkeeping.

A report names the version that it speaks of. Which text that was is read from the wire: `tee` keeps
what the server was sent. Which texts lay on disk while a call was under way is known from who wrote
them and when. Both together say what the verdict has to be, and on which lines.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.overlap_projects import Text
from lspkit import Report, Verdict

#: Seconds for one verdict.
TIMEOUT = 60.0
#: Evidence with these has nothing to say about a text.
SILENT = ("none", "not applicable")


class Timeline:
    """Which texts one file has had, and when."""

    def __init__(self) -> None:
        #: Guards the list below.
        self._lock = threading.Lock()
        #: Earliest and latest moment at which a text came to be on disk, in order.
        self._writes: list[tuple[float, float, Text]] = []

    def note(self, began: float, ended: float, text: Text) -> None:
        """It was written in this time."""
        with self._lock:
            self._writes.append((began, ended, text))

    def between(self, began: float, ended: float) -> list[Text]:
        """The texts that may have been there at some moment of this time."""
        with self._lock:
            writes = list(self._writes)
        gone = [latest for _, latest, _ in writes[1:]] + [float("inf")]
        return [
            text
            for (earliest, _, text), end in zip(writes, gone, strict=True)
            if earliest <= ended and end >= began
        ]


@dataclass
class Said:
    """One call of the race and what came of it."""

    #: What was called, for people.
    what: str
    #: `main`, `other`, or `project`: `other` with the state of all open files.
    about: str
    began: float
    #: For a call that brings its own text, that text.
    text: Text | None = None
    #: Whether its time was cut so short that it may know nothing.
    cut: bool = False
    ended: float = 0.0
    result: Report | BaseException | None = None


@dataclass
class Tally:
    """How a race ended."""

    calls: int = 0
    #: Reports of which only one verdict was possible, since nothing changed meanwhile.
    sure: int = 0
    wrong: int = 0
    false_clean: int = 0
    unknown: int = 0
    #: Unknown because the caller gave it hardly any time.
    cut: int = 0
    #: Calls that were back only when their time was up, so that somebody has waited in vain.
    late: int = 0
    how: dict[str, int] = field(default_factory=dict)
    #: What was wrong, in words.
    stories: list[str] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Both together."""
        for name in ("calls", "sure", "wrong", "false_clean", "unknown", "cut", "late"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.stories += other.stories
        for mine, theirs in ((self.how, other.how), (self.reasons, other.reasons)):
            for key, count in theirs.items():
                mine[key] = mine.get(key, 0) + count


class Wire:
    """What a server was sent, read from the copies that `tee` made of it. Texts are ASCII.

    There is a copy for each process: lspkit replaces one that cannot see a change, and versions
    begin anew then.
    """

    def __init__(self, log: Path) -> None:
        #: URI: version: texts.
        self.texts: dict[str, dict[int, set[str]]] = {}
        for copy in sorted(log.parent.glob(f"{log.name}.*")):
            last: dict[str, str] = {}
            for message in _messages(copy.read_bytes()):
                params = message.get("params")
                if isinstance(params, dict):  # a server's own notes may hold a list
                    self._take(message.get("method"), params, last)

    def _take(self, method: str | None, params: dict[str, Any], last: dict[str, str]) -> None:
        document = params.get("textDocument")
        if method == "textDocument/didOpen" and document is not None:
            last[document["uri"]] = document["text"]
        elif method == "textDocument/didChange" and document is not None:
            for change in params["contentChanges"]:
                last[document["uri"]] = _changed(last[document["uri"]], change)
        else:
            return
        known = self.texts.setdefault(document["uri"], {})
        known.setdefault(document["version"], set()).add(last[document["uri"]])


def _messages(data: bytes) -> Iterable[dict[str, Any]]:
    start = 0
    while (end := data.find(b"\r\n\r\n", start)) >= 0:
        length = int(data[start:end].lower().partition(b"content-length:")[2].split()[0])
        start = end + 4 + length
        if start > len(data):
            return
        yield json.loads(data[end + 4 : start])


def _changed(text: str, change: dict[str, Any]) -> str:
    if "range" not in change:
        return str(change["text"])
    start, end = (_offset(text, change["range"][edge]) for edge in ("start", "end"))
    return text[:start] + str(change["text"]) + text[end:]


def _offset(text: str, place: dict[str, int]) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: place["line"]]) + place["character"]


class Judge:
    """Holds reports against what is true."""

    def __init__(
        self, wire: Wire, main: Timeline, other: Timeline | None, texts: Iterable[Text]
    ) -> None:
        self._wire = wire
        self._main = main
        self._other = other
        self._known = {text.content: text for text in texts}

    def tally(self, calls: Iterable[Said]) -> Tally:
        """The outcome of these calls."""
        tally = Tally()
        for said in calls:
            tally.calls += 1
            tally.late += said.ended - said.began >= TIMEOUT
            self._count(said, tally)
        return tally

    def _count(self, said: Said, tally: Tally) -> None:
        report = said.result
        if not isinstance(report, Report):
            reason = f"raised {type(report).__name__}: {report}"
            _unknown(said, tally, reason)
            return
        for one in report.servers:
            tally.how[one.how] = tally.how.get(one.how, 0) + (one.how not in SILENT)
        verdict, lines = _told(said, report)
        if verdict is Verdict.UNKNOWN:
            _unknown(said, tally, report.why or "the other files")
            return
        fault, possible = self._possible(said, report)
        if fault:
            tally.wrong += 1
            tally.stories.append(f"{said.what}: {fault}")
            return
        tally.sure += len(possible) == 1
        if (verdict, lines) not in possible:
            tally.wrong += 1
            clean = verdict is Verdict.CLEAN
            tally.false_clean += clean and all(one is Verdict.DIRTY for one, _ in possible)
            tally.stories.append(
                f"{said.what} at {said.began:.3f}..{said.ended:.3f}: said {verdict.name} {lines}, "
                f"true is one of {sorted((one.name, line) for one, line in possible)}; "
                f"{[(one.how, one.version) for one in report.servers]} "
                f"{[one.message for one in report.counted][:2]}"
            )

    def _possible(
        self, said: Said, report: Report
    ) -> tuple[str, set[tuple[Verdict, tuple[int, ...]]]]:
        """What is wrong with what the report speaks of, and all that it may say."""
        if said.about == "other":
            return self._fault(said, report, self._other), {(Verdict.CLEAN, ())}
        mains = self._main.between(said.began, said.ended)
        if said.about == "main":
            fault = self._fault(said, report, self._main)
            spoken = self._spoken(said, report, self._main)
            if fault or spoken is None:
                return fault or "it names no version", set()
            mains = [spoken]
        others: Sequence[Text | None] = [None]
        if self._other is not None:
            others = self._other.between(said.began, said.ended)
        pairs = itertools.product(mains, others)
        return "", {_truth(main, other) for main, other in pairs}

    def _fault(self, said: Said, report: Report, timeline: Timeline | None) -> str:
        """Whether the report speaks of a text that it must not speak of."""
        spoken = self._spoken(said, report, timeline)
        if spoken is None:
            return f"it speaks of no text that there was: {self._versions(report)}"
        if said.text is not None:
            if spoken != said.text:
                return f"asked about text {said.text.number}, spoke of {spoken.number}"
            return ""
        there = timeline.between(said.began, said.ended) if timeline is not None else []
        if spoken not in there:
            numbers = [one.number for one in there]
            return f"spoke of text {spoken.number} when {numbers} were on disk"
        return ""

    def _spoken(self, said: Said, report: Report, timeline: Timeline | None) -> Text | None:
        """The one text that all of its evidence is about.

        If two processes have got different texts as this version, the one that it may speak of.
        """
        texts = self._wire.texts.get(report.path.as_uri(), {})
        named = [texts.get(version, set()) for version in self._versions(report)]
        common = set.intersection(*named) if named else set()
        spoken = [self._known[one] for one in sorted(common) if one in self._known]
        there = timeline.between(said.began, said.ended) if timeline is not None else []
        allowed = there if said.text is None else [said.text]
        return next((one for one in spoken if one in allowed), spoken[0] if spoken else None)

    def _versions(self, report: Report) -> list[int]:
        return [
            one.version
            for one in report.servers
            if one.how not in SILENT and one.version is not None
        ]


def _told(said: Said, report: Report) -> tuple[Verdict, tuple[int, ...]]:
    """Its verdict, and the lines of what counts."""
    if said.about != "project":
        return report.verdict, tuple(sorted({one.range.start.line for one in report.counted}))
    found = itertools.chain.from_iterable(report.other_files.diagnostics.values())
    lines = {one.range.start.line for one in found if one.severity.counts(report.severity)}
    return report.other_files.verdict, tuple(sorted(lines))


def _truth(main: Text, other: Text | None) -> tuple[Verdict, tuple[int, ...]]:
    lines = [main.line] if main.broken else []
    if other is not None and other.broken:
        lines.append(main.use)
    return (Verdict.DIRTY if lines else Verdict.CLEAN), tuple(sorted(lines))


def _unknown(said: Said, tally: Tally, reason: str) -> None:
    if said.cut:
        tally.cut += 1
        return
    tally.unknown += 1
    tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
