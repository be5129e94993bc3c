"""An upgrade of lspkit: clients of the new version have a new service, the old one retires."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lspkit
from lspkit.service.service_process import MOST_CLIENTS
from tests.runtime.process_trees import ends, running
from tests.scripted import ask
from tests.service.raw_client import RawClient
from tests.service.site import PACKAGES, PATIENCE, Site

PROGRAM = """
import sys, lspkit
with lspkit.connect(sys.argv[1], ready_timeout=60) as ws:
    found = ws.definition("a.scr", 2, 4)
    print(lspkit.__version__, found[0].range.start, ws._engine.client.ready.pid, flush=True)
    sys.stdin.read()
"""


def other_version(folder: Path, version: str) -> str:
    """A copy of the package with another version; the folder that it is imported from."""
    copy = folder / "lspkit"
    shutil.copytree(
        Path(PACKAGES) / "lspkit", copy, ignore=shutil.ignore_patterns("__pycache__", "testing")
    )
    (copy / "version.py").write_text(f'VERSION = "{version}"\n', encoding="utf-8")
    return str(folder)


def test_each_version_has_a_service_and_the_old_one_ends_with_its_last_client(site: Site) -> None:
    other = other_version(site.base / "other", "99.0.0")
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        old = site.service_pid()
        with subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, str(site.project)],
            env={**site.environ, "PYTHONPATH": other},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as newer:
            assert newer.stdout is not None
            version, answer, pid = newer.stdout.readline().split()
            assert (version, answer) == ("99.0.0", "1:5")
            assert int(pid) != old
            assert len(site.sockets()) == 2
            # The old service goes on for the client that it has.
            assert ask(ws) == "1:5"
            assert site.service_pid() == old and running(old)
            ws.close()
            assert ends(old)
            assert not os.path.exists(site.place.socket)
            newer.communicate("", timeout=PATIENCE)
        assert running(int(pid))


def test_a_service_with_all_its_clients_refuses_more(site: Site) -> None:
    with contextlib.ExitStack() as clients:
        first = clients.enter_context(site.connect())
        service = site.service_pid()
        for _ in range(MOST_CLIENTS - 1):
            made = clients.enter_context(RawClient(site.place.socket))
            assert (made.receive() or {})["method"] == "lsp/ready"
        with pytest.raises(lspkit.ServerUnavailableError, match="64 clients already"):
            site.connect(ready_timeout=3)
        assert ask(first) == "1:5"
        assert running(service)


def test_the_socket_that_a_killed_service_of_another_version_has_left_is_removed(
    site: Site,
) -> None:
    left = site.place.socket.rpartition("-")[0] + "-00000000.sock"
    code = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, left], check=True)
    with site.connect() as ws:
        assert ask(ws) == "1:5"
    assert site.sockets() == [site.place.socket]
    assert lspkit.__version__ != "99.0.0"
