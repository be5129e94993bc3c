"""All services of the user that run: for `lspkit status --all` and `lspkit stop --all`."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import msgspec

from lspkit.errors import ServerUnavailableError
from lspkit.protocol.wire import messages
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.service.client import Ready, read_ready
from lspkit.service.election import connect_path, service_pid
from lspkit.service.peer import Message, Peer
from lspkit.service.runtime_folder import runtime_folder, runtime_folders
from lspkit.visible_text import count, one_line

#: Seconds for a service to answer.
ANSWER_TIMEOUT = 2.0


class RunningService(msgspec.Struct, frozen=True):
    """A service that listens on its socket."""

    #: Its workspace and its version of lspkit; empty if it does not answer.
    root: str
    version: str
    pid: int
    #: `serving`; `full` if it refuses further clients; `silent` if it does not answer.
    state: str
    #: The number of its clients; None if it does not tell.
    clients: int | None
    socket: str

    def __str__(self) -> str:
        if self.state != "serving":
            what = "has no room for another client" if self.state == "full" else "does not answer"
            return f"process {self.pid} {what} ({one_line(self.socket)})"
        facts = [f"process {self.pid}", f"lspkit {one_line(self.version)}"]
        facts += [] if self.clients is None else [count(self.clients, "client")]
        return f"{one_line(self.root)}: {', '.join(facts)}"


def running_services() -> list[RunningService]:
    """The services that clients with this environment use, whatever their workspace."""
    folders = runtime_folders(os.environ)
    paths = [str(path) for folder in folders for path in Path(folder).glob("*.sock")]
    services = [
        service
        for service in map(_look_at, paths)
        if service is not None and _is_used(service, folders[0])
    ]
    return sorted(services, key=lambda service: (service.root, service.pid))


def _is_used(service: RunningService, first: str) -> bool:
    """Whether clients with this environment look for a service where it is.

    Most look in the first folder, and those whose project contains that folder in a later one. The
    others there were started with another `XDG_RUNTIME_DIR`, perhaps to keep them apart.
    """
    folder = os.path.dirname(service.socket)
    if not service.root:
        return folder == first
    try:
        return folder == runtime_folder(os.environ, service.root, create=False)
    except ServerUnavailableError:
        return False


def _look_at(path: str) -> RunningService | None:
    """The service on a socket; None if none listens there."""
    try:
        connection = connect_path(path)
    except ServerUnavailableError:
        return None
    return None if connection is None else _ask(connection, path)


def _ask(connection: socket.socket, path: str) -> RunningService:
    """Ask a service about itself, as one more client."""
    pid, ready, status = service_pid(connection), Waiter(), Waiter()

    def take(_: Peer, message: Message) -> None:
        if isinstance(message, messages.ResponseMessage | messages.ErrorResponse):
            status.complete(message)
        elif isinstance(message, messages.NotificationMessage):
            if message.method == "lsp/ready":
                ready.complete(read_ready(message.params or b"null"))
            elif message.method == "lsp/refused":
                ready.complete("full")

    def end(_: Peer) -> None:
        ready.complete(None)
        status.complete(None)

    peer = Peer(connection, take, end, "service")
    peer.start()
    try:
        ready.wait(ANSWER_TIMEOUT)
        answer = ready.value
        if not isinstance(answer, Ready):
            return RunningService("", "", pid, answer or "silent", None, path)
        peer.send(messages.request(1, "lsp/status"))
        status.wait(ANSWER_TIMEOUT)
        return RunningService(
            answer.root, answer.version, pid, "serving", _client_count(status.value), path
        )
    finally:
        peer.close()


def _client_count(answer: Any) -> int | None:
    """How many clients there are without this one; an earlier version does not tell."""
    if not isinstance(answer, messages.ResponseMessage):
        return None
    number = msgspec.json.decode(answer.result).get("service", {}).get("clients")
    return number - 1 if isinstance(number, int) else None
