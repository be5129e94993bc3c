"""A language client of its own for real servers, to hold lspkit's answers against.

It shares no code with lspkit, so that the two cannot be wrong together. It has no thread: messages
are read while it waits for something, and every wait has a deadline. What the server asks meanwhile
is answered as an editor without settings would. Leaving the `with` block ends the server.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

#: Seconds after which a server that should have spoken has failed the test.
PATIENCE = 60.0
#: Seconds without another push after which the last one is taken, where pushes have no version.
QUIET = 0.3

#: The server has thought better of a request: content modified, server cancelled.
ASK_AGAIN = (-32801, -32802)


def _capabilities(encoding: str) -> dict[str, Any]:
    links = {"linkSupport": True}
    kinds = {"symbolKind": {"valueSet": list(range(1, 27))}}
    return {
        "general": {"positionEncodings": [encoding]},
        "window": {"workDoneProgress": True},
        "workspace": {
            "applyEdit": True,
            "configuration": True,
            "workspaceFolders": True,
            "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
            "diagnostics": {"refreshSupport": True},
            "symbol": kinds,
            "workspaceEdit": {
                "documentChanges": True,
                "resourceOperations": ["create", "rename", "delete"],
            },
        },
        "textDocument": {
            "synchronization": {"didSave": True},
            "publishDiagnostics": {
                "relatedInformation": True,
                "versionSupport": True,
                "codeDescriptionSupport": True,
                "dataSupport": True,
                "tagSupport": {"valueSet": [1, 2]},
            },
            "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": True},
            "definition": links,
            "declaration": links,
            "typeDefinition": links,
            "implementation": links,
            "references": {},
            "callHierarchy": {},
            "typeHierarchy": {},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": True, **kinds},
            "signatureHelp": {
                # jdtls then leaves it to a setting, as it does for lspkit.
                "dynamicRegistration": True,
                "signatureInformation": {
                    "documentationFormat": ["markdown", "plaintext"],
                    "parameterInformation": {"labelOffsetSupport": True},
                    "activeParameterSupport": True,
                },
            },
            "rename": {"prepareSupport": True},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}},
                "dataSupport": True,
                "resolveSupport": {"properties": ["edit"]},
                "isPreferredSupport": True,
                "disabledSupport": True,
            },
        },
        # rust-analyzer says with it when it has nothing left to do.
        "experimental": {"serverStatusNotification": True},
    }


class RawClient:
    """One server on one folder, spoken to in plain JSON."""

    def __init__(
        self, argv: Sequence[str], folder: Path, environment: Mapping[str, str], encoding: str
    ) -> None:
        self.folder = folder
        self.encoding = encoding
        #: The newest diagnostics by URI: version or None, items, when they came.
        self.pushes: dict[str, tuple[int | None, list[Any], float]] = {}
        #: Options of registered capabilities, by method.
        self.registered: dict[str, dict[str, Any]] = {}
        self.capabilities: dict[str, Any] = {}
        self.progress_begun = 0
        self.progress_ended = 0
        #: What rust-analyzer last said about itself: whether it has nothing left to do.
        self.quiescent = False
        self._answers: dict[int, dict[str, Any]] = {}
        self._last_id = 0
        self._buffer = b""
        self._process = subprocess.Popen(
            argv,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.request("shutdown")
            self._send({"method": "exit"})
            self._process.wait(2.0)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            pass  # it is killed below, with whatever it has started
        finally:
            self._kill()

    def _kill(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait(PATIENCE)
        for stream in (self._process.stdin, self._process.stdout):
            stream.close()

    # Talking

    def initialize(self) -> None:
        """Come up with this one encoding, and hold the server to it."""
        params = {
            "processId": os.getpid(),
            "rootUri": self.folder.as_uri(),
            "workspaceFolders": [{"uri": self.folder.as_uri(), "name": self.folder.name}],
            "capabilities": _capabilities(self.encoding),
        }
        self.capabilities = self.request("initialize", params)["capabilities"]
        agreed = self.capabilities.get("positionEncoding", "utf-16")
        assert agreed == self.encoding, f"offered {self.encoding}, got {agreed}"
        self.notify("initialized", {})
        self.notify("workspace/didChangeConfiguration", {"settings": {}})

    def open(self, path: Path, language: str) -> None:
        """Open a file as version 1."""
        item = {
            "uri": path.as_uri(),
            "languageId": language,
            "version": 1,
            "text": path.read_text(encoding="utf-8"),
        }
        self.notify("textDocument/didOpen", {"textDocument": item})

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any = None) -> Any:
        """Ask, wait, and return the result; a refusal that invites another try gets one."""
        deadline = time.monotonic() + PATIENCE
        while True:
            self._last_id += 1
            id = self._last_id
            message = {"id": id, "method": method}
            self._send(message if params is None else {**message, "params": params})
            self.wait_for(lambda id=id: id in self._answers, f"the answer to {method}", deadline)
            answer = self._answers.pop(id)
            if "error" not in answer:
                return answer["result"]
            assert answer["error"]["code"] in ASK_AGAIN, f"{method}: {answer['error']}"

    def ask_at(self, method: str, path: Path, line: int, character: int, **more: Any) -> Any:
        """A request about a place, as the protocol counts."""
        position = {"line": line, "character": character}
        return self.request(
            method, {"textDocument": {"uri": path.as_uri()}, "position": position, **more}
        )

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    # Waiting

    def wait_for(
        self, condition: Callable[[], bool], what: str, deadline: float | None = None
    ) -> None:
        """Read on until the condition holds."""
        if deadline is None:
            deadline = time.monotonic() + PATIENCE
        while not condition():
            left = deadline - time.monotonic()
            assert left > 0, f"no sign of {what} in time"
            assert self._process.poll() is None, f"the server ended before {what}"
            self._read(left)

    def wait_until_loaded(self) -> None:
        """The project is loaded: a piece of work was begun, and none is under way."""
        self.wait_for(
            lambda: self.progress_ended > 0 and self.progress_ended == self.progress_begun,
            "the end of loading",
        )

    def wait_until_quiet(self) -> None:
        """The server has said that it has nothing left to do."""
        self.wait_for(lambda: self.quiescent, "a server that is at rest")

    def pushed(self, path: Path) -> list[Any]:
        """The diagnostics that were pushed for version 1, or, from a server that gives no
        versions, the last ones of a burst that has something to say."""
        uri = path.as_uri()

        def is_there() -> bool:
            version, items, _ = self.pushes.get(uri, (None, [], 0.0))
            return version == 1 or (version is None and bool(items))

        self.wait_for(is_there, f"diagnostics of {path.name}")
        while self.pushes[uri][0] is None:
            left = self.pushes[uri][2] + QUIET - time.monotonic()
            if left <= 0:
                break
            self._read(left)
        return self.pushes[uri][1]

    def pulled(self, path: Path) -> list[Any]:
        """The diagnostics that the server gives when it is asked, once it lets itself be asked."""
        method = "textDocument/diagnostic"
        self.wait_for(
            lambda: "diagnosticProvider" in self.capabilities or method in self.registered,
            "pull diagnostics",
        )
        options = self.registered.get(method) or self.capabilities.get("diagnosticProvider")
        params: dict[str, Any] = {"textDocument": {"uri": path.as_uri()}}
        if options and options.get("identifier") is not None:
            params["identifier"] = options["identifier"]
        report = self.request(method, params)
        assert report["kind"] == "full", report
        items: list[Any] = report["items"]
        return items

    def _read(self, timeout: float) -> None:
        ready, _, _ = select.select([self._process.stdout], [], [], timeout)
        if not ready:
            return
        data = os.read(self._process.stdout.fileno(), 1 << 16)
        assert data, "the server closed its output"
        self._buffer += data
        while True:
            header, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                return
            fields = dict(line.lower().split(b":", 1) for line in header.split(b"\r\n"))
            length = int(fields[b"content-length"])
            if len(rest) < length:
                return
            self._buffer = rest[length:]
            self._take(json.loads(rest[:length]))

    # What the server says

    def _take(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params")
        if method is None:
            self._answers[message["id"]] = message
        elif "id" in message:
            self._send({"id": message["id"], "result": self._reply(method, params)})
        elif method == "textDocument/publishDiagnostics":
            push = (params.get("version"), params["diagnostics"], time.monotonic())
            self.pushes[params["uri"]] = push
        elif method == "$/progress":
            kind = params["value"].get("kind")
            self.progress_begun += kind == "begin"
            self.progress_ended += kind == "end"
        elif method == "experimental/serverStatus":
            self.quiescent = params["quiescent"]

    def _reply(self, method: str, params: Any) -> Any:
        if method == "workspace/configuration":
            return [None for _ in params["items"]]
        if method == "workspace/workspaceFolders":
            return [{"uri": self.folder.as_uri(), "name": self.folder.name}]
        if method == "workspace/applyEdit":
            return {"applied": False}
        if method == "client/registerCapability":
            for entry in params["registrations"]:
                self.registered[entry["method"]] = entry.get("registerOptions") or {}
        return None
