"""One request of a client, from its arrival to its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from lspkit.operations.request import Request
from lspkit.protocol.wire import messages
from lspkit.runtime.concurrency.call import AnswerLog, CancelToken
from lspkit.runtime.engine import LocalEngine
from lspkit.runtime.engine_api import Limits
from lspkit.service.peer import error_body
from lspkit.service.wire_values import encode_error, encode_value

T = TypeVar("T")

#: JSON-RPC: the request failed in a way that its `data` describes.
CALL_FAILED = -32000


class IncomingCall:
    """A request of a client. It is answered once, by any thread."""

    __slots__ = ("_engine", "_send", "answer_log", "cancel", "id", "params")

    def __init__(
        self,
        id: bytes,
        params: bytes,
        engine: LocalEngine,
        send: Callable[[IncomingCall, bytes], None],
    ) -> None:
        #: The id as the client wrote it.
        self.id = id
        self.params = params
        #: Set when the client cancels the request, or is gone.
        self.cancel = CancelToken()
        self.answer_log = AnswerLog()
        self._engine, self._send = engine, send

    def answer(self, value: Any) -> None:
        """Send the result."""
        raw, escaped = encode_value(value)
        if escaped:  # only `lsp/call` has a mark for it; others replace what is not UTF-8
            raw = msgspec.Raw(messages.encode(msgspec.to_builtins(value, str_keys=True)))
        self.answer_raw(raw)

    def answer_raw(self, raw: msgspec.Raw) -> None:
        """Send a result that is encoded already."""
        self._send(self, messages.raw_response(self.id, raw))

    def refuse(self, code: int, why: str) -> None:
        """Send an error of JSON-RPC itself."""
        self._send(self, error_body(self.id, code, why))

    def fail(self, problem: BaseException) -> None:
        """Send an error of the call."""
        data, message = encode_error(problem)
        self._send(self, error_body(self.id, CALL_FAILED, message, data))

    def run(self, request: Request[T], timeout: float | None = None, *, client: object = None) -> T:
        """Carry out a request of a workspace. `client` is as in `Limits`."""
        return self._engine.run(request, Limits(timeout, self.cancel, self.answer_log, client))
