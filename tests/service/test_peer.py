"""One end of a connection: what is read, written and left when it ends."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time

import pytest

from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import FrameReader, frame
from lspkit.service.peer import Message, Peer

#: Seconds until a test gives up. No test waits that long.
SOON = 20
#: Interrupts of a main thread that sends.
INTERRUPTS = 300


def notes(*methods: str) -> bytes:
    """Notifications, as they are sent."""
    return b"".join(frame(messages.notification(method)) for method in methods)


def test_messages_are_handled_in_the_order_in_which_they_came():
    handled: list[str] = []
    ended = threading.Event()

    def take(_: Peer, message: Message) -> None:
        assert isinstance(message, messages.NotificationMessage)
        handled.append(message.method)

    near, far = socket.socketpair()
    peer = Peer(near, take, lambda _: ended.set(), "test")
    peer.start()
    far.sendall(notes("a", "b") + notes("c")[:20])
    far.sendall(notes("c")[20:])
    far.close()
    assert ended.wait(SOON)
    peer.close()
    assert handled == ["a", "b", "c"]
    assert peer.reason == "the connection was closed"
    assert not peer.send(messages.notification("late"))


def test_interrupts_of_the_main_thread_tear_no_message_and_lose_none():
    near, far = socket.socketpair()
    peer = Peer(near, lambda *_: None, lambda _: None, "test")
    peer.start()
    frames, received = FrameReader(), []

    def receive() -> None:
        while data := far.recv(1 << 16):
            received.extend(frames.feed(data))

    receiver = threading.Thread(target=receive)
    receiver.start()
    sent = 0
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    for seed in range(INTERRUPTS):
        body = messages.notification("x" * (10, 30_000, 200_000)[seed % 3])
        try:
            signal.setitimer(signal.ITIMER_REAL, random.Random(seed).uniform(0.00001, 0.0005))
            while True:
                peer.send(body)
                sent += 1
        except KeyboardInterrupt:
            pass
        while peer._queue:  # a peer that does not read is disconnected
            time.sleep(0.001)
    signal.signal(signal.SIGALRM, before)
    assert peer.send(messages.notification("last"))
    deadline = time.monotonic() + SOON
    while received[-1:] != [messages.notification("last")] and time.monotonic() < deadline:
        time.sleep(0.01)
    peer.close()
    receiver.join()
    far.close()
    assert received[-1] == messages.notification("last")
    assert frames.between and not frames.skipped
    assert sent < len(received) <= sent + INTERRUPTS + 1


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
