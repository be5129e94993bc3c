"""`lspkit panel`: the state of the servers, on a terminal as a panel with keys."""

from __future__ import annotations

import argparse
import os
import sys

from lspkit.cli.command_table import uses_service
from lspkit.cli.exit_codes import CLEAN, USAGE
from lspkit.cli.open_workspace import open_workspace
from lspkit.cli.output import as_json, is_terminal, print_message, print_result
from lspkit.panel import is_installed, panel_of
from lspkit.panel import run as show_panel
from lspkit.panel.open_panel import INSTALL


def run(arguments: argparse.Namespace) -> int:
    """Show the panel; without a terminal print the totals and the servers that run or fail."""
    interactive = not arguments.json and is_terminal(sys.stdin, sys.stdout)
    if interactive and not is_installed():
        print_message(f"the panel needs textual, which is not installed; to get it: {INSTALL}")
        return USAGE
    with open_workspace(arguments.root or os.curdir, service=uses_service(arguments)) as ws:
        if interactive:
            show_panel(ws)
        elif arguments.json:
            print_result(as_json(panel_of(ws.status()).to_dict()))
        else:
            print_result(ws.status_text())
    return CLEAN
