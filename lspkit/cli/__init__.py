"""The command line. Each command has its own module, imported when it is used."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Sequence

from lspkit.cli import process_start
from lspkit.cli.command_parser import CommandParser, parse_all
from lspkit.cli.command_table import add_commands
from lspkit.cli.failure import INTERRUPTED, MISUSED_HOOK, USAGE, report_failure
from lspkit.cli.output import escape_unprintable, flush_output
from lspkit.errors import PathError
from lspkit.version import VERSION


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status. Tracebacks are shown only with `--debug`.

    Failures of the output do not change the status of a check.
    """
    escape_unprintable()
    given = sys.argv[1:] if argv is None else argv
    own_process = argv is None
    # The timeout of a command begins when its process does. A program may call this at any time.
    began = process_start.process_start() if own_process else time.monotonic()
    arguments = argparse.Namespace(debug=False, command=None, began=began)
    try:
        try:
            return _run(build_parser(*given[:1]), given, arguments)
        finally:
            flush_output()
            if own_process:
                # The process ends now: a search for garbage among all objects would only take time.
                gc.freeze()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ending:  # of the parser
        if ending.code == USAGE and arguments.command == "hook":
            return MISUSED_HOOK
        raise
    except Exception as problem:  # noqa: BLE001  every failure is reported here
        status = report_failure(problem, given, arguments)
        return MISUSED_HOOK if arguments.command == "hook" else status


def _run(
    parser: argparse.ArgumentParser, argv: Sequence[str], arguments: argparse.Namespace
) -> int:
    """Parse the command line into `arguments`, and run the command."""
    parse_all(parser, argv, arguments)
    if not hasattr(arguments, "run"):
        parser.print_help()
        return USAGE
    try:
        os.getcwd()
    except OSError as problem:
        message = f"the current folder cannot be used: {problem.strerror}; change to another one"
        raise PathError(message, path=os.curdir) from None
    status: int = arguments.run(arguments)
    return status


def build_parser(only: str = "") -> argparse.ArgumentParser:
    """The parser of all commands; if one of them is named, of it alone, which takes less time."""
    parser: argparse.ArgumentParser = CommandParser(
        prog="lspkit", description="Code intelligence from real language servers."
    )
    parser.add_argument("--version", action="version", version=f"lspkit {VERSION}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    add_commands(commands, only)
    if not commands.choices:
        return build_parser()
    for command in commands.choices.values():
        # Also after the command, where users add it after a failure.
        command.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks"
        )
    return parser
