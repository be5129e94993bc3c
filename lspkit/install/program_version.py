"""The version of a program: from its package where that tells it, else by asking the program."""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
from collections.abc import Mapping

from lspkit.install.program_run import run_program
from lspkit.install.recipe_table import recipes_of
from lspkit.install.tools_home import Installed
from lspkit.servers.definition import Definition
from lspkit.servers.selection.npm_package import package_of

#: Arguments that print the version, by id. Other programs are not asked: they may wait for input.
ASK = {
    **dict.fromkeys(
        ("clangd", "rust-analyzer", "deno", "ty", "ruff", "pyrefly", "zuban", "tombi", "texlab"),
        ("--version",),
    ),
    **dict.fromkeys(("zls", "marksman", "taplo", "lua-language-server"), ("--version",)),
    **dict.fromkeys(("gopls", "terraform-ls"), ("version",)),
}
#: Seconds for a program to print its version.
TIMEOUT = 10.0
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*")


def version_of(
    definition: Definition,
    program: str,
    installed: Mapping[str, Installed],
    timeout: float = TIMEOUT,
) -> tuple[str, str]:
    """The version, and why the program does not work. Each is empty if it is not known."""
    for recipe in recipes_of(definition.id):
        one = installed.get(recipe.name)
        if one is not None and program in one.launchers():
            return one.version, ""
        name = recipe.packages[0].name
        known = _of_npm(program, name) or _of_python(program, name)
        if known:
            return known, ""
    words = ASK.get(definition.id)
    return ("", "") if words is None else _ask(program, words, timeout)


def _of_npm(program: str, package: str) -> str:
    folder = package_of(program, package)
    if folder is None:
        return ""
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as stream:
            return str(json.load(stream).get("version", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _of_python(program: str, package: str) -> str:
    """The version of a package in the environment that has the program."""
    above = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    name = re.sub(r"[-_.]+", "_", package)
    place = os.path.join(glob.escape(above), "lib", "python*", "site-packages")
    for found in glob.glob(os.path.join(place, f"{name}-*.dist-info")):
        return os.path.basename(found).removesuffix(".dist-info").partition("-")[2]
    return ""


def _ask(program: str, words: tuple[str, ...], timeout: float) -> tuple[str, str]:
    """Run the program outside of any project."""
    try:
        done = run_program([program, *words], os.path.dirname(program), os.environ, timeout)
    except OSError as problem:
        return "", f"it cannot be run: {problem.strerror}"
    except subprocess.TimeoutExpired:
        return "", f"it does not print its version within {timeout:g} s"
    found = _VERSION.search(done.stdout)
    if done.returncode and found is None:
        lines = [one.strip() for one in done.stderr.splitlines() if one.strip()]
        return "", f"it ends with {done.returncode}: {lines[0] if lines else 'it says nothing'}"
    return (found[0] if found is not None else ""), ""
