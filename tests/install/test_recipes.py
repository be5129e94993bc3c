"""The recipes: every one fits a server, its programs and its package managers."""

from __future__ import annotations

import pytest

from lspkit.install.installation import UnknownServerError, wanted_of
from lspkit.install.recipe_table import (
    RECIPES,
    Recipe,
    processor_name,
    recipe_named,
    recipes_of,
)
from lspkit.servers.built_in import BUILT_IN
from tools.server_pins import NODE_PACKAGES, PYTHON_PACKAGES

EACH = pytest.mark.parametrize("recipe", RECIPES, ids=lambda one: one.name)
DEFINITIONS = {one.id: one for one in BUILT_IN}


@EACH
def test_it_brings_a_program_that_the_definition_starts(recipe: Recipe):
    for server in recipe.servers:
        names = {command[0] for command in DEFINITIONS[server].launch.commands}
        brought = {name for one in recipes_of(server) for name in one.programs}
        assert names & brought, server


@EACH
def test_its_package_manager_is_one_of_the_definition(recipe: Recipe):
    for server in recipe.servers:
        known = DEFINITIONS[server].install
        assert recipe.managers[0] in known, server


@EACH
def test_its_versions_are_those_that_the_tests_use(recipe: Recipe):
    """So that what is installed is what the definitions were tested with."""
    npm = NODE_PACKAGES["node-typescript-7" if recipe.name == "typescript-7" else "node"]
    for package in (*recipe.packages, *recipe.extras):
        tested = {"pip": PYTHON_PACKAGES, "npm": npm}.get(package.manager, {})
        if package.manager in ("pip", "npm"):
            assert tested[package.name] == package.version
        else:
            assert package.version


def test_no_two_recipes_have_a_name_or_a_program_in_common():
    names = [one.name for one in RECIPES]
    programs = [name for one in RECIPES for name in one.programs]
    assert len(set(names)) == len(names)
    assert len(set(programs)) == len(programs)


@pytest.mark.parametrize(
    "name",
    [
        *("pyright", "basedpyright", "ty", "ruff", "pyrefly", "typescript-language-server"),
        *("bash-language-server", "eslint", "vscode-langservers-extracted", "yaml", "gopls"),
        *("rust-analyzer", "typescript", "bash", "json", "python", "go", "pyright-langserver"),
    ],
)
def test_a_server_is_known_by_its_id_its_aliases_its_package_and_its_program(name: str):
    assert wanted_of(name).recipes


def test_a_server_may_need_two_packages():
    assert [one.name for one in wanted_of("vue-typescript").recipes] == [
        "typescript-language-server",
        "vue-language-server",
    ]


def test_an_unknown_name_is_answered_with_similar_ones():
    with pytest.raises(UnknownServerError, match="did you mean pyright"):
        wanted_of("pyrigth")


def test_processors_have_one_name_each():
    assert [processor_name(one) for one in ("x86_64", "AMD64", "arm64", "aarch64", "riscv64")] == [
        *("x86_64", "x86_64", "aarch64", "aarch64", "riscv64")
    ]


def test_a_package_is_found_by_a_program():
    found = recipe_named("vscode-eslint-language-server")
    assert found is not None
    assert found.name == "vscode-langservers-extracted"
