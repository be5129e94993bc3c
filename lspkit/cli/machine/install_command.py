"""`lspkit install`: language servers in lspkit's own folder."""

from __future__ import annotations

import argparse

from lspkit.cli.command_parser import UsageError
from lspkit.cli.failure import CLEAN, FINDINGS, ending_by_signals
from lspkit.cli.output import as_json, print_message, print_result
from lspkit.install.installation import Outcome, UnknownServerError, install, listed, remove
from lspkit.servers.selection.program_lookup import tools_home
from lspkit.types import to_plain
from lspkit.visible_text import one_line


def run(arguments: argparse.Namespace) -> int:
    """Install, remove or list; returns the exit status."""
    if bool(arguments.servers) == arguments.list:
        raise UsageError("name the servers to install (`lspkit servers` lists them)")
    try:
        with ending_by_signals():
            outcomes = _act(arguments, tools_home())
    except UnknownServerError as problem:
        raise UsageError(str(problem)) from None
    if arguments.json:
        print_result(as_json({"folder": tools_home(), "servers": list(map(_as_data, outcomes))}))
    else:
        lines = [one_line(str(outcome)) for outcome in outcomes]
        nothing = f"nothing is installed in {one_line(tools_home())}"
        print_result("\n".join(lines) or f"{nothing}; lspkit servers lists what can be")
    return FINDINGS if any(outcome.failed for outcome in outcomes) else CLEAN


def _act(arguments: argparse.Namespace, home: str) -> list[Outcome]:
    if arguments.list:
        return listed(home)
    if arguments.remove:
        return remove(arguments.servers, home, print_message)
    return install(arguments.servers, home, print_message, upgrade=arguments.upgrade)


def _as_data(outcome: Outcome) -> dict[str, object]:
    plain: dict[str, object] = to_plain(outcome)
    return plain
