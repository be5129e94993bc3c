"""Which files a command line means."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.cli.walking import files_below, workspace_of
from lspkit.servers.walking import PASSED_OVER


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in ("b.py", "a.py", "notes.txt", "sub/c.ts", "sub/deep/d.c", "other/e.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(given: list[str], tree: Path) -> list[str]:
    return [str(path.relative_to(tree)) for path in files_below(given)]


def test_a_folder_stands_for_its_files_of_a_known_kind_in_order(tree):
    assert names(["."], tree) == ["a.py", "b.py", "other/e.py", "sub/c.ts", "sub/deep/d.c"]


def test_a_file_that_is_named_counts_whatever_it_is(tree):
    assert names(["notes.txt", "missing.py"], tree) == ["notes.txt", "missing.py"]


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


def test_a_link_counts_by_where_it_leads(tree, monkeypatch):
    (tree / "other" / "link").symlink_to(tree / "sub")
    monkeypatch.chdir(tree / "other")
    assert workspace_of(["link/c.ts"]) == str(tree / "sub")
