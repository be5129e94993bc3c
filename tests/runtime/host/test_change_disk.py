"""Files that lspkit writes, moves and deletes: the bytes on disk, and what the servers hear."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.runtime.host.change_disk import HELD
from lspkit.runtime.watch.watcher import Watcher
from lspkit.testing import Diagnostics, Log, Script, watchers
from tests.runtime.server_log import (
    CHANGED,
    CREATED,
    DELETED,
    OPEN,
    PULL,
    SAVE,
    WATCHED,
    batches,
    heard,
    messages_of,
    told,
    wait_until_heard,
    written_outside,
)
from tests.scripted import config_for, workspace

BY_PULL = Diagnostics(how="pull")


def watching(**more: Any) -> Script:
    """Wants to hear of every file of its language."""
    return Script(diagnostics=BY_PULL, say=[watchers("**/*.scr")], **more)


def written(found: list[Any] | None) -> list[str] | None:
    return None if found is None else [one.message for one in found]


# The disk


def test_a_text_is_written_as_it_is(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        ws.write("a.scr", "def é\r\n😀\n")
        assert (tmp_path / "a.scr").read_bytes() == "def é\r\n😀\n".encode()
        assert sorted(os.listdir(tmp_path)) == ["a.scr"]


def test_a_file_that_was_replaced_keeps_its_number_for_a_while(tmp_path, scripted):
    numbers = []
    with workspace(tmp_path, scripted(Script()), text="0\n") as ws:
        ws.check("a.scr")
        before = len(os.listdir("/proc/self/fd"))
        for number in range(3 * HELD):
            numbers.append((tmp_path / "a.scr").stat().st_ino)
            ws.write("a.scr", f"{number + 1}\n")
        held = len(os.listdir("/proc/self/fd")) - before
    for start in range(2 * HELD):
        assert len(set(numbers[start : start + HELD])) == HELD
    assert held == HELD


def test_a_byte_order_mark_stays_and_the_server_sees_none(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "bom.scr").write_bytes(b"\xef\xbb\xbfold\n")
    with workspace(tmp_path, argv) as ws:
        ws.write("bom.scr", "new\n")
        [opened] = Log.of(argv).messages(OPEN)
    assert (tmp_path / "bom.scr").read_bytes() == b"\xef\xbb\xbfnew\n"
    assert opened["params"]["textDocument"]["text"] == "new\n"


def test_a_byte_order_mark_of_the_text_is_not_written_twice(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "bom.scr").write_bytes(b"\xef\xbb\xbfold\n")
    with workspace(tmp_path, argv) as ws:
        ws.write("bom.scr", "\ufeffnew\n")
        [opened] = Log.of(argv).messages(OPEN)
    assert (tmp_path / "bom.scr").read_bytes() == b"\xef\xbb\xbfnew\n"
    assert opened["params"]["textDocument"]["text"] == "new\n"


def test_a_file_keeps_its_mode(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        (tmp_path / "a.scr").chmod(0o750)
        ws.write("a.scr", "fine\n")
    assert stat.S_IMODE((tmp_path / "a.scr").stat().st_mode) == 0o750


def test_missing_folders_are_made(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        assert ws.write("one/two/new.scr", "ERROR\n").verdict.dirty
        ws.move("one/two/new.scr", "three/four/new.scr")
    assert (tmp_path / "three/four/new.scr").read_text(encoding="utf-8") == "ERROR\n"
    assert not (tmp_path / "one/two/new.scr").exists()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../out.scr", "EOUTSIDE"),
        ("out/x.scr", "EOUTSIDE"),
        ("node_modules/x.scr", "EEXCLUDED"),
        (".git/x.scr", "EEXCLUDED"),
        ("sub", "ENOENT"),
    ],
)
def test_what_may_not_be_touched_is_refused_and_stays_as_it_is(tmp_path, scripted, path, code):
    folder, outside = tmp_path / "work", tmp_path / "outside"
    (folder / "node_modules").mkdir(parents=True)
    (folder / "sub").mkdir()
    outside.mkdir()
    (folder / "out").symlink_to(outside)
    argv = scripted(Script())
    with workspace(folder, argv, text="fine\n") as ws:
        for change in (
            lambda: ws.write(path, "ERROR\n"),
            lambda: ws.move("a.scr", path),
            lambda: ws.move(path, "b.scr"),
            lambda: ws.delete(path),
        ):
            with pytest.raises(lspkit.PathError) as caught:
                change()
            assert caught.value.code == code
    found = sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*"))
    assert found == ["outside", "work", "work/a.scr", "work/node_modules", "work/out", "work/sub"]
    assert (folder / "a.scr").read_text(encoding="utf-8") == "fine\n"
    assert Log.of(argv).entries() == []


def test_a_text_that_cannot_be_written_leaves_the_file_as_it_is(tmp_path, scripted):
    ws = lspkit.Workspace(tmp_path, config=config_for(scripted(Script())))
    (tmp_path / "a.scr").write_text("fine\n", encoding="utf-8")
    with ws, pytest.raises(lspkit.PathError) as caught:
        ws.write("a.scr", "half \ud800 a pair\n")
    assert caught.value.code == "EBINARY"
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == "fine\n"


def test_nothing_is_moved_over_another_file(tmp_path, scripted):
    (tmp_path / "b.scr").write_text("other\n", encoding="utf-8")
    argv = scripted(Script())
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("a.scr")
        with pytest.raises(lspkit.PathError):
            ws.move("a.scr", "b.scr")
        ws.document_symbols("a.scr")
        assert told(Log.of(argv)) == ["didOpen a.scr"]
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == "fine\n"
    assert (tmp_path / "b.scr").read_text(encoding="utf-8") == "other\n"


@pytest.mark.parametrize("change", ["delete", "move"])
def test_a_file_that_is_not_there_cannot_be_changed(tmp_path, scripted, change):
    with workspace(tmp_path, scripted(Script())) as ws:
        arguments = ["none.scr"] if change == "delete" else ["none.scr", "new.scr"]
        with pytest.raises(lspkit.PathError) as caught:
            getattr(ws, change)(*arguments)
    assert caught.value.code == "ENOENT"
    assert sorted(os.listdir(tmp_path)) == ["a.scr"]


def test_moving_and_deleting_start_no_server(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        ws.move("a.scr", "b.scr")
        ws.delete("b.scr")
        assert Log.of(argv).entries() == []
    assert os.listdir(tmp_path) == []


# The report


@pytest.mark.parametrize("how", ["push", "pull"])
def test_writing_gives_the_report_about_the_new_text(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    with workspace(tmp_path, argv, text="ERROR one\n") as ws:
        ws.check("a.scr")
        [report] = ws.write("a.scr", "first\nERROR one\nERROR two\n").report.reports
        [last] = ws.write("a.scr", "first\nERROR two\n").report.reports
    assert (report.path, report.verdict.value) == (tmp_path / "a.scr", "dirty")
    assert messages_of(report) == ["ERROR one", "ERROR two"]
    parts = (report.introduced, report.fixed, report.remaining)
    assert list(map(written, parts)) == [["ERROR two"], [], ["ERROR one"]]
    parts = (last.introduced, last.fixed, last.remaining)
    assert list(map(written, parts)) == [[], ["ERROR one"], ["ERROR two"]]


def test_at_the_first_touch_nothing_is_compared(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        change = ws.write("a.scr", "ERROR\n")
        assert str(change) == f"changed 1 file\n{change.report}"
        [report] = change.report.reports
    assert (report.introduced, report.fixed, report.remaining) == (None, None, None)


def test_writing_waits_no_longer_than_it_may(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script(diagnostics=Diagnostics(how="none")))) as ws:
        ws.document_symbols("a.scr")
        assert ws.write("a.scr", "fine\n", timeout=0.3).verdict.unknown
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == "fine\n"


# The servers


def test_an_open_document_is_changed_and_saved(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("a.scr")
        ws.write("a.scr", "fine\n")
        order = [message.get("method") for message in Log.of(argv).messages()]
        assert told(Log.of(argv)) == ["didOpen a.scr", "didChange a.scr", "didSave a.scr"]
    assert order.index(PULL) > order.index(SAVE)


def test_a_file_that_is_deleted_is_closed_first_and_then_unknown(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv) as ws:
        ws.check("a.scr")
        ws.delete("a.scr")
        ws.check("b.scr")
        assert told(Log.of(argv)) == ["didOpen a.scr", "didClose a.scr", "didOpen b.scr"]
        with pytest.raises(lspkit.PathError):
            ws.check("a.scr")
    assert Log.of(argv).complaints() == []


def test_a_file_that_is_moved_is_closed_and_opened_where_it_is(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        ws.check("a.scr")
        ws.move("a.scr", "b.scr")
        assert ws.check("b.scr").verdict.dirty
        assert told(Log.of(argv)) == ["didOpen a.scr", "didClose a.scr", "didOpen b.scr"]


def test_a_file_that_others_need_is_gone_for_them_at_once(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "b.scr").write_text("NEED greet\n", encoding="utf-8")
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("a.scr")
        assert ws.check("b.scr").verdict.clean
        ws.delete("a.scr")
        assert ws.check("b.scr").verdict.dirty


def start(ws: lspkit.Workspace, log: Log, folder: Path) -> int:
    """Lets the server come up, and its watcher know all files; how many notes that took."""
    ws.document_symbols("a.scr")
    written_outside(folder / "first.scr", "")
    wait_until_heard(log, "first.scr")
    return len(batches(log))


def fence(log: Log, folder: Path) -> None:
    """What another process does after all: once it was told of, nothing from before is to come."""
    written_outside(folder / "last.scr", "")
    wait_until_heard(log, "last.scr")


@pytest.mark.parametrize(
    ("change", "events"),
    [
        (lambda ws: ws.write("new.scr", "fine\n"), [("new.scr", CREATED)]),
        (lambda ws: ws.write("sub/deep/new.scr", "fine\n"), [("new.scr", CREATED)]),
        (lambda ws: ws.write("old.scr", "fine\n"), [("old.scr", CHANGED)]),
        (lambda ws: ws.delete("old.scr"), [("old.scr", DELETED)]),
        (lambda ws: ws.move("old.scr", "x.scr"), [("old.scr", DELETED), ("x.scr", CREATED)]),
    ],
    ids=["create", "create-in-folder", "change", "delete", "move"],
)
def test_a_server_that_wants_to_know_is_told_once_and_before_the_next_question(
    tmp_path, scripted, change, events
):
    argv = scripted(watching())
    (tmp_path / "old.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        before = start(ws, log, tmp_path)
        change(ws)
        ws.check("a.scr")
        fence(log, tmp_path)
        told = [events]
        if len(events) == 2 and len(batches(log)) > before + 2:
            # A move is a second name first, and then the old one goes. The watcher has seen the
            # one before the other, and each is told by itself.
            told = [[events[1]], [events[0]]]
        assert batches(log)[before:] == [*told, [("last.scr", CREATED)]]
        order = [message.get("method") for message in log.messages()]
    assert order.index(PULL) > [at for at, one in enumerate(order) if one == WATCHED][-2]


def test_many_changes_of_ours_are_each_told_once(tmp_path, scripted):
    argv = scripted(watching())
    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        before = start(ws, log, tmp_path)
        for number in range(5):
            ws.write("n.scr", f"{number}\n")
        ws.delete("n.scr")
        fence(log, tmp_path)
        kinds = [CREATED, *[CHANGED] * 4, DELETED]
        assert batches(log)[before:-1] == [[("n.scr", kind)] for kind in kinds]


def test_a_change_of_ours_that_the_watcher_has_seen_first_is_told_once(
    tmp_path, scripted, monkeypatch
):
    """As on a busy machine: the thread that writes is held up before it can say that it has."""
    argv = scripted(watching())
    note = Watcher.note

    def held_up(watcher: Watcher, paths: Any) -> Any:
        with contextlib.suppress(TimeoutError):
            log.wait_for(lambda _: ("new.scr", CREATED) in heard(log), timeout=3)
        return note(watcher, paths)

    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        before = start(ws, log, tmp_path)
        monkeypatch.setattr(Watcher, "note", held_up)
        ws.write("new.scr", "fine\n")
        fence(log, tmp_path)
        assert batches(log)[before:-1] == [[("new.scr", CREATED)]]


def test_what_was_not_registered_is_not_told(tmp_path, scripted):
    argv = scripted(Script(say=[watchers("*.cfg", "last.scr", "first.scr")]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        before = start(ws, log, tmp_path)
        ws.write("new.scr", "fine\n")
        fence(log, tmp_path)
        assert batches(log)[before:] == [[("last.scr", CREATED)]]


def test_two_servers_hear_of_it_and_one_that_knows_other_files_too(tmp_path, scripted):
    argvs = [scripted(watching()), scripted(watching()), scripted(watching())]
    (tmp_path / "a.scr").write_text("fine\n", encoding="utf-8")
    (tmp_path / "b.other").write_text("fine\n", encoding="utf-8")
    servers = {
        f"s{number}": {"command": argv, "extensions": [".other" if number == 2 else ".scr"]}
        for number, argv in enumerate(argvs)
    }
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        ws.document_symbols("a.scr")
        ws.document_symbols("b.other")
        ws.write("new.scr", "fine\n")
        for argv in argvs:
            wait_until_heard(Log.of(argv), "new.scr")


def test_a_file_that_no_server_knows_is_written_and_told_of(tmp_path, scripted):
    argv = scripted(Script(say=[watchers("**/*.cfg")]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("a.scr")
        [report] = ws.write("x.cfg", "a = 1\n").report.reports
        wait_until_heard(Log.of(argv), "x.cfg")
    assert (tmp_path / "x.cfg").read_text(encoding="utf-8") == "a = 1\n"
    assert report.verdict.unknown
    assert ".cfg" in report.why


def test_a_report_about_a_deleted_file_does_not_stay(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        ws.check("a.scr")
        ws.delete("a.scr")
        ws.document_symbols("b.scr")  # behind what the server says about the end of the other one
        assert ws.diagnostics() == {}


def test_a_file_that_is_written_while_another_text_is_shown_is_seen_afterwards(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        with ws.overlay({"a.scr": "ERROR draft\n"}):
            ws.write("a.scr", "ERROR disk\n")
            assert messages_of(ws.check("a.scr")) == ["ERROR draft"]
        assert messages_of(ws.check("a.scr")) == ["ERROR disk"]
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == "ERROR disk\n"


def test_a_file_that_is_only_shown_can_be_written(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL))) as ws:
        with ws.overlay({"new.scr": "ERROR draft\n"}):
            ws.write("new.scr", "ERROR disk\n")
        assert messages_of(ws.check("new.scr")) == ["ERROR disk"]
