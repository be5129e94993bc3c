"""Where the server of a file works."""

from __future__ import annotations

import os
from typing import Any

import pytest

from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import Roots
from lspkit.servers.selection.roots import is_wanted, root_of

MARKERS = ("pyproject.toml", "*.cabal")


def server(**more: Any) -> Definition:
    roots = Roots(**{"markers": MARKERS, **more})
    return Definition(id="x", family="x", languages={}, roots=roots)


@pytest.fixture
def work(tmp_path):
    root = tmp_path / "work"
    (root / "pkg" / "deep" / "er").mkdir(parents=True)
    return root


def root(work, file: str, **more: tuple[str, ...]) -> str:
    found = root_of(str(work / file), server(**more), str(work))
    return os.path.relpath(found, work)


def test_the_nearest_folder_with_a_marker_is_the_root(work):
    for folder in (work, work / "pkg"):
        (folder / "pyproject.toml").touch()
    assert root(work, "pkg/deep/er/a.py") == "pkg"
    assert root(work, "pkg/a.py") == "pkg"
    assert root(work, "a.py") == "."


def test_each_package_has_its_own_root(work):
    for name in ("one", "two"):
        (work / name).mkdir()
        (work / name / "pyproject.toml").touch()
    assert [root(work, f"{name}/a.py") for name in ("one", "two")] == ["one", "two"]


def test_without_a_marker_the_workspace_is_the_root(work):
    assert root(work, "pkg/deep/a.py") == "."
    assert root(work, "pkg/deep/a.py", markers=()) == "."


def test_a_marker_above_the_workspace_does_not_count(work):
    (work.parent / "pyproject.toml").touch()
    assert root(work, "pkg/a.py") == "."


def test_a_marker_below_the_file_does_not_count(work):
    (work / "pkg" / "deep" / "pyproject.toml").touch()
    assert root(work, "pkg/a.py") == "."


def test_a_file_outside_has_the_workspace_as_its_root(work):
    beside = work.parent / "work2"
    beside.mkdir()
    (beside / "pyproject.toml").touch()
    assert root_of(str(beside / "a.py"), server(), str(work)) == str(work)


def test_a_marker_may_be_a_glob(work):
    (work / "pkg" / "thing.cabal").touch()
    assert root(work, "pkg/deep/a.hs") == "pkg"


def test_a_folder_may_be_a_marker(work):
    (work / "pkg" / "pyproject.toml").mkdir()
    assert root(work, "pkg/deep/a.py") == "pkg"


def test_a_folder_that_is_not_there_yet_has_no_marker(work):
    assert root(work, "new/folder/a.py") == "."


def test_the_root_of_the_machine_can_be_a_workspace():
    assert root_of("/no-such-folder/a.py", server(markers=("no-such-marker",)), "/") == "/"


def test_where_a_server_prefers_it_the_outermost_marker_is_the_root(work):
    for folder in ("pkg", "pkg/deep"):
        (work / folder / "go.work").touch()
    (work / "pkg" / "deep" / "er" / "pyproject.toml").touch()
    assert root(work, "pkg/deep/er/a.go", outermost=("go.work",)) == "pkg"
    assert root(work, "a.go", outermost=("go.work",)) == "."


def test_the_outermost_marker_is_looked_for_inside_the_workspace_only(work):
    (work.parent / "go.work").touch()
    (work / "pkg" / "pyproject.toml").touch()
    assert root(work, "pkg/a.go", outermost=("go.work",)) == "pkg"


def wanted(work, file: str, **more: tuple[str, ...]) -> bool:
    return is_wanted(str(work / file), server(**more), str(work))


def test_a_marker_beside_or_above_a_file_keeps_a_server_out(work):
    (work / "pkg" / "deno.json").touch()
    assert not wanted(work, "pkg/a.ts", kept_out_by=("deno.json",))
    assert not wanted(work, "pkg/deep/a.ts", kept_out_by=("deno.json",))
    assert wanted(work, "a.ts", kept_out_by=("deno.json",))
    assert wanted(work, "pkg/a.ts")


def test_a_server_that_needs_a_marker_runs_only_with_it(work):
    (work / "pkg" / "deno.json").touch()
    assert wanted(work, "pkg/deep/a.ts", only_with=("deno.json",))
    assert not wanted(work, "a.ts", only_with=("deno.json",))


def test_a_marker_above_the_workspace_keeps_nobody_out(work):
    (work.parent / "deno.json").touch()
    assert wanted(work, "a.ts", kept_out_by=("deno.json",))
    assert not wanted(work, "a.ts", only_with=("deno.json",))
