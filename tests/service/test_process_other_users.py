"""Another user cannot use the service: not by its folder, not by its socket, not by the check."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.scripted import ask
from tests.service.site import Site

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="only root can start a process of another user",
)

#: `nobody` on most systems.
OTHER = 65534

PROGRAM = """
import os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
made.settimeout(20)
try:
    made.connect(sys.argv[1])
    print(made.recv(100) or "disconnected")
except ConnectionResetError:
    print("disconnected")
except OSError as problem:
    print(type(problem).__name__)
"""


@pytest.fixture(scope="module")
def running(shared_site: Site) -> Iterator[Site]:
    """A service in a folder that everybody can reach."""
    shared_site.base.chmod(0o755)
    with shared_site.connect() as ws:
        assert ask(ws) == "1:5"
        parent = shared_site.base.parent
        while parent != parent.parent:
            assert parent.stat().st_mode & 0o001, f"{parent} is not open to other users"
            parent = parent.parent
        yield shared_site
        assert ask(ws) == "1:5"


def connect_as(user: int, site: Site) -> str:
    """What a process of that user gets from the service."""
    words = [sys.executable, "-I", "-S", "-c", PROGRAM, site.place.socket, str(user)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=60, check=True)
    return done.stdout.strip()


def test_the_folder_is_closed_to_others(running: Site) -> None:
    assert os.stat(running.place.folder).st_mode & 0o777 == 0o700
    assert os.stat(running.place.socket).st_mode & 0o777 == 0o600
    assert connect_as(OTHER, running) == "PermissionError"


def test_the_socket_is_closed_to_others(running: Site) -> None:
    os.chmod(running.place.folder, 0o755)
    path = os.path.join(running.place.folder, os.path.basename(running.place.socket))
    assert os.path.exists(path)
    assert connect_as(OTHER, running) == "PermissionError"


def test_the_service_disconnects_others_that_reach_its_socket(running: Site) -> None:
    place = running.place
    os.chmod(place.folder, 0o755)
    os.chmod(place.socket, 0o666)
    try:
        words = [sys.executable, "-I", "-S", "-c", PROGRAM, place.socket]
        told = [
            subprocess.run([*words, str(user)], capture_output=True, timeout=60, check=True).stdout
            for user in (OTHER, 0)
        ]
    finally:
        os.chmod(place.socket, 0o600)
    assert told[0].strip() == b"disconnected"
    assert b"Content-Length" in told[1]
