"""Which Python interpreter a server takes packages from, and why. Runs nothing.

lspkit names the interpreter to pyright and basedpyright. The other servers look for one themselves:
the order in which they do so was tried with environments that had different packages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

import msgspec

from lspkit.servers.project.python_environment import named_interpreter, own_interpreter
from lspkit.servers.selection.choose import Choice
from lspkit.servers.selection.program_lookup import find_program
from lspkit.types import Interpreter

#: Where a server looks, in its order.
ORDER: dict[str, tuple[str, ...]] = {
    "basedpyright": ("setting", "project", "PATH"),
    "pyright": ("setting", "project", "PATH"),
    "ty": ("VIRTUAL_ENV", "CONDA_PREFIX", "project", "beside", "PATH"),
    "pyrefly": ("setting", "VIRTUAL_ENV", "CONDA_PREFIX", "project", "PATH"),
    "zuban": ("project", "VIRTUAL_ENV", "PATH"),
}
#: How another interpreter is chosen.
CHANGE = {
    "basedpyright": "set lsp.basedpyright.settings.python.pythonPath in the configuration",
    "pyright": "set lsp.pyright.settings.python.pythonPath in the configuration",
    "ty": "activate its environment (VIRTUAL_ENV), or set environment.python of [tool.ty]",
    "pyrefly": "set lsp.pyrefly.settings.python.pythonPath in the configuration",
    "zuban": "put its environment into .venv of the project, or activate it (VIRTUAL_ENV)",
}


class _Search(msgspec.Struct, frozen=True):
    """What is looked at."""

    choice: Choice
    environ: Mapping[str, str]

    @property
    def named(self) -> str:
        """The interpreter in the settings of the server."""
        return named_interpreter(self.choice.definition.launch.settings)

    @property
    def own(self) -> str:
        """The interpreter in the project."""
        return own_interpreter(self.choice.root) or ""


def interpreter_of(choice: Choice, environ: Mapping[str, str] = os.environ) -> Interpreter | None:
    """The interpreter of a server for Python; None for other servers."""
    order = ORDER.get(choice.id)
    if order is None:
        return None
    search = _Search(choice, {**environ, **choice.config.env})
    for place in order:
        path_and_reason = _PLACES.get(place, _of_variable(place))(search)
        if path_and_reason is not None:
            return Interpreter(*path_and_reason, _change(search))
    return Interpreter("", "none was found", _change(search))


def _change(search: _Search) -> str:
    """How another one is chosen."""
    choice = search.choice
    if not choice.permit.trusted and search.own and "setting" in ORDER[choice.id]:
        return choice.permit.remedy or CHANGE[choice.id]
    return CHANGE[choice.id]


def _of_setting(search: _Search) -> tuple[str, str] | None:
    named, own = search.named, search.own
    if not named or named == own:
        return None
    if search.choice.permit.trusted:
        return named, "the configuration names it (python.pythonPath)"
    running = os.path.normpath(named) in (
        os.path.normpath(sys.executable),
        os.path.normpath(getattr(sys, "_base_executable", "")),
    )
    if not running:
        return named, "the configuration names it (python.pythonPath)"
    if own:
        shown = os.path.relpath(own, search.choice.root)
        return named, (
            f"it runs lspkit, and {shown} is not run since the project is not trusted (its "
            "packages are read)"
        )
    return named, "it runs lspkit, and the project is not trusted"


def _of_project(search: _Search) -> tuple[str, str] | None:
    own = search.own
    return (own, "it is in the project") if own else None


def _of_path(search: _Search) -> tuple[str, str] | None:
    folders = [
        folder
        for folder in search.environ.get("PATH", "").split(os.pathsep)
        if os.path.isabs(folder)
    ]
    for name in ("python3", "python"):
        program = find_program(name, folders)
        if program is None:
            continue
        active = search.environ.get("VIRTUAL_ENV", "")
        if active and os.path.dirname(os.path.dirname(program)) == os.path.normpath(active):
            return program, "its environment is active (VIRTUAL_ENV), so that it is first on PATH"
        return program, "it is the first on PATH, and the project has no .venv"
    return None


def _of_server(search: _Search) -> tuple[str, str] | None:
    """The environment that the server is installed in: its packages count as well."""
    folder = os.path.dirname(os.path.realpath(search.choice.argv[0])) if search.choice.argv else ""
    path = os.path.join(folder, "python")
    if not os.path.exists(os.path.join(os.path.dirname(folder), "pyvenv.cfg")):
        return None
    return path, f"{search.choice.id} is installed in its environment, and the project has no .venv"


def _of_variable(name: str) -> Callable[[_Search], tuple[str, str] | None]:
    def find(search: _Search) -> tuple[str, str] | None:
        home = search.environ.get(name, "")
        path = os.path.join(home, "bin", "python")
        return (path, f"{name} names its environment") if home and os.path.exists(path) else None

    return find


_PLACES: dict[str, Callable[[_Search], tuple[str, str] | None]] = {
    "setting": _of_setting,
    "project": _of_project,
    "beside": _of_server,
    "PATH": _of_path,
}
