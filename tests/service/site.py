"""`Site`: a project on the scripted server, with a runtime folder for its services.

The runtime folder has a short path, because that of a Unix socket has at most 103 bytes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil

import lspkit
from lspkit.service.runtime_folder import Place, bootstrap_of
from lspkit.testing import Log, Script
from tests.runtime.process_trees import ends
from tests.scripted import SOURCE, comes_true, config_for
from tests.service.raw_client import RawClient

#: The folder of the package, for programs that a test starts.
PACKAGES = str(Path(lspkit.__file__).parents[1])
#: Seconds that a program may take on a busy machine.
PATIENCE = 30.0


class Site:
    """A project with one file, `a.scr`; the user's configuration names the scripted server."""

    def __init__(self, script: Script | None = None) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="lk"))
        self.project = self.base / "project"
        self.project.mkdir()
        (self.project / "a.scr").write_text(SOURCE, encoding="utf-8")
        self.argv = (script or Script()).command(self.base / "server")
        self.config_file = self.base / "lsp.json"
        self.configure(config_for(self.argv))
        self.environ = {
            **os.environ,
            "XDG_RUNTIME_DIR": str(self.base),
            "XDG_STATE_HOME": str(self.base / "state"),
            "LSPKIT_CONFIG": str(self.config_file),
            "LSPKIT_TRUST": "always",
            "PYTHONPATH": PACKAGES,
        }

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: object) -> None:
        for path in self.sockets():
            self.end_service(path)
        shutil.rmtree(self.base)

    def configure(self, config: dict[str, Any]) -> None:
        """Replace the user's configuration, as editors do: by a new file."""
        new = self.config_file.with_suffix(".new")
        new.write_text(json.dumps(config), encoding="utf-8")
        new.replace(self.config_file)

    # Clients

    def connect(self, **options: Any) -> lspkit.Workspace:
        """A workspace on the service."""
        options = {"environ": self.environ, "ready_timeout": PATIENCE, **options}
        return lspkit.connect(self.project, **options)

    def run(self, *words: str, cwd: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        """Run `lspkit` with these words, to its end, in the project or in another folder."""
        return subprocess.run(
            self.command(*words),
            env={**self.environ, **environ},
            cwd=cwd or self.project,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Run `lspkit` with these words, and do not wait for its end."""
        options = {"env": self.environ, "cwd": self.project, **options}
        return subprocess.Popen(self.command(*words), **options)

    def command(self, *words: str) -> list[str]:
        """The argv of `lspkit` with these words."""
        return [sys.executable, "-m", "lspkit", *words]

    # The service

    @property
    def log(self) -> Log:
        """The log of the scripted server."""
        return Log.of(self.argv)

    @property
    def place(self) -> Place:
        """The files of the service without a configuration of its own."""
        return bootstrap_of(self.project, None, None).place(self.environ)

    def sockets(self) -> list[str]:
        """The sockets of all services of this project."""
        return sorted(map(str, self.base.glob("lspkit/*.sock")))

    def service_pid(self, path: str = "") -> int:
        """The process that listens on a socket; 0 if none does."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
            try:
                made.connect(path or self.place.socket)
            except (FileNotFoundError, ConnectionRefusedError):
                return 0
            found = made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", found)[0])

    def end_service(self, path: str = "") -> None:
        """End a service if one runs, and wait until nothing of it is left."""
        pid = self.service_pid(path)
        if not pid:
            return
        family = [process.pid for process in psutil.Process(pid).children(recursive=True)]
        os.kill(pid, signal.SIGTERM)
        assert ends(pid), "the service does not end"
        assert all(map(ends, family)), "the service left processes"


def started(site: Site, *options: str) -> subprocess.Popen[bytes]:
    """A service in the foreground that is ready."""
    process = site.start("serve", str(site.project), *options, stderr=subprocess.DEVNULL)
    assert comes_true(site.service_pid)
    with RawClient(site.place.socket) as client:
        assert (client.receive() or {})["method"] == "lsp/ready"
    return process


def is_service(process: psutil.Process) -> bool:
    """Whether it is a service that a client has started, and that runs."""
    try:
        return "--started-by-client" in process.cmdline()
    except psutil.NoSuchProcess:
        return False


def descendants() -> list[psutil.Process]:
    """Processes that this one, or one of its descendants, has started and that run.

    Orphans among them are adopted by this process.
    """
    return [process for process in psutil.Process().children(recursive=True) if _runs(process)]


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def nothing_runs() -> bool:
    """Whether all these processes end in time."""
    return comes_true(lambda: not descendants())
