"""How long a command waits for the service."""

from __future__ import annotations

import pytest

from lspkit.cli.open_workspace import LEAST, _ready_timeout
from lspkit.service.client import READY_TIMEOUT


@pytest.mark.parametrize(
    ("left", "seconds"),
    [
        (float("inf"), READY_TIMEOUT),
        (READY_TIMEOUT + 1, READY_TIMEOUT),
        (3.0, 3.0),
        (0.0, LEAST),
        (-1.0, LEAST),
    ],
)
def test_the_service_has_no_more_time_than_the_command(left: float, seconds: float) -> None:
    assert _ready_timeout(left) == seconds
