"""Folders of installed packages: what of them is watched."""

from __future__ import annotations

import pytest

from lspkit.servers.project.project_files import NODE, PYTHON, PackageFolder

#: Of a workspace that lies among packages itself, which is no matter.
WORKSPACE = "/home/venv/node_modules/mine"
SITE = ".venv/lib/python3.11/site-packages"


def place(path: str) -> PackageFolder:
    return PackageFolder(f"{WORKSPACE}/{path}", WORKSPACE)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/a.ts", ""),
        ("node_modules", NODE),
        ("web/node_modules/dep/dist/a.js", NODE),
        ("node_modules_old/a.js", ""),
        (".venv", PYTHON),
        ("venv/pyvenv.cfg", PYTHON),
        (f"{SITE}/dep.py", PYTHON),
        ("env/lib/site-packages/dep.py", PYTHON),
    ],
)
def test_packages_are_known_by_the_folders_that_hold_them(path: str, kind: str) -> None:
    assert place(path).kind == kind


def test_a_place_outside_of_the_workspace_is_known_by_its_whole_path() -> None:
    assert PackageFolder("/usr/lib/node_modules/dep", WORKSPACE).kind == NODE
    assert PackageFolder(WORKSPACE, WORKSPACE).kind == ""


@pytest.mark.parametrize(
    "path",
    [
        *("node_modules", "web/node_modules", "node_modules/@scope", "node_modules/.pnpm"),
        *(".venv", "venv", ".venv/lib", ".venv/Lib", ".venv/lib/python3.11", SITE),
        *(".venv/Lib/site-packages", "env/lib/python3.12/site-packages"),
        *(".venv/bin", "venv/bin", ".venv/Scripts"),  # there is the interpreter
    ],
)
def test_what_holds_packages_is_watched(path: str) -> None:
    assert place(path).holds_packages
    assert not place(path).is_package


@pytest.mark.parametrize(
    "path", ["node_modules/dep", "node_modules/@scope/dep", f"{SITE}/dep", f"{SITE}/_dep"]
)
def test_so_is_each_package_itself(path: str) -> None:
    assert place(path).is_package
    assert not place(path).holds_packages


@pytest.mark.parametrize(
    "path",
    [
        *("node_modules/dep/dist", "node_modules/dep/node_modules", "node_modules/.bin"),
        *(
            "node_modules/.pnpm/dep@1.0.0",
            ".venv/bin/inner",
            "bin",
            "node_modules/dep/node_modules/inner",
        ),
        *(f"{SITE}/dep/inner", f"{SITE}/dep-1.0.dist-info", f"{SITE}/~ep", f"{SITE}/__pycache__"),
        *("src", "src/dep"),
    ],
)
def test_nothing_else_is(path: str) -> None:
    assert not place(path).holds_packages
    assert not place(path).is_package
