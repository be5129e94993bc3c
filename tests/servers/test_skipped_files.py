"""Which files a server does not look at because of the folder they lie in."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import Caveats, Roots
from lspkit.servers.project.skipped_files import passed_over

SERVER = Definition(
    id="x",
    family="x",
    languages={},
    roots=Roots(markers=("project.toml",)),
    caveats=Caveats(skipped_folders=("dist", "/top", "./own*", "**/ever")),
)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def over(file: Path, workspace: Path, root: Path | None = None) -> str:
    return passed_over(str(file), SERVER, str(root or workspace), str(workspace))


@pytest.mark.parametrize("file", ["dist/a.x", "pkg/dist/a.x", "pkg/dist/deep/er/a.x"])
def test_a_folder_of_that_name_counts_at_any_depth_of_the_workspace(
    outside: Path, file: str
) -> None:
    assert over(outside / file, outside) == "dist"


@pytest.mark.parametrize("file", ["a.x", "dist", "dist.x", "dist2/a.x", "my dist/a.x", "DIST/a.x"])
def test_other_names_do_not_count(outside: Path, file: str) -> None:
    assert over(outside / file, outside) == ""


def test_a_server_that_looks_at_everything_passes_over_nothing(outside: Path) -> None:
    server = Definition(id="x", family="x", languages={})
    assert passed_over(str(outside / "dist" / "a.x"), server, str(outside), str(outside)) == ""


def test_the_folder_that_the_workspace_lies_in_does_not_count(outside: Path) -> None:
    assert over(outside / "dist" / "work" / "a.x", outside / "dist" / "work") == ""
    assert over(outside / "dist" / "a.x", outside / "dist") == ""


def test_it_counts_if_a_project_begins_above_it(outside: Path) -> None:
    (outside / "project.toml").touch()
    assert over(outside / "dist" / "work" / "a.x", outside / "dist" / "work") == "dist"


def test_it_counts_also_if_it_is_in_a_project_of_its_own_below_the_workspace(
    outside: Path,
) -> None:
    """The server may take another one, further up, for the project."""
    (outside / "dist" / "pkg").mkdir(parents=True)
    (outside / "dist" / "pkg" / "project.toml").touch()
    assert over(outside / "dist" / "pkg" / "a.x", outside) == "dist"


def test_a_name_of_the_root_counts_only_directly_in_it(outside: Path) -> None:
    assert over(outside / "top" / "deep" / "a.x", outside) == "top"
    assert over(outside / "pkg" / "top" / "a.x", outside) == ""
    (outside / "pkg").mkdir()
    (outside / "pkg" / "project.toml").touch()
    assert over(outside / "pkg" / "top" / "a.x", outside) == "top"


def test_a_name_for_anywhere_counts_also_above_the_workspace(outside: Path) -> None:
    assert over(outside / "ever" / "work" / "a.x", outside / "ever" / "work") == "ever"


def test_a_name_for_the_servers_root_counts_at_any_depth_of_it_and_not_above(
    outside: Path,
) -> None:
    root = outside / "own" / "pkg"
    assert over(root / "a.x", outside, root) == ""
    assert over(root / "deep" / "own2" / "a.x", outside, root) == "own2"


def test_roots_that_a_user_has_configured_do_not_change_where_a_server_finds_its_project(
    outside: Path,
) -> None:
    (outside / "ruff.toml").touch()
    ruff = next(one for one in BUILT_IN if one.id == "ruff")
    configured = msgspec.structs.replace(ruff, roots=Roots(markers=("foo.cfg",)))
    project = str(outside / "dist" / "project")
    assert passed_over(f"{project}/a.py", configured, project, project) == "dist"
