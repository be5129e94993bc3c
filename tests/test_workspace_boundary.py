"""Which files may be touched: by where they really are."""

from __future__ import annotations

import os

import pytest

import lspkit
from lspkit.workspace_boundary import (
    Boundary,
    absolute_path,
    boundary_of,
    is_inside,
    leads_through,
    locate,
)


@pytest.fixture
def root(tmp_path):
    """A workspace with `a.py`, beside a folder that begins with the same letters."""
    root = tmp_path / "work"
    (root / "sub").mkdir(parents=True)
    (root / "a.py").touch()
    (tmp_path / "work2").mkdir()
    (tmp_path / "work2" / "b.py").touch()
    return root


def found(root, given, **options) -> str:
    return locate(given, boundary_of(str(root), **options)).path


def refused(root, given, code: str, **options) -> lspkit.PathError:
    with pytest.raises(lspkit.PathError) as caught:
        found(root, given, **options)
    assert caught.value.code == code
    assert caught.value.path == os.fspath(given)
    return caught.value


def test_a_path_is_absolute_or_seen_from_the_workspace(root, monkeypatch):
    monkeypatch.chdir("/")
    for given in ("a.py", "./a.py", "sub/../a.py", str(root / "a.py"), root / "a.py"):
        assert found(root, given) == str(root / "a.py")


@pytest.mark.parametrize("given", ["../work2/b.py", "sub/../../work2/b.py", "/etc/passwd"])
def test_a_path_out_of_the_workspace_is_refused(root, given):
    problem = refused(root, given, "EOUTSIDE")
    assert problem.boundary == str(root)
    assert problem.resolved == os.path.realpath(root / given)


def test_outside_is_told_before_missing(root):
    refused(root, "../none.py", "EOUTSIDE")


def test_a_link_counts_by_where_it_leads(root):
    (root / "out.py").symlink_to(root.parent / "work2" / "b.py")
    (root / "folder").symlink_to(root.parent / "work2")
    (root.parent / "in.py").symlink_to(root / "a.py")
    (root / "same.py").symlink_to("a.py")
    refused(root, "out.py", "EOUTSIDE")
    refused(root, "folder/b.py", "EOUTSIDE")
    assert found(root, root.parent / "in.py") == str(root / "a.py")
    assert found(root, "same.py") == str(root / "a.py")


def test_a_workspace_that_is_reached_by_a_link_holds_its_files(root):
    link = root.parent / "link"
    link.symlink_to(root)
    assert found(link, "a.py") == str(root / "a.py")
    assert found(link, link / "a.py") == str(root / "a.py")


def test_external_paths_can_be_allowed(root):
    outside = root.parent / "work2" / "b.py"
    assert found(root, outside, allow_external=True) == str(outside)


def test_allowed_external_paths_may_still_be_excluded(root):
    outside = root.parent / "work2" / "b.py"
    refused(root, outside, "EEXCLUDED", allow_external=True, exclude=("**/work2/**",))


def test_excluded_folders_are_refused_at_any_depth_and_through_links(root):
    inner = root / "sub" / "node_modules" / "x"
    inner.mkdir(parents=True)
    (inner / "c.py").touch()
    (root / "short.py").symlink_to(inner / "c.py")
    exclude = ("**/node_modules/**",)
    refused(root, "sub/node_modules/x/c.py", "EEXCLUDED", exclude=exclude)
    refused(root, "short.py", "EEXCLUDED", exclude=exclude)
    assert found(root, "a.py", exclude=exclude)


@pytest.mark.parametrize("mark", ["folder", "file"])
def test_the_git_work_tree_around_the_root_may_be_touched(root, mark):
    git = root.parent / ".git"
    git.mkdir() if mark == "folder" else git.write_text("gitdir: elsewhere", encoding="utf-8")
    boundary = boundary_of(str(root))
    assert boundary == Boundary(str(root), str(root.parent))
    assert found(root, "../work2/b.py") == str(root.parent / "work2" / "b.py")
    refused(root, "../../b.py", "EOUTSIDE")


def test_exclusion_holds_also_in_the_work_tree_around_the_root(root):
    (root.parent / ".git").mkdir()
    (root.parent / ".git" / "config.py").touch()
    refused(root, "../.git/config.py", "EEXCLUDED", exclude=("**/.git/**",))


def test_one_at_sign_is_dropped(root):
    (root / "@b.py").touch()
    assert found(root, "@a.py") == str(root / "a.py")
    assert found(root, f"@{root}/a.py") == str(root / "a.py")
    assert found(root, "@b.py") == str(root / "@b.py")
    assert found(root, "@@b.py") == str(root / "@b.py")
    refused(root, "@@a.py", "ENOENT")


def test_a_dangling_link_with_an_at_sign_is_not_taken_for_another_file(root):
    (root / "@a.py").symlink_to("nowhere")
    refused(root, "@a.py", "ENOENT")


def test_a_tilde_is_a_letter(root, monkeypatch):
    monkeypatch.setenv("HOME", str(root))
    refused(root, "~/a.py", "ENOENT")
    assert absolute_path("~/a.py", "/code") == "/code/~/a.py"


@pytest.mark.parametrize("given", ["a\0.py", "\0", "@\0"])
def test_a_nul_is_refused_with_a_plain_error(root, given):
    refused(root, given, "ENOENT")


def test_a_name_that_no_file_can_have_is_refused_with_a_plain_error(root):
    refused(root, "\ud800.py", "ENOENT")


def test_a_name_that_is_no_utf8_is_found(root):
    name = os.fsdecode(b"caf\xe9.py")
    (root / name).touch()
    assert found(root, name) == str(root / name)


@pytest.mark.parametrize("given", ["none.py", "a.py/b.py", "x" * 5000, "", "."])
def test_what_is_not_there_or_is_no_file_is_refused(root, given):
    refused(root, given, "ENOENT")


def test_a_file_that_is_to_be_made_may_be_missing(root):
    boundary = boundary_of(str(root))
    located = locate("new/b.py", boundary, may_be_missing=True)
    assert (located.path, located.stat) == (str(root / "new" / "b.py"), None)
    with pytest.raises(lspkit.PathError):
        locate("../b.py", boundary, may_be_missing=True)


def test_only_regular_files_qualify(root):
    os.mkfifo(root / "pipe.py")
    assert "not a regular file" in str(refused(root, "pipe.py", "ENOENT"))
    assert "folder" in str(refused(root, "sub", "ENOENT"))
    assert "not a regular file" in str(refused(root, "/dev/null", "ENOENT", allow_external=True))


def test_a_loop_of_links_is_refused(root):
    (root / "x.py").symlink_to("y.py")
    (root / "y.py").symlink_to("x.py")
    refused(root, "x.py", "ENOENT")


def test_inside_goes_by_whole_names():
    assert is_inside("/code", "/code")
    assert is_inside("/code/a", "/code")
    assert is_inside("/code/a", "/")
    assert not is_inside("/code2", "/code")
    assert not is_inside("/", "/code")


@pytest.mark.parametrize(("name", "told"), [("none", "does not exist"), ("a.py", "not a folder")])
def test_a_root_that_is_no_folder_is_refused(root, name, told):
    with pytest.raises(lspkit.PathError, match=told) as caught:
        lspkit.Workspace(root / name)
    assert caught.value.code == "ENOENT"


@pytest.mark.parametrize("path", ["loop", "loop/x", "work/loop", "around/in", "around", "work/.."])
def test_a_path_leads_through_a_folder_if_something_of_that_is_on_its_way(tmp_path, path):
    folder = tmp_path.resolve()
    (folder / "work").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "work" / "loop").symlink_to("../loop")
    (folder / "work" / "in").symlink_to(folder)
    (folder / "around").symlink_to(folder / "work")
    assert leads_through(str(folder / path), str(folder / "work")) is (path != "work/..")
