"""`lspkit mcp`: the tools for a model, over MCP."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import logging
import os
import sys

from lspkit.cli.command_parser import UsageError
from lspkit.cli.command_table import uses_service
from lspkit.cli.failure import CLEAN
from lspkit.cli.machine.serve_command import service_bootstrap
from lspkit.cli.open_workspace import open_workspace
from lspkit.cli.output import is_terminal, print_message
from lspkit.cli.project_root import chosen_root

EXTRA = "lspkit[mcp]"


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client closes the input, or a signal comes."""
    if importlib.util.find_spec("mcp") is None:
        raise UsageError(f"the MCP SDK is not installed; to get it: pip install '{EXTRA}'")
    logging.basicConfig(level=logging.WARNING, format="lspkit: %(message)s")
    # A warning about each request that the client cancels is of no use.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    try:
        return _serve_alone(arguments) if arguments.fd is None else _serve_both(arguments)
    except ImportError as problem:
        why = f"the MCP SDK cannot be used ({problem}); to get another version: "
        raise UsageError(f"{why}pip install --upgrade '{EXTRA}'") from problem


def _serve_alone(arguments: argparse.Namespace) -> int:
    if is_terminal(sys.stdin):
        print_message("this is an MCP server, which a client starts; Ctrl-C ends it")
    # Here: it takes more than a second.
    from lspkit.mcp.mcp_process import serve_alone, take_standard_streams

    root = chosen_root(arguments.root)
    opening = functools.partial(open_workspace, root, service=uses_service(arguments))
    serve_alone(take_standard_streams(), opening, allow_apply=arguments.allow_apply)
    return CLEAN


def _serve_both(arguments: argparse.Namespace) -> int:
    """MCP on two further descriptors, and the service on standard input and output."""
    _check_descriptors(*arguments.fd)
    bootstrap = service_bootstrap(arguments.root, from_variable=True)
    from lspkit.mcp.mcp_process import serve_beside  # here: it takes long
    from lspkit.mcp.wire_streams import Descriptors
    from lspkit.service.service_process import serve_stdio

    # One socket may be both.
    wire = Descriptors(arguments.fd[0], os.dup(arguments.fd[1]))
    if arguments.fd[1] != arguments.fd[0]:
        os.close(arguments.fd[1])
    allow = arguments.allow_apply
    serve_stdio(bootstrap, lambda shared: serve_beside(wire, shared, allow_apply=allow))
    return CLEAN


def _check_descriptors(*descriptors: int) -> None:
    for descriptor in descriptors:
        if descriptor <= 2:
            raise UsageError(f"--fd {descriptor}: standard streams are for the service")
        try:
            os.set_inheritable(descriptor, False)  # language servers must not keep it open
        except OSError as problem:
            raise UsageError(f"--fd {descriptor} cannot be used: {problem.strerror}") from None
