"""Files that other processes create, change and delete: who is told, of what, and when."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.protocol.capabilities import Registration
from lspkit.runtime.pool import disk_events
from lspkit.runtime.watch import watcher as watcher_module
from lspkit.testing import Diagnostics, Fault, Log, Say, Script, watchers
from tests.runtime.server_log import (
    CHANGE,
    CHANGED,
    CLOSE,
    CREATED,
    DELETED,
    POKE,
    PULL,
    SAVE,
    WATCHED,
    batches,
    heard,
    last_part,
    outside,
    told,
    wait_until_heard,
    written_outside,
)
from tests.scripted import workspace

BY_PULL = Diagnostics(how="pull")
#: What the tests themselves need to hear of: a first sign, and a last one.
SIGNS = "**/*.sign"


@contextmanager
def watching(
    folder: Path, argv: list[str], *, also: tuple[str, ...] = (), **config: Any
) -> Iterator[tuple[lspkit.Workspace, Log]]:
    """A workspace whose server runs and whose files are known; `also` are folders to know, too."""
    with workspace(folder, argv, text="fine\n", **config) as ws:
        ws.document_symbols("a.scr")
        log = Log.of(argv)
        for number, place in enumerate(("", *also)):
            written_outside(folder / place / f"{number}.sign", "")
            wait_until_heard(log, f"{number}.sign")
        yield ws, log


def happened(log: Log, folder: Path) -> list[tuple[str, int]]:
    """What was told, once a last change has come through."""
    written_outside(folder / "last.sign", "")
    wait_until_heard(log, "last.sign")
    return [one for one in heard(log) if not one[0].endswith(".sign")]


def listening(*globs: Any, **more: Any) -> Script:
    return Script(diagnostics=BY_PULL, say=[watchers(*globs, SIGNS)], **more)


SCR = listening("**/*.scr")


# What is told


def test_files_that_come_change_and_go_are_told_each_as_what_it_is(tmp_path, scripted):
    for name in ("old.scr", "gone.scr"):
        (tmp_path / name).write_text("old\n", encoding="utf-8")
    with watching(tmp_path, scripted(SCR)) as (_, log):
        written_outside(tmp_path / "new.scr", "new")
        written_outside(tmp_path / "old.scr", "newer")
        outside("paths[0].unlink()", tmp_path / "gone.scr")
        events = [("new.scr", CREATED), ("old.scr", CHANGED), ("gone.scr", DELETED)]
        assert sorted(happened(log, tmp_path)) == sorted(events)


#: Linux's way to let two folders change places in one step.
EXCHANGE = """
import ctypes
here = -100
one, other = (os.fsencode(path) for path in paths)
if ctypes.CDLL(None).renameat2(here, one, here, other, 2) != 0:
    sys.exit(3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no other system has such a call")
def test_what_happens_at_once_is_told_in_one_note(tmp_path, scripted, tmp_path_factory):
    inside, apart = tmp_path / "folder", tmp_path_factory.mktemp("made") / "folder"
    for folder, texts in ((inside, {"old": "1", "gone": ""}), (apart, {"old": "22", "new": ""})):
        folder.mkdir()
        for name, text in texts.items():
            (folder / f"{name}.scr").write_text(text, encoding="utf-8")
    with watching(tmp_path, scripted(SCR), also=("folder",)) as (_, log):
        outside(EXCHANGE, inside, apart)
        happened(log, tmp_path)
        [batch] = [one for one in batches(log) if ("new.scr", CREATED) in one]
    assert sorted(one for one in batch if not one[0].endswith(".sign")) == [
        ("gone.scr", DELETED),
        ("new.scr", CREATED),
        ("old.scr", CREATED),
        ("old.scr", DELETED),
    ]


def test_a_rename_is_a_deletion_and_a_creation_in_one_note(tmp_path, scripted):
    (tmp_path / "old.scr").write_text("old\n", encoding="utf-8")
    with watching(tmp_path, scripted(SCR)) as (_, log):
        outside("paths[0].rename(paths[1])", tmp_path / "old.scr", tmp_path / "new.scr")
        happened(log, tmp_path)
        [batch] = [one for one in batches(log) if ("new.scr", CREATED) in one]
    assert [one for one in batch if one[0] != "last.sign"] == [
        ("old.scr", DELETED),
        ("new.scr", CREATED),
    ]


def test_a_file_that_is_replaced_by_a_rename_has_changed_once(tmp_path, scripted):
    (tmp_path / "old.scr").write_text("old\n", encoding="utf-8")
    with watching(tmp_path, scripted(SCR)) as (_, log):
        outside(
            "paths[1].write_text('new'); paths[1].rename(paths[0])",
            tmp_path / "old.scr",
            tmp_path / ".old.scr.tmp",
        )
        assert happened(log, tmp_path) == [("old.scr", CHANGED)]


def test_a_folder_that_is_moved_in_counts_for_each_file_in_one_note(
    tmp_path, scripted, tmp_path_factory
):
    made = tmp_path_factory.mktemp("made") / "folder"
    (made / "deep").mkdir(parents=True)
    names = [f"f{number}.scr" for number in range(10)]
    for name in names:
        (made / "deep" / name).write_text("", encoding="utf-8")
    with watching(tmp_path, scripted(SCR)) as (_, log):
        outside("paths[0].rename(paths[1])", made, tmp_path / "folder")
        happened(log, tmp_path)
        [batch] = [one for one in batches(log) if ("f0.scr", CREATED) in one]
    assert sorted(one for one in batch if one[0] != "last.sign") == [
        (name, CREATED) for name in names
    ]


def test_a_folder_that_is_moved_out_counts_for_each_file(tmp_path, scripted, tmp_path_factory):
    (tmp_path / "folder").mkdir()
    for name in ("x.scr", "y.scr"):
        (tmp_path / "folder" / name).write_text("", encoding="utf-8")
    away = tmp_path_factory.mktemp("away") / "folder"
    with watching(tmp_path, scripted(SCR), also=("folder",)) as (_, log):
        outside("paths[0].rename(paths[1])", tmp_path / "folder", away)
        assert sorted(happened(log, tmp_path)) == [("x.scr", DELETED), ("y.scr", DELETED)]


def test_a_file_in_folders_that_are_made_at_once_is_not_lost(tmp_path, scripted):
    with watching(tmp_path, scripted(SCR)) as (_, log):
        outside(
            "paths[0].mkdir(parents=True); (paths[0] / 'new.scr').write_text('')",
            tmp_path / "one/two/three",
        )
        assert happened(log, tmp_path) == [("new.scr", CREATED)]


# Who wants to know what


def test_only_what_matches_is_told(tmp_path, scripted):
    with watching(tmp_path, scripted(listening("src/*.scr", "*.{cfg,ini}"))) as (_, log):
        (tmp_path / "src").mkdir()
        names = ("src/yes.scr", "src/no.txt", "no.scr", "yes.cfg", "yes.ini", "src/no.cfg")
        outside("for path in paths: path.write_text('')", *(tmp_path / name for name in names))
        told_of = sorted(name for name, _ in happened(log, tmp_path))
    assert told_of == ["yes.cfg", "yes.ini", "yes.scr"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(1, [CREATED]), (2, [CHANGED]), (4, [DELETED]), (5, [CREATED, DELETED]), (0, [])],
)
def test_only_the_kinds_that_were_asked_for_are_told(tmp_path, scripted, kind, expected):
    script = listening({"globPattern": "**/*.scr", "kind": kind})
    with watching(tmp_path, scripted(script)) as (_, log):
        path = tmp_path / "x.scr"
        for number, change in enumerate(
            (
                lambda: written_outside(path, "1"),
                lambda: written_outside(path, "22"),
                lambda: outside("paths[0].unlink()", path),
            )
        ):
            change()
            written_outside(tmp_path / f"step{number}.sign", "")
            wait_until_heard(log, f"step{number}.sign")
        assert happened(log, tmp_path) == [("x.scr", each) for each in expected]


def test_what_was_unregistered_is_told_no_longer(tmp_path, scripted):
    entry = {"id": "mine", "method": WATCHED}
    drop = {"method": "client/unregisterCapability", "params": {"unregisterations": [entry]}}
    say = [
        watchers(SIGNS),
        watchers("**/*.scr", name="mine"),
        Say(POKE, request=drop, wait=True),
    ]
    argv = scripted(Script(say=say, answers={POKE: None}))
    with watching(tmp_path, argv) as (ws, log):
        for text, kind in (("", CREATED), ("more", CHANGED)):
            written_outside(tmp_path / "before.scr", text)
            wait_until_heard(log, "before.scr", kind)
        ws.request("a.scr", POKE)
        written_outside(tmp_path / "before.scr", "even more")
        written_outside(tmp_path / "after.scr", "")
        assert happened(log, tmp_path) == [("before.scr", CREATED), ("before.scr", CHANGED)]


def test_what_is_registered_later_is_told_with_what_happened_before(tmp_path, scripted):
    # In pieces, of which the first one wants nothing of it.
    other = watchers("**/*.other", name="other", when=POKE)
    say = [watchers(SIGNS), other, watchers("**/*.scr", name="later", when=POKE)]
    argv = scripted(Script(say=say, answers={POKE: None}))
    with watching(tmp_path, argv) as (ws, log):
        written_outside(tmp_path / "before.scr", "")
        written_outside(tmp_path / "between.sign", "")
        wait_until_heard(log, "between.sign")
        ws.request("a.scr", POKE)
        written_outside(tmp_path / "after.scr", "")
        # Once: the server may have read files and answered before it has asked.
        assert happened(log, tmp_path) == [("before.scr", CREATED), ("after.scr", CREATED)]


def test_what_is_registered_while_an_event_is_looked_at_is_told_of_it(
    tmp_path, scripted, monkeypatch
):
    def kinds_for(watched: Any, event: Any) -> Any:
        kinds = judge(watched, event)
        if event.path.endswith("new.txt"):
            globs = [{"globPattern": "**/*.txt"}]
            watched.add(Registration("late", WATCHED, {"watchers": globs}))
        return kinds

    judge = disk_events.kinds_for
    monkeypatch.setattr(disk_events, "kinds_for", kinds_for)
    with watching(tmp_path, scripted(SCR)) as (_, log):
        written_outside(tmp_path / "new.txt", "")
        assert happened(log, tmp_path) == [("new.txt", CREATED)]


def test_excluded_folders_are_not_watched(tmp_path, scripted):
    for name in ("node_modules", ".git", ".tox"):
        (tmp_path / name).mkdir()
    with watching(tmp_path, scripted(SCR)) as (_, log):
        names = ("node_modules/x.scr", ".git/y.scr", ".tox/z.scr", "seen.scr")
        outside("for path in paths: path.write_text('')", *(tmp_path / name for name in names))
        assert happened(log, tmp_path) == [("seen.scr", CREATED)]


@pytest.mark.parametrize("there", [True, False], ids=["there", "made-later"])
@pytest.mark.parametrize("glob", ["node_modules/**/*.scr", "node_modules/lib/*.scr"])
def test_an_excluded_folder_that_a_glob_names_is_watched(tmp_path, scripted, glob, there):
    if there:
        (tmp_path / "node_modules" / "lib").mkdir(parents=True)
    with watching(tmp_path, scripted(listening(glob))) as (_, log):
        outside(
            "paths[0].mkdir(parents=True, exist_ok=True); (paths[0] / 'x.scr').write_text('')",
            tmp_path / "node_modules" / "lib",
        )
        wait_until_heard(log, "x.scr")
        assert happened(log, tmp_path) == [("x.scr", CREATED)]


def test_an_excluded_folder_that_a_glob_names_in_its_midst_is_watched(tmp_path, scripted):
    (tmp_path / "sub" / "node_modules" / "lib" / "deep").mkdir(parents=True)
    with watching(tmp_path, scripted(listening("**/node_modules/**/*.scr"))) as (_, log):
        written_outside(tmp_path / "sub" / "node_modules" / "x.scr", "")
        written_outside(tmp_path / "sub" / "node_modules" / "lib" / "deep" / "y.scr", "")
        assert happened(log, tmp_path) == [("x.scr", CREATED), ("y.scr", CREATED)]


def test_a_base_outside_the_workspace_is_watched(tmp_path, scripted, tmp_path_factory):
    base = tmp_path_factory.mktemp("elsewhere")
    relative = {"globPattern": {"baseUri": base.as_uri(), "pattern": "**/*.cfg"}}
    with watching(tmp_path, scripted(listening(relative))) as (_, log):
        (base / "sub").mkdir()
        written_outside(base / "x.txt", "")
        written_outside(tmp_path / "inside.cfg", "")
        written_outside(base / "sub" / "x.cfg", "")
        wait_until_heard(log, "x.cfg")
        assert happened(log, tmp_path) == [("x.cfg", CREATED)]


def test_a_relative_pattern_starts_at_its_base(tmp_path, scripted):
    (tmp_path / "sub").mkdir()
    folder = {"uri": (tmp_path / "sub").as_uri(), "name": "sub"}
    relative = {"globPattern": {"baseUri": folder, "pattern": "*.cfg"}}
    with watching(tmp_path, scripted(listening(relative)), also=("sub",)) as (_, log):
        for name in ("no.cfg", "sub/yes.cfg"):
            written_outside(tmp_path / name, "")
        assert happened(log, tmp_path) == [("yes.cfg", CREATED)]


def test_uris_are_those_of_the_real_files(tmp_path, scripted):
    with watching(tmp_path, scripted(SCR)) as (_, log):
        written_outside(tmp_path / "ü x.scr", "")
        wait_until_heard(log, "ü x.scr")
        uris = [one["uri"] for note in log.messages(WATCHED) for one in note["params"]["changes"]]
    assert (tmp_path / "ü x.scr").as_uri() in uris


# Open documents


@pytest.mark.parametrize("script", [Script(), SCR], ids=["unregistered", "registered"])
def test_an_open_document_follows_the_disk_without_a_question(tmp_path, scripted, script):
    argv = scripted(script)
    with workspace(tmp_path, argv, text="def old\n") as ws:
        ws.document_symbols("a.scr")
        written_outside(tmp_path / "a.scr", "def new\n")
        log = Log.of(argv)
        log.wait_for_message(SAVE)
        [change] = log.messages(CHANGE)
        assert [one["text"] for one in change["params"]["contentChanges"]] == ["new"]
        assert told(log) == ["didOpen a.scr", "didChange a.scr", "didSave a.scr"]
        [found] = ws.document_symbols("a.scr")
        assert found.name == "new"
        assert told(log) == ["didOpen a.scr", "didChange a.scr", "didSave a.scr"]


def test_findings_about_an_open_document_follow_the_disk_without_a_question(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        epoch = ws.epoch
        written_outside(tmp_path / "a.scr", "ERROR\n")
        ws.wait_for_change(epoch, timeout=30)
        assert [one.message for one in ws.diagnostics()[tmp_path / "a.scr"]] == ["ERROR"]


def test_an_open_document_that_is_deleted_is_closed(tmp_path, scripted):
    with watching(tmp_path, scripted(SCR)) as (_, log):
        outside("paths[0].unlink()", tmp_path / "a.scr")
        close = log.wait_for_message(CLOSE)
        assert last_part(close["params"]["textDocument"]["uri"]) == "a.scr"
        assert ("a.scr", DELETED) in heard(log)


def test_a_document_that_shows_another_text_is_left_alone(tmp_path, scripted):
    with watching(tmp_path, scripted(SCR)) as (ws, log), ws.overlay({"a.scr": "def shown\n"}):
        ws.document_symbols("a.scr")
        before = told(log)
        written_outside(tmp_path / "a.scr", "def disk\n")
        assert happened(log, tmp_path) == [("a.scr", CHANGED)]
        assert told(log) == before


# In time


def test_a_check_comes_after_everything_that_happened_before_it(tmp_path, scripted):
    with watching(tmp_path, scripted(SCR)) as (ws, log):
        for number in range(10):
            name = f"new{number}.scr"
            written_outside(tmp_path / name, "")
            assert ws.check("a.scr").verdict.clean
            order = [
                entry.got
                for entry in log.entries()
                if entry.got and entry.got.get("method") in (WATCHED, PULL)
            ]
            assert order[-1]["method"] == PULL
            uris = [one["uri"] for note in order[:-1] for one in note["params"].get("changes", ())]
            assert (tmp_path / name).as_uri() in uris
        expected = [(f"new{number}.scr", CREATED) for number in range(10)]
        assert happened(log, tmp_path) == expected


def test_a_check_comes_after_what_happened_while_the_project_was_first_looked_at(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(watcher_module, "PAUSE", 0.3)  # the watcher's thread gets no turn for long
    argv = scripted(SCR)
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        written_outside(tmp_path / "new.scr", "")
        ws.check("a.scr")
        methods = [message.get("method") for message in Log.of(argv).messages()]
    assert [one for one in methods if one in (PULL, WATCHED)] == [PULL, WATCHED, PULL]


def test_a_question_comes_after_everything_that_happened_before_it(tmp_path, scripted):
    with watching(tmp_path, scripted(SCR)) as (ws, log):
        for number in range(5):
            written_outside(tmp_path / f"new{number}.scr", "")
            ws.hover("a.scr", 1, 1)
            assert (f"new{number}.scr", CREATED) in heard(log)


def test_a_server_that_starts_anew_hears_of_files_again(tmp_path, scripted):
    argv = scripted(listening("**/*.scr", faults=[Fault(POKE, "crash", code=3)]))
    with watching(tmp_path, argv, restart={"baseMs": 0}) as (ws, log):
        with pytest.raises(lspkit.ServerBrokenError):
            ws.request("a.scr", POKE)
        ws.check("a.scr")
        written_outside(tmp_path / "new.scr", "")
        assert ("new.scr", CREATED) in happened(log, tmp_path)
