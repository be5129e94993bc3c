"""`lspkit serve` and `lspkit stop`: the service of a workspace."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import time

from lspkit.cli.exit_codes import CLEAN
from lspkit.cli.output import print_message, print_result
from lspkit.errors import PathError, ServerUnavailableError
from lspkit.service.election import BOOTSTRAP_VARIABLE, connect_socket
from lspkit.service.runtime_folder import Bootstrap, bootstrap_of, read_bootstrap

#: Seconds to wait for a service to end, before it is killed.
END_TIMEOUT = 5.0


def run(arguments: argparse.Namespace) -> int:
    """Run one of the two commands."""
    return serve(arguments) if arguments.command == "serve" else stop(arguments)


def serve(arguments: argparse.Namespace) -> int:
    """Run the service in this process until it ends."""
    from lspkit.service import service_process  # here: `stop` does not need it

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    bootstrap = _bootstrap(arguments)
    if arguments.stdio:
        service_process.serve_stdio(bootstrap)
        return CLEAN
    place = bootstrap.place(os.environ)
    if not arguments.started_by_client:
        print_message(f"serving {bootstrap.workspace_root} at {place.socket}; Ctrl-C ends it")
    reason = service_process.serve_socket(bootstrap, place, idle_timeout=arguments.idle)
    print_message(f"the service has ended: {reason}")
    return CLEAN


def _bootstrap(arguments: argparse.Namespace) -> Bootstrap:
    """From the variable, if it is set: the servers must not get it."""
    text = os.environ.pop(BOOTSTRAP_VARIABLE, None)
    if text is not None and (arguments.stdio or arguments.started_by_client):
        return read_bootstrap(text)
    root = arguments.root or os.curdir
    if not os.path.isdir(root):
        raise PathError(f"{root} is no folder", path=root)
    return bootstrap_of(root, None, None)


def stop(arguments: argparse.Namespace) -> int:
    """End the service of a workspace, with its servers."""
    from lspkit.service.client import Client  # here, to keep `--help` quick

    bootstrap = bootstrap_of(arguments.root or os.curdir, None, None)
    place = bootstrap.place(os.environ)
    found = connect_socket(place)
    if found is None:
        print_result(f"no service is running for {bootstrap.workspace_root}")
        return CLEAN
    found.close()
    client = Client(bootstrap.workspace_root)
    try:
        client.start()
        pid = client.ready.pid if client.ready is not None else 0
        client.shutdown()
    except ServerUnavailableError:
        pid = 0  # it has ended meanwhile
    finally:
        client.close()
    if pid and not _ended(pid):
        os.kill(pid, signal.SIGKILL)
    print_result(f"the service for {bootstrap.workspace_root} has ended")
    return CLEAN


def _ended(pid: int) -> bool:
    deadline = time.monotonic() + END_TIMEOUT
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except OSError:
            return True
        time.sleep(0.02)
    return False
