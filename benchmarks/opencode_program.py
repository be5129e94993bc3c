"""The published OpenCode, driven without a model and without the network.

Its home and its folders are in a scratch folder. Cold: its own command for diagnostics. Warm: its
server, which is told to follow the scripted model; the time of each tool call is the one that it
notes itself.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: A tool and its arguments.
Call = tuple[str, dict[str, Any]]


class ScriptedModel:
    """A stand-in for a model: a server on loopback, and the calls that it has still to make.

    It speaks as much of the chat completions protocol as OpenCode's provider for compatible
    services needs. A request that offers tools gets the next call of the script, and at its end a
    word; one without tools, such as the one for a title, gets a word.
    """

    def __init__(self) -> None:
        #: Only ever taken from by one request at a time: an agent waits for its model.
        self.calls: deque[Call] = deque()
        self._made = 0
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for chunk in model._chunks(json.loads(body)):
                    self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                self.wfile.write(b"data: [DONE]\n\n")

            def log_message(self, *_: Any) -> None:
                """Nothing: standard error is for errors."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def _chunks(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The answer, in the pieces of a stream."""
        if request.get("tools") and self.calls:
            tool, arguments = self.calls.popleft()
            self._made += 1
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"index": 0, "id": f"call_{self._made}", "type": "function"}
            yield _chunk({"role": "assistant", "tool_calls": [{**call, "function": function}]})
            yield _chunk({}, "tool_calls")
        else:
            yield _chunk({"role": "assistant", "content": "done"})
            yield _chunk({}, "stop")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


#: Seconds for a command, for the start of its server, and for one message.
COMMAND, START, MESSAGE = 90.0, 60.0, 180.0
OFF = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "SHARE")
MODEL = {"providerID": "scripted", "modelID": "scripted"}


@dataclass(frozen=True)
class ToolRun:
    """One tool call, as OpenCode notes it."""

    tool: str
    milliseconds: float
    output: str
    failed: bool


def environ(scratch: Path, programs: Path, model: str = "") -> dict[str, str]:
    """An environment in which it finds these programs, and nothing of the user's."""
    home = scratch / "home"
    home.mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = {"lsp": True, "formatter": False, "permission": {"*": "allow"}}
    if model:
        models = {"scripted": {"name": "scripted", "tool_call": True}}
        config["provider"] = {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "scripted",
                "options": {"baseURL": model, "apiKey": "none"},
                "models": models,
            }
        }
        config["model"] = config["small_model"] = "scripted/scripted"
    return {
        "HOME": str(home),
        **{f"XDG_{kind}_HOME": str(home / kind) for kind in ("CONFIG", "DATA", "CACHE", "STATE")},
        **{f"OPENCODE_DISABLE_{name}": "1" for name in OFF},
        "OPENCODE_PURE": "1",
        "OPENCODE_EXPERIMENTAL_LSP_TOOL": "true",
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8",
        # How `leaks` finds what is left of it.
        "LSPKIT_TEST_RUN": os.environ.get("LSPKIT_TEST_RUN", ""),
    }


def cold_check(program: Path, file: Path, variables: dict[str, str]) -> tuple[float, bool]:
    """Milliseconds of its command for the diagnostics of a file, and whether it found any."""
    began = time.perf_counter()
    done = subprocess.run(
        [str(program), "debug", "lsp", "diagnostics", file.name],
        cwd=file.parent,
        env=variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=COMMAND,
    )
    took = (time.perf_counter() - began) * 1000
    found: dict[str, list[Any]] = json.loads(done.stdout)
    return took, any(found.values())


class OpenCode:
    """Its server on one project, with one session."""

    def __init__(self, program: Path, folder: Path, scratch: Path, programs: Path) -> None:
        self.model = ScriptedModel()
        self._process = subprocess.Popen(
            [str(program), "serve", "--hostname", "127.0.0.1", "--port", "0"],
            cwd=folder,
            env=environ(scratch, programs, self.model.address),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        try:
            self._address = self._listening()
            self._session = self._post("/session", {})["id"]
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put("")

    def _listening(self) -> str:
        until = time.monotonic() + START
        while True:
            line = self._lines.get(timeout=max(0.1, until - time.monotonic()))
            found = re.search(r"https?://\S+", line) if "listening" in line else None
            if found:
                return found[0].rstrip("/")
            if not line:
                raise RuntimeError("OpenCode's server ended at once")

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            self._address + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=MESSAGE) as answer:
            return json.load(answer)

    def run(self, calls: list[Call]) -> list[ToolRun]:
        """Let it make these calls, and return what it noted."""
        self.model.calls.extend(calls)
        before = len(self._runs())
        parts = [{"type": "text", "text": "go on"}]
        self._post(f"/session/{self._session}/message", {"model": MODEL, "parts": parts})
        made = self._runs()[before:]
        if len(made) != len(calls):
            raise RuntimeError(f"OpenCode made {len(made)} of {len(calls)} calls")
        return made

    def _runs(self) -> list[ToolRun]:
        address = f"{self._address}/session/{self._session}/message"
        with urllib.request.urlopen(address, timeout=MESSAGE) as answer:
            messages = json.load(answer)
        return [
            _tool_run(part)
            for message in messages
            for part in message["parts"]
            if part["type"] == "tool" and "end" in part["state"].get("time", {})
        ]

    def close(self) -> None:
        """Ask it to end, as a user does, and wait; what it leaves is counted by the caller."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # A process that it left may hold the pipe open: do not wait for its end here.
        self.model.close()

    def join(self) -> None:
        """Wait for the reader, once nothing of it runs any more."""
        self._reader.join(10)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()


def _tool_run(part: dict[str, Any]) -> ToolRun:
    state = part["state"]
    output = state.get("output") or state.get("error") or ""
    took = state["time"]["end"] - state["time"]["start"]
    return ToolRun(part["tool"], float(took), output, state["status"] != "completed")
