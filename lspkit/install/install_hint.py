"""The command that gets a server on this machine. Looks for programs, and runs nothing.

The first command is `lspkit install`, where there is a recipe whose package manager is here. Then
come the commands of the definition whose package managers are here. If there is none of them, the
hint names the page of the server's authors, if it is known, and says what is needed.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Container, Iterable, Sequence

import msgspec

from lspkit.install.recipe_table import PAGES, recipes_of
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.selection.program_lookup import find_program

#: The program of a package manager, where that has another name.
PROGRAMS = {"apt": "apt-get", "xcode": "xcode-select"}
#: What brings lspkit together with its default server for Python.
EMBEDDED = "'lspkit[python]'"
#: The family of that server, and its id.
EMBEDDED_FAMILY, EMBEDDED_ID = "python", "ty"

#: Between a problem and the command that solves it.
GET_IT_WITH = "; get it with: "

#: Whether a package manager is on this machine.
Has = Callable[[str], bool]


class InstallHint(msgspec.Struct, frozen=True):
    """How a server is installed."""

    #: Commands that work on this machine, the preferred one first.
    commands: tuple[str, ...] = ()
    #: If there is none: what would install it, with the program that is missing here.
    otherwise: str = ""
    #: The other server that the first command installs, which does the same.
    instead: str = ""

    @property
    def command(self) -> str:
        """The preferred command, or the page that has one; empty if none is known at all."""
        return self.commands[0] if self.commands else self.otherwise.partition(" (")[0]

    def __str__(self) -> str:
        """For a line of text: the preferred command, and one alternative."""
        if not self.commands:
            return self.otherwise
        first, *others = self.commands
        return f"{first} (or: {others[0]})" if others else first


def install_hint(
    definition: Definition,
    folders: Sequence[str],
    *,
    any_of_family: bool = False,
    disabled: Container[str] = (),
) -> InstallHint:
    """How a server is installed on this machine; programs are looked for in these folders.

    With `any_of_family` another server of the same family will do, unless it is `disabled`.
    """
    has = managers_in(folders)
    return hint_for(definition, has, any_of_family=any_of_family, disabled=disabled)


def managers_in(folders: Sequence[str]) -> Has:
    """Which package managers are here; each is looked for once."""
    return functools.cache(lambda manager: has_manager(manager, folders))


def user_folders() -> list[str]:
    """The folders of the user's own programs."""
    named = os.environ.get("PATH", "").split(os.pathsep)
    return [folder for folder in (os.path.dirname(sys.executable), *named) if os.path.isabs(folder)]


def hint_for(
    definition: Definition,
    has: Has,
    *,
    any_of_family: bool = False,
    disabled: Container[str] = (),
) -> InstallHint:
    """How a server is installed, where these package managers are."""
    recipes = recipes_of(definition.id)
    needed = dict.fromkeys(manager for recipe in recipes for manager in recipe.managers)
    own, instead = f"lspkit install {_name_of(definition)}", ""
    commands = [own] if recipes and all(has(manager) for manager in needed) else []
    is_rival = (definition.family, definition.role) == (EMBEDDED_FAMILY, "types")
    serves = any_of_family and is_rival and EMBEDDED_ID not in disabled
    if has("pip") and (definition.id == EMBEDDED_ID or serves):
        commands.insert(0, pip_command(EMBEDDED))
        instead = EMBEDDED_ID if definition.id != EMBEDDED_ID else ""
    for manager, command in definition.install_commands.items():
        if has(manager) and manager not in needed and manager != "pip":
            commands.append(command)
    rivals = _rivals(definition, has, disabled) if any_of_family else []
    if rivals and not (commands and recipes):
        commands = [*(f"lspkit install {rival}" for rival in rivals), *commands]
        instead = rivals[0]
    if commands:
        return InstallHint(tuple(dict.fromkeys(commands)), instead=instead)
    if recipes:
        return InstallHint(otherwise=f"{own} (needs {_missing(needed, has)})")
    for manager, command in definition.install_commands.items():
        missing = _missing((manager,), has)
        if page := PAGES.get(definition.id):
            return InstallHint(otherwise=f"{page} ({command} needs {missing})")
        return InstallHint(otherwise=f"{command} (needs {missing})")
    return InstallHint()


def _rivals(definition: Definition, has: Has, disabled: Container[str]) -> list[str]:
    """Other servers of the same family that `lspkit install` can install here."""
    return [
        _name_of(rival)
        for rival in BUILT_IN
        if (rival.family, rival.role) == (definition.family, definition.role)
        if rival.id != definition.id
        and rival.id not in disabled
        and (recipes := recipes_of(rival.id))
        if all(has(manager) for recipe in recipes for manager in recipe.managers)
    ]


def _missing(managers: Iterable[str], has: Has) -> str:
    names = [PROGRAMS.get(manager, manager) for manager in managers if not has(manager)]
    return f"{' and '.join(names)}, which this machine does not have"


def _name_of(definition: Definition) -> str:
    """The name that users know: that of the program, if it is an alias of the server."""
    names = [command[0] for command in definition.launch.commands]
    return next((name for name in names if name in definition.aliases), definition.id)


def has_manager(manager: str, folders: Sequence[str]) -> bool:
    """Whether a package manager is on this machine. pip is that of the running interpreter."""
    if manager == "pip":
        return has_pip() or find_program("uv", folders) is not None
    return find_program(PROGRAMS.get(manager, manager), folders) is not None


@functools.cache
def has_pip() -> bool:
    """Whether the running interpreter has pip."""
    return importlib.util.find_spec("pip") is not None


def pip_command(package: str) -> str:
    """The command that installs a package beside lspkit."""
    if not has_pip():
        return f"uv pip install --python {sys.executable} {package}"
    here = os.path.dirname(sys.executable)
    first = find_program("pip", user_folders()[1:])
    if first is not None and os.path.dirname(first) == here:
        return f"pip install {package}"
    return f"{sys.executable} -m pip install {package}"
