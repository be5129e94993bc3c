"""The output of a server is read by its reader thread or by a caller, and nothing of it is lost."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterator

import pytest

from lspkit.runtime.process.server_output import Claims, ServerOutput

#: Seconds until a test gives up. No test waits that long.
SOON = 20
#: Seconds for a caller that finds what it waits for, or something else.
MOMENT = 5.0

pytestmark = pytest.mark.skipif(not hasattr(select, "epoll"), reason="only the thread reads here")


class Pipe:
    """A pipe, and the output that is read from it."""

    def __init__(self) -> None:
        self.near, self.far = os.pipe()
        os.set_blocking(self.near, False)
        self.output = ServerOutput(self.near)
        self.taken: list[bytes] = []

    def send(self, data: bytes) -> None:
        """What the server prints."""
        os.write(self.far, data)

    def idle_reader(self) -> None:
        """The reader thread has handled everything, and waits."""
        assert self.output.wait(0) == set()

    def claim(self) -> Claims:
        """A caller is about to send a request."""
        claims: Claims = []
        self.output.claim(claims)
        return claims

    def ask(self, wanted: bytes, timeout: float = MOMENT) -> None:
        """A caller waits for these bytes."""
        claims = self.claim()
        if claims:
            self.read_own(claims, wanted, timeout)

    @staticmethod
    def finding(wanted: bytes) -> tuple[Callable[[bytes], bytes | None], Callable[[bytes], int]]:
        """What finds these bytes, and what tells how many are missing."""
        return (
            lambda data: data if data == wanted else None,
            lambda data: len(wanted) - len(data) if wanted.startswith(data) else 0,
        )

    def read_own(self, claims: Claims, wanted: bytes, timeout: float = MOMENT) -> None:
        """A caller that has claimed the output waits for these bytes."""
        try:
            self.take(timeout, *self.finding(wanted))
        finally:
            self.output.give_back(claims)

    def take(
        self,
        timeout: float,
        find: Callable[[bytes], bytes | None],
        lacks: Callable[[bytes], int],
    ) -> None:
        """Note what was read for the caller."""
        found = self.output.read_own(timeout, find, lacks)
        if found is not None:
            self.taken.append(found)

    def read(self) -> bytes | None:
        """The reader thread: woken, and reads."""
        assert self.output.wait(SOON * 1000) >= {self.near}
        return self.output.read()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.output.shut()
    made.output.release()
    for descriptor in (made.near, made.far):
        os.close(descriptor)


def test_a_caller_takes_its_own_answer_and_nothing_is_left_for_the_thread(pipe):
    pipe.idle_reader()
    pipe.send(b"mine")
    pipe.ask(b"mine")
    assert pipe.taken == [b"mine"]
    assert pipe.output.wait(0) == set()


def test_what_is_not_the_callers_is_left_to_the_thread_in_order(pipe):
    pipe.idle_reader()
    pipe.send(b"a push")
    pipe.ask(b"mine")
    pipe.send(b"mine")
    pipe.ask(b"mine")  # the push is not handled yet, so nobody may overtake it
    assert pipe.taken == []
    assert [pipe.read(), pipe.read()] == [b"a push", b"mine"]
    pipe.idle_reader()


def test_an_answer_that_comes_in_pieces_is_read_to_its_end(pipe):
    pipe.idle_reader()
    claims = pipe.claim()
    pieces = [b"head ", b"and ", b"body"]
    pipe.send(pieces.pop(0))
    find, lacks = pipe.finding(b"head and body")

    def send_on(data: bytes) -> int:
        pipe.send(pieces.pop(0))
        return lacks(data)

    pipe.take(MOMENT, find, send_on)
    pipe.output.give_back(claims)
    assert pipe.taken == [b"head and body"]
    assert pipe.output.wait(0) == set()


def test_pieces_of_an_answer_that_does_not_end_are_left_to_the_thread_in_order(pipe):
    pipe.idle_reader()
    claims = pipe.claim()
    pipe.send(b"head ")
    pieces = [b"and "]
    find, lacks = pipe.finding(b"head and body")

    def send_on(data: bytes) -> int:
        if pieces:
            pipe.send(pieces.pop(0))
        return lacks(data)

    pipe.take(0.001, find, send_on)
    pipe.output.give_back(claims)
    pipe.send(b"body")
    found = b""
    while found != b"head and body":
        found += pipe.read() or b""
    assert pipe.taken == []
    pipe.idle_reader()


def test_while_the_thread_handles_something_no_caller_reads(pipe):
    pipe.send(b"a push")
    assert pipe.read() == b"a push"
    pipe.send(b"mine")
    pipe.ask(b"mine")
    assert pipe.taken == []
    assert pipe.read() == b"mine"


def test_after_a_caller_has_waited_in_vain_the_thread_is_woken_again(pipe):
    pipe.idle_reader()
    pipe.ask(b"mine", timeout=0.001)
    pipe.send(b"late")
    assert pipe.read() == b"late"


def test_an_answer_that_comes_before_the_caller_reads_does_not_wake_the_thread(pipe):
    pipe.idle_reader()
    claims = pipe.claim()
    pipe.send(b"mine")
    assert pipe.output.wait(0) == set()
    pipe.read_own(claims, b"mine")
    assert pipe.taken == [b"mine"]
    assert pipe.output.wait(0) == set()


def test_a_claim_that_is_given_back_unused_leaves_everything_to_the_thread(pipe):
    pipe.idle_reader()
    claims = pipe.claim()
    pipe.send(b"a push")
    pipe.output.give_back(claims)
    assert claims == []
    assert pipe.read() == b"a push"


def test_only_one_caller_has_a_claim(pipe):
    pipe.idle_reader()
    claims = pipe.claim()
    assert claims == [pipe.output]
    assert pipe.claim() == []
    pipe.output.give_back(claims)
    again = pipe.claim()
    assert again == [pipe.output]
    pipe.output.give_back(again)


def test_the_end_of_the_output_is_the_threads(pipe):
    pipe.idle_reader()
    os.close(pipe.far)
    pipe.far = os.open(os.devnull, os.O_RDONLY)
    pipe.ask(b"mine")
    assert pipe.read() == b""


def test_what_a_caller_raises_leaves_its_bytes_to_the_thread(pipe):
    pipe.idle_reader()
    pipe.send(b"mine")

    def interrupted(_: bytes) -> bytes:
        raise KeyboardInterrupt

    claims = pipe.claim()
    with pytest.raises(KeyboardInterrupt):
        pipe.take(MOMENT, interrupted, lambda _: 0)
    pipe.output.give_back(claims)
    assert pipe.read() == b"mine"
    pipe.idle_reader()
    pipe.send(b"next")
    pipe.ask(b"next")
    assert pipe.taken == [b"next"]


def test_output_that_is_about_to_be_closed_is_not_read_by_callers(pipe):
    pipe.idle_reader()
    pipe.send(b"mine")
    pipe.output.shut()
    pipe.ask(b"mine")
    assert pipe.taken == []


def test_the_thread_is_not_woken_by_what_a_caller_reads(pipe):
    woken: list[set[int]] = []
    asked = threading.Event()

    def call() -> None:
        pipe.ask(b"mine", SOON)
        asked.set()

    pipe.idle_reader()
    caller = threading.Thread(target=call)
    caller.start()
    while not pipe.output._reading.locked():
        pass
    pipe.send(b"mine")
    assert asked.wait(SOON)
    woken.append(pipe.output.wait(0))
    caller.join()
    assert pipe.taken == [b"mine"]
    assert woken == [set()]
