"""The HTTP server of a service: its address, its threads, the file with its token, and requests.

One thread accepts connections, and each connection has a thread of its own, which serves one
request. Their number is bounded, and a connection lasts only some seconds unless it reads events.
"""

from __future__ import annotations

import contextlib
import http.server
import io
import ipaddress
import logging
import os
import re
import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import msgspec

from lspkit.config.trust.trust_store import state_folder
from lspkit.conversations import ConversationStore
from lspkit.errors import ServerUnavailableError
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.web.access import Access
from lspkit.web.endpoints import Endpoints
from lspkit.web.event_feed import EventFeed
from lspkit.web.http_message import (
    ONCE,
    ProblemError,
    RequestHead,
    Response,
    parse_target,
    problem_response,
)
from lspkit.web.workspace_registry import WorkspaceRegistry

log = logging.getLogger("lspkit.service")

#: Connections that are served at once, those that read events included.
MOST_CONNECTIONS = 48
#: Connections that wait to be accepted.
BACKLOG = 64
#: Seconds between two looks for workspaces that are not used.
LOOK_SECONDS = 5.0
#: Seconds before the next attempt to accept a connection after one that failed.
PAUSE = 0.1
#: Seconds in which a part of the request has to arrive.
REQUEST_SECONDS = 10.0
#: Seconds for a response, or an event, to be sent.
SEND_SECONDS = 10.0
#: Bytes of the request line and the headers, with the empty line at the end.
LARGEST_HEAD = 16 * 1024
#: Bytes and seconds that are spent on a body which is not used, so that the response arrives.
MOST_UNREAD, UNREAD_SECONDS = 1024 * 1024, 1.0


class Address(msgspec.Struct, frozen=True):
    """A loopback address and a port; the port 0 stands for any free one."""

    host: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """IPv4 or IPv6."""
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    @property
    def url(self) -> str:
        """Without a slash at its end."""
        return f"http://{self._name}:{self.port}"

    @property
    def _name(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    def host_headers(self) -> list[str]:
        """The values of `Host` that name this address."""
        return [f"{self._name}:{self.port}", f"localhost:{self.port}"]


def parse_address(word: str) -> Address:
    """`127.0.0.1:8080`, `[::1]:0` or `localhost:0`. Raises a `ValueError` if it is no loopback."""
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+):([0-9]{1,5})", word)
    if match is None or int(match[2]) > 65535:
        raise ValueError(f"expected 127.0.0.1:PORT, found {word!r}")
    host = "127.0.0.1" if match[1].lower() == "localhost" else match[1].strip("[]")
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ValueError(f"only this machine may reach it: 127.0.0.1:PORT, not {word!r}")
    return Address(str(ipaddress.ip_address(host)), int(match[2]))


class HttpServer(socketserver.TCPServer):
    """Listens from its construction on, until it is closed."""

    allow_reuse_address = True
    request_queue_size = BACKLOG

    def __init__(
        self,
        shared: SharedWorkspace,
        address: Address,
        token_file: str,
        keep_alive: Callable[[], None],
        *,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.address_family = address.family
        try:
            super().__init__((address.host, address.port), RequestHandler)
        except OSError as problem:
            why = f"{address.url} cannot be listened on: {problem.strerror}"
            raise ServerUnavailableError(f"{why}; port 0 takes a free one") from None
        self.timeout = LOOK_SECONDS
        #: With the real port.
        self.address = Address(address.host, self.server_address[1])
        #: Called when the service is used.
        self.keep_alive = keep_alive
        #: The file with the token, which only the user can read.
        self.token_file = token_file
        #: Why the last connection could not be accepted; empty if it was.
        self._problem = ""
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
            self.endpoints = Endpoints(self._access, self._workspaces, store)
            write_token(token_file, token)
        except BaseException:
            self.server_close()
            raise
        self._acceptor = OwnThread(self._accept_all, f"http-{self.address.port}")
        self._acceptor.start()

    def page_url(self) -> str:
        """The address of the status page, with a code that opens it once."""
        return f"{self.address.url}/?code={self._access.new_code()}"

    def _accept_all(self) -> None:
        while not self._closing:
            self.handle_request()
            self._workspaces.close_unused()

    def get_request(self) -> tuple[socket.socket, Any]:
        """The next connection.

        Without descriptors the listener stays ready: then this waits for a moment, so that there is
        no busy loop, and the problem is logged once.
        """
        try:
            connection, client = super().get_request()
        except OSError as problem:
            if str(problem) != self._problem:
                self._problem = str(problem)
                log.warning("a connection over HTTP could not be accepted: %s", problem)
            time.sleep(PAUSE)
            raise
        self._problem = ""
        return connection, client

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, if there is room for it."""
        thread = OwnThread(
            lambda: self._serve(thread, request, client_address),
            f"http-{self.address.port}-connection",
        )
        with self._lock:
            has_room = len(self._connections) < MOST_CONNECTIONS or self._drop_stranger()
            full = self._closing or not has_room
            if not full:
                self._connections[thread] = self._strangers[thread] = request
        if full:
            _refuse(request)
            return
        try:
            thread.start()
        except RuntimeError as problem:  # there are no resources for a thread
            log.warning("a connection over HTTP could not be served: %s", problem)
            self._forget(thread)
            request.close()

    def _serve(self, thread: OwnThread, connection: socket.socket, client_address: Any) -> None:
        try:
            self.finish_request(connection, client_address)
        except Exception:
            log.exception("a request over HTTP has failed")
        finally:
            self._forget(thread)
            connection.close()

    def note_token(self, connection: socket.socket) -> None:
        """The head of the request has come over this connection, and has the token."""
        with self._lock:
            for thread, stranger in list(self._strangers.items()):
                if stranger is connection:
                    del self._strangers[thread]

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
        with contextlib.suppress(OSError):  # a connection wakes the thread that waits for one
            socket.create_connection((self.address.host, self.address.port), PAUSE).close()
        self.endpoints.cancel.set()
        self._workspaces.close_streams()
        joined([self._acceptor])
        self._workspaces.close()
        joined(connections)
        self.server_close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.token_file)


class RequestHandler(http.server.BaseHTTPRequestHandler):
    """Reads one request, and writes the response. It runs as it is made."""

    server: HttpServer
    #: Of the responses.
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        """Serve one request. The connection is closed by the server."""
        with contextlib.suppress(OSError):
            self.connection.settimeout(REQUEST_SECONDS)
            response = self._respond()
            self.connection.settimeout(SEND_SECONDS)
            if isinstance(response, EventFeed):
                response.send_all(self.connection, self.server.keep_alive)
                return
            if response.status < 400:
                self.server.keep_alive()
            self._send(response)

    def _respond(self) -> Response | EventFeed:
        try:
            head = self._read_head()
            if self.server.endpoints.admit(head):
                self.server.note_token(self.connection)
            body = self.rfile.read(head.body_length)
            if len(body) < head.body_length:
                raise ConnectionError("the client has closed the connection")
            return self.server.endpoints.answer(head, body)
        except ProblemError as problem:
            return problem_response(problem)
        except TimeoutError:
            why = f"nothing has arrived for {REQUEST_SECONDS:.0f} s"
            return problem_response(ProblemError("too-slow", why))
        except OSError:
            raise
        except Exception:
            log.exception("a request over HTTP has failed")
            return problem_response(ProblemError("failed", "lspkit has failed: see its log"))

    def _read_head(self) -> RequestHead:
        data, stream = b"", self.rfile
        while not data.endswith(b"\r\n\r\n"):
            if len(data) >= LARGEST_HEAD:
                raise ProblemError("bad-request", f"the headers may have {LARGEST_HEAD} bytes")
            line = stream.readline(LARGEST_HEAD - len(data))
            if not line:
                raise ConnectionError("the client has closed the connection")
            data += line
        self.rfile = io.BytesIO(data)
        self.raw_requestline = self.rfile.readline()
        is_valid = self.parse_request() and self.request_version in ("HTTP/1.0", "HTTP/1.1")
        self.rfile = stream
        if not is_valid:
            raise ProblemError("bad-request", "the request line is not valid")
        if self.headers.defects:
            raise ProblemError("bad-request", "a header is not valid")
        for name in ONCE:
            if len(self.headers.get_all(name, ())) > 1:
                raise ProblemError("bad-request", f"the header {name} comes twice")
        headers = {name.lower(): value.strip() for name, value in self.headers.items()}
        return RequestHead(self.command, *parse_target(self.path), headers)

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> NoReturn:
        """Called by the base class for a head that it cannot parse."""
        raise ProblemError("bad-request", message or "the request is not valid")

    def _send(self, response: Response) -> None:
        """Send a response, and end the connection so that it arrives."""
        self.wfile.write(response.encode())
        self.connection.shutdown(socket.SHUT_WR)
        # To close a socket with unread data would reset the connection, and the response be lost.
        deadline, unread = time.monotonic() + UNREAD_SECONDS, 0
        while unread < MOST_UNREAD and (left := deadline - time.monotonic()) > 0:
            self.connection.settimeout(left)
            data = self.connection.recv(1 << 16)
            if not data:
                return
            unread += len(data)


def _refuse(connection: socket.socket) -> None:
    """Say that there are too many connections. Never blocks."""
    why = f"{MOST_CONNECTIONS} connections are open"
    problem = ProblemError("too-many-connections", why, **{"Retry-After": "1"})
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
