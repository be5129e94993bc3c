"""How far trust in a root reaches into the repositories below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import Roots
from lspkit.servers.restriction.trust_profile import ALL, Permit, Permits
from lspkit.servers.selection.choose import nested_repositories, trusted_root_of

DEFINITION = Definition(
    id="x", family="x", languages={}, roots=Roots(markers=("mark",), outermost=("outer",))
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with a clone, a submodule, a clone in the clone, and a plain folder."""
    for name in (".git", "clone/.git", "clone/inner/.git", "plain", "sub", "clone/src", "clone/in"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    (tmp_path / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    return tmp_path


def trusting(tree: Path, *names: str) -> Permits:
    trusted = {str(tree / name) for name in names}
    return lambda root: ALL if root in trusted else Permit(False, "untrusted")


@pytest.mark.parametrize(
    ("file", "trusted", "root"),
    [
        ("a.x", (".",), "."),
        ("plain/a.x", (".",), "."),
        ("clone/a.x", (".",), "clone"),
        ("clone/src/a.x", (".",), "clone"),
        ("sub/a.x", (".",), "sub"),
        ("clone/inner/a.x", (".",), "clone/inner"),
        ("clone/inner/a.x", (".", "clone/inner"), "clone/inner"),
        ("clone/inner/a.x", (".", "clone", "clone/inner"), "."),
        ("clone/a.x", (".", "clone"), "."),
        ("clone/a.x", (), "."),
    ],
)
def test_a_root_is_not_above_a_repository_that_its_trust_does_not_reach(
    tree: Path, file: str, trusted: tuple[str, ...], root: str
) -> None:
    (tree / "mark").touch()
    found = trusted_root_of(str(tree / file), DEFINITION, str(tree), trusting(tree, *trusted))
    assert found == str(tree / root)


def test_an_outermost_marker_does_not_lift_a_root_out_of_such_a_repository(tree: Path) -> None:
    for name in ("outer", "clone/outer", "clone/src/mark"):
        (tree / name).touch()
    permits = trusting(tree, ".")
    file = str(tree / "clone" / "src" / "a.x")
    assert trusted_root_of(file, DEFINITION, str(tree), permits) == str(tree / "clone")


def test_a_file_beside_the_workspace_counts_by_its_own_repository(tree: Path) -> None:
    workspace = tree / "plain"
    permits = trusting(tree, "plain")
    beside, foreign = str(tree / "a.x"), str(tree / "clone" / "a.x")
    assert trusted_root_of(beside, DEFINITION, str(workspace), permits) == str(workspace)
    assert trusted_root_of(foreign, DEFINITION, str(workspace), permits) == str(tree / "clone")


def test_the_repositories_of_a_file_are_told_from_the_inside(tree: Path) -> None:
    file = str(tree / "clone" / "inner" / "a.x")
    assert nested_repositories(file, str(tree)) == [str(tree / "clone/inner"), str(tree / "clone")]
    assert nested_repositories(file, str(tree / "clone" / "inner")) == []


def test_a_repository_counts_as_soon_as_it_is_there(tree: Path) -> None:
    file, plain = str(tree / "plain" / "a.x"), tree / "plain"
    assert nested_repositories(file, str(tree)) == []
    (plain / ".git").mkdir()
    assert nested_repositories(file, str(tree)) == [str(plain)]


def test_the_repository_of_the_root_is_none_of_these(tree: Path) -> None:
    for file in ("a.x", "/a.x", "plain/a.x", "/plain//a.x"):
        assert nested_repositories(f"{tree}/{file}", str(tree)) == []


def test_below_the_root_of_the_file_system_all_are_found(tree: Path) -> None:
    found = nested_repositories(str(tree / "clone" / "a.x"), "/")
    assert found[:2] == [str(tree / "clone"), str(tree)]


def test_for_a_file_beside_the_root_what_holds_both_does_not_count(tree: Path) -> None:
    root, beside = str(tree / "clone" / "in"), str(tree / "clone" / "inner" / "a.x")
    assert nested_repositories(beside, root) == [str(tree / "clone" / "inner")]
