"""Who may go on, and who hears of news."""

from __future__ import annotations

import threading

from lspkit.runtime.concurrency.waiter import FEW, Broadcast
from lspkit.runtime.server.document_queue import DocumentQueue, QueueEntry


def taken(turns: DocumentQueue, uri: str, *, guest: bool = False) -> QueueEntry:
    turn = QueueEntry(exclusive=guest)
    turns.join(uri, turn)
    return turn


def given_on(turns: DocumentQueue, turn: QueueEntry) -> None:
    turn.over = True
    turns.tidy()


def test_turns_come_in_the_order_of_arrival():
    turns = DocumentQueue(threading.Lock())
    first, second, third = (taken(turns, "a") for _ in range(3))
    assert [one.done for one in (first, second, third)] == [True, False, False]
    given_on(turns, first)
    assert [one.done for one in (second, third)] == [True, False]
    given_on(turns, second)
    assert third.done


def test_who_leaves_the_queue_is_passed_over():
    turns = DocumentQueue(threading.Lock())
    first, second, third = (taken(turns, "a") for _ in range(3))
    given_on(turns, second)
    assert not third.done
    given_on(turns, first)
    assert third.done
    assert not second.done


def test_documents_do_not_wait_for_each_other():
    turns = DocumentQueue(threading.Lock())
    assert taken(turns, "a").done
    assert taken(turns, "b").done
    assert turns.taken() == {"a", "b"}


def test_a_guest_has_all_documents_to_himself():
    turns = DocumentQueue(threading.Lock())
    first, second = taken(turns, "a"), taken(turns, "b")
    guest, late = taken(turns, "c", guest=True), taken(turns, "d")
    assert turns.has_exclusive_calls
    given_on(turns, first)
    assert not guest.done
    given_on(turns, second)
    assert guest.done
    assert not late.done
    given_on(turns, guest)
    assert late.done
    assert not turns.has_exclusive_calls


def test_two_guests_come_one_after_the_other():
    turns = DocumentQueue(threading.Lock())
    first, second = (taken(turns, uri, guest=True) for uri in "ab")
    assert (first.done, second.done) == (True, False)
    given_on(turns, first)
    assert second.done


def test_a_turn_may_be_given_on_twice_and_can_be_had_again():
    turns = DocumentQueue(threading.Lock())
    first = taken(turns, "a")
    given_on(turns, first)
    given_on(turns, first)
    assert turns.taken() == set()
    assert taken(turns, "a").done
    assert not taken(turns, "a").done


def test_news_wake_everybody_once():
    news = Broadcast()
    early = [news.next() for _ in range(3)]
    news.tell()
    late = news.next()
    assert all(one.done for one in early)
    assert not late.done
    news.tell(over=True)
    assert late.done
    assert news.next().done


def test_news_keep_nobody_who_waits_no_more():
    news = Broadcast()
    waits = [news.next() for _ in range(3)]
    for _ in range(10 * FEW):
        news.next()
    assert len(news._waiters) <= FEW + 1
    news.tell()
    assert all(one.done for one in waits)
