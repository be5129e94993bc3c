"""What tests of the runtime share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.server_log import define


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Gives the scripted server a definition with these proof rules."""
    return lambda *proofs, **fields: define(monkeypatch, *proofs, **fields)
