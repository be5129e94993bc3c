"""`Client`: a connection to the service, which is started when it is first needed.

A client is `never-started`, `alive` or `dead`. A dead one stays dead, unless it may restart.
"""

from __future__ import annotations

import itertools
import logging
import os
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from lspkit.errors import ServerUnavailableError, WorkspaceClosedError
from lspkit.msgspec_types import make_decoder
from lspkit.protocol.wire import messages
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.engine_api import event_stream
from lspkit.servers.status import WorkspaceEvent
from lspkit.service.election import connect_or_start, log_tail, reap_services
from lspkit.service.peer import Message, Peer
from lspkit.service.runtime_folder import ConfigLike, bootstrap_of
from lspkit.service.wire_values import decode_error, decode_plain

log = logging.getLogger("lspkit.service")

#: Seconds to wait for the service to be ready.
READY_TIMEOUT = 10.0
#: Seconds beyond a timeout, and after a cancel, to wait for the service's own answer about it. A
#: service that is alive needs some milliseconds for a short one.
GRACE = 0.4
#: Seconds for an answer that takes no work of servers, but may be long.
ANSWER_TIMEOUT = 5.0
#: Variables that decide which programs are found.
COMPARED = ("PATH", "VIRTUAL_ENV")
#: The error if another program listens in place of the service.
BAD_READY = (
    "what listens at the socket of the service is no service of lspkit, or a broken one: it says "
    "`lsp/ready` with parameters that cannot be read"
)
#: The error of calls in a block of `overlay` whose service has ended.
OVERLAY_LOST = (
    "the service has ended, and with it the texts that `overlay` has shown: leave the block, and "
    "begin it again to show them to a new service"
)
#: Seconds before a full service is asked again.
BUSY_RETRY = 0.05

State = Literal["never-started", "alive", "dead"]


class Ready(msgspec.Struct, frozen=True, rename="camel"):
    """What the service says when it is ready."""

    version: str
    pid: int
    root: str
    #: Variables of the service, to compare with those of a client.
    environment: dict[str, str] = {}


read_ready = make_decoder(Ready).decode
_event = make_decoder(WorkspaceEvent)


class PendingCall:
    """A request without an answer so far."""

    __slots__ = ("client", "number", "peer", "waiter")

    def __init__(self, client: Client, peer: Peer, number: int) -> None:
        self.client, self.peer, self.number = client, peer, number
        #: Completed with the answer, or with an exception.
        self.waiter = Waiter()

    def __enter__(self) -> PendingCall:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Nobody waits for it any more; after an exception, the service need not finish it."""
        try:
            if kind is not None:
                self.cancel()
        finally:
            self.forget()

    def cancel(self) -> None:
        """Ask the service to end the call early. The answer still comes."""
        self.peer.send(messages.notification("$/cancelRequest", {"id": self.number}))

    def forget(self) -> None:
        """Ignore the answer."""
        self.client._pending.pop(self.number, None)

    def result(self) -> bytes:
        """The raw result; raises the error. Only after the waiter is complete."""
        answer = self.waiter.value
        if isinstance(answer, messages.ResponseMessage):
            return answer.result
        if isinstance(answer, messages.ErrorResponse):
            raise decode_error(answer.data, answer.message)
        raise answer


class Client:
    """A connection to the service of a workspace. All methods are thread-safe."""

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        config: ConfigLike = None,
        trusted: bool | None = None,
        restart: bool = False,
        ready_timeout: float = READY_TIMEOUT,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._bootstrap = bootstrap_of(root, config, trusted)
        self._restart = restart
        self._ready_timeout = ready_timeout
        self._environ = environ
        self._numbers = itertools.count(1)
        #: Held by the thread that connects to the service. What follows changes by atomic steps.
        self._starting = threading.Lock()
        #: At most one: of the threads that notice the end of the connection, one removes it.
        self._connected: set[Peer] = set()
        #: Connections that are over, and whose threads have to be joined.
        self._left: set[Peer] = set()
        #: Why the last connection has ended, or was not made; empty if neither has happened.
        self._reason = ""
        #: Why there will be no connection any more; empty as long as there may be.
        self._closed = ""
        #: By number. Adding and removing are atomic.
        self._pending: dict[int, PendingCall] = {}
        #: Those who watch the workspace. Adding and removing are atomic.
        self._streams: set[EventStream[WorkspaceEvent]] = set()
        #: What the service said when it was ready.
        self.ready: Ready | None = None
        #: How the client's environment differs from that of the service; empty if it does not.
        self.notice = ""

    def __repr__(self) -> str:
        return f"<Client {self._bootstrap.workspace_root}: {self.state}>"

    @property
    def state(self) -> State:
        """`never-started`, `alive` or `dead`."""
        if self._connected:
            return "alive"
        return "dead" if self._closed or self._reason else "never-started"

    def is_alive(self) -> bool:
        """Whether the service answers this client."""
        return bool(self._connected)

    # Calls

    def call(self, method: str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Send a request to the service, and wait for its result as plain values."""
        with self.begin(method, params) as pending:
            left = float("inf") if timeout is None else timeout + GRACE
            if not pending.waiter.wait(left):
                raise ServerUnavailableError("the service does not answer")
        return decode_plain(pending.result())

    def begin(self, method: str, params: Any = None, *, over: Peer | None = None) -> PendingCall:
        """Send a request. Starts the service if that has not been done.

        Parameters may be `msgspec.Raw`: then they are not encoded again. A request that depends on
        what was sent over one connection fails over another one.
        """
        peer = self._connection()
        if over is not None and over is not peer:
            raise ServerUnavailableError(OVERLAY_LOST)
        number = next(self._numbers)
        pending = self._pending[number] = PendingCall(self, peer, number)
        encode = messages.raw_request if type(params) is msgspec.Raw else messages.request
        if not peer.send(encode(number, method, params)):
            self._pending.pop(number, None)
            self._ended(peer)
            raise self._dead_error()
        if peer not in self._connected:  # it ended before the request was registered
            self._pending.pop(number, None)
            pending.waiter.complete(self._dead_error())
        return pending

    # The connection

    def start(self) -> None:
        """Connect to the service, and start it if none runs."""
        self._connection()

    @property
    def _peer(self) -> Peer | None:
        """The connection, if there is one."""
        return next(iter(self._connected.copy()), None)

    def _connection(self) -> Peer:
        peer = self._peer
        if peer is not None:
            return peer
        with self._starting:
            peer = self._peer
            if peer is not None:
                return peer
            if self._closed or (self._reason and not self._restart):
                raise self._dead_error()
            self._close_left()
            try:
                return self._connect()
            except BaseException as problem:
                self._reason = str(problem) or "the service was not reached"
                raise

    def _connect(self) -> Peer:
        deadline = time.monotonic() + self._ready_timeout
        place = self._bootstrap.place(self._environ)
        why = "the service does not say that it is ready"
        while True:
            made = connect_or_start(place, self._bootstrap, self._environ, deadline)
            peer = self._use(made, deadline)
            if isinstance(peer, Peer):
                return peer
            why = peer or why
            if time.monotonic() >= deadline:
                raise ServerUnavailableError(f"{why}. {log_tail(place)}")
            time.sleep(BUSY_RETRY)

    def _use(self, connection: socket.socket, deadline: float) -> Peer | str:
        """Use this connection as soon as the service is ready. Otherwise returns why it is not.

        The reason is empty if the service has said nothing.
        """
        ready = Waiter()
        peer = Peer(
            connection,
            lambda _, message: self._take(message, ready),
            lambda peer: self._lost(peer, ready),
            "service",
        )
        peer.start()
        ready.wait(deadline - time.monotonic())
        answer = ready.value
        if not isinstance(answer, Ready):
            peer.close()
            if isinstance(answer, Exception):
                raise ServerUnavailableError(f"{BAD_READY}: {answer}; to end it: lspkit stop")
            return answer or ""
        self.ready, self._reason = answer, ""
        self._connected.add(peer)
        if self._closed:  # perhaps meanwhile
            peer.close()
            self._ended(peer)
            raise self._dead_error()
        self.notice = self._compare(answer)
        return peer

    def _compare(self, ready: Ready) -> str:
        different = [
            name
            for name in COMPARED
            if self._environ.get(name, "") != ready.environment.get(name, "")
        ]
        if not different:
            return ""
        names, verb = " and ".join(different), "differ" if different[1:] else "differs"
        return (
            f"{names} of the running service {verb} from this program's, and the service's "
            f"{'are' if different[1:] else 'is'} used; to start a service with this program's, "
            "run: lspkit stop"
        )

    def _take(self, message: Message, ready: Waiter) -> None:
        if isinstance(message, messages.ResponseMessage | messages.ErrorResponse):
            pending = self._pending.pop(message.id or 0, None)
            if pending is not None:
                pending.waiter.complete(message)
        elif isinstance(message, messages.NotificationMessage):
            if message.method == "lsp/ready":
                try:
                    ready.complete(read_ready(message.params or b"null"))
                except (msgspec.DecodeError, UnicodeError) as problem:
                    ready.complete(problem)
            elif message.method == "lsp/refused":
                ready.complete(str(decode_plain(message.params or b"null")))
            elif message.method == "lsp/event":
                event = _event.decode(message.params or b"null")
                for stream in self._streams.copy():
                    stream.put(event)

    def _lost(self, peer: Peer, ready: Waiter) -> None:
        ready.complete(None)
        self._ended(peer)

    def _ended(self, peer: Peer) -> None:
        """The connection is over: all calls fail."""
        if peer in self._connected:
            self._reason = f"the service has ended ({peer.reason})"  # before nothing is connected
        try:
            self._connected.remove(peer)
        except KeyError:
            return
        self._left.add(peer)
        for number in list(self._pending):
            pending = self._pending.pop(number, None)
            if pending is not None:
                pending.waiter.complete(self._dead_error())
        for stream in self._streams.copy():
            stream.close()

    def _dead_error(self) -> Exception:
        if self._closed:
            return WorkspaceClosedError(self._closed)
        return ServerUnavailableError(
            f"{self._reason or 'the service has ended'}; connect again to start a new one"
        )

    def close(self) -> None:
        """End the connection. The service goes on."""
        self._closed = self._closed or "this workspace was closed"
        peer = self._peer
        if peer is not None:
            peer.close()
            self._ended(peer)
        self._close_left()
        reap_services()

    def _close_left(self) -> None:
        for peer in self._left.copy():
            peer.close()
            self._left.discard(peer)

    def drop_after_fork(self) -> None:
        """In a forked child: the connection belongs to the parent."""
        self._starting = threading.Lock()
        self._closed = "this workspace belongs to the process that was forked"
        self._pending = {}
        for peer in self._connected | self._left:
            peer.drop_after_fork()
        self._connected, self._left = set(), set()

    # Methods of the service

    def tool_result(
        self,
        tool: str,
        arguments: Any,
        output: str,
        *,
        is_error: bool = False,
        timeout: float | None = None,
        before: Mapping[str, str] | None = None,
        session: str = "",
    ) -> str:
        """The output of an agent's tool, with the findings in its files appended."""
        params = {
            "tool": tool,
            "arguments": arguments,
            "output": output,
            "isError": is_error,
            "timeout": timeout,
            "before": before or {},
            "session": session,
        }
        appended: str = self.call("lsp/toolResult", params, timeout=timeout)["output"]
        return appended

    def events(self) -> EventStream[WorkspaceEvent]:
        """What happens to the servers from now on. The stream ends with the connection."""
        stream = event_stream()
        stream.on_close(lambda: self._streams.discard(stream))
        self._streams.add(stream)
        try:
            self.call("lsp/subscribe")
        except BaseException:
            stream.close()
            raise
        return stream

    def shutdown(self) -> None:
        """End the service, with all its servers. One that hangs is not waited for."""
        self.call("lsp/shutdown", timeout=ANSWER_TIMEOUT)
