"""`lspkit serve` and `lspkit stop`: the service of a workspace."""

from __future__ import annotations

import argparse
import logging
import os
import threading
import time
from typing import TYPE_CHECKING

from lspkit.cli.command_parser import UsageError
from lspkit.cli.failure import CLEAN
from lspkit.cli.output import as_json, print_message, print_result
from lspkit.cli.project_root import chosen_root
from lspkit.service.election import (
    BOOTSTRAP_VARIABLE,
    SERVERS_PYTHONPATH,
    connect_socket,
    service_pid,
)
from lspkit.service.process_end import END_TIMEOUT
from lspkit.service.runtime_folder import Bootstrap, Place, bootstrap_of, read_bootstrap
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import boundary_of

if TYPE_CHECKING:
    from lspkit.service.service_process import ServiceProcess
    from lspkit.web.http_server import Address

#: Seconds to wait for a service to end, before it is killed. It has the time to kill itself.
STOP_TIMEOUT = END_TIMEOUT + 3.0


def run(arguments: argparse.Namespace) -> int:
    """Run one of the two commands."""
    return serve(arguments) if arguments.command == "serve" else stop(arguments)


def serve(arguments: argparse.Namespace) -> int:
    """Run the service in this process until it ends."""
    from lspkit.service import service_process  # here: `stop` does not need it

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    address = _http_address(arguments)
    from_variable = arguments.stdio or arguments.started_by_client
    bootstrap = service_bootstrap(arguments.root, from_variable=from_variable)
    if arguments.stdio:
        service_process.serve_stdio(bootstrap)
        return CLEAN
    place = bootstrap.place(os.environ)
    if not arguments.started_by_client:
        _refuse_a_second(bootstrap, place)

    def on_ready(process: service_process.ServiceProcess) -> None:
        if not arguments.started_by_client:
            print_message(f"serving {bootstrap.workspace_root} at {place.socket} (Ctrl-C ends it)")
        if address is not None:
            _open_http(process, address, place.token, arguments)

    reason = service_process.serve_socket(
        bootstrap, place, idle_timeout=arguments.idle, on_ready=on_ready
    )
    print_message(f"the service has ended: {reason}")
    return CLEAN


def _refuse_a_second(bootstrap: Bootstrap, place: Place) -> None:
    """Raises if a service runs: this one would wait for its end, and serve nobody."""
    connection = connect_socket(place)
    if connection is not None:
        with connection:
            raise UsageError(
                f"a service for {bootstrap.workspace_root} is running already (process "
                f"{service_pid(connection)}); to end it, run: lspkit stop"
            )


def _http_address(arguments: argparse.Namespace) -> Address | None:
    """The address of `--http`; raises a `UsageError` if it cannot be used."""
    if arguments.open and not arguments.http:
        raise UsageError("--open needs --http: lspkit serve --http 127.0.0.1:0 --open")
    if arguments.stdio and arguments.http:
        raise UsageError("--http cannot be used together with --stdio")
    if not arguments.http:
        return None
    from lspkit.web.http_server import parse_address  # here: most services do not need it

    try:
        return parse_address(arguments.http)
    except ValueError as problem:
        raise UsageError(str(problem)) from None


def _open_http(
    process: ServiceProcess, address: Address, token_file: str, arguments: argparse.Namespace
) -> None:
    """Serve HTTP until the service ends, and say where."""
    from lspkit.web.http_server import HttpServer  # here: most services do not need it

    server = HttpServer(process.shared, address, token_file, process.keep_alive)
    process.add_endpoint(server)
    more = "" if arguments.open else " (--open opens the page in a browser)"
    print_message(f"HTTP at {server.address.url}/ with the token in {token_file}{more}")
    if arguments.json:
        print_result(as_json({"url": server.address.url, "tokenFile": token_file}, indent=None))
    if arguments.open:
        url = server.page_url()
        # A browser in the terminal would hold up the service.
        threading.Thread(target=lambda: _open_page(url), daemon=True).start()


def _open_page(url: str) -> None:
    import webbrowser  # here: most services do not need it

    if not webbrowser.open(url):
        print_message(f"no browser was found; this address works once: {url}")


def service_bootstrap(root: str | None, *, from_variable: bool) -> Bootstrap:
    """From the variable, if it is set and may be used. The servers must not get it."""
    text = os.environ.pop(BOOTSTRAP_VARIABLE, None)
    python_path = os.environ.pop(SERVERS_PYTHONPATH, None)
    if python_path is not None:
        os.environ["PYTHONPATH"] = python_path
    if text is not None and from_variable:
        return read_bootstrap(text)
    return _bootstrap_of(chosen_root(root))


def _bootstrap_of(root: str) -> Bootstrap:
    boundary_of(root)  # raises if it is no folder
    return bootstrap_of(root, None, None)


def stop(arguments: argparse.Namespace) -> int:
    """End the services of a workspace, or all, with their servers. One that hangs is killed."""
    from lspkit.cli.machine.running_services import running_services  # here: `serve` is quick

    if arguments.all:
        return _stop_all(as_data=arguments.json)
    bootstrap = _bootstrap_of(chosen_root(arguments.root))
    connection = connect_socket(bootstrap.place(os.environ, create=False))
    root, messages = bootstrap.workspace_root, list[str]()
    if connection is not None:
        with connection:
            messages.append(f"the service for {root} {_end_process(service_pid(connection))}")
    for service in running_services():
        if service.root == root:
            ended = _end_process(service.pid)
            messages.append(f"the service for {root} with another configuration {ended}")
    message = "; ".join(messages) or f"no service is running for {root}"
    plain = {"root": root, "stopped": bool(messages), "message": message}
    print_result(as_json(plain) if arguments.json else one_line(message))
    return CLEAN


def _stop_all(*, as_data: bool) -> int:
    """End all services of the user."""
    from lspkit.cli.machine.running_services import running_services  # here: `serve` is quick

    plain: list[dict[str, object]] = []
    for service in running_services():
        name = (
            f"the service for {service.root}"
            if service.root
            else f"the service at {service.socket}"
        )
        message = f"{name} {_end_process(service.pid)}"
        plain.append(
            {"root": service.root, "pid": service.pid, "stopped": True, "message": message}
        )
        if not as_data:
            print_result(one_line(message))
    if as_data:
        print_result(as_json({"services": plain}))
    elif not plain:
        print_result("no service is running")
    return CLEAN


def _end_process(pid: int) -> str:
    """End a process, if necessary by SIGKILL; returns what has happened."""
    import psutil  # here: `serve` does not need it

    try:
        process = psutil.Process(pid)
        process.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT
        # The program that has started the service may not have waited for it.
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() >= deadline:
                process.kill()
                return "did not end, and was killed"
            time.sleep(0.02)
    except psutil.NoSuchProcess:
        pass  # it has ended meanwhile
    return "has ended"
