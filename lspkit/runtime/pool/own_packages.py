"""The packages that a server itself consists of."""

from __future__ import annotations

import os

from lspkit.runtime.process.usage import files_of_command
from lspkit.runtime.server.server import Server
from lspkit.servers.project.package_folders import NODE
from lspkit.workspace_boundary import is_inside


def holds_own_program(server: Server, folder: str, workspace: str) -> bool:
    """Whether a folder holds the packages of a running server, and none of the project.

    TypeScript registers for all packages around it: thousands of folders, which take long to read
    and do not change. A folder above the workspace may also hold packages of the project.
    """
    if os.path.basename(folder) != NODE or is_inside(workspace, os.path.dirname(folder)):
        return False
    connection = server.channel.connection
    # Often a script starts the program: then only the process knows where that is.
    started = files_of_command(connection.child.pid) if connection is not None else []
    return any(is_inside(os.path.realpath(one), folder) for one in (*server.choice.argv, *started))
