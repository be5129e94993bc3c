"""`lspkit panel`: the state of the servers, on a terminal as a panel with keys."""

from __future__ import annotations

import argparse
import sys

from lspkit.cli.arguments.project_root import chosen_root
from lspkit.cli.command_table import uses_service
from lspkit.cli.exit_codes import CLEAN, USAGE
from lspkit.cli.open_workspace import open_workspace
from lspkit.cli.output import is_terminal, print_message
from lspkit.cli.panel.status_command import print_status
from lspkit.panel import is_installed, panel_of
from lspkit.panel import run as show_panel
from lspkit.panel.open_panel import INSTALL


def run(arguments: argparse.Namespace) -> int:
    """Show the panel; without a terminal print the totals and the servers that run or fail."""
    interactive = not arguments.json and is_terminal(sys.stdin, sys.stdout)
    if interactive and not is_installed():
        print_message(f"the panel needs textual, which is not installed; to get it: {INSTALL}")
        return USAGE
    root = chosen_root(arguments.root)
    if not interactive:
        plain = (lambda taken: panel_of(taken).to_dict()) if arguments.json else None
        return print_status(root, service=uses_service(arguments), as_data=plain)
    # A service is started if none runs: the panel shows what other programs do with it.
    with open_workspace(root, service=uses_service(arguments)) as ws:
        show_panel(ws)
    return CLEAN
