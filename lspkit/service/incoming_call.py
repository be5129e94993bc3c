"""One request of a client, from its arrival to its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.operations.request import Request
from lspkit.protocol.wire import messages
from lspkit.runtime.concurrency.call import AnswerLog, CancelToken
from lspkit.runtime.engine import LocalEngine
from lspkit.runtime.engine_api import Limits
from lspkit.service.peer import error_body
from lspkit.service.wire_values import encode_error, encode_value

#: JSON-RPC: the request failed in a way that its `data` describes.
CALL_FAILED = -32000


class IncomingCall:
    """A request of a client. It is answered once, by any thread."""

    __slots__ = ("_engine", "_send", "answer_log", "cancel", "id", "on_slow", "params")

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
        #: Called once if the call takes long. None: it must not take time in this thread.
        self.on_slow: Callable[[], None] | None = None
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

    def run(
        self,
        request: Request[Any],
        timeout: float | None,
        done: Callable[[Any], None],
        at_end: Callable[[], object] = lambda: None,
        *,
        client: object = None,
    ) -> None:
        """Carry out a request of a workspace, then call `done`: in this thread, or with callbacks.

        `at_end` is called before that, also after a failure. `client` is as in `Limits`.
        """

        def finish(result: Callable[[], Any]) -> None:
            try:
                try:
                    value = result()
                finally:
                    at_end()
                done(value)
            except BaseException as problem:  # noqa: BLE001 (the client gets it)
                self.fail(problem)

        limits = Limits(timeout, self.cancel, self.answer_log, client)
        on_slow, self.on_slow = self.on_slow, None
        if on_slow is not None:
            finish(lambda: self._engine.run(request, limits, on_slow))
        else:
            future = self._engine.begin(request, limits)
            future.add_done_callback(lambda future: finish(future.result))
