"""The command line. Each command has its own module, imported when it is used."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from lspkit.agent.hooks.agent_protocols import AGENTS
from lspkit.cli import argument_types as words
from lspkit.cli import trust_command as trust
from lspkit.cli.exit_codes import FAILED, INTERRUPTED, MISUSED_HOOK, USAGE
from lspkit.cli.output import (
    OutputError,
    escape_unprintable,
    flush_output,
    print_message,
    print_traceback,
)
from lspkit.errors import LspkitError, PathError
from lspkit.version import VERSION
from lspkit.visible_text import one_line

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status. Tracebacks are shown only with `--debug`.

    Failures of the output do not change the status of a check.
    """
    escape_unprintable()
    arguments = argparse.Namespace(debug=False, command=None)
    try:
        try:
            return _run(_parser(), argv, arguments)
        finally:
            flush_output()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ending:  # of the parser
        if ending.code == USAGE and arguments.command == "hook":
            return MISUSED_HOOK
        raise
    except Exception as problem:  # noqa: BLE001  every failure is reported here
        status = _report_failure(problem, debug=arguments.debug)
        return MISUSED_HOOK if arguments.command == "hook" else status


def _run(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None, arguments: argparse.Namespace
) -> int:
    """Parse the command line into `arguments`, and run the command."""
    parser.parse_args(argv, arguments)
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


def _report_failure(problem: Exception, *, debug: bool) -> int:
    """Print a failure, with the traceback if `debug`, and return the exit status."""
    if debug:
        print_traceback(problem)
    if isinstance(problem, LspkitError):
        print_message(str(problem))
        return USAGE
    if isinstance(problem, OutputError):
        print_message(str(problem))
        return FAILED
    more = "" if debug else "; run with --debug to see more"
    what = one_line(f"{type(problem).__name__}: {problem}")
    print_message(f"this should not have happened: {what}{more}")
    return FAILED


class _Parser(argparse.ArgumentParser):
    """Prints errors on one line: an argument may be a file name with any characters."""

    def error(self, message: str) -> NoReturn:
        super().error(one_line(message))


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog="lspkit", description="Code intelligence from real language servers."
    )
    parser.add_argument("--version", action="version", version=f"lspkit {VERSION}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    _add_check(commands)
    _add_config(commands)
    _add_service(commands)
    _add_hook(commands)
    trust.add_parser(commands)
    for command in commands.choices.values():
        # Also after the command, where users add it after a failure.
        command.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks"
        )
    return parser


def _add_check(commands: _Commands) -> None:
    check = commands.add_parser(
        "check",
        help="fresh diagnostics of files and folders",
        description="Fresh diagnostics of files and folders. Exit status: 0 clean, 1 findings, "
        "2 a mistake in the call (also a PATH that does not exist), 3 unknown (a server is missing "
        "or did not answer, or something cannot be read), 70 lspkit has failed.",
    )
    check.add_argument(
        "paths", nargs="+", type=words.path, metavar="PATH", help="a file, or a folder to walk"
    )
    check.add_argument(
        "--root",
        type=words.path,
        metavar="DIR",
        help="the workspace (default: the current folder)",
    )
    check.add_argument("--format", choices=["text", "json"], default="text")
    check.add_argument("--json", action="store_const", dest="format", const="json")
    check.add_argument(
        "--severity",
        choices=["error", "warning", "info", "hint"],
        help="the mildest finding that counts (default: as configured, which is error)",
    )
    check.add_argument(
        "--timeout",
        type=words.seconds,
        default=60.0,
        metavar="SECONDS",
        help="for all (default: 60)",
    )
    check.set_defaults(run=_check)


def _add_config(commands: _Commands) -> None:
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
    config.add_argument("--root", type=words.path, default=".", metavar="DIR", help="the workspace")
    config.add_argument("--origin", action="store_true", help="also the source of each value")
    config.add_argument("--json", action="store_true")


def _add_service(commands: _Commands) -> None:
    serve = commands.add_parser(
        "serve",
        help="run the service of a workspace in the foreground",
        description="Run the service of a workspace in the foreground: one set of warm servers for "
        "all programs. Other commands start it by themselves.",
    )
    serve.add_argument("root", nargs="?", type=words.path, metavar="ROOT")
    serve.add_argument(
        "--stdio", action="store_true", help="serve one client on standard input and output"
    )
    serve.add_argument(
        "--idle",
        type=words.seconds,
        default=900.0,
        metavar="SECONDS",
        help="end after this time without a client (default: 900)",
    )
    serve.add_argument("--started-by-client", action="store_true", help=argparse.SUPPRESS)
    serve.set_defaults(run=_serve)
    stop = commands.add_parser("stop", help="end the service of a workspace, with its servers")
    stop.add_argument("root", nargs="?", type=words.path, metavar="ROOT")
    stop.set_defaults(run=_stop)


def _serve(arguments: argparse.Namespace) -> int:
    from lspkit.cli import serve_command  # here, so that `--version` and `--help` stay quick

    return serve_command.serve(arguments)


def _stop(arguments: argparse.Namespace) -> int:
    from lspkit.cli import serve_command  # as above

    return serve_command.stop(arguments)


def _add_hook(commands: _Commands) -> None:
    hook = commands.add_parser(
        "hook",
        help="tell a command-line agent what its edit has broken",
        description="The hook that a command-line agent runs after a tool call. It reads the call "
        "from standard input as JSON, and answers with the errors in the edited files. Exit "
        "status: 0, also if something fails; 1 a mistake in the call.",
    )
    hook.add_argument(
        "--agent", choices=AGENTS, help="the agent (default: recognised from the input)"
    )
    hook.add_argument(
        "--root",
        type=words.path,
        metavar="DIR",
        help="the workspace (default: the git work tree of the agent's folder)",
    )
    hook.add_argument(
        "--timeout",
        type=words.seconds,
        default=10.0,
        metavar="SECONDS",
        help="for all (default: 10)",
    )
    hook.add_argument("--no-service", action="store_true", help="start servers for this call only")
    hook.set_defaults(run=_hook)


def _check(arguments: argparse.Namespace) -> int:
    from lspkit.cli import (
        check_command as check,  # here, so that `--version` and `--help` stay quick
    )

    return check.run(arguments)


def _config(arguments: argparse.Namespace) -> int:
    from lspkit.cli import (
        config_command as config,  # here, so that `--version` and `--help` stay quick
    )

    return config.run(arguments)


def _hook(arguments: argparse.Namespace) -> int:
    from lspkit.cli import (
        hook_command as hook,  # here, so that `--version` and `--help` stay quick
    )

    return hook.run(arguments)
