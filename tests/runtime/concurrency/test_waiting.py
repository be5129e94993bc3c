"""Waiting for one thing, with a deadline and a cancel; and what the parts of a call do once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import lspkit
from lspkit.runtime.concurrency import call as calls
from lspkit.runtime.concurrency import parallel, text_turns
from lspkit.runtime.concurrency.call import Call, CancelToken
from lspkit.runtime.concurrency.text_turns import TextOrder, TextTurn
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.concurrency.waiter import Broadcast, Waiter
from tests.interrupting import each_interrupt
from tests.scripted import comes_true

FOREVER = float("inf")
PATIENCE = 20.0


def in_thread(job: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=job)
    thread.start()
    return thread


def complete(value: object = None) -> Waiter:
    waiter = Waiter()
    waiter.complete(value)
    return waiter


# Waking several


def test_an_event_about_a_subject_wakes_who_waits_for_it_or_for_anything():
    news = Broadcast()
    any_, first, other = news.next(), news.next("first"), news.next("other")
    news.tell("first")
    assert [any_.done, first.done, other.done] == [True, True, False]


def test_an_event_about_nothing_in_particular_wakes_all():
    news = Broadcast()
    waiters = [news.next(), news.next("first"), news.next("other")]
    news.tell()
    assert all(waiter.done for waiter in waiters)
    assert not news.next("first").done
    news.tell(over=True)
    assert news.next("first").done


# A waiter


def test_a_complete_waiter_is_not_waited_for_and_only_its_first_value_counts():
    waiter = complete(1)
    waiter.complete(2)
    assert waiter.wait(0)
    assert (waiter.done, waiter.value) == (True, 1)


@pytest.mark.parametrize("timeout", [0.05, 0, -1])
def test_a_waiter_that_nobody_completes_ends_with_the_time(timeout):
    began = time.monotonic()
    assert not Waiter().wait(timeout)
    assert time.monotonic() - began > timeout - 0.02


def test_a_wake_before_the_wait_ends_it_once():
    waiter = Waiter()
    waiter.wake()
    waiter.wake()
    thread = in_thread(lambda: waiter.wait(3600))
    thread.join(PATIENCE)
    assert not thread.is_alive()
    began = time.monotonic()
    assert not waiter.wait(0.03)
    assert time.monotonic() - began > 0.02


def test_many_waits_are_ended_by_another_thread():
    """The lock is made by the wait, while the other thread completes."""
    waiters = [Waiter() for _ in range(2000)]
    thread = in_thread(lambda: [waiter.complete(number) for number, waiter in enumerate(waiters)])
    assert all(waiter.wait(PATIENCE) for waiter in waiters)
    assert [waiter.value for waiter in waiters] == list(range(2000))
    thread.join()


# A call


@pytest.mark.parametrize(("timeout", "until"), [(0.03, FOREVER), (None, 0.03), (0.03, 3600)])
def test_the_earlier_of_deadline_and_until_ends_a_wait(timeout, until):
    began = time.monotonic()
    assert not Call(timeout).wait(Waiter(), began + until)
    assert time.monotonic() - began > 0.02


@pytest.mark.parametrize(("whole", "seconds"), [(0.03, 3600), (None, 0.03), (3600, 0.03)])
def test_a_part_ends_with_its_own_time_and_never_after_the_call(whole, seconds):
    assert not Call(whole).part(seconds).wait(Waiter())


def test_what_is_done_counts_after_the_deadline_and_after_a_cancel():
    cancel = CancelToken()
    cancel.set()
    assert Call(0, cancel).wait(complete(), 0)


@pytest.mark.parametrize("kind", [CancelToken, threading.Event])
def test_a_cancel_ends_the_waits_of_any_number_of_calls(kind):
    cancel = kind()
    with ThreadPoolExecutor(8) as pool:
        waits = [pool.submit(Call(PATIENCE, cancel).wait, Waiter()) for _ in range(8)]
        cancel.set()
        problems = [wait.exception(PATIENCE) for wait in waits]
    assert [type(problem) for problem in problems] == [lspkit.CancelledError] * 8


@pytest.mark.parametrize("kind", [CancelToken, threading.Event])
def test_a_cancel_that_was_set_before_ends_it_at_once(kind):
    cancel = kind()
    cancel.set()
    call = Call(None, cancel)
    assert call.cancelled()
    assert call.is_over
    with pytest.raises(lspkit.CancelledError):
        call.wait(Waiter())


def test_a_cancel_token_wakes_who_waits_and_a_stop_does_without_being_looked_for(monkeypatch):
    monkeypatch.setattr(calls, "EVENT_LOOK", 3600)
    cancel, stopped = CancelToken(), Call(None, threading.Event())
    with ThreadPoolExecutor(2) as pool:
        waits = [pool.submit(call.wait, Waiter()) for call in (Call(None, cancel), stopped.part(9))]
        assert comes_true(lambda: cancel._waiters and stopped._shared.stop._waiters)
        cancel.set()
        stopped.stop(lspkit.WorkspaceClosedError("closed"))
        problems = [wait.exception(PATIENCE) for wait in waits]
    assert [type(problem) for problem in problems] == [
        lspkit.CancelledError,
        lspkit.WorkspaceClosedError,
    ]


def test_a_wake_is_no_end_and_the_wait_goes_on():
    waiter, looks = Waiter(), []

    class Nosy:
        def is_set(self) -> bool:
            looks.append(1)
            if len(looks) == 3:
                waiter.complete()
            else:
                waiter.wake()
            return False

    assert Call(None, Nosy()).wait(waiter)
    assert len(looks) == 3


def test_a_cancel_forgets_the_calls_that_are_over():
    cancel = CancelToken()
    for _ in range(100):
        Call(0.0, cancel).wait(Waiter())
    assert not cancel._waiters
    assert not cancel.is_set()


def test_a_cancel_shows_its_state():
    cancel = lspkit.CancelToken()
    assert repr(cancel) == "<CancelToken not set>"
    cancel.set()
    assert cancel.is_set()
    assert repr(cancel) == "<CancelToken set>"


# What the parts of a call do once


def test_what_all_parts_need_is_done_once_and_the_others_wait_until_it_is():
    call, begun, free = Call(), threading.Event(), threading.Event()
    order: list[str] = []

    def work() -> None:
        begun.set()
        free.wait(PATIENCE)
        order.append("done")

    def part() -> None:
        call.part(None).once("key", work)
        order.append("seen")

    with ThreadPoolExecutor(4) as pool:
        parts = [pool.submit(part) for _ in range(4)]
        assert begun.wait(PATIENCE)
        assert not any(each.done() for each in parts)
        call.once("another", lambda: order.append("another"))  # does not wait for that
        free.set()
    assert order == ["another", "done", *["seen"] * 4]


def test_work_that_fails_is_done_again_by_the_next_part():
    call, tries = Call(), []

    def work() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise lspkit.RequestTimeoutError("too late")

    with pytest.raises(lspkit.RequestTimeoutError):
        call.once("key", work)
    call.once("key", work)
    call.once("key", work)
    assert len(tries) == 2


def test_a_call_that_has_changed_files_does_it_again():
    call, tries = Call(), []
    call.once("key", lambda: tries.append(1))
    began = call.began
    call.renew()
    assert call.began >= began
    call.once("key", lambda: tries.append(2))
    assert tries == [1, 2]


def test_what_a_part_uses_is_used_until_the_end_of_the_call():
    class Thing:
        def __init__(self) -> None:
            self.users: set[Call] = set()
            self.last_used = 0.0

    call, thing = Call(), Thing()
    call.part(1.0).use(thing)
    assert thing.users == {call}
    call.end()
    assert thing.users == set()
    assert thing.last_used > 0


# The order of calls that show texts


def test_a_call_begins_when_those_before_it_that_show_texts_are_over():
    order, begun = TextOrder(), []
    first, second, last = [joined(order, shows=shows) for shows in (True, True, False)]
    first.begin(Call())
    with pytest.raises(lspkit.CancelledError):
        last.begin(Call(cancel=cancelled()))
    threads = [
        in_thread(lambda: (second.begin(Call(PATIENCE)), begun.append("second"), second.end())),
        in_thread(lambda: (last.begin(Call(PATIENCE)), begun.append("last"))),
    ]
    assert begun == []
    first.end()
    for thread in threads:
        thread.join(PATIENCE)
    assert begun == ["second", "last"]
    joined(order, shows=False).begin(Call())  # nothing is waited for any more


def test_a_call_waits_also_for_those_before_one_that_was_cancelled():
    order = TextOrder()
    first, second, last = [joined(order, shows=shows) for shows in (True, True, False)]
    with pytest.raises(lspkit.CancelledError):
        second.begin(Call(cancel=cancelled()))
    second.end()
    late = Call(0.05)
    last.begin(late)
    assert late.is_over
    first.end()
    last.begin(Call(PATIENCE))


def test_nobody_waits_for_a_call_whose_submission_was_interrupted():
    order, threads = TextOrder(), ThreadCache()
    places = [str(Path(module.__file__ or "")) for module in (text_turns, parallel)]
    interrupts = each_interrupt(lambda: submit(order, threads, shows=True), *places)
    results = [submit(order, threads, shows=False).result(PATIENCE) for _ in interrupts]
    assert results.count(True) >= 5
    threads.close()


def submit(order: TextOrder, threads: ThreadCache, *, shows: bool) -> Future[bool]:
    return order.submit(threads, lambda: True, Call(), shows=shows)


def joined(order: TextOrder, *, shows: bool) -> TextTurn:
    turn = TextTurn()
    order.join(turn, shows=shows)
    return turn


def cancelled() -> CancelToken:
    token = CancelToken()
    token.set()
    return token
