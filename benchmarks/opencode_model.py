"""A stand-in for a model: an HTTP server on loopback that replays scripted tool calls.

It speaks as much of the chat completions protocol as OpenCode's provider for compatible services
needs. A request that offers tools gets the next call of the script, and at its end a word; one
without tools, such as the one for a title, gets a word.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: A tool and its arguments.
Call = tuple[str, dict[str, Any]]


class ScriptedModel:
    """The server, and the calls that it has still to make."""

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
