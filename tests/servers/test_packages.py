"""The npm package of a program, whatever its launcher looks like. Nothing is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.config import read_config
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.choosing import permitted
from lspkit.servers.packages import package_of
from lspkit.servers.permitting import ALL, Permit

NAME = "@vue/language-server"
PLUGIN = "@vue/typescript-plugin"
VUE_TYPESCRIPT = next(one for one in BUILT_IN if one.id == "vue-typescript")


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
        'exec node "$basedir/../lib/node_modules/@vue/language-server/bin/vue-language-server.js"',
    ],
    ids=["by hand", "Nix", "pnpm"],
)
def test_a_launcher_names_a_file_of_its_package(tmp_path, package, line):
    text = f"#!/bin/sh\n{line.replace('FOLDER', str(package))}\n"
    assert package_of(launcher(tmp_path, text), NAME) == str(package)


@pytest.mark.parametrize("text", ["", "#!/bin/sh\nexec node /nowhere/x.js\n", "\0ELF /tmp"])
def test_a_program_of_no_package_has_none(tmp_path, package, text):
    assert package_of(launcher(tmp_path, text), NAME) is None


@pytest.mark.parametrize("said", ["{", "[]", '{"name": "another"}'])
def test_a_package_counts_by_its_name(tmp_path, package, said):
    (package / "package.json").write_text(said, encoding="utf-8")
    assert package_of(str(package / "bin" / "vue-language-server.js"), NAME) is None


def chosen(tmp_path: Path, permit: Permit):
    said = read_config({}).server("vue-typescript", ())
    root, folders = str(tmp_path / "project"), [str(tmp_path / "bin")]
    return permitted(VUE_TYPESCRIPT, said, root, root, folders, permit)


@pytest.mark.parametrize("beside", [True, False])
def test_the_plugin_is_loaded_from_the_package(tmp_path, package, beside):
    modules = package.parent.parent if beside else package / "node_modules"
    (modules / PLUGIN).mkdir(parents=True)
    (modules / PLUGIN / "package.json").write_text("{}")
    launcher(tmp_path, "", "typescript-language-server")
    launcher(tmp_path, f"#!/bin/sh\nexec node {package}/bin/vue-language-server.js\n")
    choice = chosen(tmp_path, ALL)
    assert choice.held_back == ""
    [plugin] = choice.definition.initialization["plugins"]
    assert plugin["location"] == str(package)


@pytest.mark.parametrize("missing", ["program", "plugin"])
def test_without_the_plugin_the_server_does_not_run_and_says_why(tmp_path, package, missing):
    launcher(tmp_path, "", "typescript-language-server")
    if missing == "plugin":
        launcher(tmp_path, f"#!/bin/sh\nexec node {package}/bin/vue-language-server.js\n")
    choice = chosen(tmp_path, ALL)
    assert choice.held_back == (
        "it needs the package @vue/typescript-plugin, which comes with vue-language-server, "
        "and there is none"
    )


def test_in_a_project_that_is_not_trusted_it_is_held_back(tmp_path, package):
    launcher(tmp_path, "", "typescript-language-server")
    launcher(tmp_path, f"#!/bin/sh\nexec node {package}/bin/vue-language-server.js\n")
    assert "not trusted" in chosen(tmp_path, Permit(False, "untrusted")).held_back
