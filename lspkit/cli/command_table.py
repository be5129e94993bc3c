"""The commands as a table: the parser and the shell completion are made from it.

A command's module is imported when the command runs, so nothing here may import a workspace. It
has a function `run(arguments)`, which returns the exit status.
"""

from __future__ import annotations

import argparse
import functools
import os
from importlib import import_module
from typing import Any, NamedTuple

from lspkit.cli import command_parser as types


class Argument(NamedTuple):
    """One argument: its names, and the keywords of `add_argument`."""

    names: tuple[str, ...]
    keywords: dict[str, Any]


def argument(*names: str, **keywords: Any) -> Argument:
    """An argument, as `add_argument` takes it."""
    return Argument(names, keywords)


#: Metavars of paths. Shells complete them.
FILES = ("FILE", "PATH", "FILE[:LINE[:COL]]", "NAME|FILE[:LINE[:COL]]")
FOLDERS = ("DIR",)

JSON = argument("--json", action="store_true", help="print JSON")
DEFAULT_ROOT = "the workspace (default: the project around the current folder)"
ROOT = argument("--root", type=types.path, metavar="DIR", help=DEFAULT_ROOT)
NO_SERVICE = argument(
    "--no-service", action="store_true", help="start own servers, also if a service runs"
)
TIMEOUT = argument(
    "--timeout",
    type=types.seconds,
    default=60.0,
    metavar="SECONDS",
    help="for the whole call (default: 60)",
)
COMMON = (ROOT, TIMEOUT, NO_SERVICE, JSON)

POSITION = argument(
    "target",
    type=types.path,
    metavar="FILE[:LINE[:COL]]",
    help="a position, counted from 1; without a column, --symbol is needed",
)
SYMBOL = argument(
    "--symbol",
    metavar="NAME",
    help="a symbol of the file (Class.method), or, with a line, a word on that line",
)
WHAT = argument(
    "target",
    type=types.path,
    metavar="NAME|FILE[:LINE[:COL]]",
    help="a symbol of the workspace (Class.method), or a position, counted from 1; without a "
    "column, --symbol is needed",
)
AT = (WHAT, SYMBOL, *COMMON)

ALL_SERVICES = argument(
    "--all", action="store_true", help="all services of the user, not only that of the workspace"
)
SERVICE_ROOT = argument(
    "root",
    nargs="?",
    type=types.path,
    metavar="DIR",
    help=DEFAULT_ROOT,
)

#: The agents whose hook protocols are known, as in `agent_protocols.PROTOCOLS`.
AGENTS = ("claude-code", "codex", "copilot-cli", "gemini-cli")


class Command(NamedTuple):
    """One row of the table."""

    name: str
    help: str
    #: The module with the function `run`.
    module: str
    arguments: tuple[Argument, ...]
    #: The first sentences of `--help`; the help line if empty.
    description: str = ""
    #: Names of arguments of which only one may be given.
    exclusive: tuple[str, ...] = ()


QUERY_STATUS = (
    "Exit status: 0 found, 1 nothing found, 2 a mistake in the call (also a file, position or "
    "symbol that does not exist), 3 no answer (a server is missing, has failed or has not answered "
    "in time), 70 lspkit has failed."
)

#: Set to anything but the empty text: no command uses the service.
NO_SERVICE_VARIABLE = "LSPKIT_NO_SERVICE"
QUERY = "lspkit.cli.query_command"
SERVICE = "lspkit.cli.machine.serve_command"

#: About servers on this machine.
MACHINE = (
    Command(
        "install",
        "install language servers into lspkit's own folder",
        "lspkit.cli.machine.install_command",
        (
            argument("servers", nargs="*", metavar="SERVER", help="as `lspkit servers` names it"),
            argument(
                "--upgrade", action="store_true", help="replace other versions by that of lspkit"
            ),
            argument("--remove", action="store_true", help="remove them"),
            argument("--list", action="store_true", help="show what is installed"),
            JSON,
        ),
        "Install language servers, in the versions that lspkit names, into its own folder "
        "(LSPKIT_TOOLS names another one). Exit status: 0 done, 1 something could not be installed "
        "or removed, 2 a mistake in the call.",
        exclusive=("--upgrade", "--remove", "--list"),
    ),
    Command(
        "servers",
        "every server that lspkit knows: where it is, or how to get it",
        "lspkit.cli.machine.servers_command",
        (ROOT, JSON),
    ),
    Command(
        "doctor",
        "what works here, what does not, and what to do about it",
        "lspkit.cli.machine.doctor_command",
        (SERVICE_ROOT, JSON),
        "What works here, what does not, and what to do about it. No server is started. Exit "
        "status: 0 nothing is broken, 1 something is, 2 a mistake in the call. A server of a "
        "language that the project has no file of may be missing.",
    ),
)
COMMANDS = (
    Command(
        "config",
        "what is configured, and by which file",
        "lspkit.cli.config_command",
        (
            argument(
                "what",
                choices=["show", "schema", "path"],
                help="every value; the JSON Schema of the files; where the files are",
            ),
            ROOT,
            argument("--origin", action="store_true", help="also the source of each value"),
            JSON,
        ),
        "What is configured, and by which file. Exit status: 2 if a file is wrong.",
    ),
    Command(
        "trust",
        "let a project run its own programs",
        "lspkit.cli.trust_command",
        (
            argument("action", nargs="?", choices=["add", "list", "remove"], default="add"),
            argument(
                "path",
                nargs="?",
                type=types.path,
                metavar="PATH",
                help="default: the project around the current folder",
            ),
            argument(
                "--shared",
                action="store_true",
                help="also if other users can change its configuration",
            ),
            argument("--yes", action="store_true", help="do not ask"),
            argument(
                "--json",
                action="store_true",
                help="print the outcome as JSON; needs --yes to trust",
            ),
        ),
        "Let a project's own configuration and programs be used. Without arguments: the project "
        "here. What it would be allowed to run is shown first.",
    ),
    Command(
        "check",
        "fresh diagnostics of files and folders",
        "lspkit.cli.check.check_command",
        (
            argument(
                "paths",
                nargs="+",
                type=types.path,
                metavar="PATH",
                help="a file, or a folder to walk; relative to the current folder",
            ),
            ROOT,
            argument(
                "--new-since",
                type=types.revision,
                metavar="REV",
                help="only what is new since this git revision",
            ),
            argument(
                "--format",
                choices=["text", "json", "sarif", "github"],
                default="text",
                help="text (the default), JSON, SARIF 2.1.0, or annotations of GitHub Actions",
            ),
            argument(
                "--json",
                action="store_const",
                dest="format",
                const="json",
                help="the same as --format json",
            ),
            argument(
                "--severity",
                choices=["error", "warning", "info", "hint"],
                help="the mildest finding that counts (default: as configured, which is error)",
            ),
            argument(
                "--include",
                action="append",
                default=[],
                metavar="GLOB",
                help="check only files that fit; may be repeated",
            ),
            argument(
                "--exclude",
                action="append",
                default=[],
                metavar="GLOB",
                help="leave out files and folders that fit; may be repeated",
            ),
            argument("--strict", action="store_true", help="status 3 if any file has no server"),
            TIMEOUT,
            NO_SERVICE,
        ),
        "Fresh diagnostics of files and folders. Exit status: 0 clean, 1 findings, 2 a mistake in "
        "the call (also a PATH that does not exist), 3 unknown (a server did not answer, something "
        "cannot be read, a named file or every file has no server), 70 lspkit has failed.",
    ),
    Command("definition", "where a symbol is defined", QUERY, AT),
    Command(
        "references",
        "where a symbol is used",
        QUERY,
        (
            *AT,
            argument("--no-declaration", action="store_true", help="without its declaration"),
        ),
    ),
    Command("hover", "type and documentation of a symbol", QUERY, AT),
    Command("implementation", "where a symbol is implemented", QUERY, AT),
    Command(
        "symbols",
        "the outline of a file, or symbols of the workspace by name",
        QUERY,
        (
            argument(
                "target",
                nargs="?",
                type=types.path,
                metavar="FILE",
                help="the file; with --query: ask only the servers of this file",
            ),
            argument("-q", "--query", metavar="NAME", help="symbols of the workspace by name"),
            *COMMON,
        ),
    ),
    Command(
        "calls",
        "who calls a function, or what it calls",
        QUERY,
        (
            *AT,
            argument(
                "--in",
                dest="outgoing",
                action="store_false",
                default=False,
                help="who calls it (the default)",
            ),
            argument(
                "--out", dest="outgoing", action="store_true", default=False, help="what it calls"
            ),
        ),
        exclusive=("--in", "--out"),
    ),
    Command(
        "rename",
        "rename a symbol: shows the diff, and writes it with --apply",
        QUERY,
        (
            POSITION,
            argument("new_name", metavar="NEWNAME", help="the new name"),
            SYMBOL,
            argument(
                "--apply",
                action="store_true",
                help="write the files, and restore them if the edit introduces errors",
            ),
            argument(
                "--force",
                action="store_true",
                help="with --apply: write also an edit that may be incomplete",
            ),
            *COMMON,
        ),
        "Rename a symbol: shows the diff, and writes it with --apply. An edit that introduces "
        "errors is undone: status 1.",
    ),
    Command(
        "status",
        "the state of the language servers",
        "lspkit.cli.machine.status_command",
        (*COMMON, ALL_SERVICES),
        "The state of the language servers. Neither a server nor a service is started.",
    ),
    Command(
        "panel",
        "the state of the language servers, to look at and act on in a terminal",
        "lspkit.cli.machine.status_command",
        (SERVICE_ROOT, NO_SERVICE, JSON),
        "The state of the language servers in a panel with keys; ? lists them. Without a terminal: "
        "as text. The panel needs the extra: pip install 'lspkit[panel]'",
    ),
    Command(
        "tools",
        "the tools for a model, as JSON",
        "lspkit.cli.tools_command",
        (
            argument(
                "--style",
                choices=["openai", "anthropic", "mcp", "json-schema"],
                default="openai",
                help="the form of a declaration (default: openai)",
            ),
            argument(
                "--shape",
                choices=["single", "per-operation"],
                default="single",
                help="one tool for all operations, or one for each (default: single)",
            ),
            ROOT,
            argument("--json", action="store_true", help="print JSON, as always"),
        ),
        "The tools for a model, as JSON. Tools that the configuration disables are left out.",
    ),
    Command(
        "serve",
        "run the service of a workspace in the foreground",
        SERVICE,
        (
            SERVICE_ROOT,
            argument(
                "--stdio", action="store_true", help="serve one client on standard input and output"
            ),
            argument(
                "--http",
                type=types.loopback_address,
                metavar="127.0.0.1:PORT",
                help="also serve status and conversations over HTTP; port 0: any free one",
            ),
            argument("--open", action="store_true", help="open the status page in the browser"),
            argument(
                "--idle",
                type=types.seconds,
                default=900.0,
                metavar="SECONDS",
                help="end after this time without a client (default: 900)",
            ),
            argument("--started-by-client", action="store_true", help=argparse.SUPPRESS),
            argument("--json", action="store_true", help="print addresses and failures as JSON"),
        ),
        "Run the service of a workspace in the foreground: one set of warm servers for all "
        "programs. Other commands start it by themselves.",
    ),
    Command("stop", "end a service, with its servers", SERVICE, (SERVICE_ROOT, ALL_SERVICES, JSON)),
    *MACHINE,
    Command(
        "mcp",
        "serve the tools for a model over MCP, on standard input and output",
        "lspkit.cli.mcp_command",
        (
            SERVICE_ROOT,
            NO_SERVICE,
            argument(
                "--allow-apply", action="store_true", help="let the tool lsp_rename write files"
            ),
            argument(
                "--fd",
                nargs=2,
                type=int,
                metavar=("IN", "OUT"),
                help="speak MCP on these descriptors, and `serve --stdio` on standard input and "
                "output, with the same servers",
            ),
            argument("--json", action="store_true", help="print failures as JSON"),
        ),
        "Serve the tools for a model over MCP (Model Context Protocol), on standard input and "
        "output. It needs the extra: pip install 'lspkit[mcp]'",
    ),
    Command(
        "hook",
        "tell a command-line agent what its edit has broken",
        "lspkit.cli.hook_command",
        (
            argument(
                "--agent", choices=AGENTS, help="the agent (default: recognised from the input)"
            ),
            argument(
                "--root",
                type=types.path,
                metavar="DIR",
                help="the workspace (default: the project around the agent's folder)",
            ),
            argument(
                "--timeout",
                type=types.seconds,
                default=10.0,
                metavar="SECONDS",
                help="for all (default: 10)",
            ),
            NO_SERVICE,
            argument("--json", action="store_true", help="answer in JSON, as always"),
        ),
        "The hook that a command-line agent runs after a tool call. It reads the call from "
        "standard input as JSON, and answers with the errors in the edited files. Exit status: 0, "
        "also if something fails; 1 a mistake in the call.",
    ),
    Command(
        "completion",
        "a script that completes lspkit's commands in a shell",
        "lspkit.cli.completion_command",
        (
            argument("shell", choices=["bash", "zsh", "fish"], help="the shell"),
            argument("--json", action="store_true", help="print the script as JSON"),
        ),
        "A script that completes lspkit's commands in a shell. Bash: eval \"$(lspkit completion "
        'bash)"',
    ),
)


def uses_service(arguments: argparse.Namespace) -> bool:
    """Whether neither `--no-service` nor the variable forbids it."""
    return not arguments.no_service and not os.environ.get(NO_SERVICE_VARIABLE)


def add_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], only: str = ""
) -> None:
    """Add the commands of the table to the parser; if a name is given, only that one."""
    for command in [command for command in COMMANDS if only in ("", command.name)]:
        status = f" {QUERY_STATUS}" if command.module == QUERY else ""
        about = command.description or f"{command.help[0].upper()}{command.help[1:]}."
        parser = commands.add_parser(
            command.name, help=command.help, description=f"{about}{status}"
        )
        groups = [parser.add_mutually_exclusive_group()] if command.exclusive else []
        for parameter in command.arguments:
            only_one = parameter.names[0] in command.exclusive
            (groups[0] if only_one else parser).add_argument(*parameter.names, **parameter.keywords)
        parser.set_defaults(run=functools.partial(run_command, command))


def run_command(command: Command, arguments: argparse.Namespace) -> int:
    """Import the module of a command, and run it."""
    arguments.command = command.name
    status: int = import_module(command.module).run(arguments)
    return status
