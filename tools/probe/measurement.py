"""Measures one server: what it offers, when it publishes, and what a clean file looks like.

The tier says what proves that a file is clean: 1 the server is asked (pull); 2 it publishes with a
version, also when nothing changes; 2b it publishes without a version; 3 it may stay silent.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import msgspec

from lspkit.protocol.capabilities import DocumentKey, look_up
from lspkit.protocol.text import Encoding
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.process.process_setup import environment_of, initialize_options
from lspkit.servers.selection.choose import Choice
from lspkit.types import Value
from lspkit.version import VERSION
from tools.probe.bare_client import BareClient, ProbeError, Push
from tools.probe.courses import Template

#: Letter: method.
LETTERS = {
    "D": "textDocument/definition",
    "I": "textDocument/implementation",
    "R": "textDocument/references",
    "H": "textDocument/hover",
    "S": "textDocument/documentSymbol",
    "W": "workspace/symbol",
    "C": "textDocument/prepareCallHierarchy",
    "T": "textDocument/prepareTypeHierarchy",
    "N": "textDocument/rename",
    "A": "textDocument/codeAction",
}
PULL = "textDocument/diagnostic"
#: Seconds: for a start, for the first findings, and for those after a change.
START, FIRST, NEXT = 60.0, 30.0, 10.0
#: Seconds in which a server that will publish something does so, after its first findings.
SETTLED = 1.0
#: Seconds after which a server that has found nothing yet is asked again.
AGAIN = 0.02
#: How often an edit is measured.
EDITS = 5


class Measured(Value, frozen=True, kw_only=True):
    """What was measured; times in milliseconds."""

    server: str
    argv: tuple[str, ...]
    #: Name and version as the server gives them.
    name: str
    initialize: float
    #: Letters as in the table of servers: `s` for a flat list of symbols, `N+` with prepare.
    capabilities: str
    #: Of 8, 16 and 32, those that it accepts.
    encodings: tuple[int, ...]
    #: `push`, `pull` or `push or pull`; `none` if there were no findings.
    diagnostics: str = "none"
    #: `1`, `2`, `2b` or `3`; empty if it is not known.
    tier: str = ""
    opened: float | None = None
    changed: float | None = None
    #: Whether a push carries the version.
    version_in_push: bool | None = None
    pushes_per_change: float | None = None
    #: What could not be measured.
    notes: tuple[str, ...] = ()


def probe(choice: Choice, template: Template | None, file: Path) -> Measured:
    """Measure a server on a project. Raises `ProbeError` if it does not start."""
    began = time.monotonic()
    with _client(choice, ("utf-32", "utf-8", "utf-16")) as client:
        client.initialize(START)
        took = _milliseconds(began)
        found = Measured(
            server=choice.id,
            argv=choice.argv,
            name=client.session.server_name,
            initialize=took,
            capabilities="",
            encodings=(),
        )
        found = _measure_file(client, choice, template, file, found)
    return msgspec.structs.replace(found, encodings=_encodings(choice))


def _client(choice: Choice, encodings: tuple[Encoding, ...]) -> BareClient:
    opening = msgspec.structs.replace(initialize_options(choice, VERSION), encodings=encodings)
    return BareClient(choice.argv, opening, environment_of(choice, {}, choice.root, os.environ))


def _encodings(choice: Choice) -> tuple[int, ...]:
    """The encodings that the server chooses if it is offered only one besides the default."""
    found = [16]
    offers: tuple[Encoding, ...] = ("utf-8", "utf-32")
    for offer in offers:
        with _client(choice, (offer, "utf-16")) as client:
            client.initialize(START)
            if client.session.encoding == offer:
                found.append(int(offer.removeprefix("utf-")))
    return tuple(sorted(found))


class _Document:
    """The file that is opened and changed."""

    def __init__(self, client: BareClient, choice: Choice, file: Path) -> None:
        self.client = client
        self.uri = path_to_uri(str(file))
        self.key = DocumentKey(self.uri, choice.definition.language_of(file.name) or "plaintext")
        self.version = 0

    def show(self, content: str) -> float:
        """Open it, or change it to this text; returns when."""
        self.version += 1
        item: dict[str, Any] = {"uri": self.uri, "version": self.version}
        at = time.monotonic()
        if self.version == 1:
            item |= {"languageId": self.key.language, "text": content}
            self.client.notify("textDocument/didOpen", {"textDocument": item})
        else:
            changes = {"textDocument": item, "contentChanges": [{"text": content}]}
            self.client.notify("textDocument/didChange", changes)
        return at

    def pushes(self, since: float) -> list[Push]:
        return [one for one in self.client.pushes if one.uri == self.uri and one.at >= since]

    @property
    def pulls(self) -> bool:
        return self.client.session.supports(PULL, self.key)

    def pull(self, timeout: float) -> tuple[int, ...]:
        """The lines of the findings that the server answers with."""
        params: dict[str, Any] = {"textDocument": {"uri": self.uri}}
        for options in self.client.session.capabilities.options(PULL, self.key):
            if isinstance(options.get("identifier"), str):
                params["identifier"] = options["identifier"]
        answer = self.client.request(PULL, params, timeout)
        if not isinstance(answer, dict) or answer.get("kind") == "unchanged":
            return ()
        return self.client.lines_of(answer.get("items"), PULL)

    def until_found(self, since: float, line: int, timeout: float) -> float:
        """Milliseconds until a finding on that line is known. Raises `ProbeError`."""
        deadline = time.monotonic() + timeout
        while self.pulls and (left := deadline - time.monotonic()) > 0:
            if line in self.pull(left):
                return _milliseconds(since)
            self._refuse_faults()
            self.client.listen(AGAIN)

        def is_there() -> bool:
            is_found = any(line in one.lines for one in self.pushes(since))
            return is_found or self.pulls or bool(self.client.faults)

        self.client.wait(is_there, "findings", max(0.1, deadline - time.monotonic()))
        if any(line in one.lines for one in self.pushes(since)):
            return _milliseconds(since)
        self._refuse_faults()
        return self.until_found(since, line, max(0.1, deadline - time.monotonic()))

    def _refuse_faults(self) -> None:
        """Raises if the findings that are waited for may be among those that cannot be read."""
        if self.client.faults:
            raise ProbeError(self.client.faults[0])


def _measure_file(
    client: BareClient, choice: Choice, template: Template | None, file: Path, found: Measured
) -> Measured:
    document = _Document(client, choice, file)
    if template is None:
        document.show("")
        client.listen(SETTLED)
        note = "lspkit has no sample project for it, so its findings were not measured"
        found = msgspec.structs.replace(found, notes=(note,))
    else:
        try:
            found = _measure_findings(document, template, found)
        except ProbeError as problem:
            found = msgspec.structs.replace(found, notes=(str(problem),))
    letters = _letters(document)
    notes = tuple(dict.fromkeys((*found.notes, *client.faults)))
    return msgspec.structs.replace(found, capabilities=letters, notes=notes)


def _measure_findings(document: _Document, template: Template, found: Measured) -> Measured:
    first = template.make(1, broken=True)
    opened = document.until_found(document.show(first.content), first.line, FIRST)
    document.client.listen(SETTLED)  # a server may register for pull meanwhile
    times, pushes = [], 0
    for number in range(2, 2 + EDITS):
        text = template.make(number, broken=True)
        at = document.show(text.content)
        times.append(document.until_found(at, text.line, NEXT))
        document.client.listen(SETTLED)
        pushes += len(document.pushes(at))
    document.show(template.make(20, broken=False).content)
    document.client.listen(SETTLED + times[-1] / 1000)
    # From clean to clean: does the server say anything?
    at = document.show(template.make(21, broken=False).content)
    document.client.listen(SETTLED + 2 * times[-1] / 1000)
    spoke = bool(document.pushes(at))
    versions = [one.version is not None for one in document.pushes(0.0)]
    pushed = bool(versions)
    tier = "1" if document.pulls else ("2" if all(versions) else "2b") if spoke else "3"
    kind = ("push or pull" if pushed else "pull") if document.pulls else "push"
    return msgspec.structs.replace(
        found,
        diagnostics=kind,
        tier=tier,
        opened=opened,
        changed=sorted(times)[len(times) // 2],
        version_in_push=all(versions) if pushed else None,
        pushes_per_change=pushes / EDITS if pushed else None,
    )


def _letters(document: _Document) -> str:
    """The capabilities, one letter each."""
    session, told = document.client.session, ""
    for letter, method in LETTERS.items():
        key = document.key if method.startswith("textDocument/") else None
        if not session.supports(method, key):
            continue
        if letter == "S" and _is_flat(document, method):
            letter = "s"
        told += letter
        if letter == "N":
            static = look_up(session.capabilities.static, "renameProvider.prepareProvider")
            dynamic = any(
                one.get("prepareProvider") for one in session.capabilities.options(method)
            )
            told += "+" if static or dynamic else ""
    return told


def _is_flat(document: _Document, method: str) -> bool:
    try:
        params = {"textDocument": {"uri": document.uri}}
        answer = document.client.request(method, params, NEXT)
    except ProbeError:
        return False
    items = answer if isinstance(answer, list) else []
    for one in items:
        if not isinstance(one, dict):
            document.client.add_fault(method, "a symbol is no object", one)
    return any(isinstance(one, dict) and "location" in one for one in items)


def _milliseconds(since: float) -> float:
    return (time.monotonic() - since) * 1000
