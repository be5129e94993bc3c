"""The real language servers that tests talk to, as `tools/set_up_servers.py` installed them.

A test names the server it needs with `require(id)` and starts it with `command(id)` and
`environment(id)`. A server that is not there skips the test by name; the ones of `NEVER_SKIP`
can be had everywhere, and with CI=true or LSPKIT_REQUIRE_SERVERS=1 their absence is a failure.
`require_program(name)` is the same for a program of `.servers/bin`. At the end of a run
`server_summary.py` lists what was missing, and counts the tests by what is said here.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest

SERVERS = Path(__file__).resolve().parent.parent / ".servers"

#: Launchers of all programs, to put in front of PATH where a test lets lspkit look for itself.
PROGRAMS = SERVERS / "bin"

#: eslint and TypeScript 5.9, for fixture projects that link to them as their own `node_modules`.
NODE_MODULES = SERVERS / "node" / "node_modules"

#: Servers whose tests must run wherever the ordinary package registries can be reached.
NEVER_SKIP = frozenset(
    {
        "pyright",
        "basedpyright",
        "ty",
        "ruff",
        "typescript",
        "typescript-7",
        "eslint",
        "clangd",
        "gopls",
        "rust-analyzer",
        "bash",
    }
)

#: The same of programs that are no servers.
NEVER_SKIP_PROGRAMS = frozenset({"mcp-inspector"})

#: Servers that run the program of one server with the package of another.
MADE_OF = {"vue-typescript": ("typescript", "vue")}

NO_SET_UP = "no .servers/servers.json; `make servers` installs them"


def command(server: str) -> list[str]:
    """The argument vector that starts the server; all paths are absolute."""
    return list(_entry(server)["command"])


def environment(server: str) -> dict[str, str]:
    """This process's environment with what the server needs on top."""
    return {**os.environ, **_entry(server)["env"]}


def version(server: str) -> str:
    """The version that was installed."""
    return str(_entry(server)["version"])


def require(server: str) -> None:
    """Skips the test when the server is not there, or fails it where it has to be there."""
    for part in MADE_OF.get(server, (server,)):
        reason = why_missing(part)
        if reason is not None and part in NEVER_SKIP and servers_are_required():
            pytest.fail(f"no server {part}, which must be there: {reason}", pytrace=False)
        if reason is not None:
            pytest.skip(f"no server {part}: {reason}")


def require_program(name: str) -> None:
    """Skips the test when the program is not there, or fails it where it has to be there."""
    row = programs().get(name, {"missing": NO_SET_UP})
    if "missing" in row and name in NEVER_SKIP_PROGRAMS and servers_are_required():
        pytest.fail(f"no program {name}, which must be there: {row['missing']}", pytrace=False)
    if "missing" in row:
        pytest.skip(f"no program {name}: {row['missing']}")


def why_missing(server: str) -> str | None:
    """The reason why the server is not there, or None when it is."""
    entries = servers()
    if not entries:
        return NO_SET_UP
    if server not in entries:
        raise KeyError(f"no server {server!r} in servers.json; it knows {', '.join(entries)}")
    missing = entries[server].get("missing")
    return None if missing is None else str(missing)


def known() -> set[str]:
    """The servers that can be installed for tests, also those that are not there."""
    return set(servers())


def servers_are_required() -> bool:
    """Whether a missing server is a failure rather than a reason to skip."""
    return os.environ.get("CI") == "true" or os.environ.get("LSPKIT_REQUIRE_SERVERS") == "1"


def _entry(server: str) -> dict[str, Any]:
    require(server)
    return servers()[server]


def servers() -> dict[str, dict[str, Any]]:
    """Each server with its version and how to start it, or why it is missing."""
    return _entries(SERVERS / "servers.json")


def programs() -> dict[str, dict[str, Any]]:
    """The same of each program in `PROGRAMS`, also of those that are no servers."""
    return _entries(SERVERS / "programs.json")


@functools.cache
def _entries(file: Path) -> dict[str, dict[str, Any]]:
    try:
        text = file.read_text()
    except FileNotFoundError:
        return {}
    entries: dict[str, dict[str, Any]] = json.loads(text)
    return entries
