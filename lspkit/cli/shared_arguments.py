"""The arguments that several commands have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

from lspkit.cli import argument_types as types


class Argument(NamedTuple):
    """One argument: its names, and the keywords of `add_argument`."""

    names: tuple[str, ...]
    keywords: dict[str, Any]


def argument(*names: str, **keywords: Any) -> Argument:
    """An argument, as `add_argument` takes it."""
    return Argument(names, keywords)


#: Metavars of paths. Shells complete them.
FILES, FOLDERS = ("FILE", "PATH", "FILE[:LINE[:COL]]"), ("DIR",)

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
AT = (POSITION, SYMBOL, *COMMON)

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
