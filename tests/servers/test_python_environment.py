"""Which virtual environments a project has, and that a change of them is noticed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lspkit.servers.project.python_environment import (
    Environments,
    find_environments,
    own_interpreter,
    own_packages,
)


def make(folder: Path, version: str = "3.11") -> None:
    """The parts of an environment that are looked at."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text("", encoding="utf-8")
    (folder / "bin" / "python").chmod(0o755)
    (folder / "lib" / f"python{version}" / "site-packages").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"version = {version}\n", encoding="utf-8")


def find(root: Path, workspace: Path | None = None) -> Environments:
    return find_environments(str(root), str(workspace or root), {}, {})


def test_a_folder_with_a_dot_comes_first(tmp_path):
    assert own_interpreter(str(tmp_path)) is None
    assert own_packages(str(tmp_path)) == []
    make(tmp_path / "venv")
    assert own_interpreter(str(tmp_path)) == f"{tmp_path}/venv/bin/python"
    make(tmp_path / ".venv", "3.12")
    assert own_interpreter(str(tmp_path)) == f"{tmp_path}/.venv/bin/python"
    assert own_packages(str(tmp_path)) == [
        f"{tmp_path}/.venv/lib/python3.12/site-packages",
        f"{tmp_path}/venv/lib/python3.11/site-packages",
    ]


def _remove_interpreter(folder: Path) -> None:
    (folder / "bin" / "python").unlink()


def _link_interpreter(folder: Path) -> None:
    _remove_interpreter(folder)
    (folder / "bin" / "python").symlink_to("/bin/sh")


def _change_settings(folder: Path) -> None:
    (folder / "pyvenv.cfg").write_text("include-system-site-packages = true\n", encoding="utf-8")


def _change_version(folder: Path) -> None:
    (folder / "lib" / "python3.11").rename(folder / "lib" / "python3.12")


@pytest.mark.parametrize(
    "change", [_remove_interpreter, _link_interpreter, _change_settings, _change_version]
)
def test_an_environment_that_is_made_anew_is_another(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / ".venv")
    found = find(tmp_path)
    assert found.are_current()
    change(tmp_path / ".venv")
    assert not found.are_current()


def test_one_that_is_created_is_another(tmp_path):
    found = find(tmp_path)
    make(tmp_path / "venv")
    assert not found.are_current()


def test_packages_and_programs_do_not_count(tmp_path):
    make(tmp_path / ".venv")
    found = find(tmp_path)
    (tmp_path / ".venv" / "bin" / "ruff").touch()
    (tmp_path / ".venv" / "lib" / "python3.11" / "site-packages" / "dep").mkdir()
    assert found.are_current()


def test_one_above_the_root_counts_in_the_workspace_only(tmp_path):
    root, workspace = tmp_path / "work" / "package", tmp_path / "work"
    root.mkdir(parents=True)
    found = find(root, workspace)
    make(tmp_path / ".venv")
    assert found.are_current()
    make(workspace / ".venv")
    assert not found.are_current()


@pytest.mark.parametrize(
    ("settings", "variables"),
    [
        ({"python": {"pythonPath": "env/bin/python"}}, {}),
        ({}, {"VIRTUAL_ENV": "env"}),
        ({}, {"CONDA_PREFIX": "env"}),
    ],
)
def test_one_that_is_named_counts(
    settings: dict[str, object], variables: dict[str, str], tmp_path: Path
) -> None:
    found = find_environments(str(tmp_path), str(tmp_path), settings, variables)
    make(tmp_path / "env")
    assert not found.are_current()
    assert find(tmp_path).are_current()


def test_one_that_is_named_outside_of_the_workspace_is_not_looked_at(tmp_path):
    root = tmp_path / "work"
    found = find_environments(str(root), str(root), {}, {"VIRTUAL_ENV": str(tmp_path / "env")})
    assert found.folders == (f"{root}/.venv", f"{root}/venv")


@pytest.mark.parametrize(
    ("path", "may"),
    [
        (".venv", True),
        ("venv/bin/python", True),
        (".venv/pyvenv.cfg", True),
        (".venv/lib/python3.11/site-packages", True),
        (".venv/lib/python3.11/site-packages/dep", False),
        (".venvs/bin/python", False),
        ("main.py", False),
    ],
)
def test_only_some_paths_may_change_an_environment(path: str, may: bool, tmp_path: Path) -> None:
    assert find(tmp_path).may_be_changed_by(["/elsewhere", f"{tmp_path}/{path}"]) is may


def test_without_places_nothing_changes():
    assert Environments().are_current()
    assert not Environments().may_be_changed_by(["/.venv"])
