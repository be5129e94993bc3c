"""`WebSite`: a service of the test's own process, with its HTTP server, on the scripted server."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lspkit.service.runtime_folder import bootstrap_of
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.web import Address, HttpServer
from tests.service.site import Site

#: Seconds to wait for an answer on a busy machine.
PATIENCE = 30.0


class Answer(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


class WebSite:
    """The HTTP server of a service without a process of its own."""

    def __init__(self, site: Site, **options: Any) -> None:
        self.site = site
        bootstrap = bootstrap_of(site.project, options.get("config"), options.get("trusted"))
        self.shared = SharedWorkspace(
            bootstrap, lambda _: None, lambda: None, environ=self.site.environ
        )
        self.used = 0
        self.server = self._open()

    def _open(self) -> HttpServer:
        def keep_alive() -> None:
            self.used += 1

        file = str(self.site.base / "token")
        address = Address("127.0.0.1", 0)
        made = HttpServer(self.shared, address, file, keep_alive, environ=self.site.environ)
        self.token = Path(file).read_text(encoding="ascii")
        self.port = made.address.port
        return made

    def reopen(self) -> None:
        """Another server, as after a restart."""
        self.server.close()
        self.server = self._open()

    def __enter__(self) -> WebSite:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()
        self.shared.close()

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        **headers: str | None,
    ) -> Answer:
        """Send a request with the token; a header that is None is left out."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        given: dict[str, str | None] = {"Authorization": f"Bearer {self.token}"}
        if data is not None:
            given["Content-Type"] = "application/json"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value is not None}
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        ) as client:
            client.request(method, path, data, sent)
            response = client.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())

    def connect(self) -> socket.socket:
        """A connection over which nothing was sent so far."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def send(self, data: bytes) -> bytes:
        """All that comes back for some bytes."""
        with self.connect() as made:
            made.sendall(data)
            return read_all(made)

    def threads(self) -> list[str]:
        """The names of the server's threads."""
        names = [thread.name for thread in threading.enumerate()]
        return [name for name in names if name.startswith(f"lspkit-http-{self.port}")]

    def set_cwd(self, id: str, cwd: Path) -> None:
        """The folder of a conversation."""
        assert self.ask("PUT", f"/conversations/{id}/cwd", {"cwd": str(cwd)}).status == 200

    def check(self, id: str, path: str) -> Any:
        """The report on a file of a conversation."""
        answer = self.ask("POST", f"/conversations/{id}/check", {"path": path})
        assert answer.status == 200, answer.body
        return answer.json

    @contextlib.contextmanager
    def events(self, query: str = "") -> Iterator[Callable[[], tuple[str, dict[str, Any]]]]:
        """Gives a function that waits for the next event: its name and its data."""
        with self.connect() as made:
            head = f"GET /events{query} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            made.sendall(f"{head}Authorization: Bearer {self.token}\r\n\r\n".encode())
            with made.makefile("rb") as stream:
                status = stream.readline()
                assert b" 200 " in status, status
                while stream.readline() != b"\r\n":
                    pass
                # It is open when this line has come.
                assert stream.readline() == b"retry: 2000\n"
                yield lambda: _next_event(stream)


def _next_event(stream: Any) -> tuple[str, dict[str, Any]]:
    name = ""
    while True:
        line = stream.readline().decode()
        assert line, "the stream has ended"
        if line.startswith("event: "):
            name = line.removeprefix("event: ").strip()
        elif line.startswith("data: "):
            return name, json.loads(line.removeprefix("data: "))


def read_all(connection: socket.socket) -> bytes:
    """All bytes until the end of a connection."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while data := connection.recv(1 << 16):
            found += data
    return found
