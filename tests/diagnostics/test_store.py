"""What a server has said, by file."""

from __future__ import annotations

import pytest

from lspkit.diagnostics.store import Store


def test_the_newest_push_about_a_file_replaces_the_last():
    store = Store()
    store.push("a", 1, b"[1]", 1.0)
    newest = store.push("a", 2, b"[2]", 2.0)
    other = store.push("b", None, b"[3]", 3.0)
    assert store.last("a") == newest
    assert store.last("b") == other
    assert store.last("c") is None


def test_every_report_counts_also_an_equal_one():
    store = Store()
    epochs = [store.push("a", 1, b"[]", 1.0).epoch for _ in range(3)]
    assert epochs == [1, 2, 3]
    assert store.epoch == 3


@pytest.mark.parametrize(
    "cleared",
    [
        b"[]",
        b" [] ",
        b"",
        b"[ ]",
        b"null",
    ],
)
def test_a_file_is_known_until_it_is_cleared(cleared):
    store = Store()
    kept = store.push("a", 1, b"[1]", 1.0)
    store.push("b", 1, b"[1]", 1.0)
    store.push("b", 2, cleared, 2.0)
    assert store.known() == [kept]


def test_nothing_is_known_of_a_server_that_is_gone():
    store = Store()
    store.push("a", 1, b"[1]", 1.0)
    store.forget()
    assert store.known() == []
    assert store.last("a") is None
    assert store.push("a", 1, b"[1]", 1.0).epoch == 2
