"""Open documents: versions, changes, saves, interrupts, and how many may be open."""

from __future__ import annotations

from typing import Any

import pytest

from lspkit.protocol.capabilities import Capabilities, DocumentKey, Registration
from lspkit.protocol.open_documents import OPEN_LIMIT, Documents, Note, SyncOptions
from lspkit.protocol.text import Encoding, Text, Unsaved

A, B, C, D = (DocumentKey(f"file:///{name}.py", "python") for name in "abcd")
INCREMENTAL = {"openClose": True, "change": 2, "save": True}
FULL = {**INCREMENTAL, "change": 1}
#: Words of a server that wants no documents.
NOTHING: tuple[Any, ...] = (None, {}, 0, True)
#: Stands for "was read from disk".
DISK = object()


def documents(
    sync: Any = INCREMENTAL, encoding: Encoding = "utf-16", limit: int = 500
) -> Documents:
    return Documents(Capabilities({"textDocumentSync": sync}), encoding, limit=limit)


def sync(all: Documents, key: DocumentKey, text: str, stamp: object = None) -> list[Note]:
    """Sync without an interrupt."""
    document, notes = all.sync(key, Text(text), stamp)
    all.commit(document)
    return notes


def said(notes: list[Note]) -> list[str]:
    return [f"{method[13:]} {params['textDocument']['uri'][8:-3]}" for method, params in notes]


def versions(notes: list[Note]) -> list[int]:
    return [
        params["textDocument"]["version"]
        for _, params in notes
        if "version" in params["textDocument"]
    ]


class TestOpenAndChange:
    def test_a_text_whose_lines_the_server_counts_in_another_way_is_opened_anew(self) -> None:
        all = Documents(
            Capabilities({"textDocumentSync": INCREMENTAL}), "utf-16", other_line_ends="\u2028"
        )
        sync(all, A, "x = 1\n")
        assert said(sync(all, A, "x = 2\n")) == ["didChange a"]
        for text in ("x = '\u2028'\n", "x = 3\n"):
            notes = sync(all, A, text)
            assert said(notes) == ["didClose a", "didOpen a"]
            assert notes[-1][1]["textDocument"]["text"] == text
        assert said(sync(all, A, "x = 4\n")) == ["didChange a"]

    def test_the_first_sync_opens_with_version_one(self) -> None:
        assert sync(documents(), A, "x = 1\n") == [
            (
                "textDocument/didOpen",
                {
                    "textDocument": {
                        "uri": A.uri,
                        "languageId": "python",
                        "version": 1,
                        "text": "x = 1\n",
                    }
                },
            )
        ]

    def test_equal_text_sends_nothing_and_keeps_the_version(self) -> None:
        all = documents()
        sync(all, A, "x")
        assert sync(all, A, "x") == []
        assert versions(sync(all, A, "y")) == [2]

    def test_incremental_sync_sends_the_smallest_change(self) -> None:
        all = documents()
        sync(all, A, "one\ntwo\nthree")
        [(method, params)] = sync(all, A, "one\ntwenty\nthree")
        assert method == "textDocument/didChange"
        assert params == {
            "textDocument": {"uri": A.uri, "version": 2},
            "contentChanges": [
                {
                    "range": {
                        "start": {"line": 1, "character": 2},
                        "end": {"line": 1, "character": 3},
                    },
                    "text": "enty",
                }
            ],
        }

    @pytest.mark.parametrize(
        ("encoding", "character"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)]
    )
    def test_the_place_of_a_change_is_in_the_units_of_the_session(
        self, encoding: Encoding, character: int
    ) -> None:
        all = documents(encoding=encoding)
        sync(all, A, "🙂a")
        [(_, params)] = sync(all, A, "🙂b")
        assert params["contentChanges"][0]["range"]["start"] == {"line": 0, "character": character}

    def test_a_change_within_a_pair_replaces_the_whole_character(self) -> None:
        all = documents()
        sync(all, A, "\U0001f600")
        [(_, params)] = sync(all, A, "\U0001f601")
        assert params["contentChanges"][0]["range"]["end"] == {"line": 0, "character": 2}

    def test_a_change_never_splits_a_windows_line_break(self) -> None:
        all = documents()
        sync(all, A, "a\r\nb")
        [(_, params)] = sync(all, A, "a\rb")
        assert params["contentChanges"][0] == {
            "range": {"start": {"line": 0, "character": 1}, "end": {"line": 1, "character": 0}},
            "text": "\r",
        }

    def test_full_sync_sends_the_text(self) -> None:
        all = documents(FULL)
        sync(all, A, "one")
        [(_, params)] = sync(all, A, "two")
        assert params["contentChanges"] == [{"text": "two"}]

    def test_versions_go_on_growing_after_a_close(self) -> None:
        all = documents()
        sync(all, A, "one")
        sync(all, A, "two")
        all.close(A.uri)
        assert versions(sync(all, A, "two")) == [3]

    def test_versions_of_different_documents_are_counted_apart(self) -> None:
        all = documents()
        sync(all, A, "one")
        sync(all, A, "two")
        assert versions(sync(all, B, "one")) == [1]

    def test_a_change_of_language_closes_and_opens_again(self) -> None:
        all = documents()
        sync(all, A, "x")
        notes = sync(all, DocumentKey(A.uri, "cython"), "x")
        assert said(notes) == ["didClose a", "didOpen a"]
        assert versions(notes) == [2]
        assert notes[1][1]["textDocument"]["languageId"] == "cython"

    def test_a_close_says_so_once(self) -> None:
        all = documents()
        sync(all, A, "x")
        assert all.close(A.uri) == [("textDocument/didClose", {"textDocument": {"uri": A.uri}})]
        assert all.close(A.uri) == []
        assert (len(all), all.get(A.uri)) == (0, None)


class TestOptions:
    @pytest.mark.parametrize(
        ("said", "expected"),
        [
            ({"openClose": True, "change": 2}, SyncOptions(True, 2, False, False)),
            ({"openClose": True, "change": 1, "save": {}}, SyncOptions(True, 1, True, False)),
            ({"openClose": True, "save": False}, SyncOptions(True, 0, False, False)),
            ({"openClose": True, "save": {"includeText": True}}, SyncOptions(True, 0, True, True)),
            ({"change": 2}, SyncOptions(False, 2, False, False)),
            *((word, SyncOptions(False, 0, False, False)) for word in NOTHING),
        ],
    )
    def test_what_a_server_says_is_understood(self, said: object, expected: SyncOptions) -> None:
        assert documents(said).options(A) == expected

    @pytest.mark.parametrize("kind", [1, 2])
    def test_a_plain_number_means_open_change_and_close(self, kind: int) -> None:
        options = documents(kind).options(A)
        assert (options.open_close, options.change) == (True, kind)

    def test_a_plain_number_leaves_saves_wanted(self) -> None:
        # fortls says only a number, and looks for errors when a file is saved.
        assert documents(1).options(A).save

    def test_registrations_count_where_their_selector_fits(self) -> None:
        capabilities = Capabilities()
        all = Documents(capabilities, "utf-16")
        for method, more in (("didOpen", {}), ("didChange", {"syncKind": 2}), ("didSave", {})):
            options = {"documentSelector": ["python"], **more}
            capabilities.register(Registration(method, f"textDocument/{method}", options))
        assert all.options(A) == SyncOptions(True, 2, True, False)
        assert all.options(DocumentKey("file:///x.c", "c")) == SyncOptions(False, 0, False, False)

    def test_a_registration_counts_from_the_moment_it_is_made(self) -> None:
        capabilities = Capabilities()
        all = Documents(capabilities, "utf-16")
        assert not all.options(A).save
        capabilities.register(Registration("1", "textDocument/didSave", {}))
        assert all.options(A).save
        capabilities.unregister("1")
        assert not all.options(A).save
        capabilities.learn({"textDocumentSync": 1})
        assert all.options(A) == SyncOptions(True, 1, True, False)

    def test_a_server_that_wants_no_documents_is_told_nothing(self) -> None:
        all = documents(None)
        assert sync(all, A, "one") == []
        assert sync(all, A, "two", DISK) == []
        assert all.close(A.uri) == []

    def test_a_server_that_wants_no_changes_hears_of_open_close_and_save(self) -> None:
        all = documents({"openClose": True, "save": True})
        assert said(sync(all, A, "one")) == ["didOpen a"]
        assert said(sync(all, A, "two", DISK)) == ["didSave a"]


class TestSaves:
    def test_a_change_that_came_from_disk_is_followed_by_a_save(self) -> None:
        all = documents()
        sync(all, A, "one", DISK)
        assert said(sync(all, A, "two", DISK)) == ["didChange a", "didSave a"]

    def test_a_text_of_the_caller_is_not_saved(self) -> None:
        all = documents()
        sync(all, A, "one", DISK)
        assert said(sync(all, A, "two")) == ["didChange a"]

    def test_going_back_to_what_is_on_disk_is_a_save(self) -> None:
        all = documents()
        sync(all, A, "one", DISK)
        sync(all, A, "two")
        assert said(sync(all, A, "one", DISK)) == ["didChange a", "didSave a"]

    def test_a_text_that_was_synced_before_it_was_written_is_saved_when_it_is(self) -> None:
        all = documents()
        sync(all, A, "one", DISK)
        sync(all, A, "two")
        assert said(sync(all, A, "two", DISK)) == ["didSave a"]

    def test_equal_text_from_disk_is_not_saved_twice(self) -> None:
        all = documents()
        sync(all, A, "one", DISK)
        assert sync(all, A, "one", object()) == []

    def test_a_server_that_did_not_ask_for_saves_gets_none(self) -> None:
        all = documents({"openClose": True, "change": 2})
        sync(all, A, "one", DISK)
        assert said(sync(all, A, "two", DISK)) == ["didChange a"]

    @pytest.mark.parametrize("with_text", [True, False])
    def test_a_save_has_the_text_only_where_asked_for(self, with_text: bool) -> None:
        all = documents({**INCREMENTAL, "save": {"includeText": with_text}})
        sync(all, A, "one", DISK)
        (_, (_, params)) = sync(all, A, "two", DISK)
        expected = {"text": "two"} if with_text else {}
        assert params == {"textDocument": {"uri": A.uri}, **expected}

    def test_a_save_that_an_interrupt_swallowed_is_made_up_for(self) -> None:
        all = documents()
        sync(all, A, "one", DISK)
        all.sync(A, Text("two"), DISK)  # and its notes are lost
        assert "didSave a" in said(sync(all, A, "two", DISK))

    def test_the_stamp_follows_the_text(self) -> None:
        all = documents()
        sync(all, A, "one", DISK)
        document = all.get(A.uri)
        assert document is not None
        assert document.stamp is DISK
        sync(all, A, "two")
        assert document.stamp is None
        sync(all, A, "two", DISK)
        assert document.stamp is DISK


class TestInterrupts:
    def test_a_document_is_unsure_until_it_is_committed(self) -> None:
        all = documents()
        document, _ = all.sync(A, Text("x"), None)
        assert document.unsure
        all.commit(document)
        assert not document.unsure
        all.sync(A, Text("y"), None)
        assert document.unsure

    def test_equal_text_keeps_a_sure_document_sure(self) -> None:
        all = documents()
        sync(all, A, "x")
        document, _ = all.sync(A, Text("x"), None)
        assert not document.unsure

    @pytest.mark.parametrize("text", ["two", "three"])
    def test_after_an_interrupted_change_the_document_is_opened_anew(self, text: str) -> None:
        all = documents()
        sync(all, A, "one")
        all.sync(A, Text("two"), None)
        notes = sync(all, A, text)
        assert said(notes) == ["didClose a", "didOpen a"]
        assert notes[1][1]["textDocument"]["text"] == text
        assert versions(notes) == [3]

    def test_after_an_interrupted_open_the_document_is_opened_anew(self) -> None:
        all = documents()
        all.sync(A, Text("one"), None)
        assert said(sync(all, A, "one")) == ["didClose a", "didOpen a"]
        assert said(sync(all, A, "two")) == ["didChange a"]

    def test_after_an_interrupted_close_the_document_is_closed_again_first(self) -> None:
        all = documents()
        sync(all, A, "one")
        all.close(A.uri)
        assert said(sync(all, A, "one")) == ["didClose a", "didOpen a"]

    def test_after_a_close_that_was_sent_the_document_is_just_opened(self) -> None:
        all = documents()
        sync(all, A, "one")
        all.close(A.uri)
        all.commit()
        sync(all, B, "committed")
        assert said(sync(all, A, "one")) == ["didOpen a"]

    def test_an_eviction_that_was_lost_with_its_sync_is_not_forgotten(self) -> None:
        all = documents(limit=1)
        sync(all, A, "a", DISK)
        _, lost = all.sync(B, Text("b"), DISK)
        assert "didClose a" in said(lost)
        sync(all, C, "c", DISK)
        # The server still has A open: opening it without a close would be the second open.
        assert said(sync(all, A, "a"))[:2] == ["didClose a", "didOpen a"]

    def test_a_touch_does_not_confirm_an_eviction_that_was_lost(self) -> None:
        all = documents(limit=2)
        sync(all, A, "a", DISK)
        sync(all, B, "b", DISK)
        _, lost = all.sync(C, Text("c"), DISK)
        assert "didClose a" in said(lost)
        document, notes = all.touch(B.uri)
        assert said(notes) == ["didChange b"]
        all.commit(document)
        assert said(sync(all, A, "a"))[:2] == ["didClose a", "didOpen a"]

    def test_so_it_is_where_a_file_is_only_to_be_read(self) -> None:
        all = documents()
        sync(all, A, "a")
        all.close(A.uri)
        assert said(all.reread(A)) == ["didClose a", "didOpen a", "didClose a"]


class TestReading:
    def test_a_file_is_read_by_closing_it(self) -> None:
        all = documents()
        notes = all.reread(A)
        assert said(notes) == ["didOpen a", "didClose a"]
        assert len(all) == 0
        document, _ = all.sync(A, Text("a"), DISK)
        assert document.version > notes[0][1]["textDocument"]["version"]

    def test_not_one_that_is_open(self) -> None:
        all = documents()
        sync(all, A, "a", DISK)
        assert all.reread(A) == []

    def test_nothing_is_said_to_a_server_that_does_not_hear_of_documents(self) -> None:
        assert documents({"change": 1}).reread(A) == []


class TestLimit:
    def test_the_least_recently_used_document_is_closed(self) -> None:
        all = documents(limit=2)
        sync(all, A, "a", DISK)
        sync(all, B, "b", DISK)
        assert said(sync(all, C, "c", DISK)) == ["didOpen c", "didClose a"]
        assert [document.key for document in all] == [B, C]

    def test_a_sync_of_equal_text_is_a_use(self) -> None:
        all = documents(limit=2)
        sync(all, A, "a", DISK)
        sync(all, B, "b", DISK)
        sync(all, A, "a", DISK)
        assert said(sync(all, C, "c", DISK)) == ["didOpen c", "didClose b"]

    def test_a_look_is_a_use(self) -> None:
        all = documents(limit=2)
        sync(all, A, "a", DISK)
        sync(all, B, "b", DISK)
        all.get(A.uri)
        assert said(sync(all, C, "c", DISK)) == ["didOpen c", "didClose b"]

    def test_a_document_that_is_waited_for_stays_open(self) -> None:
        held = {A.uri}
        capabilities = Capabilities({"textDocumentSync": INCREMENTAL})
        all = Documents(capabilities, "utf-16", limit=1, in_use=lambda: held)
        sync(all, A, "a", DISK)
        assert said(sync(all, B, "b", DISK)) == ["didOpen b"]
        assert said(sync(all, C, "c", DISK)) == ["didOpen c", "didClose b"]
        held.clear()
        assert said(sync(all, D, "d", DISK)) == ["didOpen d", "didClose a", "didClose c"]

    def test_the_newest_document_is_never_the_one_to_go(self) -> None:
        all = documents(limit=0)
        assert said(sync(all, A, "a", DISK)) == ["didOpen a"]

    def test_an_evicted_document_is_opened_with_a_new_version(self) -> None:
        all = documents(limit=1)
        sync(all, A, "a", DISK)
        sync(all, B, "b", DISK)
        notes = sync(all, A, "a", DISK)
        assert said(notes) == ["didOpen a", "didClose b"]
        assert versions(notes) == [2]

    def test_five_hundred_documents_are_open_at_most(self) -> None:
        all = Documents(Capabilities({"textDocumentSync": 1}), "utf-16")
        for number in range(OPEN_LIMIT + 20):
            sync(all, DocumentKey(f"file:///{number}.py", "python"), "x", DISK)
        assert (OPEN_LIMIT, len(all)) == (500, 500)

    @pytest.mark.parametrize("stamp", [None, Unsaved(1)])
    def test_a_text_that_is_not_on_disk_stays_open(self, stamp: object) -> None:
        all = documents(limit=1)
        sync(all, A, "a", stamp)
        assert said(sync(all, B, "b", DISK)) == ["didOpen b"]
        assert said(sync(all, C, "c", DISK)) == ["didOpen c", "didClose b"]


class TestOpenedAsOnDisk:
    def test_a_text_that_is_not_on_disk_comes_as_a_change_of_what_is(self) -> None:
        all = documents()
        document, notes = all.sync(A, Text("one two"), None, Text("one 2"))
        assert said(notes) == ["didOpen a", "didChange a"]
        assert versions(notes) == [1, 2]
        assert notes[0][1]["textDocument"]["text"] == "one 2"
        assert (document.text.value, document.version, document.since) == ("one two", 2, 2)

    def test_an_equal_text_is_just_opened(self) -> None:
        _, notes = documents().sync(A, Text("one"), None, Text("one"))
        assert said(notes) == ["didOpen a"]

    def test_an_open_document_is_just_changed(self) -> None:
        all = documents()
        sync(all, A, "one", DISK)
        _, notes = all.sync(A, Text("two"), None, Text("one"))
        assert said(notes) == ["didChange a"]

    def test_who_does_not_hear_of_changes_is_shown_the_text_itself(self) -> None:
        silent = {"openClose": True, "change": 0}
        _, [(_, params)] = documents(silent).sync(A, Text("two"), None, Text("one"))
        assert params["textDocument"]["text"] == "two"

    def test_what_the_server_may_not_have_heard_is_closed_first(self) -> None:
        all = documents()
        all.sync(A, Text("lost"), None)
        _, notes = all.sync(A, Text("two"), None, Text("one"))
        assert said(notes) == ["didClose a", "didOpen a", "didChange a"]
        assert versions(notes) == [2, 3]
