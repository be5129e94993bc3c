"""What a server may do in a project: run its programs, run restricted, or not run.

In a trusted project its own programs come first. In any other only those servers start that were
tested there with planted programs and ran none of them, most with a profile
(`TrustProfile.untrusted`) that keeps them from looking for any; the others are held back. Nor do
the user's variables lead into such a project (`launch_environment.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from lspkit.config.merge import merge_values
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.definition import Definition
from lspkit.servers.project.python_environment import (
    FOLDERS,
    PROGRAMS,
    own_interpreter,
    own_packages,
)
from lspkit.servers.restriction.compile_commands import compiling
from lspkit.workspace_boundary import is_inside, leads_through, project_tree

#: Where projects keep their own programs, relative to a server's root.
PROJECT_FOLDERS = (("node_modules", ".bin"), *((name, PROGRAMS) for name in FOLDERS))


class Permit(msgspec.Struct, frozen=True):
    """What is allowed in one root."""

    #: Whether programs of the project may run.
    trusted: bool
    #: `trusted`, `untrusted` or `stale`.
    state: str
    #: What would allow more.
    remedy: str = ""
    #: Ids of servers that run in any project: the user, or a source that the user trusts, names a
    #: command.
    vouched: frozenset[str] = frozenset()


#: For a trusted project.
ALL = Permit(True, "trusted")

#: Returns the permit of a root.
Permits = Callable[[str], Permit]


def program_folders(root: str, permit: Permit, folders: list[str]) -> list[str]:
    """The folders in which programs for a server in this root are looked for."""
    own = [os.path.join(root, *parts) for parts in PROJECT_FOLDERS] if permit.trusted else []
    return [*own, *folders]


def at_home(definition: Definition, root: str, folders: Sequence[str] = ()) -> Definition | str:
    """The definition as it runs in a trusted project; or why it cannot run there.

    It uses what the project has, and packages of other programs in these folders.
    """
    if own := definition.trust.trusted_settings:
        own = _filled(own, {"interpreter": own_interpreter(root)})
        definition = definition.with_launch(settings=merge_values(own, definition.launch.settings))
    return adapter_of(definition).complete(definition, folders)


def own_files(definition: Definition, root: str) -> list[str]:
    """Existing files, relative to the root, that this server runs or obeys if trusted."""
    interpreters = [own_interpreter(root)] if definition.trust.trusted_settings else []
    own = [os.path.relpath(path, root) for path in interpreters if path is not None]
    risky = definition.trust.risky_files
    return own + [name for name in risky if os.path.isfile(os.path.join(root, name))]


def trust_helps(definition: Definition, root: str) -> bool:
    """Whether a server that is held back would run if the project were trusted.

    One that needs TypeScript runs then only if the project has it where the server looks for it.
    """
    profile = definition.trust.untrusted
    needs_own = profile is not None and "tsserver" in _names_in(profile.initialization)
    return not needs_own or bool(own_files(definition, root))


def restrict(
    definition: Definition, argv: tuple[str, ...], root: str, workspace: str
) -> Definition | str:
    """The definition as it runs in an untrusted project; or why it cannot run there."""
    profile = definition.trust.untrusted
    if profile is None:
        return "it runs code of the project, or may, and the project is not trusted"
    needed = dict.fromkeys(_names_in([profile.initialization, profile.settings]))
    places = {name: PLACES[name](argv, root, workspace) for name in needed}
    for name in needed:
        if places[name] is None:
            return f"it needs {name} from outside the project, and it was not found"
    launch = definition.launch
    initialization = merge_values(
        launch.initialization or {}, _filled(profile.initialization, places)
    )
    settings = _laid_over(launch.settings, _filled(profile.settings, places))
    return definition.with_launch(initialization=initialization or None, settings=settings)


def _laid_over(settings: Any, profile: Any) -> Any:
    """Settings with those of a profile, whose lists are appended to the user's."""
    if isinstance(settings, list) and isinstance(profile, list):
        return [*settings, *profile]
    if not isinstance(settings, dict) or not isinstance(profile, dict):
        return profile
    made = {key: _laid_over(settings[key], profile[key]) for key in settings if key in profile}
    return {**settings, **profile, **made}


def _names_in(value: Any) -> list[str]:
    """The placeholders in a profile, such as `{python}`."""
    if isinstance(value, dict):
        return [name for item in value.values() for name in _names_in(item)]
    if isinstance(value, list):
        return [name for item in value for name in _names_in(item)]
    return [name for name in PLACES if value == f"{{{name}}}"]


def _filled(value: Any, places: Mapping[str, Any]) -> Any:
    """The value with its placeholders filled in; keys with an empty one are left out."""
    if isinstance(value, dict):
        filled = {key: _filled(member, places) for key, member in value.items()}
        return {
            key: member for key, member in filled.items() if member or not _names_in(value[key])
        }
    if isinstance(value, list):
        return [_filled(item, places) for item in value]
    name = value[1:-1] if isinstance(value, str) else ""
    return places[name] if value == f"{{{name}}}" and name in places else value


def _python(_: tuple[str, ...], __: str, workspace: str) -> str | None:
    """An interpreter outside the project: the running one, or the one that it is based on."""
    project = project_tree(workspace)
    for candidate in (sys.executable, getattr(sys, "_base_executable", "")):
        if candidate and not is_inside(os.path.realpath(candidate), project):
            return str(candidate)
    return None


def _tsserver(argv: tuple[str, ...], _: str, workspace: str) -> str | None:
    """The TypeScript that is installed beside the server."""
    project = project_tree(workspace)
    folder = os.path.dirname(os.path.realpath(argv[0])) if argv else ""
    while folder and os.path.dirname(folder) != folder:
        for parts in (("node_modules",), ("lib", "node_modules"), ()):
            file = os.path.join(folder, *parts, "typescript", "lib", "tsserver.js")
            if os.path.isfile(file) and not leads_through(file, project):
                return file
        folder = os.path.dirname(folder)
    return None


#: The placeholders of a profile, and the functions that fill them in.
PLACES: dict[str, Callable[[tuple[str, ...], str, str], Any]] = {
    "python": _python,
    "interpreter": lambda _, root, __: own_interpreter(root),
    # To resolve imports without running anything.
    "packages": lambda _, root, __: own_packages(root),
    "tsserver": _tsserver,
    # How sources are compiled, as far as it is safe; and the others.
    "commands": lambda _, root, __: compiling(root).commands,
    "flags": lambda _, root, __: compiling(root).flags,
}
