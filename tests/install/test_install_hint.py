"""A missing server always comes with the exact command that gets it, one that works here."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from lspkit.install.install_hint import PROGRAMS, hint_for
from lspkit.install.installation import wanted_of
from lspkit.install.recipe_table import recipes_of
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition

EACH = pytest.mark.parametrize("one", BUILT_IN, ids=lambda one: one.id)


def having(*managers: str) -> Callable[[str], bool]:
    return lambda name: name in managers


def server(id: str) -> Definition:
    return next(one for one in BUILT_IN if one.id == id)


@EACH
@pytest.mark.parametrize("anything", [True, False])
def test_there_is_always_a_command(one: Definition, anything: bool):
    hint = hint_for(one, lambda _: anything)
    assert hint.command
    assert hint.command in str(hint)


@EACH
def test_every_command_is_one_that_this_machine_has(one: Definition):
    for manager in one.install:
        for command in hint_for(one, having(manager)).commands:
            first, *words = command.split()
            if first == "lspkit":
                assert wanted_of(words[-1]).recipes
                assert {each.managers[0] for each in recipes_of(one.id)} <= {manager}
            else:
                assert first == PROGRAMS.get(manager, manager) or manager == "pip"


@EACH
def test_a_recipe_comes_first_where_its_package_manager_is_there(one: Definition):
    recipes = recipes_of(one.id)
    if recipes and one.id != "ty":
        assert hint_for(one, lambda _: True).command.startswith("lspkit install ")


@EACH
def test_where_nothing_is_there_the_hint_says_what_is_missing(one: Definition):
    hint = hint_for(one, having())
    assert not hint.commands
    assert "which this machine does not have" in str(hint)
    assert "(" not in hint.command


@EACH
def test_a_machine_without_brew_is_not_sent_to_brew(one: Definition):
    hint = hint_for(one, having("pip", "npm", "apt"))
    assert not hint.command.startswith("brew ")


def test_without_a_way_on_this_machine_the_page_of_the_authors_is_named():
    hint = hint_for(server("zls"), having("npm"))
    page = "https://github.com/zigtools/zls"
    assert hint.command == page
    assert str(hint) == f"{page} (brew install zls needs brew, which this machine does not have)"


def test_go_without_go_is_offered_what_is_there():
    assert hint_for(server("gopls"), having("apt", "brew")).commands == (
        "brew install gopls",
        "apt-get install gopls",
    )


def test_any_server_for_python_is_the_one_of_the_readme():
    hint = hint_for(server("basedpyright"), having("pip"), any_of_family=True)
    assert hint.command.endswith("pip install 'lspkit[python]'")
    assert hint.commands[1] == "lspkit install basedpyright"
    assert hint.instead == "ty"


def test_the_other_server_is_named_if_the_command_installs_it_instead():
    for name in ("ty", "gopls"):
        assert hint_for(server(name), lambda _: True, any_of_family=True).instead == ""
    hint = hint_for(server("taplo"), having("npm", "pip"), any_of_family=True)
    assert (hint.command, hint.instead) == ("lspkit install tombi", "tombi")


def test_a_disabled_server_is_not_offered():
    hint = hint_for(server("basedpyright"), having("pip"), any_of_family=True, disabled=["ty"])
    assert (hint.command, hint.instead) == ("lspkit install basedpyright", "")
    hint = hint_for(
        server("taplo"), having("npm", "pip", "cargo"), any_of_family=True, disabled=["tombi"]
    )
    assert hint.commands == ("cargo install --features lsp --locked taplo-cli",)


def test_a_chosen_server_for_python_is_that_one():
    assert hint_for(server("pyright"), having("pip", "npm")).command == "lspkit install pyright"


def test_another_server_of_the_family_is_offered_where_any_will_do():
    assert hint_for(server("taplo"), having("pip", "cargo"), any_of_family=True).commands == (
        "lspkit install tombi",
        "cargo install --features lsp --locked taplo-cli",
    )


def test_the_program_is_named_rather_than_the_id():
    assert hint_for(server("bash"), having("npm")).command == "lspkit install bash-language-server"


def test_this_machine_is_asked_for_real_programs():
    from lspkit.install.install_hint import has_manager

    folder = shutil.which("git")
    assert folder is not None
    assert has_manager("git", [folder.removesuffix("/git")])
    assert not has_manager("git", ["/nowhere"])
    assert has_manager("pip", ["/nowhere"])
