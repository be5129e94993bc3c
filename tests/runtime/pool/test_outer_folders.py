"""A server that asks for whatever happens in a folder outside of the workspace, as TypeScript 7."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lspkit
from lspkit.runtime.watch import watched_folders
from lspkit.testing import Diagnostics, Log, Script, watchers
from tests.runtime.server_log import (
    CHANGED,
    CREATED,
    DELETED,
    heard,
    outside,
    wait_until_heard,
    written_outside,
)
from tests.runtime.watch.watching import until_ready
from tests.scripted import workspace

MANY = """
for number in range(3000):
    (paths[0] / f"{number}.dat").touch()
    if number % 100 == 0:
        (paths[0] / f"folder{number}").mkdir()
        (paths[0] / f"folder{number}" / "other.txt").touch()
"""


@contextmanager
def asking_for(base: Path, folder: Path, scripted) -> Iterator[tuple[lspkit.Workspace, Log]]:
    """A workspace whose server has asked for everything in another folder, which is known."""
    everything = {"globPattern": {"baseUri": base.as_uri(), "pattern": "**/*"}}
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), say=[watchers(everything)]))
    with workspace(folder, argv, text="fine\n") as ws:
        ws.document_symbols("a.scr")
        log = Log.of(argv)
        written_outside(base / "first.scr", "")
        wait_until_heard(log, "first.scr")
        yield ws, log


def told_about(log: Log, last: Path) -> list[tuple[str, int]]:
    """What was told, once a last file has come through."""
    written_outside(last, "")
    wait_until_heard(log, last.name)
    return [one for one in heard(log) if one[0] not in ("first.scr", last.name)]


def test_of_thousands_of_files_outside_only_those_that_it_can_read_are_told(
    tmp_path, scripted, tmp_path_factory
):
    base = tmp_path_factory.mktemp("elsewhere")
    with asking_for(base, tmp_path, scripted) as (_, log):
        outside(MANY, base)
        written_outside(base / "folder100" / "source.scr", "")
        assert told_about(log, base / "last.scr") == [("source.scr", CREATED)]


def test_a_source_outside_that_changes_or_goes_is_told(tmp_path, scripted, tmp_path_factory):
    base = tmp_path_factory.mktemp("elsewhere")
    source = base / "library" / "source.scr"
    source.parent.mkdir()
    source.touch()
    with asking_for(base, tmp_path, scripted) as (_, log):
        written_outside(source, "changed")
        wait_until_heard(log, "source.scr", CHANGED)
        outside("paths[0].unlink()", source)
        wait_until_heard(log, "source.scr", DELETED)
        assert {name for name, _ in told_about(log, base / "last.scr")} == {"source.scr"}


def test_inside_of_the_workspace_everything_is_told(tmp_path, scripted):
    folder = tmp_path / "around" / "project"
    folder.mkdir(parents=True)
    with asking_for(tmp_path, folder, scripted) as (_, log):
        outside(MANY, tmp_path / "around")
        written_outside(folder / "inside.dat", "")
        assert told_about(log, tmp_path / "last.scr") == [("inside.dat", CREATED)]


def test_not_all_folders_of_a_huge_one_are_watched_but_those_near_the_workspace_are(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(watched_folders, "MOST_FOLDERS_OF_BRANCH", 20)
    around = tmp_path / "around"
    project, near, huge = around / "project", around / "near" / "inner", tmp_path / "huge"
    for folder in (project, near, *(huge / f"{number}" for number in range(100))):
        folder.mkdir(parents=True)
    with asking_for(tmp_path, project, scripted) as (ws, log):
        for number in range(100):
            (huge / f"{number}" / f"{number}.scr").touch()
        written_outside(near / "near.scr", "")
        names = [name for name, _ in told_about(log, tmp_path / "last.scr")]
        warnings = ws.status().warnings
    assert "near.scr" in names
    assert len(names) <= 20
    assert any(str(huge) in one for one in warnings)


# The bound by itself


def outer(monkeypatch: pytest.MonkeyPatch, *, branch: int, beside: int):
    monkeypatch.setattr(watched_folders, "MOST_FOLDERS_OF_BRANCH", branch)
    monkeypatch.setattr(watched_folders, "MOST_FOLDERS_BESIDE", beside)
    folders = watched_folders.OuterFolders("/top/home/project", threading.Lock())
    folders.ask(["/top"])
    return folders


def test_one_branch_does_not_use_up_what_others_may_have(monkeypatch):
    folders = outer(monkeypatch, branch=3, beside=6)
    assert [folders.admit(f"/top/a/{number}") for number in range(4)] == [True] * 3 + [False]
    assert folders.admit("/top/home/beside/one")
    assert [folders.admit(f"/top/b/{number}") for number in range(3)] == [True] * 2 + [False]
    assert folders.admit("/top/home")
    assert folders.admit("/top/home/project/anything")
    assert folders.admit("/elsewhere/anything")


def test_a_folder_that_is_gone_leaves_room(monkeypatch):
    folders = outer(monkeypatch, branch=1, beside=1)
    assert folders.admit("/top/a")
    assert not folders.admit("/top/b")
    folders.release("/top/a")
    assert folders.admit("/top/b")


def test_what_is_watched_for_another_reason_does_not_count(monkeypatch):
    folders = outer(monkeypatch, branch=0, beside=0)
    assert not folders.admit("/top/headers/inner")
    folders.mean("/top/headers")
    assert folders.admit("/top/headers/inner")
    assert not folders.hold("/top/headers/inner/any.inc")


def test_what_is_nearest_to_the_workspace_is_the_last_on_the_way_and_so_read_first():
    folders = watched_folders.OuterFolders("/top/home/project", threading.Lock())
    assert folders.way_from("/top") == ["/top", "/top/home"]
    assert folders.way_from("/top/other") == ["/top/other"]
    assert folders.way_from("/") == ["/", "/top", "/top/home"]


# Targets of links

#: Where the link is does not matter, unless it leads to a file.
LINK = "/any/link"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(watched_folders, "own_home", lambda: str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_link_to_a_folder_that_holds_the_workspace_or_the_home_is_not_followed(home, tmp_path):
    project = home / "work" / "project"
    folders = watched_folders.OuterFolders(str(project), threading.Lock())
    for wide in ("/", tmp_path, home, home / "work"):
        assert not folders.follow(LINK, str(wide), deep=True)
    assert "can be watched: changes in some of those in / and 3 more" in folders.warnings()[0]
    assert folders.follow(LINK, str(home / "work" / "shared"), deep=True)
    elsewhere = watched_folders.OuterFolders("/elsewhere/project", threading.Lock())
    assert not elsewhere.follow(LINK, str(home), deep=True)
    assert elsewhere.follow(LINK, str(home / "work"), deep=True)
    # For a link to a file there, one folder is watched.
    assert elsewhere.follow(LINK, str(home), deep=False)


def test_a_link_to_a_folder_of_the_work_tree_is_followed_also_if_that_holds_the_workspace(
    home, tmp_path
):
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / "inner" / "project").mkdir(parents=True)
    folders = watched_folders.OuterFolders(str(tree / "inner" / "project"), threading.Lock())
    assert folders.follow(LINK, str(tree), deep=True)
    assert folders.follow(LINK, str(tree / "inner"), deep=True)
    assert not folders.follow(LINK, str(tmp_path), deep=True)


@pytest.mark.parametrize(
    "target", ["/proc/1", "/dev", "/sys/kernel", "/x/.cache/bazel/out", "/x/node_modules/one"]
)
def test_a_link_to_no_files_or_to_those_of_tools_is_not_followed_and_nothing_is_said(target):
    folders = watched_folders.OuterFolders("/x/project", threading.Lock())
    assert not folders.follow(LINK, target, deep=True)
    assert folders.warnings() == []


def test_the_number_of_targets_is_limited_and_so_are_the_folders_in_each(monkeypatch):
    monkeypatch.setattr(watched_folders, "MOST_LINKED_FOLDERS", 2)
    monkeypatch.setattr(watched_folders, "MOST_FOLDERS_OF_BRANCH", 3)
    folders = watched_folders.OuterFolders("/top/project", threading.Lock())
    assert [folders.follow(LINK, f"/top/{name}", deep=True) for name in "aabc"] == [
        True,
        True,
        True,
        False,
    ]
    assert "/top/c" in folders.warnings()[0]
    assert [folders.admit(f"/top/a/{number}") for number in range(4)] == [True] * 3 + [False]


def test_targets_that_no_link_leads_to_any_more_leave_room(monkeypatch):
    monkeypatch.setattr(watched_folders, "MOST_LINKED_FOLDERS", 1)
    folders = watched_folders.OuterFolders("/top/project", threading.Lock())
    for name in "abc":
        target = f"/top/{name}"
        assert folders.follow(LINK, target, deep=True)
        assert not folders.follow(LINK, "/top/other", deep=True)
        folders.leave(target)
        assert not folders.hold(f"{target}/one/any.py")


def test_what_a_server_has_asked_for_is_watched_without_a_link_as_well():
    folders = watched_folders.OuterFolders("/top/project", threading.Lock())
    folders.ask(["/top/a"])
    assert folders.follow(LINK, "/top/a", deep=True)
    folders.leave("/top/a")
    assert folders.hold("/top/a/one/any.py")


def test_the_programs_that_tools_link_to_are_not_followed():
    folders = watched_folders.OuterFolders("/x/project", threading.Lock())
    assert not folders.follow("/x/project/.venv/bin/python", "/usr/bin", deep=False)
    assert folders.follow("/x/project/bin/python", "/usr/bin", deep=False)
    # A package that is developed elsewhere.
    assert folders.follow("/x/project/node_modules/one", "/x/one", deep=True)


def test_a_link_to_the_whole_disk_is_not_walked(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    (tmp_path / "everything").symlink_to("/")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        watcher = ws._engine.pool.disk_events._watcher
        until_ready(watcher)
        assert watcher.watches == 1
        assert any("changes in some of those in / " in one for one in ws.status().warnings)


# The packages of the server itself


@pytest.mark.parametrize("by_script", [False, True])
def test_the_packages_that_a_server_consists_of_are_not_watched(
    by_script, tmp_path, tmp_path_factory
):
    """Other packages outside of the workspace are."""
    own, linked = (
        tmp_path_factory.mktemp(name) / "node_modules" / "package" for name in ("own", "linked")
    )
    linked.mkdir(parents=True)
    everything = [
        {"globPattern": {"baseUri": one.parent.as_uri(), "pattern": "**/*"}}
        for one in (own, linked)
    ]
    script = Script(diagnostics=Diagnostics(how="pull"), say=[watchers(*everything)])
    argv = script.command(own)
    log = Log.of(argv)
    if by_script:
        launcher = tmp_path_factory.mktemp("bin") / "server"
        launcher.write_text(f"#!/bin/sh\nexec {shlex.join(argv)}\n", encoding="utf-8")
        launcher.chmod(0o755)
        argv = [str(launcher)]
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("a.scr")
        written_outside(own / "own.scr", "")
        told = told_about(log, linked / "last.scr")
        ws.document_symbols("a.scr")
        assert told == []
        assert [name for name, _ in heard(log)] == ["last.scr"]


@pytest.mark.parametrize("place", ["link", "above", "inside"])
def test_packages_of_the_project_are_watched_also_if_the_server_is_among_them(place, tmp_path):
    project = tmp_path / "work" / "project"
    project.mkdir(parents=True)
    packages = tmp_path / "shared" / "node_modules"
    if place == "link":
        packages.mkdir(parents=True)
        (project / "node_modules").symlink_to(packages)
    elif place == "above":
        packages = tmp_path / "work" / "node_modules"
    else:
        packages = project / "app" / "node_modules"
    everything = {"globPattern": {"baseUri": packages.as_uri(), "pattern": "**/*"}}
    script = Script(diagnostics=Diagnostics(how="pull"), say=[watchers(everything)])
    argv = script.command(packages / "server")
    (packages / "library" / "dist").mkdir(parents=True)
    with workspace(project, argv, text="fine\n") as ws:
        ws.document_symbols("a.scr")
        log = Log.of(argv)
        written_outside(packages / "library" / "dist" / "last.scr", "")
        wait_until_heard(log, "last.scr")
        # Its own log lies among these packages, too.
        assert {name for name, _ in heard(log)} <= {"last.scr", "log.jsonl"}
