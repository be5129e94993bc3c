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


def connect_as(user: int, path: str) -> str:
    """What a process of that user gets from the service."""
    words = [sys.executable, "-I", "-S", "-c", PROGRAM, path, str(user)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=60, check=True)
    return done.stdout.strip()


def test_the_folder_is_closed_to_others(running: Site) -> None:
    place = running.place
    assert os.stat(place.folder).st_mode & 0o777 == 0o700
    os.chmod(place.socket, 0o666)
    try:
        assert connect_as(OTHER, place.socket) == "PermissionError"
    finally:
        os.chmod(place.socket, 0o600)


def test_the_socket_is_closed_to_others(running: Site) -> None:
    place = running.place  # closes the folder, so it comes first
    os.chmod(place.folder, 0o755)
    assert os.stat(place.socket).st_mode & 0o777 == 0o600
    assert connect_as(OTHER, place.socket) == "PermissionError"
    assert os.stat(place.folder).st_mode & 0o777 == 0o755


def test_the_service_disconnects_others_that_reach_its_socket(running: Site) -> None:
    place = running.place
    os.chmod(place.folder, 0o755)
    os.chmod(place.socket, 0o666)
    try:
        assert connect_as(OTHER, place.socket) == "disconnected"
        assert "Content-Length" in connect_as(0, place.socket)
    finally:
        os.chmod(place.socket, 0o600)
    assert os.stat(place.folder).st_mode & 0o777 == 0o755
