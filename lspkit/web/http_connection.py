"""One connection: reads one request within a deadline, and writes the response."""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Callable

from lspkit.web.endpoints import Endpoints
from lspkit.web.event_feed import EventFeed
from lspkit.web.http_message import (
    END_OF_HEAD,
    LARGEST_HEAD,
    Response,
    parse_head,
    problem_response,
)
from lspkit.web.problem_document import ProblemError

log = logging.getLogger("lspkit.service")

#: Called when the service is used.
KeepAlive = Callable[[], None]

#: Seconds for the whole request to arrive.
REQUEST_SECONDS = 10.0
#: Seconds for a response, or an event, to be sent.
SEND_SECONDS = 10.0
#: Bytes and seconds that are spent on a body which is not used, so that the response arrives.
MOST_UNREAD, UNREAD_SECONDS = 1024 * 1024, 1.0


class ClosedByPeerError(Exception):
    """The client has closed the connection before its request was complete."""


def serve_connection(
    connection: socket.socket,
    endpoints: Endpoints,
    keep_alive: KeepAlive,
    on_admitted: Callable[[], object],
) -> None:
    """Serve one request. The connection is closed by the caller.

    `on_admitted` is called when the head has come and has the token.
    """
    try:
        with contextlib.suppress(OSError, ClosedByPeerError):
            response = _respond(connection, endpoints, on_admitted)
            if isinstance(response, EventFeed):
                connection.settimeout(SEND_SECONDS)
                response.send_all(connection, keep_alive)
                return
            if response.status < 400:
                keep_alive()
            send_response(connection, response)
    except Exception:
        log.exception("a request over HTTP has failed")


def _respond(
    connection: socket.socket, endpoints: Endpoints, on_admitted: Callable[[], object]
) -> Response | EventFeed:
    try:
        deadline = time.monotonic() + REQUEST_SECONDS
        data, rest = _read_head(connection, deadline)
        head = parse_head(data)
        if endpoints.admit(head):
            on_admitted()
        length = head.body_length
        while len(rest) < length:
            rest += _receive(connection, deadline)
        return endpoints.answer(head, rest[:length])
    except ProblemError as problem:
        return problem_response(problem)
    except (OSError, ClosedByPeerError):
        raise
    except Exception:
        log.exception("a request over HTTP has failed")
        return problem_response(ProblemError("failed", "lspkit has failed: see its log"))


def _read_head(connection: socket.socket, deadline: float) -> tuple[bytes, bytes]:
    """The head without its end, and what has come after it."""
    data = b""
    while END_OF_HEAD not in data:
        if len(data) >= LARGEST_HEAD:
            raise ProblemError("bad-request", f"the headers may have {LARGEST_HEAD} bytes")
        data += _receive(connection, deadline)
    head, _, rest = data.partition(END_OF_HEAD)
    return head, rest


def _receive(connection: socket.socket, deadline: float) -> bytes:
    left = deadline - time.monotonic()
    try:
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        data = connection.recv(LARGEST_HEAD)
    except TimeoutError:
        told = f"the request did not arrive within {REQUEST_SECONDS:.0f} s"
        raise ProblemError("too-slow", told) from None
    if not data:
        raise ClosedByPeerError
    return data


def send_response(connection: socket.socket, response: Response) -> None:
    """Send a response, and end the connection so that it arrives."""
    connection.settimeout(SEND_SECONDS)
    connection.sendall(response.encode())
    connection.shutdown(socket.SHUT_WR)
    # To close a socket with unread data would reset the connection, and the response be lost.
    deadline, unread = time.monotonic() + UNREAD_SECONDS, 0
    while unread < MOST_UNREAD and (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        data = connection.recv(1 << 16)
        if not data:
            return
        unread += len(data)
