"""What tests of real servers share."""

from __future__ import annotations

import os

import pytest

from tests import real_servers
from tests.real.disk_courses import AT_ONCE
from tests.side_by_side import SideBySide


@pytest.fixture
def programs_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may load a part of another one's package, which is found by that one's program."""
    monkeypatch.setenv("PATH", str(real_servers.PROGRAMS), prepend=os.pathsep)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> SideBySide:
    """Of servers that are tried at the same time."""
    return SideBySide(tmp_path_factory.mktemp("disk"), at_once=AT_ONCE)
