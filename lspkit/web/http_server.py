"""The HTTP server of a service: its socket, its threads, and the file with its token.

One thread accepts connections, and each connection has a thread of its own. Their number is
bounded, and a connection lasts only some seconds unless it reads events.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import selectors
import socket
import threading
from collections.abc import Callable, Mapping

from lspkit.config.trust.trust_store import state_folder
from lspkit.conversations import ConversationStore
from lspkit.errors import ServerUnavailableError
from lspkit.runtime.concurrency.acceptor import Acceptor
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.web.access import Access
from lspkit.web.endpoints import Endpoints
from lspkit.web.http_address import Address
from lspkit.web.http_connection import serve_connection
from lspkit.web.http_message import problem_response
from lspkit.web.problem_document import ProblemError
from lspkit.web.workspace_registry import WorkspaceRegistry

log = logging.getLogger("lspkit.service")

#: Connections that are served at once, those that read events included.
MOST_CONNECTIONS = 48
#: Connections that wait to be accepted.
BACKLOG = 64
#: Seconds between two looks for workspaces that are not used.
LOOK_SECONDS = 5.0


class HttpServer:
    """Listens from its construction on, until it is closed."""

    def __init__(
        self,
        shared: SharedWorkspace,
        address: Address,
        token_file: str,
        keep_alive: Callable[[], None],
        *,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._listener = _listen(address)
        #: With the real port.
        self.address = Address(address.host, self._listener.getsockname()[1])
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._accepting = Acceptor(self._listener, self._wake_reader, "a connection over HTTP")
        self._selector = selectors.DefaultSelector()
        for one in (self._listener, self._wake_reader):
            self._selector.register(one, selectors.EVENT_READ)
        self._keep_alive = keep_alive
        #: The file with the token, which only the user can read.
        self.token_file = token_file
        #: Guards the fields below, and those of the registry of workspaces.
        self._lock = threading.Lock()
        self._connections: dict[OwnThread, socket.socket] = {}
        #: Those that have not shown the token so far, in the order of their arrival.
        self._strangers: dict[OwnThread, socket.socket] = {}
        self._closing = False
        try:
            token = secrets.token_urlsafe(32)
            self._access = Access(self.address.host_headers(), token)
            self._workspaces = WorkspaceRegistry(shared, self._lock, environ)
            store = ConversationStore(state_folder(environ))
            self._endpoints = Endpoints(self._access, self._workspaces, store)
            write_token(token_file, token)
        except BaseException:
            self._close_sockets()
            raise
        self._acceptor = OwnThread(self._accept_all, f"http-{self.address.port}")
        self._acceptor.start()

    def page_url(self) -> str:
        """The address of the status page, with a code that opens it once."""
        return f"{self.address.url}/?code={self._access.new_code()}"

    def _accept_all(self) -> None:
        while not self._closing:
            ready = [key.fileobj for key, _ in self._selector.select(LOOK_SECONDS)]
            if self._listener in ready and not self._closing:
                self._accept()
            self._workspaces.close_unused()

    def _accept(self) -> None:
        connection = self._accepting.accept()
        if connection is None:
            return
        thread = OwnThread(
            lambda: self._serve(thread, connection), f"http-{self.address.port}-connection"
        )
        with self._lock:
            has_room = len(self._connections) < MOST_CONNECTIONS or self._drop_stranger()
            full = self._closing or not has_room
            if not full:
                self._connections[thread] = self._strangers[thread] = connection
        if full:
            _refuse(connection)
            return
        try:
            thread.start()
        except RuntimeError as problem:  # there are no resources for a thread
            log.warning("a connection over HTTP could not be served: %s", problem)
            self._forget(thread)
            connection.close()

    def _serve(self, thread: OwnThread, connection: socket.socket) -> None:
        try:
            serve_connection(
                connection, self._endpoints, self._keep_alive, lambda: self._note_token(thread)
            )
        finally:
            self._forget(thread)
            connection.close()

    def _note_token(self, thread: OwnThread) -> None:
        with self._lock:
            self._strangers.pop(thread, None)

    def _drop_stranger(self) -> bool:
        """End the oldest connection that has not shown the token. Called with the lock.

        Many slow ones would keep out those who have it.
        """
        oldest = next(iter(self._strangers), None)
        if oldest is None:
            return False
        with contextlib.suppress(OSError):
            self._strangers.pop(oldest).shutdown(socket.SHUT_RDWR)
        return True

    def _forget(self, thread: OwnThread) -> None:
        with self._lock:
            self._connections.pop(thread, None)
            self._strangers.pop(thread, None)

    def close(self) -> None:
        """End all connections, and close all workspaces but the service's own."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            connections = dict(self._connections)
            # With the lock, so that a connection is not closed and its descriptor used again.
            for connection in connections.values():
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._wake_writer.send(b"\0")
        self._endpoints.cancel.set()
        self._workspaces.close_streams()
        joined([self._acceptor])
        self._workspaces.close()
        joined(connections)
        self._close_sockets()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.token_file)

    def _close_sockets(self) -> None:
        for one in (self._selector, self._listener, self._wake_reader, self._wake_writer):
            one.close()


def _listen(address: Address) -> socket.socket:
    made = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address.host, address.port))
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError as problem:
        made.close()
        told = f"{address.url} cannot be listened on: {problem.strerror}; port 0 takes a free one"
        raise ServerUnavailableError(told) from None
    return made


def _refuse(connection: socket.socket) -> None:
    """Say that there are too many connections. Never blocks."""
    told = f"{MOST_CONNECTIONS} connections are open"
    problem = ProblemError("too-many-connections", told, **{"Retry-After": "1"})
    with connection, contextlib.suppress(OSError):
        connection.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            connection.recv(1 << 16)  # unread data would reset the connection
        connection.send(problem_response(problem).encode())


def write_token(file: str, token: str) -> None:
    """Write the token to a new file. An old one may have been left by a service that was killed."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(file)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(file, flags, 0o600)
    with open(descriptor, "w", encoding="ascii") as stream:
        stream.write(token)
