"""Fixtures of these tests: a raw client on a scripted server, which is ended with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from lspkit.testing import Log, Script
from tests.testing.raw import RawClient

Connect = Callable[..., RawClient]


@pytest.fixture
def connect(scripted) -> Iterator[Connect]:
    """Starts a server with a script. `initialize=False` leaves the handshake to the test."""
    with ExitStack() as stack:

        def start(script: Script | None = None, *, initialize: bool = True) -> RawClient:
            argv = scripted(script)
            client = stack.enter_context(RawClient(argv))
            client.log = Log.of(argv)
            if initialize:
                client.initialize()
            return client

        yield start
