"""`lspkit status` and `lspkit panel`: the state of the language servers, as text or with keys.

`status` starts neither a server nor a service.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from lspkit.cli.check.time_limit import TimeLimit
from lspkit.cli.command_table import uses_service
from lspkit.cli.failure import CLEAN, USAGE
from lspkit.cli.machine.running_services import running_services
from lspkit.cli.machine.servers_command import choices_for, row_of, scene_of
from lspkit.cli.open_workspace import open_workspace
from lspkit.cli.output import as_json, is_terminal, print_message, print_result
from lspkit.cli.project_root import chosen_root
from lspkit.errors import LspkitError
from lspkit.install.install_hint import hint_for, managers_in
from lspkit.panel import is_installed, panel_of
from lspkit.panel import run as show_panel
from lspkit.panel.open_panel import INSTALL
from lspkit.servers.status import WorkspaceStatus, name_some, status_text
from lspkit.service.election import connect_socket
from lspkit.service.runtime_folder import bootstrap_of
from lspkit.types import to_plain

#: States of servers that have a process, or should have one.
RUNNING = ("broken", "starting", "active")
#: What has to be done before the timeout expires.
DONE_IN_TIME = "the state of the servers was known"


def run(arguments: argparse.Namespace) -> int:
    """Run one of the two commands."""
    return _run_panel(arguments) if arguments.command == "panel" else _run_status(arguments)


def _run_status(arguments: argparse.Namespace) -> int:
    limit = TimeLimit.after(arguments.began, arguments.timeout)
    plain = to_plain if arguments.json else None
    if arguments.all:
        return print_services(limit, as_data=arguments.json)
    root = chosen_root(arguments.root)
    return print_status(root, service=uses_service(arguments), as_data=plain, limit=limit)


def print_services(limit: TimeLimit, *, as_data: bool) -> int:
    """Print all services of the user that run."""
    with limit.enforced(DONE_IN_TIME):
        services = running_services()
    if as_data:
        print_result(as_json({"services": [to_plain(service) for service in services]}))
    else:
        print_result("\n".join(map(str, services)) or "no service is running")
    return CLEAN


def print_status(
    root: str,
    *,
    service: bool,
    as_data: Callable[[WorkspaceStatus], Any] | None,
    limit: TimeLimit | None = None,
) -> int:
    """Print the state as text, or as the JSON that `as_data` makes of it.

    If no service runs, none is started: it would only say that nothing runs.
    """
    limit = limit or TimeLimit.none()
    with limit.enforced(DONE_IN_TIME):
        runs = service and _service_runs(root)
        with open_workspace(root, service=runs, limit=limit) as ws:
            taken = ws.status()
        if as_data is not None:
            text = as_json(as_data(taken))
        elif taken.unavailable or any(taken.totals.get(state) for state in RUNNING):
            text = status_text(taken)
        else:
            where = f"no service is running for {ws.root}" if service and not runs else ""
            text = _idle_text(taken, str(ws.root), where)
    print_result(text)
    return CLEAN


def _service_runs(root: str) -> bool:
    """Whether there is a service, also one that cannot be reached: its client says why."""
    try:
        connection = connect_socket(bootstrap_of(root, None, None).place(os.environ, create=False))
    except LspkitError:
        return True
    if connection is None:
        return False
    connection.close()
    return True


def _idle_text(taken: WorkspaceStatus, root: str, where: str) -> str:
    """What could run for the files of the project, and what is missing for them."""
    reason = f" ({where})" if where else ""
    lines = [f"LSP servers: none is running{reason}"]
    scene = scene_of(root)
    has = managers_in(scene.folders)
    choices = choices_for(scene).values()
    rows = [row_of(choice, hint_for(choice.definition, has), scene.root) for choice in choices]
    states = {
        "available for the files here": "found",
        "held back": "held back",
        "cannot run": "broken",
        "not installed": "missing",
    }
    for what, state in states.items():
        if names := [row.id for row in rows if row.state == state]:
            helps = state in ("missing", "broken")
            more = "; `lspkit doctor` says how to get it" if helps else ""
            lines.append(f"  {what}: {name_some(names)}{more}")
    lines += [
        f"  {choice.id} is chosen because {choice.why}"
        for choice in choices
        if choice.why and choice.argv
    ]
    if not rows:
        lines.append("  no file here has a server")
    return "\n".join([*lines, *(f"  warning: {warning}" for warning in taken.warnings)])


def _run_panel(arguments: argparse.Namespace) -> int:
    """Show the panel; without a terminal print the totals and the servers that run or fail."""
    interactive = not arguments.json and is_terminal(sys.stdin, sys.stdout)
    if interactive and not is_installed():
        print_message(f"the panel needs textual, which is not installed; to get it: {INSTALL}")
        return USAGE
    root = chosen_root(arguments.root)
    if not interactive:
        plain = (lambda taken: panel_of(taken).to_dict()) if arguments.json else None
        return print_status(root, service=uses_service(arguments), as_data=plain)
    # A service is started if none runs: the panel shows what other programs do with it.
    with open_workspace(root, service=uses_service(arguments)) as ws:
        show_panel(ws)
    return CLEAN
