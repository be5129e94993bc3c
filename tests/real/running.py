"""Starting a real server: under lspkit, or under the raw client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lspkit
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.projects import PROJECTS
from tests.real.raw_client import RawClient

#: Generous: the tests must pass on a machine that is busy with other things.
TIMING = {"initializeTimeoutMs": 60_000, "requestTimeoutMs": 60_000}


def command(server: str, arguments: Sequence[str] | None = None) -> list[str]:
    """The command of a server, with what its test project needs."""
    more = PROJECTS[server].arguments if arguments is None else arguments
    return [*real_servers.command(server), *more]


def environment(folder: Path, server: str) -> dict[str, str]:
    """The environment of a server, with a folder beside the project for its temporary files.

    typescript-language-server leaves two empty folders there, also after a `shutdown` and `exit`
    that it took its time for. That is no leak of lspkit's.
    """
    temporary = folder.with_name(folder.name + "-tmp")
    temporary.mkdir(exist_ok=True)
    return {**real_servers.environment(server), "TMPDIR": str(temporary)}


def workspace(
    folder: Path,
    server: str,
    *,
    encoding: str | None = None,
    argv: Sequence[str] | None = None,
    more: Mapping[str, Any] | None = None,
    trusted: bool | None = None,
) -> lspkit.Workspace:
    """A workspace in which this server runs, and no other; `more` is for its entry."""
    said: dict[str, Any] = {
        "command": list(argv or command(server)),
        "env": environment(folder, server),
        "disabled": False,
        **(more or {}),
    }
    if encoding is not None:
        said["positionEncodings"] = [encoding]
    # The linter would run beside a type checker, if it is installed.
    config = {"lsp": {server: said, "ruff": {"disabled": True}}, "timing": TIMING}
    return lspkit.Workspace(folder, config=config, trusted=trusted)


def workspace_with(folder: Path, commands: Mapping[str, Sequence[str]]) -> lspkit.Workspace:
    """A workspace in which these servers run, set up as lspkit would, and no other."""
    said = {
        server: {
            "command": list(argv),
            "env": environment(folder, server),
            "disabled": False,
        }
        for server, argv in commands.items()
    }
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id not in commands}
    return lspkit.Workspace(folder, config={"lsp": others | said, "timing": TIMING})


def raw_client(
    folder: Path, server: str, encoding: str, argv: Sequence[str] | None = None
) -> RawClient:
    """The same server, for the other side of a comparison."""
    return RawClient(argv or command(server), folder, environment(folder, server), encoding)
