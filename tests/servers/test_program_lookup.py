"""Which program a bare name stands for: never one that the repository brought along."""

from __future__ import annotations

import os
import sys

import pytest

import lspkit
from lspkit.servers.selection.program_lookup import find_program, search_folders, tools_folder


def program(path, mode: int = 0o755):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(mode)
    return path


def test_the_interpreter_comes_first_and_lspkits_own_folder_last(tmp_path):
    folders = search_folders(str(tmp_path), "/usr/bin:/bin")
    assert folders == [os.path.dirname(sys.executable), "/usr/bin", "/bin", tools_folder()]


def test_the_interpreter_counts_also_when_it_lies_in_the_workspace():
    own = os.path.dirname(sys.executable)
    assert search_folders(os.path.dirname(own), own) == [own, tools_folder()]


@pytest.mark.parametrize("folder", [".", "", "bin", "./bin", "../bin"])
def test_relative_folders_of_the_path_are_never_used(tmp_path, folder):
    assert folder not in search_folders(str(tmp_path), f"{folder}:/usr/bin")


def test_folders_inside_the_workspace_are_left_out(tmp_path):
    workspace, beside = tmp_path / "work", tmp_path / "work2"
    for folder in (workspace / "bin", beside):
        folder.mkdir(parents=True)
    variable = os.pathsep.join([str(workspace), str(workspace / "bin"), str(beside)])
    assert search_folders(str(workspace), variable)[1:-1] == [str(beside)]


def test_a_link_that_leads_into_the_workspace_is_left_out(tmp_path):
    workspace = tmp_path / "work"
    (workspace / "bin").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(workspace / "bin")
    assert str(link) not in search_folders(str(workspace), str(link))


@pytest.mark.parametrize(
    "name", ["{work}/bin", "{work}/bin/deep", "{link}/bin", "{link}/round/bin"]
)
def test_a_folder_that_is_reached_by_way_of_the_workspace_is_left_out(tmp_path, name):
    """The link is part of the repository: it leads where that says, and elsewhere tomorrow."""
    workspace, evil = tmp_path / "work", tmp_path / "evil"
    program(evil / "deep" / "tool")
    workspace.mkdir()
    (workspace / "bin").symlink_to("../evil")
    (workspace / "round").symlink_to("../link")
    (tmp_path / "link").symlink_to(workspace)
    folder = name.format(work=workspace, link=tmp_path / "link")
    assert search_folders(str(workspace), folder)[1:-1] == []


def test_a_server_that_is_reached_by_way_of_the_workspace_is_not_there(tmp_path, monkeypatch):
    workspace = tmp_path.resolve() / "work"
    workspace.mkdir()
    (workspace / "bin").symlink_to("../evil")
    program(tmp_path / "evil" / "bash-language-server")
    monkeypatch.setenv("PATH", str(workspace / "bin"))
    with lspkit.Workspace(workspace, config={}, trusted=False) as ws:
        [row] = [one for one in ws.status().rows if one.server == "bash"]
    assert (row.state, row.command) == ("unavailable", ())


def test_a_folder_is_searched_once(tmp_path):
    assert search_folders(str(tmp_path), "/usr/bin:/usr/bin")[1:-1] == ["/usr/bin"]


def test_the_first_folder_that_has_the_program_wins(tmp_path):
    first = program(tmp_path / "one" / "tool")
    program(tmp_path / "two" / "tool")
    folders = [str(tmp_path / name) for name in ("missing", "one", "two")]
    assert find_program("tool", folders) == str(first)


def test_what_cannot_be_run_is_passed_over(tmp_path):
    program(tmp_path / "one" / "tool", 0o644)
    (tmp_path / "two" / "tool").mkdir(parents=True)
    found = program(tmp_path / "three" / "tool")
    folders = [str(tmp_path / name) for name in ("one", "two", "three")]
    assert find_program("tool", folders) == str(found)
    assert find_program("tool", folders[:2]) is None


def test_an_absolute_path_is_taken_if_it_can_be_run(tmp_path):
    found = program(tmp_path / "tool")
    plain = program(tmp_path / "plain", 0o644)
    assert find_program(str(found), []) == str(found)
    assert find_program(str(plain), []) is None
    assert find_program(str(tmp_path / "none"), []) is None


@pytest.mark.parametrize("name", ["./tool", "../work/tool", "sub/../tool"])
def test_a_relative_path_is_taken_from_where_it_begins(tmp_path, name):
    found = program(tmp_path / "work" / "tool")
    assert find_program(name, [], str(tmp_path / "work")) == str(found)
    assert find_program("./none", [], str(tmp_path / "work")) is None


@pytest.mark.parametrize("name", ["./tool", "bin/tool", "../work/tool"])
def test_a_relative_path_is_no_program_where_nothing_says_where_it_begins(
    tmp_path, monkeypatch, name
):
    program(tmp_path / "work" / "tool")
    program(tmp_path / "work" / "bin" / "tool")
    monkeypatch.chdir(tmp_path / "work")
    assert find_program(name, [str(tmp_path / "work")]) is None


@pytest.mark.parametrize("trusted", [False, True])
def test_folders_of_the_work_tree_around_are_searched_only_with_trust(tmp_path, trusted):
    workspace, bin = tmp_path / "packages" / "app", tmp_path / "node_modules" / ".bin"
    for folder in (workspace, bin, tmp_path / ".git"):
        folder.mkdir(parents=True)
    found = search_folders(str(workspace), f"{bin}:/usr/bin", trusted=trusted)
    assert (str(bin) in found) == trusted


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "HOME"])
@pytest.mark.parametrize("place", ["{work}", "."])
def test_lspkits_own_folder_does_not_count_where_a_variable_puts_it_into_the_project(
    tmp_path, monkeypatch, variable, place
):
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv(variable, place.format(work=tmp_path))
    own = os.path.dirname(sys.executable)
    found = search_folders(str(tmp_path), "/usr/bin")
    assert [one for one in found if not os.path.isabs(one) or str(tmp_path) in one] == []
    assert found[:2] == [own, "/usr/bin"]
