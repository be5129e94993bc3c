"""The tools folder: a package is there as a whole or not at all, whatever was interrupted."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from lspkit.install.installation import listed, remove
from lspkit.install.recipe_table import Package, Recipe
from lspkit.install.tools_home import (
    STAMP,
    Installed,
    clean_up,
    installed_packages,
    locked,
    move_in,
    partial_folder,
)
from lspkit.servers.selection.program_lookup import search_folders, tools_folder, tools_home


def recipe(version: str = "1.0", name: str = "ruff", **more: dict[str, str]) -> Recipe:
    package = Package("pip", name, version)
    programs = {name: f"bin/{name}"}
    return Recipe(name=name, servers=(name,), packages=(package,), programs=programs, **more)


def put(home: str, what: Recipe, text: str = "#!/bin/sh\necho $PATH\n") -> Installed:
    """Install a program that is written here."""
    partial = partial_folder(home, what)
    (Path(partial) / "bin").mkdir()
    for file in what.programs.values():
        (Path(partial) / file).write_text(text)
        (Path(partial) / file).chmod(0o755)
    return move_in(home, partial, what, {})


def printed(home: str, program: str = "ruff") -> str:
    path = os.path.join(home, "bin", program)
    return subprocess.run([path], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def home(tmp_path: Path) -> str:
    (tmp_path / "to ols").mkdir()  # a space, since launchers are scripts
    return str(tmp_path / "to ols")


def test_a_package_is_found_by_its_program(home):
    one = put(home, recipe(), "#!/bin/sh\necho first\n")
    assert installed_packages(home) == {"ruff": one}
    assert one.launchers() == (os.path.join(home, "bin", "ruff"),)
    assert printed(home) == "first"


def test_a_launcher_sets_the_variables_of_the_recipe(home):
    put(home, recipe(environment={"PATH": "{folder}/bin:$PATH"}))
    folder = installed_packages(home)["ruff"].folder
    assert printed(home) == f"{folder}/bin:{os.environ['PATH']}"


def test_a_script_of_a_python_package_finds_its_modules(home):
    what = recipe()
    partial = partial_folder(home, what)
    (Path(partial) / "bin").mkdir()
    (Path(partial) / "own.py").write_text("value = 'found'\n")
    script = "#!/usr/bin/python3\nimport os, own\nprint(own.value, os.environ.get('PYTHONPATH'))\n"
    (Path(partial) / "bin/ruff").write_text(script)
    move_in(home, partial, what, {})
    assert printed(home) == f"found {os.environ.get('PYTHONPATH')}"


def test_a_new_version_takes_the_place_of_the_old_one(home):
    old = put(home, recipe("1.0"), "#!/bin/sh\necho old\n")
    new = put(home, recipe("2.0"), "#!/bin/sh\necho new\n")
    assert printed(home) == "new"
    assert installed_packages(home) == {"ruff": new}
    assert not os.path.exists(old.folder)


def test_what_an_interrupted_run_has_left_is_removed(home):
    one = put(home, recipe())
    left = partial_folder(home, recipe("2.0"))
    half = os.path.join(home, "packages", "half-1.0")
    os.mkdir(half)
    clean_up(home)
    assert not os.path.exists(left)
    assert not os.path.exists(half)
    assert installed_packages(home) == {"ruff": one}


@pytest.mark.parametrize("content", [b"", b"[]", b'{"recipe": "caf\xe9"}'])
def test_a_folder_whose_stamp_is_damaged_is_no_package(home, content):
    one = put(home, recipe())
    (Path(one.folder) / STAMP).write_bytes(content)
    assert installed_packages(home) == {}


def test_a_run_that_was_interrupted_before_its_last_step_is_finished(home):
    put(home, recipe(), "#!/bin/sh\necho done\n")
    os.unlink(os.path.join(home, "bin", "ruff"))
    clean_up(home)
    assert printed(home) == "done"


def test_a_package_without_its_program_does_not_stop_others(home):
    broken = put(home, recipe())
    os.unlink(os.path.join(home, "bin", "ruff"))
    os.unlink(os.path.join(broken.folder, "bin", "ruff"))
    put(home, recipe(name="ty"), "#!/bin/sh\necho fine\n")
    assert printed(home, "ty") == "fine"


def test_a_package_is_removed_with_its_programs(home):
    put(home, recipe())
    [outcome] = remove(["ruff"], home, print)
    assert outcome.state == "removed"
    assert os.listdir(os.path.join(home, "bin")) == os.listdir(os.path.join(home, "packages")) == []
    [outcome] = remove(["ruff"], home, print)
    assert outcome.state == "absent"


def test_where_nothing_was_installed_nothing_is_made(tmp_path):
    missing = str(tmp_path / "none")
    assert listed(missing) == []
    assert [one.state for one in remove(["ruff"], missing, print)] == ["absent"]
    assert not os.path.exists(missing)


def test_a_second_run_waits_and_says_so(home):
    said: list[str] = []
    waits, holds = threading.Event(), threading.Event()

    def second() -> None:
        def say(line: str) -> None:
            said.append(line)
            waits.set()

        with locked(home, say):
            holds.set()

    with locked(home, print):
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(20)
        assert not holds.is_set()
    assert holds.wait(20)
    thread.join(20)
    assert said == ["waiting for another `lspkit install`"]


def test_a_broken_stamp_is_no_package(home):
    one = put(home, recipe())
    Path(one.folder, "installed.json").write_text("{")
    assert installed_packages(home) == {}


# Where it is


def test_the_folder_can_be_named():
    assert tools_home({"LSPKIT_TOOLS": "/opt/t/"}) == "/opt/t"
    assert tools_folder({"LSPKIT_TOOLS": "/opt/t"}) == "/opt/t/bin"
    assert tools_home({"LSPKIT_TOOLS": "relative", "HOME": "/h"}) == "/h/.local/share/lspkit/tools"


@pytest.mark.parametrize("trusted", [True, False])
def test_it_is_searched_last_in_any_project(tmp_path, trusted):
    environ = {"PATH": "/usr/bin", "LSPKIT_TOOLS": "/opt/t"}
    folders = search_folders(str(tmp_path), trusted=trusted, environ=environ)
    assert folders[-2:] == ["/usr/bin", "/opt/t/bin"]


def test_one_inside_of_the_project_is_not_searched(tmp_path):
    inside = str(tmp_path / "tools")
    environ = {"PATH": "/usr/bin", "LSPKIT_TOOLS": inside}
    assert f"{inside}/bin" not in search_folders(str(tmp_path), environ=environ)
