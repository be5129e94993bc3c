"""Which servers a file needs. The programs are real files that are never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lspkit.config import read_config
from lspkit.config.merge import expand_dotted_keys
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.restriction.trust_profile import ALL, Permit
from lspkit.servers.selection.choose import Choice, choose, definitions


@pytest.fixture
def programs(tmp_path):
    """Makes a folder with programs of these names."""

    def make(*names: str) -> list[str]:
        for name in names:
            program = tmp_path / name
            program.write_text("", encoding="utf-8")
            program.chmod(0o755)
        return [str(tmp_path)]

    return make


def chosen(name: str, folders: list[str], lsp: Any = None) -> list[str]:
    return [choice.id for choice in choices(name, folders, {} if lsp is None else {"lsp": lsp})]


def choices(name: str, folders: list[str], config: dict[str, Any] | None = None) -> list[Choice]:
    """For a file of a workspace that has no markers."""
    return choose(f"/code/{name}", "/code", read_config(config), folders)


def test_of_several_type_checkers_the_first_found_runs(programs):
    folders = programs("ty", "pyright-langserver")
    assert chosen("a.py", folders) == ["ty"]


def test_a_type_checker_that_is_not_found_makes_room_for_the_next(programs):
    folders = programs("pyrefly", "basedpyright-langserver")
    assert chosen("a.py", folders) == ["basedpyright"]


def test_a_linter_runs_beside_the_type_checker(programs):
    assert chosen("a.py", programs("ty", "ruff")) == ["ty", "ruff"]


def test_where_no_program_is_found_the_first_type_checker_is_reported(programs):
    [choice] = choices("a.py", programs())
    assert choice.id == "ty"
    assert choice.argv == ()


def test_a_missing_linter_is_not_reported(programs):
    assert chosen("a.py", programs("ty")) == ["ty"]


def test_a_command_selects_a_server_in_place_of_the_found_one(programs):
    folders = programs("pyrefly", "ty")
    assert chosen("a.py", folders, {"pyrefly": {"command": ["pyrefly", "lsp"]}}) == ["pyrefly"]
    assert chosen("a.py", folders, {"pyrefly": {"disabled": False}}) == ["pyrefly"]


def test_settings_alone_select_nothing(programs):
    folders = programs("pyrefly", "ty")
    assert chosen("a.py", folders, {"pyrefly": {"settings": {"pyrefly": {}}}}) == ["ty"]


def test_two_selected_type_checkers_both_run(programs):
    both = {"ty": {"disabled": False}, "pyright": {"disabled": False}}
    assert chosen("a.py", programs("ty", "pyright-langserver"), both) == ["ty", "pyright"]


def test_a_disabled_server_is_passed_over(programs):
    folders = programs("basedpyright-langserver", "ty")
    assert chosen("a.py", folders, {"ty": {"disabled": True}}) == ["basedpyright"]


def test_false_leaves_none(programs):
    assert chosen("a.py", programs("ty"), lsp=False) == []


def test_a_kind_of_file_that_nobody_knows_has_no_server(programs):
    assert chosen("a.unheard", programs("ty")) == []
    assert chosen("Makefile", programs("ty")) == []


def test_the_families_do_not_stand_in_for_each_other(programs):
    folders = programs("ty", "typescript-language-server", "clangd")
    assert chosen("a.py", folders) == ["ty"]
    assert chosen("a.tsx", folders) == ["typescript"]
    assert chosen("a.cpp", folders) == ["clangd"]


def test_a_server_of_the_configuration_joins_the_built_in_ones(programs):
    folders = programs("mine", "ty")
    own = {"mine": {"command": ["mine", "--stdio"], "extensions": [".py", ".foo"]}}
    assert chosen("a.py", folders, own) == ["ty", "mine"]
    [choice] = choices("a.foo", folders, {"lsp": own})
    assert choice.id == "mine"
    assert choice.argv == (str(Path(folders[0], "mine")), "--stdio")
    assert choice.definition.language_of("a.foo") == "foo"


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("A.PY", "python"),
        ("a.b.pyi", "python"),
        ("dir/a.py", "python"),
        ("a.ts", "typescript"),
        ("a.tsx", "typescriptreact"),
        ("a.jsx", "javascriptreact"),
        ("a.mjs", "javascript"),
        ("a.c", "c"),
        ("a.h", "cpp"),
    ],
)
def test_each_extension_has_its_language(programs, name, language):
    folders = programs("ty", "typescript-language-server", "clangd")
    assert {one.definition.language_of(Path(name).name) for one in choices(name, folders)} == {
        language
    }


@pytest.mark.parametrize(
    "name",
    [
        "py",
        "a.py.txt",
        "",
    ],
)
def test_a_name_that_only_looks_like_an_extension_has_no_language(programs, name):
    assert chosen(name, programs("ty")) == []


def test_the_configuration_changes_a_definition_and_leaves_the_built_in_alone():
    said = {
        "extensions": [".py", ".star"],
        "languageIds": {".star": "starlark", "BUILD": "starlark"},
        "roots": ["WORKSPACE"],
        "initialization": {"a": 1},
        "settings": {"b": 2},
        "positionEncodings": ["utf-16"],
    }
    before = {one.id: one for one in BUILT_IN}["ty"]
    changed = {one.id: one for one in definitions(read_config({"lsp": {"ty": said}}))}["ty"]
    assert changed.language_of("a.py") == "python"
    assert changed.language_of("a.star") == "starlark"
    assert changed.language_of("BUILD") == "starlark"
    assert changed.language_of("a.pyi") is None
    assert changed.roots.markers == ("WORKSPACE",)
    assert (changed.launch.initialization, changed.launch.settings) == ({"a": 1}, {"b": 2})
    assert changed.launch.encodings == ("utf-16",)
    assert changed.launch.commands == before.launch.commands
    assert before.language_of("a.star") is None
    assert before.language_of("a.pyi") == "python"


@pytest.mark.parametrize(
    "settings",
    [
        {"python": {"analysis": {"typeCheckingMode": "strict"}}},
        {"python.analysis": {"typeCheckingMode": "strict"}},
        {"python.analysis.typeCheckingMode": "strict"},
    ],
)
def test_a_setting_takes_nothing_away_from_the_others_however_it_is_written(settings):
    said = read_config({"lsp": {"pyright": {"settings": settings}}})
    [changed] = [one for one in definitions(said) if one.id == "pyright"]
    analysis = {"autoSearchPaths": True, "typeCheckingMode": "strict"}
    assert changed.launch.settings == {"python": {"analysis": analysis}}


def test_only_the_names_of_sections_are_taken_apart_at_their_dots():
    schemas = {"https://example.org/a.json": ["b.yaml"]}
    said = {"yaml.schemas": schemas, ".x": 1, "a..b": 2, "": 3}
    assert expand_dotted_keys(said) == {"yaml": {"schemas": schemas}, ".x": 1, "a..b": 2, "": 3}


def test_built_in_servers_have_all_that_a_user_needs_to_know():
    ids = [one.id for one in BUILT_IN]
    assert len(set(ids)) == len(ids)
    for one in BUILT_IN:
        assert one.languages, one.id
        assert one.launch.commands, one.id
        assert one.install, one.id
        assert one.verified, one.id


@pytest.mark.parametrize("trusted", ["workspace and root", "root"])
def test_a_relative_command_needs_a_workspace_that_is_trusted_itself(tmp_path, trusted):
    workspace, root = tmp_path / "work", tmp_path / "work" / "inner"
    program = workspace / "tools" / "server"
    for folder in (root, program.parent):
        folder.mkdir(parents=True)
    (root / "mark").touch()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    server = {"command": ["./tools/server"], "extensions": [".x"], "roots": ["mark"]}
    config = read_config({"lsp": {"mine": server}})

    def permits(folder: str) -> Permit:
        return ALL if folder == str(root) or "workspace" in trusted else Permit(False, "untrusted")

    [choice] = choose(str(root / "a.x"), str(workspace), config, [], permits=permits)
    assert choice.root == str(root)
    assert choice.argv == ((str(program),) if "workspace" in trusted else ())
