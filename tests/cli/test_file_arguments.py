"""Which files a command line means."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from lspkit.batch.file_selection import TOO_LATE, select_files
from lspkit.cli.command_parser import UsageError
from lspkit.cli.project_root import workspace_of
from lspkit.servers.project.project_files import PASSED_OVER, walk
from tests.edits.trees import without_privileges


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in ("b.py", "a.py", "notes.txt", "sub/c.ts", "sub/deep/d.c", "other/e.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(given: list[str], tree: Path) -> list[str]:
    return [str(path.relative_to(tree)) for path in select_files(given).files]


def test_a_folder_stands_for_its_files_of_a_known_kind_in_order(tree):
    assert names(["."], tree) == ["a.py", "b.py", "other/e.py", "sub/c.ts", "sub/deep/d.c"]


def test_a_file_that_is_named_counts_whatever_it_is(tree):
    assert names(["notes.txt"], tree) == ["notes.txt"]


@pytest.mark.parametrize("name", ["missing.py", "missing/folder", "a.py/below", "dangling"])
def test_a_path_that_is_named_and_not_there_is_missing(tree, name):
    (tree / "dangling").symlink_to("nowhere")
    meant = select_files([name, "a.py", name])
    assert (meant.files, list(meant.missing)) == ([tree / "a.py"], [tree / name])
    assert meant.missing[tree / name] == f"does not exist in {tree}"
    assert meant.unreadable == {}


def test_a_path_that_the_system_refuses_is_unreadable_with_the_reason(tree):
    (tree / "circle").symlink_to("circle")
    long = "x" * 300
    meant = select_files(["circle", "a.py", long])
    assert (meant.files, meant.missing) == ([tree / "a.py"], {})
    assert meant.unreadable == {
        tree / "circle": f"cannot be read: {os.strerror(errno.ELOOP)}",
        tree / long: f"cannot be read: {os.strerror(errno.ENAMETOOLONG)}",
    }


def test_nothing_is_searched_for_after_the_deadline_and_the_folder_is_told(tree, monkeypatch):
    looks = iter([False] * 4)  # two folders and two files; then the time is over
    listed, scan = list[str](), os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scan(path))
    meant = select_files([".", "sub/c.ts"], is_over=lambda: next(looks, True))
    assert meant.files == [tree / "a.py", tree / "b.py", tree / "sub" / "c.ts"]
    assert meant.unreadable == {tree: TOO_LATE}
    assert str(tree / "sub" / "deep") not in listed


def test_a_folder_that_goes_while_it_is_walked_is_told(tree):
    told = []
    found = walk(str(tree), told.append)
    assert next(found) == str(tree / "a.py")
    shutil.rmtree(tree / "sub")
    assert [Path(file).name for file in found] == ["b.py", "notes.txt", "e.py"]
    assert [problem.filename for problem in told] == [str(tree / "sub")]


def test_folders_that_may_not_be_read_are_told_beside_what_can_be(tree):
    (tree / "sub").chmod(0)
    meant = []
    without_privileges(lambda: meant.append(select_files([".", "sub", "sub/c.ts"])))
    (tree / "sub").chmod(0o755)
    assert meant[0].files == [tree / "a.py", tree / "b.py", tree / "other" / "e.py"]
    reason = "cannot be read: Permission denied"
    assert meant[0].unreadable == {tree / "sub": reason, tree / "sub" / "c.ts": reason}


def test_what_is_named_twice_counts_once(tree):
    assert names(["b.py", "./b.py", ".", "sub"], tree)[:2] == ["b.py", "a.py"]
    assert len(names(["b.py", "./b.py", ".", "sub"], tree)) == 5


@pytest.mark.parametrize("folder", sorted(PASSED_OVER))
def test_folders_of_other_peoples_code_are_passed_over(tree, folder):
    (tree / "sub" / folder / "pkg").mkdir(parents=True)
    (tree / "sub" / folder / "pkg" / "x.py").touch()
    assert names(["sub"], tree) == ["sub/c.ts", "sub/deep/d.c"]


def test_a_folder_that_is_named_is_walked_whatever_its_name(tree):
    (tree / "build").mkdir()
    (tree / "build" / "x.py").touch()
    assert names(["build"], tree) == ["build/x.py"]


def test_a_loop_of_links_ends(tree):
    (tree / "sub" / "up").symlink_to("..")
    assert names(["sub"], tree) == ["sub/c.ts", "sub/deep/d.c"]


def test_the_workspace_is_the_current_folder_if_everything_lies_in_it(tree):
    assert workspace_of(["sub/c.ts", str(tree / "a.py")]) == str(tree)
    assert workspace_of(["."]) == str(tree)


def test_else_it_is_the_folder_that_holds_everything(tree, monkeypatch):
    monkeypatch.chdir(tree / "other")
    assert workspace_of(["../sub/c.ts", "../sub/deep/d.c"]) == str(tree / "sub")
    assert workspace_of(["../sub", "e.py"]) == str(tree)
    assert workspace_of(["../sub/c.ts"]) == str(tree / "sub")


@pytest.mark.parametrize("home", [".", "sub"], ids=["the home folder", "a folder above it"])
def test_the_home_folder_and_those_above_it_have_to_be_named(tree, monkeypatch, home):
    monkeypatch.setenv("HOME", str(tree / home))
    monkeypatch.chdir(tree / "other")
    with pytest.raises(UsageError, match=f"only {tree} contains all .*--root DIR"):
        workspace_of(["../sub/c.ts", "e.py"])
    assert workspace_of(["../a.py", "e.py"]) == str(tree)


def test_files_far_apart_do_not_make_the_whole_machine_the_workspace(tree):
    with pytest.raises(UsageError, match=r"only / contains all .* --root DIR"):
        workspace_of(["a.py", "/etc/hosts"])
    assert workspace_of(["/etc/hosts"]) == "/etc"


def test_a_folder_that_is_named_alone_is_the_workspace_whichever_it_is(tree):
    assert workspace_of(["/"]) == "/"


def test_a_path_that_is_not_there_has_no_say_in_the_workspace(tree):
    assert workspace_of(["a.py", "/nowhere/x.py"]) == str(tree)
    assert workspace_of(["/nowhere/x.py"]) == str(tree)


def test_a_link_counts_by_where_it_leads(tree, monkeypatch):
    (tree / "other" / "link").symlink_to(tree / "sub")
    monkeypatch.chdir(tree / "other")
    assert workspace_of(["link/c.ts"]) == str(tree / "sub")


def test_a_link_that_leads_nowhere_is_left_out_unless_it_is_named(tree):
    (tree / "sub" / ".#c.ts").symlink_to("me@host.1234")
    assert names(["sub"], tree) == ["sub/c.ts", "sub/deep/d.c"]
    assert select_files(["sub/.#c.ts"]).missing.keys() == {tree / "sub" / ".#c.ts"}
