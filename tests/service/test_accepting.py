"""A service that has no file descriptor left for a client: it waits, and says so once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from lspkit.runtime.concurrency import acceptor
from lspkit.runtime.concurrency.acceptor import Acceptor
from lspkit.service.runtime_folder import bootstrap_of
from lspkit.service.service_process import ServiceProcess
from tests.service.raw_client import RawClient
from tests.service.site import PATIENCE, Site
from tests.service.starved_accepting import no_descriptors

TOO_MANY = "a client could not be accepted: [Errno 24] Too many open files"


class Listener(socket.socket):
    """Notes a second attempt that fails."""

    def __init__(self) -> None:
        super().__init__(socket.AF_UNIX, socket.SOCK_STREAM)
        self.failures, self.failed_again = 0, threading.Event()

    def accept(self) -> tuple[socket.socket, Any]:
        try:
            return super().accept()
        except OSError:
            self.failures += 1
            if self.failures > 1:
                self.failed_again.set()
            raise


@pytest.fixture
def listener(site: Site) -> Iterator[Listener]:
    with Listener() as made:
        made.bind(str(site.base / "socket"))
        made.listen()
        made.setblocking(False)
        yield made


@pytest.fixture
def client(listener: Listener) -> Iterator[socket.socket]:
    """A client that waits to be accepted."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.connect(listener.getsockname())
        yield made


def test_a_problem_is_logged_once_and_again_after_a_success(
    listener: Listener, client: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "PAUSE", 0.0)
    wake, other = socket.socketpair()
    with wake, other, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as second:
        accepting = Acceptor(listener, wake, "a client")
        with no_descriptors() as warnings:
            assert [accepting.accept() for _ in range(3)] == [None] * 3
            assert warnings.messages == [TOO_MANY]
        with accepting.accept() as made:
            assert made.getpeername() == client.getsockname()
        second.connect(listener.getsockname())
        with no_descriptors() as warnings:
            assert accepting.accept() is None
            assert warnings.messages == [TOO_MANY]


def test_a_service_without_descriptors_tries_again_after_a_pause_and_can_be_ended(
    site: Site, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "PAUSE", 10 * PATIENCE)
    process = ServiceProcess(bootstrap_of(site.project, None, None), environ=site.environ)
    reasons: list[str] = []
    thread = threading.Thread(target=lambda: reasons.append(process.run(listener, PATIENCE)))
    thread.start()
    address = listener.getsockname()
    try:
        with RawClient(address) as first, socket.socket(socket.AF_UNIX) as second:
            assert (first.receive() or {})["method"] == "lsp/ready"
            with no_descriptors() as warnings:
                second.connect(address)
                assert warnings.first.wait(PATIENCE)
                assert not listener.failed_again.wait(0.2)
                process.end("it is over")
                thread.join(PATIENCE)
        assert reasons == ["it is over"]
        assert warnings.messages == [TOO_MANY]
    finally:
        process.end("the test is over")
        thread.join(PATIENCE)
        process.close()
