"""The service as a process: it accepts clients, and ends when nobody needs it any more.

The main thread accepts connections and handles signals. Each client has a thread that reads, and
calls are carried out by the threads of the engine.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import os
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import filelock

from lspkit.errors import ServerUnavailableError
from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import frame
from lspkit.runtime.concurrency.acceptor import Acceptor
from lspkit.runtime.concurrency.threads import OwnThread
from lspkit.service.client import COMPARED, Ready
from lspkit.service.client_session import ClientSession
from lspkit.service.peer import LARGEST_REQUEST, Peer
from lspkit.service.process_end import END_TIMEOUT, end_signals, killed_if_late
from lspkit.service.runtime_folder import Bootstrap, Place, remove_old_files
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.service.wire_values import prepare_for_requests
from lspkit.version import VERSION

log = logging.getLogger("lspkit.service")

#: Serves a workspace on a second channel.
SecondChannel = Callable[[SharedWorkspace], contextlib.AbstractContextManager[object]]

#: Clients that are connected at once.
MOST_CLIENTS = 64
#: Seconds without a client before the service ends.
IDLE_TIMEOUT = 15 * 60.0
#: Seconds between two looks at the root.
ROOT_LOOK = 2.0
#: Seconds to wait for a service that is just ending.
PREDECESSOR_TIMEOUT = 2 * END_TIMEOUT
#: Connections that wait to be accepted.
BACKLOG = 512


class Endpoint(Protocol):
    """Another way to a service than its socket."""

    def close(self) -> None:
        """Let nobody in any more."""
        ...


class ServiceProcess:
    """The clients of one service, and the conditions for its end."""

    def __init__(
        self,
        bootstrap: Bootstrap,
        *,
        environ: Mapping[str, str] = os.environ,
        first_epoch: int = 0,
    ) -> None:
        self._bootstrap, self._environ = bootstrap, environ
        self._wake_reader, self._wake_writer = socket.socketpair()
        for end in (self._wake_reader, self._wake_writer):
            end.setblocking(False)
        #: Those that are served, and those that are over and whose threads have to be joined. Only
        #: the main thread adds clients, and each change is atomic.
        self._sessions: dict[Peer, ClientSession] = {}
        self._left: collections.deque[Peer] = collections.deque()
        self._reason = ""
        self._retired = False
        #: Since when nobody has used the service.
        self._idle_since = time.monotonic()
        #: Called first at the end.
        self._endpoints: list[Endpoint] = []
        #: What all its clients share.
        self.shared = SharedWorkspace(
            bootstrap, self.end, self.retire, first_epoch=first_epoch, environ=environ
        )
        self.shared.client_count = lambda: len(self._sessions)

    def end(self, reason: str) -> None:
        """End the service soon. From any thread, and from a signal handler."""
        self._reason = self._reason or reason
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_writer.send(b"\0")

    def retire(self) -> None:
        """End the service when its last client has left."""
        self._retired = True
        self._wake()

    def keep_alive(self) -> None:
        """Count the time without a client from now. From any thread."""
        self._idle_since = time.monotonic()

    def add_endpoint(self, endpoint: Endpoint) -> None:
        """Close another way in before the servers are stopped."""
        self._endpoints.append(endpoint)

    def run(self, listener: socket.socket | None, idle_timeout: float) -> str:
        """Serve until the end; returns its reason."""
        prepare_for_requests()
        self.keep_alive()
        with selectors.DefaultSelector() as selector, _opened(self._bootstrap) as root:
            selector.register(self._wake_reader, selectors.EVENT_READ)
            if listener is not None:
                selector.register(listener, selectors.EVENT_READ)
                acceptor = Acceptor(listener, self._wake_reader, "a client")
            while not self._reason:
                left = self._idle_since + idle_timeout - time.monotonic()
                ready = [key.fileobj for key, _ in selector.select(max(0.0, min(left, ROOT_LOOK)))]
                if self._wake_reader in ready:
                    with contextlib.suppress(BlockingIOError):
                        self._wake_reader.recv(4096)
                if listener is not None and listener in ready:
                    self._accept(acceptor)
                self._join_left()
                if self._sessions:
                    self.keep_alive()
                elif self._retired or time.monotonic() - self._idle_since >= idle_timeout:
                    self.end("it has no client")
                if _identity(self._bootstrap.workspace_root) != root:
                    self.end("its root has disappeared")
        return self._reason

    # Clients

    def _accept(self, acceptor: Acceptor) -> None:
        made = acceptor.accept()
        if made is None:
            return
        made.setblocking(True)
        if not _same_user(made):
            log.warning("a process of another user tried to connect")
            made.close()
            return
        self.add_client(made)

    def add_client(self, connection: socket.socket) -> None:
        """Serve a connection."""
        if len(self._sessions) >= MOST_CLIENTS:
            _refuse(connection)
            return
        peer = Peer(connection, self._take, self._lost, "client", largest=LARGEST_REQUEST)
        self._sessions[peer] = ClientSession(self.shared, peer)
        environment = {name: self._environ.get(name, "") for name in COMPARED}
        root = self._bootstrap.workspace_root
        ready = Ready(VERSION, os.getpid(), _printable(root), environment)
        peer.send(messages.notification("lsp/ready", ready))
        peer.start()

    def _take(self, peer: Peer, message: messages.Message) -> None:
        session = self._sessions.get(peer)
        if session is not None:
            session.take(message)

    def _lost(self, peer: Peer) -> None:
        """Called by the reader of a connection that is over."""
        session = self._sessions.get(peer)
        if session is not None:
            session.end()
        self._sessions.pop(peer, None)
        self._left.append(peer)
        self._wake()

    def _join_left(self) -> None:
        while self._left:
            self._left.popleft().close()

    def close(self) -> None:
        """End all connections, and stop all servers. Killed if that takes too long."""
        try:
            with killed_if_late():
                for endpoint in self._endpoints:
                    endpoint.close()
                peers = list(self._sessions)
                for peer in peers:
                    peer.end(f"the service has ended: {self._reason}")
                self.shared.close()
                for peer in peers:
                    peer.close()
                self._join_left()
        finally:
            self._wake_reader.close()
            self._wake_writer.close()


def serve_socket(
    bootstrap: Bootstrap,
    place: Place,
    *,
    idle_timeout: float = IDLE_TIMEOUT,
    on_ready: Callable[[ServiceProcess], None] = lambda _: None,
) -> str:
    """Serve clients of a Unix socket; returns the reason for the end.

    `on_ready` is called when clients can connect.
    """
    lock = filelock.FileLock(place.running_lock, mode=0o600)
    try:
        lock.acquire(timeout=PREDECESSOR_TIMEOUT)
    except filelock.Timeout:
        raise ServerUnavailableError(
            f"a service for {bootstrap.workspace_root} is running already; to end it: lspkit stop"
        ) from None
    with lock, end_signals() as on_signal:
        # Before the socket: a client that connects to it would not learn what is wrong here. Later
        # services have higher epochs, so that a client which reconnects waits for nothing that is
        # over.
        process = ServiceProcess(bootstrap, first_epoch=time.time_ns() // 1_000_000)
        try:
            on_signal(process.end)
            with _listener(place) as listener:
                _retire_others(place)
                remove_old_files(place)
                on_ready(process)
                return process.run(listener, idle_timeout)
        finally:
            process.close()


@contextlib.contextmanager
def _listener(place: Place) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        # Left by a service that was killed: no other runs while this one holds the lock.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place.socket)
        before = os.umask(0o177)
        try:
            listener.bind(place.socket)
        finally:
            os.umask(before)
        listener.listen(BACKLOG)
        listener.setblocking(False)
        try:
            yield listener
        finally:
            # First, so that a client which comes now starts another service.
            with contextlib.suppress(OSError):
                os.unlink(place.socket)


def _retire_others(place: Place) -> None:
    """Services of other versions of lspkit end with their last client."""
    for path in place.other_sockets():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
            try:
                other.settimeout(END_TIMEOUT)
                other.connect(path)
                other.sendall(frame(messages.notification("lsp/retire")))
            except ConnectionRefusedError:
                with contextlib.suppress(OSError):
                    os.unlink(path)  # it was killed
            except OSError as problem:
                log.warning("the service at %s was not reached: %s", path, problem)


def serve_stdio(bootstrap: Bootstrap, second: SecondChannel = contextlib.nullcontext) -> str:
    """Serve one client on standard input and output, until it closes its end.

    `second` serves the same workspace on another channel meanwhile.
    """
    # What a library prints must not get among the messages.
    output = os.dup(1)
    os.dup2(2, 1)
    ours, theirs = socket.socketpair()
    with end_signals() as on_signal:
        process = ServiceProcess(bootstrap)
        reader = OwnThread(lambda: _copy_input(theirs), "stdin")
        writer = OwnThread(lambda: _copy_output(theirs, output), "stdout")
        try:
            on_signal(process.end)
            process.add_client(ours)
            reader.start()
            writer.start()
            process.retire()  # it ends with its only client
            with second(process.shared):
                return process.run(None, float("inf"))
        finally:
            process.close()
            writer.over.wait(END_TIMEOUT)
            os.close(output)


def _copy_input(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := os.read(0, 1 << 16):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)


def _copy_output(connection: socket.socket, descriptor: int) -> None:
    with contextlib.suppress(OSError):
        while data := connection.recv(1 << 16):
            while data:
                data = data[os.write(descriptor, data) :]


def _refuse(connection: socket.socket) -> None:
    """Tell a client that there are too many, and end its connection."""
    why = f"the service has {MOST_CLIENTS} clients already"
    with connection, contextlib.suppress(OSError):
        connection.send(frame(messages.notification("lsp/refused", why)))


def _same_user(connection: socket.socket) -> bool:
    """Whether the other end of a connection belongs to the user of this process."""
    if sys.platform == "linux":
        size = struct.calcsize("3i")
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        return bool(struct.unpack("3i", data)[1] == os.geteuid())
    if sys.platform == "darwin":
        # struct xucred: version, uid, number of groups, groups.
        data = connection.getsockopt(0, 1, struct.calcsize("IIh16I"))
        return bool(struct.unpack_from("II", data)[1] == os.geteuid())
    return True  # the folder's mode keeps others out


@contextlib.contextmanager
def _opened(bootstrap: Bootstrap) -> Iterator[tuple[int, int] | None]:
    """The identity of the root, which no other folder gets as long as this one is open."""
    try:
        descriptor = os.open(bootstrap.workspace_root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield _identity(descriptor)
    finally:
        os.close(descriptor)


def _identity(root: str | int) -> tuple[int, int] | None:
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _printable(path: str) -> str:
    return path.encode(errors="replace").decode()
