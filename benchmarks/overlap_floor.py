"""The floor beside the overlap race: a bare loop on the same server that knows when to stop.

It writes the file, sends the change and the save, and stops at the first sign that the server has
looked: an answer to a pull, the push of that version, TypeScript's own answers, or, where a server
gives no version, the next push. It does not look whether the sign can be trusted while edits
overlap, since here they never do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import lspkit
from benchmarks.overlap_projects import Template, Text
from benchmarks.raw import CAPABILITIES, Message, RawServer, TooLate
from benchmarks.sections import QUICK
from lspkit import Verdict
from lspkit.protocol.capabilities import InitializeOptions
from lspkit.protocol.open_documents import SyncOptions
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.definition import Definition

#: Seconds after which a server that should have spoken has failed.
PATIENCE = 60.0
#: Seconds after which a check that has not begun is asked for again.
AGAIN = 2.0
#: Edits of each side at most, and at least; in between the time decides, in seconds.
EDITS, FEWEST, LONG = (12, 6, 4.0) if QUICK else (60, 12, 25.0)

PULL = "textDocument/diagnostic"
#: When to stop, by server; what is not here pulls.
STOPS = {
    "typescript": "tsserver",
    "vtsls": "tsserver",
    "vue-typescript": "tsserver",
    "pyrefly": "version",
    "clangd": "version",
    "gopls": "version",
    "bash": "version",
    "biome": "version",
    "jdtls": "push",
    "yaml": "push",
    "dockerfile": "push",
    "intelephense": "push",
    "rust-analyzer": "pull and cargo check",
}


#: What a server may ask for.
_ALL = SyncOptions(True, 2, True, False)


class Floor(RawServer):
    """One server, one document, one edit after the other."""

    def __init__(
        self,
        argv: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        definition: Definition,
    ) -> None:
        super().__init__(argv, folder, environment)
        self._folder = folder
        self._definition = definition
        self.stop = STOPS.get(definition.id, "pull")
        self._version = 0
        #: The last push about each file: version, findings, and its number.
        self._pushes: dict[str, tuple[int | None, list[Any], int]] = {}
        self._pushed = 0
        self._options: dict[str, Any] = {}
        self._checks: dict[Any, bool] = {}
        self.on_notification = self._notified

    def begin(self) -> None:
        """The handshake."""
        capabilities: Message = json.loads(json.dumps(CAPABILITIES))
        if self.stop.startswith("pull"):
            capabilities["textDocument"]["diagnostic"] = {"dynamicRegistration": True}
            # Without it oxlint goes on pushing.
            capabilities["workspace"]["diagnostics"] = {"refreshSupport": True}
        options = adapter_of(self._definition).initialize(InitializeOptions("", ""))
        capabilities["experimental"] = options.experimental
        uri = self._folder.as_uri()
        params = {
            "processId": None,
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": self._folder.name}],
            "capabilities": capabilities,
            "initializationOptions": self._definition.launch.initialization,
        }
        answer = self.request("initialize", params, PATIENCE)
        self._options = answer["capabilities"].get("diagnosticProvider") or {}
        self.notify("initialized", {})
        settings = {"settings": self._definition.launch.settings}
        self.notify("workspace/didChangeConfiguration", settings)

    def take(self, message: Message) -> None:
        """As the loop does, with the server's own settings and registrations."""
        params = message.get("params") or {}
        if message.get("method") == "workspace/configuration":
            found = [self._setting(item.get("section")) for item in params["items"]]
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": found})
            return
        if message.get("method") == "client/registerCapability":
            for entry in params["registrations"]:
                if entry["method"] == PULL:
                    self._options = entry.get("registerOptions") or {}
        super().take(message)

    def _setting(self, section: str | None) -> Any:
        found: Any = self._definition.launch.settings
        for word in (section or "").split("."):
            if word:
                found = found.get(word) if isinstance(found, dict) else None
        return found or None

    def _notified(self, message: Message) -> None:
        params = message.get("params") or {}
        adapter = adapter_of(self._definition)
        for request in adapter.forwarded(message["method"], json.dumps(params).encode()):
            self.notify(*adapter.forwarded_answer(request, None))  # there is nobody to ask
        if message["method"] == "textDocument/publishDiagnostics":
            self._pushed += 1
            push = (params.get("version"), params["diagnostics"], self._pushed)
            self._pushes[params["uri"]] = push
        elif message["method"] == "$/progress" and "flycheck" in str(params["token"]):
            kind = params["value"].get("kind")
            if kind != "report":
                self._checks[params["token"]] = kind == "end"

    def edit(self, path: Path, text: Text, language: str) -> tuple[float, bool]:
        """Seconds until the server has looked at this text, and whether it found an error."""
        uri, before = path.as_uri(), self._pushed
        self._checks.clear()
        began = time.perf_counter()
        path.write_text(text.content)
        self._version += 1
        if self._version == 1:
            item = {"uri": uri, "languageId": language, "version": 1, "text": text.content}
            self.notify("textDocument/didOpen", {"textDocument": item})
        else:
            self.tell_of_change(path, self._version, text.content)
        found = self._looked(uri, path, before)
        took = time.perf_counter() - began
        return took, any(one.get("severity", 1) == 1 for one in found)

    def tell_of_change(self, path: Path, version: int, text: str) -> None:
        """Send a new text, and that it is on disk, in the way that this server is told."""
        change = {
            "textDocument": {"uri": path.as_uri(), "version": version},
            "contentChanges": [{"text": text}],
            **adapter_of(self._definition).change_params,
        }
        self.notify("textDocument/didChange", change)
        if adapter_of(self._definition).sync_options(_ALL).save:
            self.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})

    def _looked(self, uri: str, path: Path, before: int) -> list[Any]:
        if self.stop == "tsserver":
            return self._from_tsserver(path)
        if self.stop == "version":
            # gopls publishes before a file is opened, and then it is silent if nothing changed.
            first = self._version == 1
            return self._push(uri, lambda push: first or (push[0] or 0) >= self._version)
        if self.stop == "push":
            return self._push(uri, lambda push: push[2] > before)
        found = self._pulled(uri)
        if self.stop != "pull":
            self._start()
            while not self.wait_until(lambda: bool(self._checks), AGAIN):
                self._start()  # what comes while cargo is just ending may start nothing
            self.wait_until(lambda: True in self._checks.values(), PATIENCE)
            found = found + self._pushes.get(uri, (None, [], 0))[1]
        return found

    def _start(self) -> None:
        """Let the server begin with what it only does when it is told."""
        for rule in self._definition.proofs:
            if rule.start:
                self.notify(rule.start, {})

    def _push(self, uri: str, fits: Callable[[tuple[int | None, list[Any], int]], bool]) -> Any:
        if not self.wait_until(lambda: uri in self._pushes and fits(self._pushes[uri]), PATIENCE):
            raise TooLate(f"no push about {uri}")
        return self._pushes[uri][1]

    @property
    def identified(self) -> Message:
        """What a pull has to say besides, for a server that gave its findings a name."""
        name = self._options.get("identifier")
        return {} if name is None else {"identifier": name}

    def _pulled(self, uri: str) -> list[Any]:
        params: Message = {"textDocument": {"uri": uri}, **self.identified}
        limit = time.monotonic() + PATIENCE
        while True:
            try:
                report = self.request(PULL, params, PATIENCE)
            except RuntimeError:  # it is not ready, or wants to be asked again
                if time.monotonic() > limit:
                    raise
                continue
            return list((report or {}).get("items") or ())

    def _from_tsserver(self, path: Path) -> list[Any]:
        found: list[Any] = []
        for command in ("syntacticDiagnosticsSync", "semanticDiagnosticsSync"):
            arguments = [command, {"file": str(path)}, {}]
            params = {"command": "typescript.tsserverRequest", "arguments": arguments}
            answer = self.request("workspace/executeCommand", params, PATIENCE)
            items = (answer or {}).get("body") or ()
            found += [one | {"severity": 1 if one["category"] == "error" else 3} for one in items]
        return found

    def warm_up(self, path: Path, template: Template, language: str) -> None:
        """Edit until it tells a broken text from one in order: it may have to load a project."""
        limit, number = time.monotonic() + 2 * PATIENCE, 0
        right = 0
        while right < 2:
            number += 1
            text = template.make(number, broken=number % 2 == 1)
            try:
                _, found = self.edit(path, text, language)
            except TooLate:  # gopls may be silent about a text that comes while it loads
                found = not text.broken
            right = right + 1 if found == text.broken else 0
            if time.monotonic() > limit:
                raise TooLate(f"{self._definition.id} does not tell right from wrong")


def timed(
    ws: lspkit.Workspace, main: Path, floor: Floor, beside: Path, template: Template, language: str
) -> tuple[dict[str, list[float]], int]:
    """Milliseconds from an edit to the verdict on it, lspkit and the floor in turns; and how many
    of lspkit's verdicts were wrong."""
    times: dict[str, list[float]] = {"lspkit": [], "floor": []}
    wrong, until = 0, time.monotonic() + LONG
    for number in range(EDITS):
        if number >= FEWEST and time.monotonic() > until:
            break
        text = template.make(5000 + number, broken=number % 2 == 0)
        began = time.perf_counter()
        report = ws.write(main, text.content, timeout=PATIENCE).report
        times["lspkit"].append((time.perf_counter() - began) * 1000)
        wrong += report.verdict is (Verdict.CLEAN if text.broken else Verdict.DIRTY)
        took, _ = floor.edit(beside, text, language)
        times["floor"].append(took * 1000)
    return times, wrong
