"""Opens the workspace of a command."""

from __future__ import annotations

from lspkit.cli.config_command import print_warnings
from lspkit.cli.trust_command import offer_trust
from lspkit.config.load import load
from lspkit.servers.selection.choose import aliases
from lspkit.workspace import Workspace


def open_workspace(root: str, *, service: bool) -> Workspace:
    """The workspace at a folder, to be used in a `with` statement.

    First come the warnings about its configuration, and the question or notice about trust. With
    `service`, a running service may answer; at present the servers always run in this process.
    """
    loaded = load(root, aliases=aliases())
    print_warnings(loaded)
    offer_trust(root, loaded)
    return Workspace(root)
