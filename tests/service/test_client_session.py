"""The calls of one client that are under way: how many may be, and what the next one is told."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import FrameReader, frame
from lspkit.service.client_session import MOST_CALLS, ClientSession
from lspkit.service.peer import Peer
from lspkit.service.runtime_folder import bootstrap_of
from lspkit.service.shared_workspace import SharedWorkspace
from tests.service.site import PATIENCE

#: A call that waits until it is cancelled.
WAITS = {"afterEpoch": 10**15, "waitMs": 1_000_000}


class Connection:
    """A client of a service in this process."""

    def __init__(self, folder: Path) -> None:
        bootstrap = bootstrap_of(folder, None, None)
        self.shared = SharedWorkspace(bootstrap, lambda _: None, lambda: None)
        near, self._socket = socket.socketpair()
        self._socket.settimeout(PATIENCE)
        self._frames = FrameReader()
        self._answers: list[dict[str, Any]] = []
        self._peer = Peer(near, lambda _, message: session.take(message), lambda _: None, "test")
        session = ClientSession(self.shared, self._peer)
        self._peer.start()

    def send(self, number: int, method: str, params: Any = None) -> None:
        """Send a request."""
        self._socket.sendall(frame(messages.request(number, method, params)))

    def cancel(self, number: int) -> None:
        """Cancel a request."""
        self._socket.sendall(frame(messages.notification("$/cancelRequest", {"id": number})))

    def answer(self) -> dict[str, Any]:
        """The next answer."""
        while not self._answers:
            self._answers += map(json.loads, self._frames.feed(self._socket.recv(1 << 16)))
        return self._answers.pop(0)

    def close(self) -> None:
        """End the connection and its service."""
        self._socket.close()
        self.shared.close()
        self._peer.close()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Connection]:
    with contextlib.closing(Connection(tmp_path)) as connection:
        yield connection


def test_calls_that_wait_keep_no_other_from_being_read_and_one_too_many_is_refused(
    client: Connection,
) -> None:
    for number in range(1, MOST_CALLS):
        client.send(number, "lsp/diagnosticsAfter", WAITS)
    client.send(0, "lsp/status")
    assert client.answer()["result"]["service"]["version"]
    client.send(MOST_CALLS, "lsp/diagnosticsAfter", WAITS)
    client.send(1000, "lsp/status")
    refusal = client.answer()
    assert (refusal["id"], refusal["error"]["code"]) == (1000, messages.INVALID_REQUEST)
    assert refusal["error"]["message"] == (
        "200 requests of this client are in progress: send it again when one of them is answered"
    )
    client.cancel(7)
    assert client.answer()["id"] == 7
    client.send(1001, "lsp/status")
    assert client.answer()["result"]["service"]["version"]


def test_a_call_for_which_there_is_no_thread_fails_and_others_are_answered(
    client: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client.shared.engine, "in_thread", lambda _: False)
    client.send(1, "lsp/status")
    error = client.answer()["error"]
    assert error["data"]["error"]["code"] == "ELSP"
    assert "the call was not begun" in error["message"] and "wait for some" in error["message"]
    client.send(2, "lsp/diagnosticEpoch")
    assert client.answer()["result"]["epoch"] == 0
