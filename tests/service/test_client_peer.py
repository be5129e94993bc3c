"""A caller of the service reads its own answer, and leaves everything else to the reader thread."""

from __future__ import annotations

import contextlib
import queue
import select
import socket
from collections.abc import Iterator

import pytest

from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import frame
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.service.client_peer import LARGEST_OWN, AnswerWaiter, ClientPeer
from lspkit.service.peer import Message

#: Seconds until a test gives up. No test waits that long.
SOON = 20

pytestmark = pytest.mark.skipif(not hasattr(select, "epoll"), reason="only the thread reads here")


class Connection:
    """A client's end, the other end, and what the reader thread has handled."""

    def __init__(self) -> None:
        near, self.far = socket.socketpair()
        self.handled: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.peer = ClientPeer(near, lambda _, one: self.handled.put(one), lambda _: None, "test")
        self.peer.start()

    def idle_reader(self) -> None:
        """Wait until the reader thread has handled something, and waits for more."""
        self.far.sendall(frame(messages.notification("ping")))
        assert self.handled.get(timeout=SOON) == messages.NotificationMessage("ping", None)
        while self.peer._handling:
            pass


@pytest.fixture
def connection() -> Iterator[Connection]:
    made = Connection()
    with contextlib.closing(made.far):
        yield made
    made.peer.close()


def answer(number: int, result: object = 7) -> bytes:
    return frame(messages.response(b"%d" % number, result))


def test_a_caller_reads_its_own_answer(connection):
    connection.idle_reader()
    connection.far.sendall(answer(3))
    # The reader thread may have been woken before the caller came: then it has the answer.
    found = connection.peer.read_answer(3, Waiter()) or connection.handled.get(timeout=SOON)
    assert found == messages.ResponseMessage(3, b"7")
    assert connection.handled.empty()


def test_an_error_is_an_answer_too(connection):
    connection.idle_reader()
    connection.far.sendall(frame(messages.error_response(b"3", -1, "no")))
    found = connection.peer.read_answer(3, Waiter()) or connection.handled.get(timeout=SOON)
    assert found == messages.ErrorResponse(3, -1, "no")


@pytest.mark.parametrize(
    "first", [frame(messages.notification("lsp/event")), answer(2), b"noise\n" + answer(2)]
)
def test_what_comes_before_the_answer_is_handled_before_it(connection, first: bytes):
    connection.idle_reader()
    connection.far.sendall(first + answer(3))
    assert connection.peer.read_answer(3, Waiter()) is None
    before = connection.handled.get(timeout=SOON)
    assert before in (
        messages.NotificationMessage("lsp/event", None),
        messages.ResponseMessage(2, b"7"),
    )
    assert connection.handled.get(timeout=SOON) == messages.ResponseMessage(3, b"7")


def test_an_answer_in_pieces_is_joined_by_the_reader_thread(connection):
    connection.idle_reader()
    whole = answer(3)
    connection.far.sendall(whole[:25])
    assert connection.peer.read_answer(3, Waiter()) is None
    connection.far.sendall(whole[25:])
    assert connection.handled.get(timeout=SOON) == messages.ResponseMessage(3, b"7")


def test_a_large_answer_is_read_by_the_reader_thread(connection):
    connection.idle_reader()
    connection.far.sendall(answer(3, "x" * LARGEST_OWN))
    assert connection.peer.read_answer(3, Waiter()) is None
    assert connection.handled.get(timeout=SOON).id == 3


def test_a_caller_that_waited_in_vain_leaves_the_answer_to_the_reader_thread(connection):
    connection.idle_reader()
    assert connection.peer.read_answer(3, Waiter()) is None
    connection.far.sendall(answer(3))
    assert connection.handled.get(timeout=SOON) == messages.ResponseMessage(3, b"7")


def test_the_end_of_the_connection_ends_the_wait(connection):
    connection.idle_reader()
    connection.far.close()
    assert connection.peer.read_answer(3, Waiter()) is None
    connection.peer.close()
    assert connection.peer.read_answer(3, Waiter()) is None


def test_a_wait_is_over_when_the_answer_was_read_here(connection):
    connection.idle_reader()
    waiter = AnswerWaiter(peer=connection.peer, number=3, pending=[3])
    connection.far.sendall(answer(3))
    found = waiter.value if waiter.wait(1.0) else connection.handled.get(timeout=SOON)
    assert found == messages.ResponseMessage(3, b"7")
