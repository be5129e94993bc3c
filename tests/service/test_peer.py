"""One end of a connection: messages that take long do not keep others from being read."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import frame
from lspkit.service.peer import Message, Peer

#: Seconds until a test gives up. No test waits that long.
SOON = 20


@contextlib.contextmanager
def connection(handle: Callable[[Peer, str], None]) -> Iterator[tuple[socket.socket, Peer]]:
    """A peer that hands the methods of its notifications to `handle`, and the other end."""
    near, far = socket.socketpair()
    ended = threading.Event()

    def take(peer: Peer, message: Message) -> None:
        assert isinstance(message, messages.NotificationMessage)
        handle(peer, message.method)

    peer = Peer(near, take, lambda _: ended.set(), "test")
    peer.start()
    try:
        yield far, peer
    finally:
        far.close()
        assert ended.wait(SOON)
        peer.close()


def notes(*methods: str) -> bytes:
    """Notifications, as they are sent."""
    return b"".join(frame(messages.notification(method)) for method in methods)


def test_after_a_hand_over_the_next_message_is_handled_while_the_first_one_still_is():
    second, first = threading.Event(), threading.Event()

    def handle(peer: Peer, method: str) -> None:
        if method == "slow":
            peer.hand_over()
            assert second.wait(SOON)
            first.set()
        else:
            second.set()

    with connection(handle) as (far, _):
        far.sendall(notes("slow", "quick"))
        assert first.wait(SOON)


def test_both_threads_take_turns_and_lose_no_message():
    handled: list[str] = []
    release = [threading.Event() for _ in range(20)]
    all_done = threading.Event()

    def handle(peer: Peer, method: str) -> None:
        number = int(method)
        handled.append(method)
        if number % 2 == 0:
            peer.hand_over()
            assert release[number].wait(SOON)
        else:  # the message before this one ends now: its thread waits for the next hand-over
            release[number - 1].set()
        if number == 19:
            all_done.set()

    with connection(handle) as (far, _):
        for number in range(0, 20, 2):
            far.sendall(notes(str(number), str(number + 1)))
        assert all_done.wait(SOON)
    assert handled == [str(number) for number in range(20)]


def test_messages_of_one_read_are_handled_in_order_by_whoever_reads():
    handled: list[str] = []
    done = threading.Event()

    def handle(peer: Peer, method: str) -> None:
        handled.append(method)
        if method == "a":
            assert peer.has_more
            peer.hand_over()
        elif method == "c":
            assert not peer.has_more
            done.set()

    with connection(handle) as (far, _):
        far.sendall(notes("a", "b", "c"))
        assert done.wait(SOON)
    assert handled == ["a", "b", "c"]


def test_the_other_end_goes_while_a_message_is_handled():
    goes_on = threading.Event()

    def handle(peer: Peer, _: str) -> None:
        peer.hand_over()
        assert goes_on.wait(SOON)
        assert not peer.send(json.dumps({"jsonrpc": "2.0", "method": "late"}).encode())

    near, far = socket.socketpair()
    peer = Peer(near, lambda peer, _: handle(peer, ""), lambda _: goes_on.set(), "test")
    peer.start()
    far.sendall(notes("slow"))
    far.close()
    assert goes_on.wait(SOON)
    peer.close()
    assert peer.reason == "the connection was closed"


def test_a_failure_in_a_message_ends_the_connection_and_says_so(
    caplog: pytest.LogCaptureFixture,
):
    def handle(_: Peer, method: str) -> None:
        raise RuntimeError(method)

    near, far = socket.socketpair()
    ended = threading.Event()
    peer = Peer(near, lambda peer, _: handle(peer, "x"), lambda _: ended.set(), "test")
    peer.start()
    far.sendall(notes("x"))
    assert ended.wait(SOON)
    assert far.recv(100) == b""
    peer.close()
    far.close()
    assert "the reader of a connection failed" in caplog.text
