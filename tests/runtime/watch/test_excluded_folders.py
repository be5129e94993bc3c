"""Folders that are not watched, and those of like names that are."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.runtime.watch.watched_folders import EXCLUDED, is_excluded


@pytest.mark.parametrize("name", [".git", "node_modules", ".venv", ".tox", "__pycache__"])
def test_folders_of_tools_are_excluded(name: str) -> None:
    assert name in EXCLUDED
    assert is_excluded(f"/a/{name}")
    assert not is_excluded(f"/a/{name}/b")


@pytest.mark.parametrize("name", ["src", "build", "dist", ".settings", ".vscode", "lib", "server"])
def test_folders_that_may_hold_sources_are_not(name: str) -> None:
    assert not is_excluded(f"/a/{name}")


@pytest.mark.parametrize("beside", ["pom.xml", "build.sbt", "project.clj", "target/CACHEDIR.TAG"])
def test_a_target_is_excluded_where_a_tool_builds_there(beside: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    assert not is_excluded(str(target))
    (tmp_path / beside).touch()
    assert is_excluded(str(target))


@pytest.mark.parametrize("beside", ["Cargo.toml", "pom.xml"])
def test_a_package_called_target_is_watched_though_a_tool_might_build_there(
    beside: str, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "__init__.py").touch()
    (tmp_path / beside).touch()
    assert not is_excluded(str(target))


@pytest.mark.parametrize(
    "folder",
    [".next", ".next/types", ".next/dev", ".next/dev/types", ".nuxt", ".nuxt/types", ".svelte-kit"],
)
def test_types_that_a_framework_generates_are_watched(folder: str) -> None:
    assert not is_excluded(f"/a/{folder}")


@pytest.mark.parametrize(
    "folder", [".next/cache", ".next/dev/server", ".nuxt/dist", ".svelte-kit/output"]
)
def test_what_it_builds_is_not(folder: str) -> None:
    assert is_excluded(f"/a/{folder}")
