"""What a server has said, by file."""

from __future__ import annotations

import pytest

from lspkit.diagnostics.store import DiagnosticsStore


def test_the_newest_push_about_a_file_replaces_the_last():
    store = DiagnosticsStore()
    store.push("a", 1, b"[1]", 1.0)
    newest = store.push("a", 2, b"[2]", 2.0)
    other = store.push("b", None, b"[3]", 3.0)
    assert store.last("a") == newest
    assert store.last("b") == other
    assert store.last("c") is None


def test_every_report_counts_also_an_equal_one():
    store = DiagnosticsStore()
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
    store = DiagnosticsStore()
    kept = store.push("a", 1, b"[1]", 1.0)
    store.push("b", 1, b"[1]", 1.0)
    store.push("b", 2, cleared, 2.0)
    assert store.known() == [kept]


def test_nothing_is_known_of_a_server_that_is_gone():
    store = DiagnosticsStore()
    store.push("a", 1, b"[1]", 1.0)
    store.forget()
    assert store.known() == []
    assert store.last("a") is None
    assert store.push("a", 1, b"[1]", 1.0).epoch == 2


# Several sources


def test_a_report_of_one_source_replaces_only_that_sources():
    store = DiagnosticsStore()
    pushed = store.push("a", 1, b"[1]", 1.0)
    store.pulled("a", 1, b"[2]", 2.0, source="pull types")
    style = store.pulled("a", 1, b"[3]", 3.0, source="pull style")
    types = store.pulled("a", 2, b"[4]", 4.0, source="pull types")
    assert store.last("a") == pushed
    assert store.last("a", "pull types") == types
    assert store.last("a", "pull style") == style
    assert store.last("a", "pull") is None
    assert set(store.known()) == {pushed, types, style}


def test_a_source_that_is_cleared_leaves_what_others_said():
    store = DiagnosticsStore()
    store.push("a", 1, b"[1]", 1.0)
    kept = store.pulled("a", 1, b"[2]", 2.0)
    store.push("a", 1, b"[]", 3.0)
    assert store.known() == [kept]


def test_the_id_of_a_report_goes_with_it():
    store = DiagnosticsStore()
    store.pulled("a", 1, b"[1]", 1.0, result_id="A")
    assert store.last("a", "pull").result_id == "A"
    store.pulled("a", 2, b"[]", 2.0)
    assert store.last("a", "pull").result_id is None


def test_reports_of_all_sources_count():
    store = DiagnosticsStore()
    epochs = [
        store.push("a", 1, b"[]", 1.0).epoch,
        store.pulled("a", 1, b"[]", 2.0).epoch,
        store.pulled("b", 1, b"[]", 3.0, source="pull types").epoch,
    ]
    assert epochs == [1, 2, 3]


def test_which_files_were_asked_about_is_known_also_where_nothing_was_found():
    store = DiagnosticsStore()
    store.push("pushed", 1, b"[1]", 1.0)
    store.push("both", 1, b"[1]", 1.0)
    store.pulled("both", 1, b"[]", 2.0)
    store.pulled("pulled", 1, b"[]", 3.0, source="pull types")
    assert sorted(store.asked_about()) == ["both", "pulled"]


def test_when_anything_was_last_said_about_a_file():
    store = DiagnosticsStore()
    store.pulled("a", 1, b"[]", 5.0)
    store.push("a", 1, b"[]", 3.0)
    assert store.newest("a") == 5.0
    assert store.newest("b") == 0.0


def test_a_file_that_is_no_more_is_forgotten_with_all_sources():
    store = DiagnosticsStore()
    store.push("a", 1, b"[1]", 1.0)
    store.pulled("a", 1, b"[2]", 2.0)
    kept = store.push("b", 1, b"[3]", 3.0)
    store.drop("a")
    store.drop("never heard of")
    assert store.known() == [kept]
    assert store.asked_about() == []
    assert store.last("a", "pull") is None


def test_a_push_about_an_older_version_does_not_replace_one_about_a_newer():
    store = DiagnosticsStore()
    newer = store.push("a", 2, b"[1]", 1.0)
    store.push("a", 1, b"[]", 2.0)
    assert store.last("a") == newer
    assert store.known() == [newer]


def test_a_push_without_a_version_counts_as_the_newest():
    store = DiagnosticsStore()
    store.push("a", 2, b"[1]", 1.0)
    store.push("a", None, b"[]", 2.0)
    assert store.known() == []
