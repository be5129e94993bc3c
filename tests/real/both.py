"""A sample project with the two who look at it, lspkit and the raw client, and what each answers.

`asked` is an operation through lspkit, `expected` the same of the server itself; both as plain
tuples. Lspkit's server is started under `tee`, so that what it is sent can be read.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lspkit
from tests.real.abilities import ABILITIES, Abilities
from tests.real.editing import preview_texts, raw_texts
from tests.real.projects import Spot
from tests.real.raw_client import RawClient
from tests.real.reading import (
    Reader,
    plain_calls,
    plain_found_symbols,
    plain_hover,
    plain_item,
    plain_locations,
    plain_signature_help,
    plain_symbols,
    signature_help,
)
from tests.real.recording import recorded, sent
from tests.real.running import command, raw_client, workspace
from tests.real.samples import SAMPLES, Sample

#: Seconds for one question, on a busy machine.
TIMEOUT = 60.0

#: Operations about a place: where it is asked, and what the protocol calls it.
AT_PLACE = {
    "definition": ("call", "textDocument/definition"),
    "declaration": ("call", "textDocument/declaration"),
    "type_definition": ("value", "textDocument/typeDefinition"),
    "implementation": ("abstract", "textDocument/implementation"),
    "references": ("call", "textDocument/references"),
    "hover": ("call", "textDocument/hover"),
    "signature_help": ("arguments", "textDocument/signatureHelp"),
    "prepare_call_hierarchy": ("call", "textDocument/prepareCallHierarchy"),
    "incoming_calls": ("call", "callHierarchy/incomingCalls"),
    "outgoing_calls": ("caller", "callHierarchy/outgoingCalls"),
    "supertypes": ("type", "typeHierarchy/supertypes"),
    "subtypes": ("type", "typeHierarchy/subtypes"),
    "rename": ("call", "textDocument/rename"),
}
#: Operations that are about an item, by how the item is had.
PREPARED_BY = {
    "incoming_calls": "textDocument/prepareCallHierarchy",
    "outgoing_calls": "textDocument/prepareCallHierarchy",
    "supertypes": "textDocument/prepareTypeHierarchy",
    "subtypes": "textDocument/prepareTypeHierarchy",
}
#: Further params that the raw question takes.
PARAMS = {
    "references": {"context": {"includeDeclaration": True}},
    "rename": {"newName": "gauge"},
}
#: What turns lspkit's results into plain tuples.
PLAIN: dict[str, Callable[[Any], Any]] = {
    "hover": plain_hover,
    "signature_help": plain_signature_help,
    "document_symbols": plain_symbols,
    "workspace_symbols": plain_found_symbols,
    "prepare_call_hierarchy": lambda given: [plain_item(one) for one in given],
    "incoming_calls": plain_calls,
    "outgoing_calls": plain_calls,
    "supertypes": lambda given: [plain_item(one) for one in given],
    "subtypes": lambda given: [plain_item(one) for one in given],
    "rename": preview_texts,
    "code_actions": lambda given: [_plain_action(one) for one in given],
}


@dataclass
class Both:
    """One folder, and the two who look at it."""

    server: str
    folder: Path
    sample: Sample
    abilities: Abilities
    ws: lspkit.Workspace
    raw: RawClient
    reader: Reader
    log: Path
    #: What lspkit said when it was first asked, on a server that it had to start for that.
    first: list[lspkit.Location] = field(default_factory=list)

    def path(self, name: str) -> Path:
        return self.folder / name

    def spot(self, operation: str) -> Spot:
        """Where an operation is asked about; for one that a language has no place for, anywhere."""
        name = AT_PLACE[operation][0]
        return self.sample.spots.get(name, self.sample.spots["call"])

    # Through lspkit

    def ask_first(self) -> list[lspkit.Location]:
        """The first question again."""
        return ask_first(self.ws, self.sample)

    def ask(self, operation: str) -> Any:
        """The operation on the sample, as a user would ask."""
        method = getattr(self.ws, operation)
        if operation == "document_symbols":
            return method(self.sample.main, timeout=TIMEOUT)
        if operation == "workspace_symbols":
            return self.own(method(self.sample.query, self.sample.main, timeout=TIMEOUT))
        if operation == "code_actions":
            start, end = (self.sample.place(spot) for spot in self.sample.mistake)
            return method(
                self.sample.main, *start, end_line=end[0], end_column=end[1], timeout=TIMEOUT
            )
        spot = self.spot(operation)
        more = {"new_name": "gauge"} if operation == "rename" else {}
        return method(spot.file, *self.sample.place(spot), timeout=TIMEOUT, **more)

    def own(self, symbols: list[lspkit.Symbol]) -> list[lspkit.Symbol]:
        """Those of the project: when clangd knows those of the system is a matter of time."""
        return [one for one in symbols if one.path and one.path.is_relative_to(self.folder)]

    def asked(self, operation: str) -> Any:
        """The same as plain tuples."""
        return PLAIN.get(operation, plain_locations)(self.ask(operation))

    # Through the raw client

    def raw_at(self, method: str, spot: Spot, **more: Any) -> Any:
        path = self.path(spot.file)
        return self.raw.ask_at(
            method, path, *self.reader.wire(path, *self.sample.place(spot)), **more
        )

    def raw_item(self, operation: str) -> dict[str, Any]:
        """What is at the place that the operation is asked about."""
        (item,) = self.raw_at(PREPARED_BY[operation], self.spot(operation))
        found: dict[str, Any] = item
        return found

    def expected(self, operation: str) -> Any:
        """What the server itself says, as plain tuples."""
        main = self.path(self.sample.main)
        if operation == "document_symbols":
            params = {"textDocument": {"uri": main.as_uri()}}
            raw = self.raw.request("textDocument/documentSymbol", params)
            return self.reader.symbols(main, raw)
        if operation == "workspace_symbols":
            raw = self.raw.request("workspace/symbol", {"query": self.sample.query})
            own = self.folder.as_uri()
            return self.reader.found_symbols(
                [one for one in raw if one["location"]["uri"].startswith(own)]
            )
        if operation == "code_actions":
            return [self._action(one) for one in in_order(self.raw_actions())]
        method = AT_PLACE[operation][1]
        if operation in PREPARED_BY:
            item = self.raw_item(operation)
            raw = self.raw.request(method, {"item": item})
            if operation.endswith("calls"):
                return self.reader.calls(raw, item)
            return self.reader.items(raw)
        raw = self.raw_at(method, self.spot(operation), **PARAMS.get(operation, {}))
        match operation:
            case "hover":
                return self.reader.hover(main, raw)
            case "signature_help":
                return signature_help(raw)
            case "prepare_call_hierarchy":
                return self.reader.items(raw)
            case "rename":
                return raw_texts(self.reader, raw)
        return self.reader.locations(raw)

    def raw_actions(self, **context: Any) -> list[dict[str, Any]]:
        """What the server offers to do about the mistake."""
        main = self.path(self.sample.main)
        start, end = (self.reader.wire(main, *self.sample.place(at)) for at in self.sample.mistake)
        here = [one for one in self.raw_findings() if one["range"]["start"]["line"] == start[0]]
        params = {
            "textDocument": {"uri": main.as_uri()},
            "range": {
                "start": {"line": start[0], "character": start[1]},
                "end": {"line": end[0], "character": end[1]},
            },
            "context": {"diagnostics": here, "triggerKind": 1, **context},
        }
        return self.raw.request("textDocument/codeAction", params) or []

    def _action(self, raw: dict[str, Any]) -> tuple[Any, ...]:
        edit = raw.get("edit")
        return (
            raw["title"],
            raw.get("kind") or "",
            raw.get("isPreferred") or False,
            (raw.get("disabled") or {}).get("reason", ""),
            None if edit is None else raw_texts(self.reader, edit),
        )

    def raw_findings(self) -> list[dict[str, Any]]:
        """All that the server has to say about the main file: asked, and of its own accord."""
        main = self.path(self.sample.main)
        if not self.abilities.pulls:
            return self.raw.pushed(main)
        pushed = self.raw.pushes.get(main.as_uri(), (None, [], 0.0))[1]
        return self.raw.pulled(main) + pushed

    def expected_findings(self) -> list[tuple[Any, ...]]:
        return self.reader.diagnostics(self.path(self.sample.main), self.raw_findings())

    # What lspkit sends

    def methods_sent(self) -> list[str]:
        """Everything so far, in order, up to a question that is asked now."""
        ours = f"lspkit-test/{time.monotonic_ns()}"
        with contextlib.suppress(
            lspkit.RequestFailedError
        ):  # it is no question that a server knows
            self.ws.request(self.sample.main, ours, timeout=TIMEOUT)
        deadline = time.monotonic() + TIMEOUT
        methods: list[str] = []
        # The server may have answered before `tee` has written the file.
        while ours not in methods:
            assert time.monotonic() < deadline, f"{ours} was not sent"
            methods = [one["method"] for one in sent(self.log) if "method" in one]
        return methods[: methods.index(ours)]


def ask_first(ws: lspkit.Workspace, sample: Sample) -> list[lspkit.Location]:
    """A question whose answer is in a file that nobody has opened yet."""
    # Not about the function, in C++: only a server that has read all files knows its definition.
    spot = sample.spots.get("type", sample.spots["call"])
    return ws.definition(spot.file, *sample.place(spot), timeout=TIMEOUT)


def in_order(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Preferred ones first, those that cannot be done last."""
    return sorted(actions, key=lambda one: (not one.get("isPreferred"), "disabled" in one))


def _plain_action(given: lspkit.CodeAction) -> tuple[Any, ...]:
    texts = None if given.edit is None else preview_texts(given.edit)
    return given.title, given.kind, given.preferred, given.disabled, texts


@contextlib.contextmanager
def both_on(server: str, folder: Path) -> Iterator[Both]:
    """Starts the server twice on its sample, and lets both look at the files.

    The main file last: bash-language-server examines only the last one of several that are opened
    at the same time.
    """
    sample, abilities = SAMPLES[server], ABILITIES[server]
    sample.write(folder)
    log = folder.with_name(folder.name + "-sent")
    argv = command(server, sample.arguments)
    encoding = abilities.encoding
    with workspace(folder, server, encoding=encoding, argv=recorded(argv, log)) as ws:
        first = ask_first(ws, sample)
        for name in (sample.library, sample.main):
            ws.check(name, timeout=TIMEOUT)
        with raw_client(folder, server, encoding, argv) as raw:
            raw.initialize()
            for name in (sample.library, sample.main):
                raw.open(folder / name, sample.language)
            if abilities.loaded_by == "progress":
                raw.wait_until_loaded()
            elif abilities.loaded_by == "quiescent":
                raw.wait_until_quiet()
            elif abilities.loaded_by == "push":
                library = (folder / sample.library).as_uri()
                raw.wait_for(lambda: library in raw.pushes, "a library that was read")
            both = Both(server, folder, sample, abilities, ws, raw, Reader(encoding), log, first)
            if abilities.pushes_too:
                wait_for_pushes(both)
            both.raw_findings()
            yield both


def wait_for_pushes(both: Both) -> None:
    """Both have heard from the tool that reads the disk."""
    main, deadline = both.path(both.sample.main), time.monotonic() + TIMEOUT
    epoch = both.ws.epoch
    while not both.ws.diagnostics(main):
        assert time.monotonic() < deadline, f"{both.server} has sent nothing about {main.name}"
        epoch = both.ws.wait_for_change(epoch, deadline - time.monotonic())
    uri = main.as_uri()
    both.raw.wait_for(lambda: bool(both.raw.pushes.get(uri, (0, []))[1]), f"pushes for {uri}")
