"""Plays the engine for an operation: canned answers, and no process, file or thread."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lspkit.config.model import Config
from lspkit.diagnostics.compare import Before
from lspkit.errors import LspkitError
from lspkit.operations.effect_results import (
    Dependents,
    Examination,
    Examined,
    FoundFile,
    OthersExamined,
    Reply,
)
from lspkit.operations.effects import (
    Ask,
    DoAll,
    Examine,
    ExamineOthers,
    FindDependents,
    FindPlaces,
    FindServers,
    FindWords,
    NoteText,
    RaiseIfCancelled,
    ReadText,
    Remember,
    ReportUndecodable,
    SyncFile,
    TakeBaseline,
    TakeConfig,
    TakeKnownDiagnostics,
    TakeVersions,
)
from lspkit.operations.request import OPERATIONS, Request
from lspkit.operations.workspace_state import Settings
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.uris import normalize_uri, uri_to_path
from lspkit.servers.project.word_search import Word, WordFiles

PATH = "/code/a.py"
URI = "file:///code/a.py"
OTHER = "file:///code/b.py"


def at(line: int, start: int, end: int | None = None) -> dict[str, Any]:
    """A range on one line, as a server writes it."""
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": start if end is None else end},
    }


def location(uri: str, line: int, start: int, end: int | None = None) -> dict[str, Any]:
    return {"uri": uri, "range": at(line, start, end)}


@dataclass
class Canned:
    """One server: its id, its way to count, and its results by method."""

    id: str = "one"
    encoding: Encoding = "utf-16"
    answers: dict[str, Any] = field(default_factory=dict)
    #: For `check`: the findings, and how they are known; None for a server that is silent.
    findings: list[Any] | None = None
    how: str = "version"
    reason: str = ""


@dataclass
class Engine:
    """Answers the effects of operations."""

    servers: list[Canned]
    text: str = "one\ntwo\n"
    #: Texts of other files by URI; what is not here cannot be read.
    others: dict[str, str] = field(default_factory=dict)
    severities: tuple[str, ...] = ("error",)
    #: Raised at the first question.
    error: LspkitError | None = None
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    looked_up: list[FindPlaces] = field(default_factory=list)
    #: What was said about answers that make no sense.
    misread: list[ReportUndecodable] = field(default_factory=list)
    #: The last proven findings.
    before: Before | None = None
    #: The words of other files that the search in texts finds, and the files that were opened.
    words: dict[str, tuple[Word, ...]] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)

    def run(self, request: Request) -> Any:
        steps = OPERATIONS[type(request)].steps(request)
        try:
            effect = next(steps)
            while True:
                if self.error is not None and isinstance(effect, Ask | Examine):
                    effect = steps.throw(self.error)
                else:
                    effect = steps.send(self.answer(effect))
        except StopIteration as end:
            return end.value

    def answer(self, effect: Any) -> Any:
        match effect:
            case Ask():
                return [self.reply(one, effect) for one in self.servers]
            case ReadText():
                return self.seen(effect.text)
            case FindPlaces():
                self.looked_up.append(effect)
                return {uri: self.place(uri, effect) for uri in effect.uris}
            case TakeKnownDiagnostics() | FindServers():
                return []
            case TakeVersions():
                return {}
            case FindDependents():
                return Dependents(effect.path, old=effect.old)
            case Examine():
                return self.examination(effect)
            case ReportUndecodable():
                self.misread.append(effect)
                return None
            case Remember():
                self.before = effect.before
                return None
            case TakeBaseline():
                return self.before
            case TakeConfig():
                return Settings(1, Config())
            case DoAll():
                return [self.run(one) for one in effect.requests]
            case ExamineOthers():
                return OthersExamined()
            case FindWords():
                return WordFiles(dict(self.words), path=PATH)
            case SyncFile():
                self.opened.append(effect.path)
                return None
            case NoteText() | RaiseIfCancelled():
                return None
        raise AssertionError(effect)

    def seen(self, text: str | None) -> Text:
        return Text(self.text if text is None else text)

    def reply(self, server: Canned, effect: Ask) -> Reply:
        view = View(URI, self.seen(effect.text), 1, server.encoding)
        self.asked.append((server.id, effect.method, effect.build(URI, view.text, server.encoding)))
        result = json.dumps(server.answers.get(effect.method)).encode()
        return Reply(server.id, result, view, effect.method)

    def place(self, uri: str, effect: FindPlaces) -> FoundFile:
        path = uri_to_path(uri)
        known = effect.texts and uri in self.others
        text = Text(self.others[uri]) if known else None
        return FoundFile(
            None if path is None else Path(path), text, is_asked=normalize_uri(uri) == URI
        )

    def examination(self, effect: Examine) -> Examination:
        examined = []
        for one in self.servers:
            silent = one.findings is None
            view = View(URI, self.seen(effect.text), 7, one.encoding)
            lists = () if silent else (json.dumps(one.findings).encode(),)
            how = "none" if silent else one.how
            examined.append(
                Examined(one.id, None if silent else view, lists, how, 0.5, silent, one.reason)
            )
        return Examination(
            Path(PATH), URI, tuple(examined), self.severities, 0.5, before=self.before
        )
