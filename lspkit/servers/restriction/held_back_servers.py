"""What is held back from an untrusted project, and the one line that says so.

Every interface for people shows this line: the command line on standard error, a notebook as a
warning. `config/trust/decision.py` decides whether a project is trusted, `trust_profile.py` what
each server may do in it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

from lspkit.config.load import Loaded, use_server_ids
from lspkit.config.merge import merge_layers
from lspkit.config.model import Config
from lspkit.config.parse import config_of
from lspkit.config.trust.decision import TrustDecision
from lspkit.config.trust.key_gate import EXECUTION_KEYS, blocked_content
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.project.project_files import walk
from lspkit.servers.restriction.trust_profile import PROJECT_FOLDERS, own_files
from lspkit.servers.selection.choose import aliases, argvs_of, choose, definitions
from lspkit.servers.selection.program_lookup import search_folders
from lspkit.servers.selection.roots import has_marker
from lspkit.visible_text import one_line

#: How many things are named; the rest are counted.
NAMED = 5
#: How many files are visited to find one of a language.
LOOKED_AT = 2000


def notice(loaded: Loaded) -> str:
    """The line about a project; empty if there is nothing to say.

    That is so if nothing is held back, and if the user has ruled trust out.
    """
    standing = loaded.standing
    return "" if is_silent(standing) else worded(standing, held_back(loaded))


def is_silent(standing: TrustDecision) -> bool:
    """Whether nothing is held back, or the user has ruled trust out."""
    return standing.allows_programs or standing.refused or standing.policy == "never"


def worded(standing: TrustDecision, held: Sequence[str]) -> str:
    """What is held back and what would allow it, on one line, whatever names the project uses."""
    if not held:
        return ""
    rest = len(held) - NAMED
    names = ", ".join(held[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
    state = f"no longer trusted ({standing.why})" if standing.state == "stale" else "not trusted"
    line = f"{standing.candidate} is {state}; held back: {names}. To allow it: {standing.remedy}"
    return one_line(line)


def held_back(loaded: Loaded) -> list[str]:
    """What would run, or run differently, if the project were trusted."""
    if not loaded.config.enabled:
        return []
    folder = loaded.standing.candidate
    content = blocked_content(loaded.project, EXECUTION_KEYS)
    # The running interpreter's folder is always searched, even if it is the project's.
    searched = {os.path.realpath(path) for path in search_folders(folder, environ=loaded.environ)}
    programs = [
        program
        for program in (*programs_of(folder, content), *files_of(folder, loaded))
        if os.path.realpath(os.path.join(folder, os.path.dirname(program))) not in searched
    ]
    return [*loaded.held_back, *programs, *servers_of(folder, loaded)]


def programs_of(folder: str, content: Mapping[str, Any]) -> list[str]:
    """Programs in the project that would be used as a server.

    `content` are keys that only a trusted project may set: they may name unknown programs.
    """
    names = {command[0] for definition in BUILT_IN for command in definition.launch.commands}
    for entry in content.get("lsp", {}).values():
        names.update(word for word in entry.get("command", [])[:1] if isinstance(word, str))
    return [
        f"{place}/{name}"
        for place in map("/".join, PROJECT_FOLDERS)
        for name in sorted(names)
        if "/" not in name and os.path.isfile(os.path.join(folder, place, name))
    ]


def files_of(folder: str, loaded: Loaded) -> dict[str, str]:
    """Files of the project that a server runs or takes commands from, with the server's id.

    These servers do not use them in an untrusted project. Servers that do not run are left out: an
    interpreter in the project matters only to a server that would start it.
    """
    files: dict[str, str] = {}
    config = _if_trusted(loaded)
    for definition in definitions(config):
        own = own_files(definition, folder)
        if own and _is_chosen(folder, definition, config, loaded.environ):
            files |= {file: definition.id for file in own if file not in files}
    return files


def _if_trusted(loaded: Loaded) -> Config:
    """The configuration including what is held back."""
    if not loaded.held_back:
        return loaded.config
    return config_of(merge_layers(loaded.values, use_server_ids(loaded.project, aliases())))


def _is_chosen(
    folder: str, definition: Definition, config: Config, environ: Mapping[str, str]
) -> bool:
    """Whether the server would run for a file of its language, if the project were trusted."""
    name = next(iter(definition.languages), "")
    path = os.path.join(folder, f"a{name}" if name.startswith(".") else name)
    chosen = choose(path, folder, config, search_folders(folder, environ=environ))
    return any(choice.id == definition.id and choice.argv for choice in chosen)


def servers_of(folder: str, loaded: Loaded) -> list[str]:
    """Servers that the project is set up for, and that need trust to run in it.

    A server that the program itself has configured needs no marker in the project.
    """
    folders = search_folders(folder, environ=loaded.environ)
    is_given = loaded.global_file is None
    ids = []
    for definition in definitions(loaded.config):
        server_config = loaded.config.server(definition.id, definition.aliases)
        if (
            definition.trust.untrusted is not None
            or server_config.disabled
            or definition.id in loaded.vouched
        ):
            continue
        meant = (is_given and server_config.selects) or _is_set_up(folder, definition)
        if meant and any(argvs_of(definition, folders)) and _is_complete(definition, folders):
            ids.append(definition.id)
    return ids


def _is_complete(definition: Definition, folders: list[str]) -> bool:
    return isinstance(adapter_of(definition).complete(definition, folders), Definition)


def _is_set_up(folder: str, definition: Definition) -> bool:
    """Whether the folder has markers or files of the server's languages."""
    if not has_marker(folder, definition.roots.only_with or definition.roots.markers):
        return False
    if not definition.roots.shares_markers:
        return True
    names = map(os.path.basename, itertools.islice(walk(folder), LOOKED_AT))
    return any(definition.language_of(name) is not None for name in names)
