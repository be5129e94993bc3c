"""The npm package of a program, whatever its launcher looks like. Nothing is run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lspkit.config import read_config
from lspkit.servers.restriction.trust_profile import ALL, Permit
from lspkit.servers.selection.choose import Choice, definitions, permitted
from lspkit.servers.selection.program_lookup import package_of

NAME = "@vue/language-server"
PLUGIN = "@vue/typescript-plugin"
INSIDE = "lib/node_modules/@vue/language-server/bin/vue-language-server.js"
ID = "vue-typescript"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "lib" / "node_modules" / "@vue" / "language-server"
    (folder / "bin").mkdir(parents=True)
    (folder / "package.json").write_text(f'{{"name": "{NAME}"}}', encoding="utf-8")
    (folder / "bin" / "vue-language-server.js").write_text("require('../index.js');\n")
    return folder


def launcher(tmp_path: Path, text: str, name: str = "vue-language-server") -> str:
    path = tmp_path / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_link_leads_into_its_package(tmp_path, package):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "vue").symlink_to(package / "bin" / "vue-language-server.js")
    assert package_of(str(tmp_path / "bin" / "vue"), NAME) == str(package)


@pytest.mark.parametrize(
    "line",
    [
        'exec /usr/bin/node FOLDER/bin/vue-language-server.js "$@"',
        'exec -a "$0" "FOLDER/bin/vue-language-server.js" "$@"',
        f'exec node "$basedir/../{INSIDE}"',
        f'exec node "${{basedir}}/../{INSIDE}"',
        f'exec node "$(dirname "$0")/../{INSIDE}"',
        f"exec node $(dirname -- $0)/../{INSIDE}",
    ],
    ids=["by hand", "Nix", "pnpm", "braces", "dirname", "bare dirname"],
)
def test_a_launcher_names_a_file_of_its_package(tmp_path, package, line):
    text = f"#!/bin/sh\n{line.replace('FOLDER', str(package))}\n"
    assert package_of(launcher(tmp_path, text), NAME) == str(package)


def test_a_path_may_have_spaces(tmp_path, package):
    folder = tmp_path / "My Tools"
    (tmp_path / "lib").rename(folder)
    text = f"#!/bin/sh\nexec node '{folder}/{INSIDE.removeprefix('lib/')}' \"$@\"\n"
    assert package_of(launcher(tmp_path, text), NAME) == str(folder / INSIDE[4:-27])


def test_a_description_that_is_a_folder_leaves_no_descriptor(tmp_path, package):
    (tmp_path / "package.json").mkdir()
    program, before = launcher(tmp_path, "#!/bin/sh\n"), len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        assert package_of(program, NAME) is None
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_description_that_is_a_pipe_keeps_nobody_waiting(tmp_path, package):
    os.mkfifo(tmp_path / "package.json")
    assert package_of(launcher(tmp_path, "#!/bin/sh\n"), NAME) is None


@pytest.mark.parametrize("text", ["", "#!/bin/sh\nexec node /nowhere/x.js\n", "\0ELF /tmp"])
def test_a_program_of_no_package_has_none(tmp_path, package, text):
    assert package_of(launcher(tmp_path, text), NAME) is None


@pytest.mark.parametrize("said", ["{", "[]", '{"name": "another"}'])
def test_a_package_counts_by_its_name(tmp_path, package, said):
    (package / "package.json").write_text(said, encoding="utf-8")
    assert package_of(str(package / "bin" / "vue-language-server.js"), NAME) is None


def chosen(tmp_path: Path, permit: Permit, **said: Any) -> Choice:
    config = read_config({"lsp": {ID: said}} if said else {})
    definition = next(one for one in definitions(config) if one.id == ID)
    root, folders = str(tmp_path / "project"), [str(tmp_path / "bin")]
    return permitted(definition, config.server(ID, ()), root, root, folders, permit)


@pytest.mark.parametrize("beside", [True, False])
def test_the_plugin_is_loaded_from_the_package(tmp_path, package, beside):
    modules = package.parent.parent if beside else package / "node_modules"
    (modules / PLUGIN).mkdir(parents=True)
    (modules / PLUGIN / "package.json").write_text("{}")
    launcher(tmp_path, "", "typescript-language-server")
    launcher(tmp_path, f"#!/bin/sh\nexec node {package}/bin/vue-language-server.js\n")
    choice = chosen(tmp_path, ALL)
    assert choice.held_back == ""
    [plugin] = choice.definition.launch.initialization["plugins"]
    assert plugin["location"] == str(package)


@pytest.mark.parametrize("missing", ["program", "package", "plugin"])
def test_without_the_plugin_the_server_does_not_run_and_says_why(tmp_path, package, missing):
    launcher(tmp_path, "", "typescript-language-server")
    at = package if missing == "plugin" else "/nowhere"
    if missing != "program":
        launcher(tmp_path, f"#!/bin/sh\nexec node {at}/bin/vue-language-server.js\n")
    choice = chosen(tmp_path, ALL)
    reasons = {
        "program": "that was not found",
        "package": f"where {tmp_path}/bin/vue-language-server has it cannot be told: name it in "
        "`initialization`",
        "plugin": f"{package} has none",
    }
    assert choice.why_not == (
        "cannot run: it needs the package @vue/typescript-plugin, which comes with "
        f"vue-language-server, and {reasons[missing]}"
    )


def test_a_user_may_say_where_the_plugin_lies(tmp_path):
    launcher(tmp_path, "", "typescript-language-server")
    own = {"plugins": [{"name": PLUGIN, "location": "/mine", "languages": ["vue"]}]}
    choice = chosen(tmp_path, ALL, initialization=own)
    assert choice.why_not == ""
    assert choice.definition.launch.initialization["plugins"] == own["plugins"]


def test_in_a_project_that_is_not_trusted_it_is_held_back(tmp_path, package):
    launcher(tmp_path, "", "typescript-language-server")
    launcher(tmp_path, f"#!/bin/sh\nexec node {package}/bin/vue-language-server.js\n")
    assert "not trusted" in chosen(tmp_path, Permit(False, "untrusted")).held_back
