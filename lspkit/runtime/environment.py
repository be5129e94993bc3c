"""The environment that a server runs in."""

from __future__ import annotations

import os

from lspkit.servers import Choice
from lspkit.servers.permitting import clean_environment


def made(choice: Choice, scratch: dict[str, str], workspace: str) -> dict[str, str]:
    """The user's, with what the definition and the configuration add."""
    definition = choice.definition
    made = {**os.environ, **definition.environment, **scratch, **choice.config.env}
    if choice.permit.trusted:
        return made
    # Not a program that lies in the project, nor one that happens to be where it starts.
    made |= definition.restricted.environment if definition.restricted is not None else {}
    return made | clean_environment(made, workspace)
