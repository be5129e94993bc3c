"""The command line. Each command is a module of its own, imported when it is asked for."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence

from lspkit.cli import trust
from lspkit.cli.statuses import INTERRUPTED, USAGE
from lspkit.errors import LspkitError
from lspkit.version import VERSION


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status. No traceback reaches the user without `--debug`."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] | None = getattr(arguments, "run", None)
    if run is None:
        parser.print_help()
        return USAGE
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files may be any bytes
    try:
        return run(arguments)
    except LspkitError as problem:
        if arguments.debug:
            raise
        print(f"lspkit: {problem}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lspkit", description="Code intelligence from real language servers."
    )
    parser.add_argument("--version", action="version", version=f"lspkit {VERSION}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="fresh diagnostics of files and folders",
        description="Fresh diagnostics of files and folders. Exit status: 0 clean, 1 findings, "
        "2 a mistake in the call, 3 unknown (a server is missing or did not answer).",
    )
    check.add_argument("paths", nargs="+", metavar="PATH", help="a file, or a folder to walk")
    check.add_argument("--root", metavar="DIR", help="the workspace (default: the current folder)")
    check.add_argument("--format", choices=["text", "json"], default="text")
    check.add_argument("--json", action="store_const", dest="format", const="json")
    check.add_argument(
        "--severity",
        choices=["error", "warning", "info", "hint"],
        help="the mildest finding that counts (default: as configured, which is error)",
    )
    check.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS", help="for all (default: 60)"
    )
    check.set_defaults(run=_check)
    config = commands.add_parser(
        "config",
        help="what is configured, and by which file",
        description="What is configured, and by which file. Exit status: 2 if a file is wrong.",
    )
    config.set_defaults(run=_config)
    config.add_argument(
        "what",
        choices=["show", "schema", "path"],
        help="every value; the JSON Schema of the files; where the files are",
    )
    config.add_argument("--root", default=".", metavar="DIR", help="the workspace")
    config.add_argument("--origin", action="store_true", help="also who has said it")
    config.add_argument("--json", action="store_true")
    trust.add_parser(commands)
    return parser


def _check(arguments: argparse.Namespace) -> int:
    from lspkit.cli import check  # here, so that `--version` and `--help` stay quick

    return check.run(arguments)


def _config(arguments: argparse.Namespace) -> int:
    from lspkit.cli import config  # here, so that `--version` and `--help` stay quick

    return config.run(arguments)
