"""The environment that a server runs in."""

from __future__ import annotations

import os
from collections.abc import Mapping

from lspkit.servers import Choice
from lspkit.servers.restriction.launch_environment import clean_environment
from lspkit.workspace_boundary import project_tree


def environment_of(
    choice: Choice,
    scratch: dict[str, str],
    workspace: str,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """The user's variables, those of the configuration, and those for an untrusted project."""
    made = {**environ, **scratch, **choice.config.env}
    if choice.permit.trusted:
        return made
    restricted = choice.definition.trust.untrusted
    made |= restricted.environment if restricted is not None else {}
    # No program of the project, nor one that happens to be in the current folder.
    # The server's own temporary folder is kept, wherever it lies.
    own = {name: value for name, value in scratch.items() if made[name] == value}
    return made | clean_environment(made, project_tree(workspace)) | own
