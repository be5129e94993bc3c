"""Services of a test's own: in a runtime folder of their own, and ended with the test."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import lspkit
from lspkit.service.client import Client
from lspkit.service.remote_workspace import RemoteEngine

#: Seconds for a service to end: it kills itself after 5.
END_TIMEOUT = 20.0


def client_of(ws: lspkit.Workspace) -> Client:
    """The connection of a workspace."""
    engine = ws._engine
    assert isinstance(engine, RemoteEngine)
    return engine.client


class Services:
    """Connects to services, and ends them."""

    def __init__(self, folder: str) -> None:
        #: The value of XDG_RUNTIME_DIR.
        self.folder = folder
        self._clients: list[lspkit.Workspace] = []
        self._pids: dict[int, psutil.Process] = {}

    def connect(self, root: Path, **options: Any) -> lspkit.Workspace:
        """A workspace on the service of a folder, which is started if none runs."""
        made = lspkit.connect(root, ready_timeout=60, **options)
        self._clients.append(made)
        self.remember(made)
        return made

    def remember(self, ws: lspkit.Workspace) -> int:
        """Note the service that a workspace uses, to end it; returns its process id."""
        ready = client_of(ws).ready
        assert ready is not None
        if ready.pid not in self._pids:
            with contextlib.suppress(psutil.NoSuchProcess):
                self._pids[ready.pid] = psutil.Process(ready.pid)
        return ready.pid

    def wait_for_end(self, pid: int) -> None:
        """Wait until a service that was remembered is gone."""
        self._pids[pid].wait(END_TIMEOUT)

    def end(self) -> None:
        """End all services in an orderly way, and wait until they are gone."""
        for ws in self._clients:
            client = client_of(ws)
            if client.is_alive():
                self.remember(ws)
                with contextlib.suppress(lspkit.LspkitError):
                    client.shutdown()
            ws.close()
        for process in self._pids.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()  # no client was left to ask it
            process.wait(END_TIMEOUT)


@contextlib.contextmanager
def own_services() -> Iterator[Services]:
    """Services that no other test can meet. The path of a socket has room for 103 bytes only."""
    folder = tempfile.mkdtemp(prefix="lk")
    made = Services(folder)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_RUNTIME_DIR", folder)
            try:
                yield made
            finally:
                made.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def non_utf8(name: str) -> str:
    """A file name that is not UTF-8."""
    return os.fsdecode(name.encode() + b"\xff")
