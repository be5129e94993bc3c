"""`lspkit serve` and `lspkit stop`: the service of a workspace."""

from __future__ import annotations

import argparse
import logging
import os
import time

from lspkit.cli.exit_codes import CLEAN
from lspkit.cli.output import as_json, print_message, print_result
from lspkit.service.election import BOOTSTRAP_VARIABLE, connect_socket, service_pid
from lspkit.service.runtime_folder import Bootstrap, bootstrap_of, read_bootstrap
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import boundary_of

#: Seconds to wait for a service to end, before it is killed.
END_TIMEOUT = 5.0


def run(arguments: argparse.Namespace) -> int:
    """Run one of the two commands."""
    return serve(arguments) if arguments.command == "serve" else stop(arguments)


def serve(arguments: argparse.Namespace) -> int:
    """Run the service in this process until it ends."""
    from lspkit.service import service_process  # here: `stop` does not need it

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    from_variable = arguments.stdio or arguments.started_by_client
    bootstrap = service_bootstrap(arguments.root, from_variable=from_variable)
    if arguments.stdio:
        service_process.serve_stdio(bootstrap)
        return CLEAN
    place = bootstrap.place(os.environ)
    if not arguments.started_by_client:
        print_message(f"serving {bootstrap.workspace_root} at {place.socket}; Ctrl-C ends it")
    reason = service_process.serve_socket(bootstrap, place, idle_timeout=arguments.idle)
    print_message(f"the service has ended: {reason}")
    return CLEAN


def service_bootstrap(root: str | None, *, from_variable: bool) -> Bootstrap:
    """From the variable, if it is set and may be used. The servers must not get it."""
    text = os.environ.pop(BOOTSTRAP_VARIABLE, None)
    if text is not None and from_variable:
        return read_bootstrap(text)
    return _bootstrap_of(root or os.curdir)


def _bootstrap_of(root: str) -> Bootstrap:
    boundary_of(root)  # raises if it is no folder
    return bootstrap_of(root, None, None)


def stop(arguments: argparse.Namespace) -> int:
    """End the service of a workspace, with its servers. One that hangs is killed."""
    bootstrap = _bootstrap_of(arguments.root or os.curdir)
    found = connect_socket(bootstrap.place(os.environ, create=False))
    root = bootstrap.workspace_root
    if found is None:
        message = f"no service is running for {root}"
    else:
        with found:
            message = f"the service for {root} {_end_process(service_pid(found))}"
    plain = {"root": root, "stopped": found is not None, "message": message}
    print_result(as_json(plain) if arguments.json else one_line(message))
    return CLEAN


def _end_process(pid: int) -> str:
    """End a process, if necessary by SIGKILL; returns what has happened."""
    import psutil  # here: `serve` does not need it

    try:
        process = psutil.Process(pid)
        process.terminate()
        deadline = time.monotonic() + END_TIMEOUT
        # The program that has started the service may not have waited for it.
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() >= deadline:
                process.kill()
                return "did not end, and was killed"
            time.sleep(0.02)
    except psutil.NoSuchProcess:
        pass  # it has ended meanwhile
    return "has ended"
