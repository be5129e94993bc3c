"""Which programs run beside a server: those in its configuration, or implied by it.

Some servers know a project only from a file that another program keeps up to date. The
configuration names such programs under `watch`; without it, the initialization options of a server
may still imply one. Programs are looked up here, and run by `runtime/process/sidecar.py`.
`SidecarStatus` (`status.py`) is the state of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import msgspec

from lspkit.config import ServerConfig
from lspkit.servers.definition import Definition
from lspkit.servers.restriction.trust_profile import program_folders
from lspkit.servers.selection.choose import Choice
from lspkit.servers.selection.program_lookup import find_program
from lspkit.visible_text import one_line

Command = tuple[str, ...]


class Commands(msgspec.Struct, frozen=True):
    """The programs to run, and why others do not."""

    #: Program (an absolute path) and arguments, for each sidecar.
    commands: tuple[Command, ...] = ()
    #: For status: a sentence for each program that cannot or may not run.
    warnings: tuple[str, ...] = ()


def commands_of(choice: Choice, folders: list[str]) -> Commands:
    """The programs to run beside a chosen server, from the folders that its permit allows."""
    folders = program_folders(choice.root, choice.permit, folders)
    trusted = choice.permit.trusted
    return commands(choice.definition, choice.config, choice.root, folders, trusted=trusted)


def commands(
    definition: Definition,
    config: ServerConfig,
    root: str,
    folders: Sequence[str],
    *,
    trusted: bool,
) -> Commands:
    """The programs to run beside a server in this root.

    `definition` is the server's after configuration, `folders` are where programs are looked for.
    A relative program starts from the root, where it runs. A missing one causes a warning, and the
    others still run.
    """
    wanted = list(config.watch) or _source_map(definition.launch.initialization)
    if not wanted:
        return Commands()
    if not trusted:
        shown = ", ".join(f"`{one_line(' '.join(command))}`" for command in wanted)
        reason = "the project is not trusted; `lspkit trust` would allow it"
        return Commands(warnings=(f"{definition.id} runs without {shown} in {root}: {reason}",))
    argvs: list[Command] = []
    warnings: list[str] = []
    for command in wanted:
        program = find_program(command[0], folders, root)
        if program is not None:
            argvs.append((program, *command[1:]))
        else:
            warnings.append(_missing(definition.id, command, root))
    return Commands(tuple(argvs), tuple(warnings))


def _missing(server: str, command: Command, root: str) -> str:
    shown, program = one_line(" ".join(command)), one_line(command[0])
    return (
        f"{server} runs without `{shown}` in {root}: {program} was not found. Install it where "
        "PATH leads to it, or give its full path under `watch`"
    )


def _source_map(initialization: Any) -> list[Command]:
    """The command that writes a Rojo source map, if a server relies on its client for that.

    For any server id: users give luau-lsp other names.
    """
    settings = initialization
    for key in ("luau-lsp", "sourcemap"):
        settings = settings.get(key) if isinstance(settings, dict) else None
    if not isinstance(settings, dict):
        return []
    project, target = settings.get("rojoProjectFile"), settings.get("sourcemapFile")
    wanted = settings.get("autogenerate") is True and settings.get("enabled") is not False
    if not wanted or not _is_path(project):
        return []
    output = target if _is_path(target) else "sourcemap.json"
    return [("rojo", "sourcemap", project, "--watch", "-o", output)]


def _is_path(value: object) -> TypeGuard[str]:
    # A value with a leading dash would be an option of the program.
    return isinstance(value, str) and value != "" and value[0] != "-" and "\0" not in value
