"""When a message of a server is the one that means something."""

from __future__ import annotations

from typing import Any

import pytest

from lspkit.protocol.events import LOG_MESSAGE, Signal, log_line

STATUS = "test/status"


@pytest.mark.parametrize(
    ("signal", "params", "fits"),
    [
        (Signal(STATUS), {}, True),
        (Signal(STATUS), {"state": 3}, True),
        (Signal(STATUS, {"state": 3}), {"state": 3, "uri": "x"}, True),
        (Signal(STATUS, {"state": 3}), {"state": 2}, False),
        (Signal(STATUS, {"state": "idle"}), {"state": "idle again"}, False),
        (Signal(STATUS, {"state": 3}), {}, False),
        (Signal(STATUS, contains="failed"), {"message": "cargo failed to start"}, True),
        (Signal(STATUS, contains="failed"), {"message": "fine"}, False),
        (Signal(STATUS, contains="failed"), {}, False),
        (Signal(STATUS, {"state": 3}, "failed"), {"state": 3, "message": "fine"}, False),
    ],
)
def test_all_values_are_the_same_and_the_message_contains_the_part(
    signal: Signal, params: Any, fits: bool
) -> None:
    assert signal.fits(STATUS, params) is fits


def test_a_message_of_another_method_is_another_one() -> None:
    assert not Signal(STATUS).fits("test/other", {})


@pytest.mark.parametrize("params", [None, [], "text", 1])
def test_params_that_are_no_object_say_nothing(params: Any) -> None:
    assert not Signal(STATUS).fits(STATUS, params)


def test_a_log_line_is_known_by_a_part_of_it() -> None:
    assert log_line("has read").fits(LOG_MESSAGE, {"message": "it has read conf.ini"})
