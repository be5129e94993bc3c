"""`lspkit tools`: the tools for a model, as JSON."""

from __future__ import annotations

import argparse

from lspkit.agent import tool_schemas
from lspkit.cli.failure import FOUND, NOTHING_FOUND
from lspkit.cli.output import as_json, print_message, print_result, print_warnings
from lspkit.cli.project_root import chosen_root
from lspkit.config.load import load
from lspkit.servers.selection.choose import aliases
from lspkit.workspace_boundary import boundary_of


def run(arguments: argparse.Namespace) -> int:
    """Print the tools that the configuration allows, and return the exit status."""
    root = chosen_root(arguments.root)
    boundary_of(root)  # raises if it is not a folder
    loaded = load(root, aliases=aliases())
    print_warnings(loaded.warning_lines)
    tools = tool_schemas(arguments.style, arguments.shape, config=loaded.config)
    print_result(as_json(tools))
    if not tools:
        print_message("the configuration disables all tools")
    return FOUND if tools else NOTHING_FOUND
