"""Clients and services that are killed leave nothing, and lose nothing that was written."""

from __future__ import annotations

import pytest

from tests.scripted import ask
from tests.service.kill_rounds import ORDERS, kill_round
from tests.service.site import Site

ROUNDS = 1


@pytest.mark.parametrize("order", ORDERS, ids=" then ".join)
def test_after_kills_in_any_order_nothing_is_left_and_nothing_lost(
    site: Site, order: tuple[str, ...]
) -> None:
    for _ in range(ROUNDS):
        kill_round(site, order)
    with site.connect() as ws:
        assert ask(ws) == "1:5"
