"""What a server says it is busy with."""

from __future__ import annotations

import json

import pytest

from lspkit.protocol.events import ProgressBegan, ProgressEnded
from lspkit.protocol.progress import Progress


def told(token: object, **value: object) -> bytes:
    return json.dumps({"token": token, "value": value}).encode()


def begun(token: object = "t", title: str = "Indexing", **more: object) -> Progress:
    progress = Progress(lambda: 0.0)
    progress.note(told(token, kind="begin", title=title, **more))
    return progress


def shown(progress: Progress) -> tuple[str, ...]:
    return tuple(what for what, _ in progress.busy_with())


def test_it_is_told_for_how_long() -> None:
    now = 10.0
    progress = Progress(lambda: now)
    progress.note(told("t", kind="begin", title="Indexing"))
    now = 12.0
    progress.note(told("u", kind="begin", title="Building"))
    now = 15.5
    progress.note(told("t", kind="report", percentage=50))  # is no new beginning
    assert progress.busy_with() == (("Indexing 50 %", 5.5), ("Building", 3.5))
    now = 16.0
    assert progress.descriptions() == ("Indexing 50 % for 6 s", "Building for 4 s")
    progress.note(told("t", kind="begin", title="Indexing"))
    assert progress.busy_with()[0] == ("Indexing", 0.0)


def test_a_begin_is_an_event_and_is_kept() -> None:
    progress = Progress(lambda: 0.0)
    event = progress.note(told("t", kind="begin", title="Indexing"))
    assert event == ProgressBegan("t", "Indexing")
    assert shown(progress) == ("Indexing",)


def test_a_report_updates_what_is_shown_and_is_no_event() -> None:
    progress = begun()
    assert progress.note(told("t", kind="report", message="src/a.py", percentage=12.6)) is None
    assert shown(progress) == ("Indexing: src/a.py 13 %",)


def test_a_report_keeps_what_it_does_not_mention() -> None:
    progress = begun(message="first", percentage=5)
    progress.note(told("t", kind="report", percentage=50))
    assert shown(progress) == ("Indexing: first 50 %",)


def test_an_end_is_an_event_with_the_title_and_forgets_the_work() -> None:
    progress = begun()
    assert progress.note(told("t", kind="end", message="done")) == ProgressEnded("t", "Indexing")
    assert shown(progress) == ()


def test_tokens_are_kept_apart_and_shown_oldest_first() -> None:
    progress = begun(1, "one")
    progress.note(told("1", kind="begin", title="another"))
    assert shown(progress) == ("one", "another")
    progress.note(told(1, kind="end"))
    assert shown(progress) == ("another",)


def test_a_second_begin_of_a_token_starts_over() -> None:
    progress = begun(message="old", percentage=90)
    progress.note(told("t", kind="begin", title="Again"))
    assert shown(progress) == ("Again",)


def test_an_end_without_a_begin_is_an_event_without_a_title() -> None:
    assert Progress(lambda: 0.0).note(told("t", kind="end")) == ProgressEnded("t", "")


def test_a_report_without_a_begin_is_nothing() -> None:
    progress = Progress(lambda: 0.0)
    assert progress.note(told("t", kind="report", message="x")) is None
    assert shown(progress) == ()


def test_a_begin_without_a_title_still_counts_as_work() -> None:
    progress = Progress(lambda: 0.0)
    assert progress.note(told("t", kind="begin")) == ProgressBegan("t", "")
    assert len(shown(progress)) == 1


def test_a_percentage_or_message_of_another_kind_is_left_out() -> None:
    assert shown(begun(message=["x"], percentage="5")) == ("Indexing",)


@pytest.mark.parametrize("percentage", [10**400, -(10**400), 101, -1, -0.5])
def test_a_percentage_beyond_its_limits_is_left_out(percentage: float) -> None:
    progress = begun(percentage=percentage)
    assert shown(progress) == ("Indexing",)
    progress.note(told("t", kind="report", percentage=100))
    progress.note(told("t", kind="report", percentage=percentage))
    assert shown(progress) == ("Indexing 100 %",)


@pytest.mark.parametrize(
    "params",
    [
        *(None, b"null", b"[]", b"{}", b"3", b"{", b'"kind"'),
        *(b'{"token":"t"}', b'{"token":"t","value":null}', b'{"token":"t","value":[1]}'),
        *(b'{"token":"t","value":{}}', b'{"token":"t","value":{"kind":"nap"}}'),
        *(b'{"token":null,"value":{"kind":"begin"}}', b'{"token":[1],"value":{"kind":"end"}}'),
    ],
)
def test_partial_results_and_nonsense_are_nothing(params: bytes | None) -> None:
    progress = Progress(lambda: 0.0)
    assert progress.note(params) is None
    assert shown(progress) == ()


def test_a_cut_character_in_a_title_is_replaced() -> None:
    progress = Progress(lambda: 0.0)
    progress.note(rb'{"token":1,"value":{"kind":"begin","title":"x\ud83d"}}')
    assert shown(progress) == ("x\ufffd",)


def test_a_server_that_is_gone_is_not_busy() -> None:
    progress = begun()
    progress.clear()
    assert shown(progress) == ()


def test_parts_of_an_answer_are_kept_for_who_has_asked_for_them() -> None:
    progress = Progress(lambda: 0.0)
    first, second = progress.expect_parts(), progress.expect_parts()
    assert progress.note(told(first, items=[1])) is None
    assert progress.note(told(first, items=[2], kind="report")) is None
    assert progress.note(told("other", items=[3])) is None
    assert progress.parts_of(first) == [b'{"items":[1]}', b'{"items":[2],"kind":"report"}']
    assert progress.parts_of(second) == []
    progress.note(told(first, items=[4]))
    assert progress.parts_of(first) == []
