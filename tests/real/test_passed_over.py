"""Files that a server finds nothing wrong with because of where they lie are not called clean."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lspkit
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers

pytestmark = pytest.mark.server

PYTHON = "import os\ndef broken(:\n"
SCRIPT = "debugger;\n"
#: By server: the name of a file, and a text that each of them finds fault with.
BROKEN = {
    "ty": ("a.py", PYTHON),
    "ruff": ("a.py", PYTHON),
    "pyrefly": ("a.py", PYTHON),
    "eslint": ("a.js", SCRIPT),
    "gopls": ("a.go", "package p\nfunc broken( {\n"),
    "svelte": ("A.svelte", "<script>\nlet x = (;\n</script>\n"),
}
FOLDERS = {one.id: one.caveats.skipped_folders for one in BUILT_IN if one.caveats.skipped_folders}


@contextmanager
def only(server: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[lspkit.Workspace]:
    """A workspace in which no other server runs, and that leaves no folder out by itself."""
    real_servers.require(server)
    monkeypatch.setenv("PATH", str(real_servers.PROGRAMS), prepend=":")
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    config = {"lsp": others, "security": {"exclude": []}}
    with lspkit.Workspace(folder, config=config) as ws:
        yield ws


def project(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    (folder / "go.mod").write_text("module example.org/x\n\ngo 1.20\n")
    (folder / "eslint.config.js").write_text(
        'module.exports = [{rules: {"no-debugger": "error"}}];\n'
    )
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "eslint").symlink_to(real_servers.NODE_MODULES / "eslint")
    return folder


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_every_server_that_passes_over_folders_is_tried_here() -> None:
    assert set(FOLDERS) == set(BROKEN)


@pytest.mark.parametrize("server", BROKEN)
def test_a_broken_file_in_a_folder_that_it_passes_over_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    """Not dirty either, which it would be if the server did look there by now."""
    root, (name, text) = project(tmp_path / "project"), BROKEN[server]
    folders = [one.rpartition("/")[2].replace("*", "x") for one in FOLDERS[server]]
    files = {folder: write(root / folder / name, text) for folder in folders}
    with only(server, root, monkeypatch) as ws:
        reports = {folder: ws.check(file, timeout=60) for folder, file in files.items()}
    assert {folder: str(one.verdict) for folder, one in reports.items()} == dict.fromkeys(
        files, "unknown"
    )
    assert {folder: one.why for folder, one in reports.items()} == {
        folder: f"{server}: it passes over files in {folder}/ unless the project says otherwise, "
        "so its silence proves nothing"
        for folder in files
    }


@pytest.mark.parametrize("server", BROKEN)
def test_elsewhere_it_is_dirty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    root, (name, text) = project(tmp_path / "project"), BROKEN[server]
    file = write(root / "build" / name, text)
    with only(server, root, monkeypatch) as ws:
        assert ws.check(file, timeout=60).verdict.dirty


@pytest.mark.parametrize("server", ["ty", "ruff"])
def test_a_project_that_lies_in_such_a_folder_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    root, (name, text) = project(tmp_path / "dist" / "project"), BROKEN[server]
    broken, fine = write(root / name, text), write(root / f"fine_{name}", "")
    with only(server, root, monkeypatch) as ws:
        assert ws.check(broken, timeout=60).verdict.dirty
        assert ws.check(fine, timeout=60).verdict.clean


@pytest.mark.parametrize("server", ["ty", "ruff"])
def test_a_file_is_passed_over_also_by_a_project_above_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.{server}]\n")
    root, (name, text) = project(tmp_path / "dist" / "project"), BROKEN[server]
    broken = write(root / name, text)
    with only(server, root, monkeypatch) as ws:
        assert ws.check(broken, timeout=60).verdict.unknown


def test_what_the_project_takes_in_again_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults are told then. Where there are none, lspkit cannot tell whether ty has looked."""
    root = project(tmp_path / "project")
    with (root / "pyproject.toml").open("a") as file:
        file.write('[tool.ty.src]\nexclude = ["!**/dist/"]\n')
    broken, fine = write(root / "dist" / "a.py", PYTHON), write(root / "dist" / "b.py", "")
    with only("ty", root, monkeypatch) as ws:
        assert ws.check(broken, timeout=60).verdict.dirty
        assert ws.check(fine, timeout=60).verdict.unknown


def test_a_go_module_in_such_a_folder_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, (name, text) = project(tmp_path / "project"), BROKEN["gopls"]
    module = project(root / "_examples" / "one")
    broken, fine = write(module / name, text), write(module / "fine" / name, "package p\n")
    with only("gopls", root, monkeypatch) as ws:
        assert ws.check(broken, timeout=60).verdict.dirty
        assert ws.check(fine, timeout=60).verdict.clean


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s_windows.go", "package p\nfunc broken( {\n"),
        ("tagged.go", "//go:build ignore\n\npackage p\nfunc broken( {\n"),
        ("_a.go", "package p\nfunc broken( {\n"),
    ],
)
def test_gopls_says_which_files_it_has_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    folder = project(tmp_path / "project")
    file, real = write(folder / name, text), write(folder / "real.go", "package p\n")
    with only("gopls", folder, monkeypatch) as ws:
        assert ws.check(real, timeout=60).verdict.clean
        report = ws.check(file, timeout=60)
    assert report.verdict.unknown
    assert "No packages found for open file" in report.why


# By their own word


def test_rust_analyzer_says_which_files_it_has_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    write(folder / "Cargo.toml", '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n')
    real = write(folder / "src" / "lib.rs", "pub fn f() -> i32 { 1 }\n")
    file = write(folder / "src" / "unnamed.rs", 'pub fn g() -> i32 { "x" }\n')
    with only("rust-analyzer", folder, monkeypatch) as ws:
        assert ws.check(real, timeout=60).verdict.clean
        report = ws.check(file, timeout=60)
        assert report.verdict.unknown
        assert "This file is not included anywhere in the module tree" in report.why
        ws.write(real, "pub mod unnamed;\n")
        assert ws.check(file, timeout=60).verdict.dirty


@pytest.mark.parametrize("text", ["int own = missing;\n", "int own = 1;\n"])
def test_clangd_looks_at_nothing_for_a_machine_that_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """It publishes an empty list then, with the right version."""
    folder = tmp_path / "project"
    write(folder / "compile_flags.txt", "--target=unheard-of\n")
    file = write(folder / "main.cpp", text)
    with only("clangd", folder, monkeypatch) as ws:
        report = ws.check(file, timeout=60)
    assert report.verdict.unknown
    assert "invalid AST" in report.why


UNCLOSED = '#!/bin/bash\nif true; then\n  echo "unclosed\n'


def test_bash_without_shellcheck_has_not_looked_until_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_servers.require("bash")
    # As it is started, but for the folder with all programs in front of PATH.
    launcher = real_servers.NODE_MODULES / "bash-language-server" / "out" / "cli.js"
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    if shutil.which("shellcheck"):
        pytest.skip("shellcheck is installed for the whole system")
    folder = tmp_path / "project"
    file, fine = write(folder / "a.sh", UNCLOSED), write(folder / "b.sh", "#!/bin/bash\ntrue\n")
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != "bash"}
    node = shutil.which("node") or pytest.skip("no node outside of the servers' own folder")
    own = {"command": [node, str(launcher), "start"]}
    with lspkit.Workspace(folder, config={"lsp": others | {"bash": own}}) as ws:
        for one in (file, fine):
            report = ws.check(one, timeout=60)
            assert report.verdict.unknown
            assert "apt-get install shellcheck" in report.why
        (programs / "shellcheck").symlink_to(real_servers.PROGRAMS / "shellcheck")
        ws.reload()
        assert ws.check(file, timeout=60).verdict.dirty
        assert ws.check(fine, timeout=60).verdict.clean


def test_oxlint_passes_over_what_git_ignores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    write(folder / ".oxlintrc.json", '{"rules": {"no-debugger": "error"}}')
    write(folder / ".gitignore", "# made by others\n/scratch.js\ngen/\n*.min.js\n!own.min.js\n")
    write(folder / "src" / ".gitignore", "deep.js\n")
    write(folder / ".eslintignore", "legacy.js\n")
    ignored = ["scratch.js", "gen/a.js", "src/a.min.js", "src/deep.js", "src/legacy.js"]
    seen = ["src/scratch.js", "own.min.js", "deep.js"]
    with only("oxlint", folder, monkeypatch) as ws:
        found = {
            name: ws.check(write(folder / name, SCRIPT), timeout=60) for name in [*ignored, *seen]
        }
    assert {name: str(one.verdict) for name, one in found.items()} == (
        dict.fromkeys(ignored, "unknown") | dict.fromkeys(seen, "dirty")
    )
    assert found["gen/a.js"].why == (
        "oxlint: it passes over what .gitignore names, so its silence proves nothing"
    )
