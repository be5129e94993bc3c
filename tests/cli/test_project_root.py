"""Which folder is the workspace of a command that is run in a sub-folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lspkit.cli.project_root import chosen_root, find_project, project_root, workspace_of
from tests.cli.shop import write_shop

server = pytest.mark.server


@pytest.fixture
def inner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder deep in `tmp_path / "project"`; it is the current one."""
    made = tmp_path / "project" / "src" / "deep"
    made.mkdir(parents=True)
    monkeypatch.chdir(made)
    return made


def test_a_plain_folder_is_itself(inner):
    assert find_project(str(inner)) is None
    assert project_root(str(inner)) == str(inner)


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_git_work_tree_is_the_project(inner, kind):
    project = inner.parent.parent
    if kind == "folder":
        (project / ".git").mkdir()
    else:  # of a linked work tree, or of a submodule
        (project / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    assert project_root(str(inner)) == str(project)
    assert project_root(str(project)) == str(project)
    assert chosen_root(None) == str(project)
    assert chosen_root(".") == "."


@pytest.mark.parametrize(
    ("name", "text", "is_project"),
    [
        (".lspkit/lsp.json", "{}", True),
        (".lspkit/lsp.json", "{ no JSON", True),
        ("pyproject.toml", "[tool.lspkit]\n", True),
        ("pyproject.toml", '[project]\nname = "lspkit"\n', False),
        ("pyproject.toml", "[tool.other\n", False),
        ("opencode.json", '{"lsp": {}}', False),
    ],
)
def test_a_folder_with_settings_of_lspkit_is_a_project_in_the_work_tree(
    inner, name, text, is_project
):
    project, src = inner.parent.parent, inner.parent
    (project / ".git").mkdir()
    (src / name).parent.mkdir(exist_ok=True)
    (src / name).write_text(text, encoding="utf-8")
    assert project_root(str(inner)) == str(src if is_project else project)


def test_the_home_folder_and_what_is_above_it_are_no_projects(inner, monkeypatch):
    project = inner.parent.parent
    (project / ".git").mkdir()
    monkeypatch.setenv("HOME", str(project))
    assert find_project(str(inner)) is None
    assert find_project(str(project)) is None
    monkeypatch.setenv("HOME", str(project / "me"))
    assert find_project(str(inner)) is None


def test_the_top_of_the_file_system_is_no_project():
    assert find_project("/") is None


@pytest.mark.parametrize("name", ["", ".git"])
def test_what_belongs_to_another_user_is_no_project(inner, name):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    project = inner.parent.parent
    (project / ".git").mkdir()
    os.chown(project / name, 12345, -1)
    assert find_project(str(inner)) is None


def test_the_workspace_is_the_project_if_everything_is_in_it(inner, tmp_path):
    project = inner.parent.parent
    (project / ".git").mkdir()
    (inner / "a.py").touch()
    (project / "b.py").touch()
    other = tmp_path / "other" / "src"
    other.mkdir(parents=True)
    (other / "c.py").touch()
    assert workspace_of([]) == str(project)
    assert workspace_of(["a.py", "../../b.py"]) == str(project)
    assert workspace_of(["../../../other/src/c.py"]) == str(other)
    (other.parent / ".git").mkdir()
    assert workspace_of(["../../../other/src/c.py"]) == str(other.parent)


# The commands


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A work tree with a module in a sub-folder that uses one at the top."""
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    write_shop(project)
    (project / "sub").mkdir()
    text = "from prices import price_of\n\nprice_of(1)\n"
    (project / "sub" / "use.py").write_text(text, encoding="utf-8")
    return project


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {"LSPKIT_STATE": str(tmp_path / "state"), "LSPKIT_TRUST": ""}


@server
def test_a_command_in_a_sub_folder_sees_the_whole_project(with_ty, shop):
    found = with_ty("definition", "use.py:3:1", cwd=shop / "sub")
    assert found.stdout == f"{shop}/prices.py:4:5: def price_of(item: str) -> int:\n"
    # What is printed can be given to the next command.
    place = found.stdout.split(": ")[0]
    uses = with_ty("references", place, "--no-declaration", cwd=shop / "sub")
    assert "use.py:3:1: price_of(1)" in uses.stdout.splitlines()
    assert f"{shop}/shop.py:1:20: from prices import price_of" in uses.stdout.splitlines()


@server
def test_a_check_in_a_sub_folder_shows_paths_from_there(with_ty, shop):
    done = with_ty("check", "use.py", cwd=shop / "sub")
    finding, summary = done.stdout.splitlines()
    assert finding.startswith("use.py:3:10 error ")
    assert summary == "1 file: 1 finding in 1 file"


@pytest.mark.parametrize("words", [["status"], ["panel"]], ids=" ".join)
def test_the_state_is_that_of_the_project(bare, shop, words):
    done = bare(*words, cwd=shop / "sub")
    assert done.returncode == 0


def test_the_machine_commands_and_the_configuration_are_about_the_project(bare, shop):
    (shop / ".lspkit").mkdir()
    (shop / ".lspkit" / "lsp.json").write_text("{}", encoding="utf-8")
    inside = shop / "sub"
    doctor = json.loads(bare("doctor", "--json", cwd=inside).stdout)
    assert doctor["root"] == str(shop)
    literal = json.loads(bare("doctor", "--json", ".", cwd=inside).stdout)
    assert literal["root"] == str(inside)
    for what in ("path", "show"):
        assert f"project  {shop}/.lspkit/lsp.json" in bare("config", what, cwd=inside).stdout
    stopped = json.loads(bare("stop", "--json", cwd=inside).stdout)
    assert stopped["root"] == str(shop)


def test_trust_is_given_to_the_project_and_taken_from_it(bare, shop, variables):
    inside = shop / "sub"
    assert f"{shop} is trusted." in bare("trust", "--yes", cwd=inside, **variables).stdout
    removed = bare("trust", "remove", cwd=inside, **variables)
    assert removed.stdout == f"{shop} is no longer on the list.\n"
    # A folder that was trusted by its name is found by it.
    assert (
        f"{inside} is trusted."
        in bare("trust", "add", ".", "--yes", cwd=inside, **variables).stdout
    )
    removed = bare("trust", "remove", cwd=inside, **variables)
    assert removed.stdout == f"{inside} is no longer on the list.\n"
    removed = bare("trust", "remove", cwd=inside, **variables)
    assert (removed.returncode, removed.stdout) == (2, f"{shop} is not on the list.\n")
