"""`lspkit servers`: every server that lspkit knows, where it was found, or how to get it."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Iterator

import msgspec

from lspkit.cli.failure import CLEAN
from lspkit.cli.output import Part, as_json, print_lines, print_result
from lspkit.cli.project_root import chosen_root
from lspkit.config.load import Loaded, load
from lspkit.install.install_hint import InstallHint, hint_for, managers_in
from lspkit.install.program_version import version_of
from lspkit.install.tools_home import installed_packages
from lspkit.servers.project.project_files import ENOUGH, walk
from lspkit.servers.restriction.trust_profile import Permit, Permits
from lspkit.servers.selection.choose import (
    Choice,
    Kinds,
    aliases,
    begins_at,
    choose,
    definitions,
    permitted,
)
from lspkit.servers.selection.program_lookup import search_folders, tools_folder, tools_home
from lspkit.types import Value
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import boundary_of, is_inside


class ServerRow(Value, frozen=True):
    """One server, and where it was found."""

    id: str
    languages: tuple[str, ...]
    #: `found`, `missing`, `held back`, `broken` or `disabled`.
    state: str
    #: The program; empty if it was not found.
    path: str = ""
    #: `lspkit` (installed by it), `interpreter` (beside lspkit), `project`, or `PATH`.
    where: str = ""
    #: Empty if it is not known.
    version: str = ""
    #: The version that lspkit is tested with, or `documentation`.
    verified: str = ""
    #: Why it is not used.
    reason: str = ""
    #: The command that gets it; empty if it is there.
    install: str = ""

    def __str__(self) -> str:
        if self.state == "found":
            return f"{self.version or 'version unknown'} {self.path}"
        text = f"{self.state}: {self.reason}" if self.reason else self.state
        return f"{text}; get it with: {self.install}" if self.install else text


class Scene(msgspec.Struct, frozen=True):
    """A workspace, as far as the choice of servers needs it."""

    root: str
    loaded: Loaded
    folders: list[str]
    permits: Permits


def scene_of(root: str) -> Scene:
    """The workspace at a folder. Raises `ConfigError` and `PathError`."""
    real = boundary_of(root).root
    loaded = load(real, aliases=aliases())
    trusted = loaded.standing.allows_programs
    state = "trusted" if trusted else loaded.standing.state
    permit = Permit(trusted, state, loaded.standing.remedy, loaded.vouched)
    folders = search_folders(real, trusted=trusted)
    return Scene(real, loaded, folders, lambda _: permit)


def choices_for(scene: Scene) -> dict[str, Choice]:
    """The servers for one file of each kind in the project, by id."""
    kinds, seen = Kinds(scene.loaded.config), set[str]()
    choices: dict[str, Choice] = {}
    for path in itertools.islice(walk(scene.root), ENOUGH):
        kind = kinds.kind_of(path)[1]
        if kind in seen:
            continue
        seen.add(kind)
        for choice in choose(
            path, scene.root, scene.loaded.config, scene.folders, (), scene.permits
        ):
            choices.setdefault(choice.id, choice)
    return choices


def rows_of(scene: Scene) -> Iterator[ServerRow]:
    """All servers that are defined."""
    has, installed = managers_in(scene.folders), installed_packages(tools_home())
    permit = scene.permits(scene.root)
    at = begins_at(scene.root, permit)
    for definition in definitions(scene.loaded.config):
        settings = scene.loaded.config.server(definition.id, definition.aliases)
        choice = permitted(definition, settings, scene.root, scene.root, scene.folders, permit, at)
        row = row_of(choice, hint_for(definition, has), scene.root)
        if row.state == "found" and row.where != "project":
            version, fault = version_of(definition, row.path, installed)
            state = "broken" if fault else row.state
            row = msgspec.structs.replace(row, version=version, state=state, reason=fault)
        yield row


def row_of(choice: Choice, hint: InstallHint, root: str) -> ServerRow:
    """One server. Its version is not looked for."""
    definition, path = choice.definition, choice.argv[0] if choice.argv else ""
    state, reason, install = "found", "", ""
    if choice.config.disabled:
        state = "disabled"
    elif not path:
        state, install = "missing", str(hint)
    elif choice.held_back and not choice.trust_helps:
        state, reason, install = "broken", choice.held_back, str(hint)
    elif choice.held_back:
        state, reason = "held back", choice.why_not.removeprefix("held back: ")
    return ServerRow(
        id=definition.id,
        languages=tuple(dict.fromkeys(definition.languages.values())),
        state=state,
        path=path,
        where=_where(path, root) if path else "",
        verified=definition.verified,
        reason=reason,
        install=install,
    )


def _where(path: str, root: str) -> str:
    folder = os.path.dirname(path)
    if folder == tools_folder():
        return "lspkit"
    if folder == os.path.dirname(sys.executable):
        return "interpreter"
    return "project" if is_inside(folder, root) else "PATH"


#: Languages that are shown for one server.
MOST_LANGUAGES = 3


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    rows = list(rows_of(scene_of(chosen_root(arguments.root))))
    if arguments.json:
        print_result(as_json([row.to_dict() for row in rows]))
        return CLEAN
    ids = max(len(row.id) for row in rows)
    languages = max(len(_languages(row)) for row in rows)
    print_lines([_line(row, ids, languages) for row in rows])
    return CLEAN


def _languages(row: ServerRow) -> str:
    more = len(row.languages) - MOST_LANGUAGES
    return ", ".join(row.languages[:MOST_LANGUAGES]) + (f" +{more}" if more > 0 else "")


def _line(row: ServerRow, ids: int, languages: int) -> list[Part]:
    return [
        (row.id.ljust(ids), "name"),
        ("  " + _languages(row).ljust(languages) + "  ", ""),
        (one_line(str(row)), "added" if row.state == "found" else ""),
    ]
