"""Plays the host of an operation: canned answers, and no process, file or thread."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lspkit.config.model import Config
from lspkit.diagnostics.compare import Before
from lspkit.edit_types import WorkspaceEdit
from lspkit.errors import LspkitError
from lspkit.operations.host import OtherScope, Question
from lspkit.operations.host_results import (
    Dependents,
    Examination,
    Examined,
    FileServer,
    FoundFile,
    KnownDiagnostics,
    OthersExamined,
    Reply,
    Settings,
)
from lspkit.operations.request import OPERATIONS, Request
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.uris import normalize_uri, uri_to_path
from lspkit.servers.project.word_search import Word, WordFiles
from lspkit.types import Severity

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
    """A host with the methods that operations call in these tests."""

    servers: list[Canned]
    text: str = "one\ntwo\n"
    #: Texts of other files by URI; what is not here cannot be read.
    others: dict[str, str] = field(default_factory=dict)
    severity: Severity = Severity.ERROR
    #: Raised at the first question.
    error: LspkitError | None = None
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    #: The URIs of each search for files, and whether their texts were needed.
    looked_up: list[tuple[tuple[str, ...], bool]] = field(default_factory=list)
    #: What was said about answers that make no sense: the errors, and the servers that failed.
    misread: list[tuple[list[LspkitError], list[str]]] = field(default_factory=list)
    #: The last proven findings.
    before: Before | None = None
    #: The words of other files that the search in texts finds, and the files that were opened.
    words: dict[str, tuple[Word, ...]] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)

    def run(self, request: Request) -> Any:
        return OPERATIONS[type(request)].run(request, self)

    def ask(self, question: Question) -> list[Reply]:
        if self.error is not None:
            raise self.error
        return [self.reply(server, question) for server in self.servers]

    def report_undecodable(
        self, problems: Sequence[LspkitError], failed: Sequence[str] = ()
    ) -> None:
        self.misread.append((list(problems), list(failed)))

    def read_text(self, path: str, text: str | None = None) -> Text:
        return Text(self.text if text is None else text)

    def find_places(
        self,
        server: str,
        asked_uri: str,
        uris: Sequence[str],
        *,
        texts: bool,
        alone: bool = False,
    ) -> dict[str, FoundFile]:
        self.looked_up.append((tuple(uris), texts))
        return {uri: self.place(uri, texts) for uri in uris}

    def find_words(self, *_: Any) -> WordFiles:
        return WordFiles(dict(self.words), path=PATH)

    def sync_file(self, path: str, text: str | None) -> None:
        self.opened.append(path)

    def examine(
        self,
        path: str,
        text: str | None,
        others: OtherScope | None = None,
        seconds: float | None = None,
        beside: Mapping[str, str] | None = None,
    ) -> Examination:
        if self.error is not None:
            raise self.error
        return Examination(
            Path(PATH),
            URI,
            tuple(self.examined(server, text) for server in self.servers),
            self.severity,
            0.5,
            before=self.before,
        )

    def examine_others(self, paths: Sequence[str], scope: OtherScope) -> OthersExamined:
        return OthersExamined()

    def known_diagnostics(self, path: str | None) -> list[KnownDiagnostics]:
        return []

    def find_dependents(self, path: str, old: str | None = None, *_: Any) -> Dependents:
        return Dependents(path, old=old)

    def note_text(self, path: str) -> None:
        pass

    def baseline(self, path: str) -> Before | None:
        return self.before

    def remember(self, path: Path, before: Before, *, keeps_text: bool = True) -> None:
        self.before = before

    def document_versions(self, edit: WorkspaceEdit) -> dict[str, int]:
        return {}

    def do_all(
        self, requests: Iterable[Request], at_once: int = 0, seconds: float | None = None
    ) -> list[Any]:
        return [self.run(request) for request in requests]

    def raise_if_cancelled(self) -> None:
        pass

    def file_servers(self, path: str | None) -> list[FileServer]:
        return []

    def settings(self, known: int = 0) -> Settings:
        return Settings(1, Config())

    def reply(self, server: Canned, question: Question) -> Reply:
        view = View(URI, self.read_text(PATH, question.text), 1, server.encoding)
        params = question.build(URI, view.text, server.encoding)
        self.asked.append((server.id, question.method, params))
        result = json.dumps(server.answers.get(question.method)).encode()
        return Reply(server.id, result, view, question.method)

    def place(self, uri: str, texts: bool) -> FoundFile:
        path = uri_to_path(uri)
        known = texts and uri in self.others
        text = Text(self.others[uri]) if known else None
        return FoundFile(
            None if path is None else Path(path), text, is_asked=normalize_uri(uri) == URI
        )

    def examined(self, server: Canned, text: str | None) -> Examined:
        silent = server.findings is None
        view = View(URI, self.read_text(PATH, text), 7, server.encoding)
        lists = () if silent else (json.dumps(server.findings).encode(),)
        how = "none" if silent else server.how
        return Examined(server.id, None if silent else view, lists, how, 0.5, silent, server.reason)
