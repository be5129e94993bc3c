"""A stream of events for a consumer that may be slow."""

from __future__ import annotations

import threading

from lspkit.runtime.concurrency.event_stream import EventStream


def stream(longest: int = 1000) -> EventStream[str]:
    return EventStream(lambda count: f"{count} dropped", longest)


def test_events_come_in_order():
    events = stream()
    for one in "abc":
        events.put(one)
    assert [events.get(0) for _ in range(4)] == ["a", "b", "c", None]


def test_what_a_slow_consumer_misses_is_counted():
    events = stream(longest=2)
    for one in "abcd":
        events.put(one)
    assert events.get(0) == "a"
    events.put("e")
    assert [events.get(0) for _ in range(4)] == ["b", "2 dropped", "e", None]


def test_what_was_missed_is_told_when_nothing_else_is_left_and_no_event_follows():
    events = stream(longest=2)
    for one in "abcd":
        events.put(one)
    assert [events.get(0) for _ in range(4)] == ["a", "b", "2 dropped", None]


def test_what_was_missed_is_told_also_after_the_end():
    events = stream(longest=1)
    for one in "abc":
        events.put(one)
    events.close()
    assert events.get() == "a"
    assert not events.ended
    assert list(events) == ["2 dropped"]
    assert events.ended


def test_a_consumer_that_waits_gets_the_next_event():
    events, got = stream(), list[str | None]()
    waiting = threading.Thread(target=lambda: got.append(events.get(20)))
    waiting.start()
    events.put("a")
    waiting.join(20)
    assert got == ["a"]


def test_the_end_comes_after_what_is_queued_and_ends_an_iteration():
    events, ended = stream(), list[str]()
    events.on_close(lambda: ended.append("over"))
    events.put("a")
    events.close()
    events.close()
    events.put("b")
    assert not events.ended
    assert (list(events), events.get(), ended) == (["a"], None, ["over"])
    assert events.ended
