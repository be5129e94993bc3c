"""Lists whose items are kept as they came: what makes no sense is left out and counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lspkit.protocol.wire.results import (
    Read,
    read_actions,
    read_calls_with_items,
    read_hierarchy_items,
    read_location_ranges,
    read_raw_items,
)

RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
ITEM = {"name": "greet", "uri": "file:///a", "range": RANGE}


def raw(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("given", "pieces"),
    [
        (b"null", []),
        (b" null ", []),
        (b"[]", []),
        (b'[{"a": 1}, null,3]', [b'{"a": 1}', b"null", b"3"]),
        (b' {"a": [1]} ', [b'{"a": [1]}']),
        (b"42", [b"42"]),
    ],
)
def test_each_item_is_as_it_came(given: bytes, pieces: list[bytes]) -> None:
    assert read_raw_items(given) == Read(pieces)


@pytest.mark.parametrize("bad", [b"", b"[", b"{", b"[1,]", b"[" * 100_000 + b"]" * 100_000])
def test_what_is_no_json_is_one_bad_item(bad: bytes) -> None:
    assert read_raw_items(bad) == Read([], 1)


READERS = [
    (read_location_ranges, {"uri": "file:///a", "range": RANGE}),
    (read_hierarchy_items, ITEM),
    (read_calls_with_items, {"from": ITEM, "fromRanges": [RANGE]}),
    (read_actions, {"title": "Greet"}),
]


@pytest.mark.parametrize(("read", "good"), READERS)
class TestEvery:
    def test_null_and_an_empty_list_are_nothing(self, read: Any, good: Any) -> None:
        assert read(b"null") == read(b"[]") == Read([])

    def test_one_is_a_list_of_one(self, read: Any, good: Any) -> None:
        assert read(raw(good)) == read(raw([good]))
        assert len(read(raw(good)).items) == 1

    @pytest.mark.parametrize("bad", [None, 42, "text", {}, {"status": "busy"}, [1]])
    def test_a_bad_item_is_counted_and_its_neighbours_are_kept(
        self, read: Any, good: Any, bad: Any
    ) -> None:
        found = read(raw([good, bad, good]))
        assert (len(found.items), found.dropped) == (2, 1)

    @pytest.mark.parametrize("bad", [42, "text", {"status": "busy"}, [None]])
    def test_nothing_but_nonsense_is_not_nothing(self, read: Any, good: Any, bad: Any) -> None:
        found = read(raw(bad))
        assert (found.items, found.dropped) == ([], 1)


def test_a_call_without_another_end_is_a_bad_item() -> None:
    assert read_calls_with_items(raw([{"fromRanges": []}, {"to": {"name": "nowhere"}}])) == Read(
        [], 2
    )


def test_an_action_with_half_an_edit_is_a_bad_item() -> None:
    edits = [{"range": RANGE, "newText": "x"}, {"range": "?"}]
    change = {"textDocument": {"uri": "file:///a"}, "edits": edits}
    action = {"title": "Greet", "edit": {"documentChanges": [change]}}
    assert read_actions(raw([action])) == Read([], 1)


def test_an_action_may_say_null_for_all_that_it_need_not_have() -> None:
    fields = dict.fromkeys(("kind", "isPreferred", "disabled", "edit"))
    assert len(read_actions(raw([{"title": "Greet", **fields}])).items) == 1
