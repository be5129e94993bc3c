"""The packages that a server itself consists of."""

from __future__ import annotations

import os
from collections.abc import Iterator

from lspkit.runtime.process.usage import files_of_command
from lspkit.runtime.server.server import Server
from lspkit.servers.project.project_files import NODE
from lspkit.workspace_boundary import is_inside


def holds_own_program(server: Server, folder: str, workspace: str) -> bool:
    """Whether a folder holds the packages of a running server, and none of the project.

    TypeScript registers for all packages around it: thousands of folders, which take long to read
    and do not change.
    """
    if os.path.basename(folder) != NODE or is_inside(folder, workspace):
        return False
    if any(os.path.realpath(one) == os.path.realpath(folder) for one in _searched(server.root)):
        return False
    connection = server.channel.connection
    # Often a script starts the program: then only the process knows where that is.
    started = files_of_command(connection.child.pid) if connection is not None else []
    words = [one for one in (*server.choice.argv, *started) if os.path.isabs(one)]
    return any(is_inside(os.path.realpath(one), folder) for one in words)


def _searched(root: str) -> Iterator[str]:
    """The folders in which a project looks for packages; they may be links to another place."""
    here, above = "", root
    while above != here:
        yield os.path.join(above, NODE)
        here, above = above, os.path.dirname(above)
