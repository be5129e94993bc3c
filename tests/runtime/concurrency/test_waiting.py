"""Waiting for one thing, with a deadline, a cancel and an interrupt."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

import lspkit
from lspkit.runtime.concurrency.broadcast import Broadcast
from lspkit.runtime.concurrency.call import CallContext, CancelToken
from lspkit.runtime.concurrency.drive import block, together
from lspkit.runtime.concurrency.waiter import Outcome, Waiter

FOREVER = float("inf")
PATIENCE = 20.0


def in_thread(job: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=job)
    thread.start()
    return thread


def test_who_was_woken_before_the_wait_does_not_wait():
    waiter = Waiter()
    waiter.wake()
    thread = in_thread(lambda: waiter.wait(3600))
    thread.join(PATIENCE)
    waited = thread.is_alive()
    waiter.complete()
    thread.join()
    assert not waited


# Waking several


def test_an_event_about_a_subject_wakes_who_waits_for_it_or_for_anything():
    news = Broadcast()
    any_, one, other = news.next(), news.next("one"), news.next("other")
    news.tell("one")
    assert [any_.done, one.done, other.done] == [True, True, False]


def test_an_event_about_nothing_in_particular_wakes_all():
    news = Broadcast()
    waiters = [news.next(), news.next("one"), news.next("other")]
    news.tell()
    assert all(waiter.done for waiter in waiters)
    assert not news.next("one").done
    news.tell(over=True)
    assert news.next("one").done


# A waiter


def test_a_complete_waiter_is_not_waited_for():
    waiter = Waiter()
    waiter.complete(7)
    assert waiter.wait(0)
    assert (waiter.done, waiter.value) == (True, 7)


def test_only_the_first_value_counts():
    waiter = Waiter()
    waiter.complete(1)
    waiter.complete(2)
    assert waiter.value == 1


def test_a_waiter_that_nobody_completes_ends_with_the_time():
    began = time.monotonic()
    assert not Waiter().wait(0.05)
    assert time.monotonic() - began >= 0.04


@pytest.mark.parametrize("timeout", [0, -1])
def test_no_time_is_no_wait(timeout):
    assert not Waiter().wait(timeout)


def test_another_thread_completes_it():
    waiter = Waiter()
    thread = in_thread(lambda: waiter.complete("x"))
    assert waiter.wait(PATIENCE)
    thread.join()
    assert waiter.value == "x"


def test_a_wake_lets_the_consumer_look_around_once():
    waiter = Waiter()
    waiter.wake()
    waiter.wake()
    assert not waiter.wait(PATIENCE)
    assert not waiter.wait(0.01)


def test_a_callback_is_called_by_whoever_completes_it():
    waiter, seen = Waiter(), []
    waiter.on_done = lambda: seen.append(waiter.value)
    waiter.wake()
    waiter.complete(5)
    waiter.complete(6)
    assert seen == [None, 5]


def test_a_wake_before_the_wait_ends_it_once():
    waiter = Waiter()
    waiter.wake()
    assert not waiter.wait(PATIENCE)
    began = time.monotonic()
    assert not waiter.wait(0.03)
    assert time.monotonic() - began > 0.02


def test_many_waits_are_ended_by_another_thread():
    """The lock is made by the wait, while the other thread completes."""
    waiters = [Waiter() for _ in range(2000)]
    thread = in_thread(lambda: [one.complete(number) for number, one in enumerate(waiters)])
    assert all(one.wait(PATIENCE) for one in waiters)
    assert [one.value for one in waiters] == list(range(2000))
    thread.join()


# A call


def test_a_call_is_done_when_its_waiter_is():
    waiter = Waiter()
    thread = in_thread(waiter.complete)
    assert CallContext().wait(waiter, FOREVER) is Outcome.DONE
    thread.join()


@pytest.mark.parametrize(("timeout", "until"), [(0.03, FOREVER), (None, 0.03), (0.03, 3600)])
def test_the_earlier_of_deadline_and_until_ends_a_wait(timeout, until):
    began = time.monotonic()
    outcome = CallContext(timeout).wait(Waiter(), began + until)
    assert outcome is Outcome.TIMED_OUT
    assert 0.02 < time.monotonic() - began < 10


def test_what_is_done_counts_after_the_deadline_too():
    waiter = Waiter()
    waiter.complete()
    assert CallContext(0).wait(waiter, 0) is Outcome.DONE


@pytest.mark.parametrize("kind", [CancelToken, threading.Event])
def test_a_cancel_ends_a_wait(kind):
    cancel = kind()
    thread = in_thread(cancel.set)
    assert CallContext(PATIENCE, cancel).wait(Waiter(), FOREVER) is Outcome.CANCELLED
    thread.join()


@pytest.mark.parametrize("kind", [CancelToken, threading.Event])
def test_a_cancel_that_was_set_before_ends_it_at_once(kind):
    cancel = kind()
    cancel.set()
    call = CallContext(None, cancel)
    assert call.cancelled()
    assert call.wait(Waiter(), FOREVER) is Outcome.CANCELLED


def test_a_cancel_wakes_its_waiter_within_milliseconds():
    best = []
    for _ in range(5):
        cancel, waiter, told = CancelToken(), Waiter(), []

        def tell(cancel=cancel, waiter=waiter, told=told):
            while not cancel._waiters:
                threading.Event().wait(0.001)
            told.append(time.monotonic())
            cancel.set()

        thread = in_thread(tell)
        assert CallContext(PATIENCE, cancel).wait(waiter, FOREVER) is Outcome.CANCELLED
        best.append(time.monotonic() - told[0])
        thread.join()
    assert min(best) < 0.02


def test_one_cancel_ends_any_number_of_calls():
    cancel, outcomes = CancelToken(), []
    threads = [
        in_thread(lambda: outcomes.append(CallContext(PATIENCE, cancel).wait(Waiter(), FOREVER)))
        for _ in range(8)
    ]
    cancel.set()
    for thread in threads:
        thread.join()
    assert outcomes == [Outcome.CANCELLED] * 8


def test_a_cancel_forgets_the_calls_that_are_over():
    cancel = CancelToken()
    for _ in range(100):
        CallContext(0.0, cancel).wait(Waiter(), FOREVER)
    assert not cancel._waiters
    assert not cancel.is_set()


def test_a_cancel_shows_its_state():
    cancel = lspkit.CancelToken()
    assert repr(cancel) == "<CancelToken not set>"
    cancel.set()
    assert cancel.is_set()
    assert repr(cancel) == "<CancelToken set>"


# A generator of waits


def test_a_generator_is_sent_how_each_wait_ended():
    done = Waiter()
    done.complete()

    def steps():
        first = yield (done, FOREVER)
        second = yield (Waiter(), 0.0)
        return first, second

    assert block(steps(), CallContext()) == (Outcome.DONE, Outcome.TIMED_OUT)


def test_a_generator_that_never_waits_returns():
    def steps():
        return 7
        yield

    assert block(steps(), CallContext()) == 7


def test_an_error_in_the_generator_comes_out():
    def steps():
        yield (Waiter(), 0.0)
        raise lspkit.NoServerError("none")

    with pytest.raises(lspkit.NoServerError):
        block(steps(), CallContext())


class Interrupted(Waiter):
    """Whoever waits for it is interrupted, as if by Ctrl+C."""

    def wait(self, timeout: float) -> bool:
        raise KeyboardInterrupt


def test_an_interrupt_is_thrown_into_the_generator_where_it_waits():
    taken_back = []

    def steps():
        try:
            yield (Interrupted(), FOREVER)
        finally:
            taken_back.append(True)

    with pytest.raises(KeyboardInterrupt):
        block(steps(), CallContext())
    assert taken_back == [True]


def test_a_generator_may_go_on_after_an_interrupt():
    done = Waiter()
    done.complete()

    def steps():
        try:
            yield (Interrupted(), FOREVER)
        except KeyboardInterrupt:
            outcome = yield (done, FOREVER)
            return outcome

    assert block(steps(), CallContext()) is Outcome.DONE


def test_a_generator_may_end_with_a_value_at_an_interrupt():
    def steps():
        try:
            yield (Interrupted(), FOREVER)
        except KeyboardInterrupt:
            return "what is known"

    assert block(steps(), CallContext()) == "what is known"


# Several generators at the same time


def waits(waiter: Waiter, until: float = FOREVER):
    """One wait, and how it ended."""
    return (yield (waiter, until))


def complete() -> Waiter:
    waiter = Waiter()
    waiter.complete()
    return waiter


@pytest.mark.parametrize("count", [1, 2, 5])
def test_generators_that_run_together_all_end(count):
    jobs = [waits(complete()) for _ in range(count)]
    assert block(together(jobs, CallContext()), CallContext()) == [Outcome.DONE] * count


def test_no_generators_have_no_results():
    assert block(together([], CallContext()), CallContext()) == []


@pytest.mark.parametrize("count", [1, 2])
def test_what_one_generator_raises_is_its_result(count):
    def fails():
        yield (complete(), FOREVER)
        raise lspkit.NoServerError("none")

    results = block(together([fails() for _ in range(count)], CallContext()), CallContext())
    assert [type(one) for one in results] == [lspkit.NoServerError] * count


def test_each_generator_goes_on_as_soon_as_it_can():
    first, second = Waiter(), Waiter()

    def follows():
        yield (first, FOREVER)
        second.complete()
        return "first"

    def leads():
        first.complete()
        yield (second, FOREVER)
        return "second"

    assert block(together([follows(), leads()], CallContext()), CallContext(PATIENCE)) == [
        "first",
        "second",
    ]


def test_another_thread_lets_generators_go_on():
    waiters = [Waiter() for _ in range(50)]

    def complete_all():
        for waiter in reversed(waiters):
            waiter.complete()

    thread = in_thread(complete_all)
    call = CallContext(PATIENCE)
    assert block(together([waits(one) for one in waiters], call), call) == [Outcome.DONE] * 50
    thread.join()


def test_the_time_of_one_generator_is_not_that_of_the_others():
    jobs = [waits(Waiter(), 0.0), waits(complete())]
    assert block(together(jobs, CallContext()), CallContext()) == [Outcome.TIMED_OUT, Outcome.DONE]


def test_the_time_of_a_generator_is_up_also_while_others_are_busy():
    busy = True

    def keeps_going():
        while busy:
            yield (complete(), FOREVER)

    def ends_it():
        nonlocal busy
        outcome = yield (Waiter(), 0.0)
        busy = False
        return outcome

    call = CallContext(PATIENCE)
    assert block(together([keeps_going(), ends_it()], call), call) == [None, Outcome.TIMED_OUT]


@pytest.mark.parametrize("count", [1, 3])
def test_a_cancel_ends_all_generators(count):
    cancel = CancelToken()
    cancel.set()
    call = CallContext(cancel=cancel)
    jobs = [waits(Waiter()) for _ in range(count)]
    assert block(together(jobs, call), call) == [Outcome.CANCELLED] * count


@pytest.mark.parametrize("count", [1, 3])
def test_generators_that_nobody_drives_any_more_are_closed(count):
    closed = []

    def job():
        try:
            yield (Waiter(), FOREVER)
        finally:
            closed.append(1)

    whole = together([job() for _ in range(count)], CallContext())
    next(whole)
    whole.close()
    assert len(closed) == count
