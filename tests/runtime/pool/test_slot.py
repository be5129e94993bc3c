"""What a pool keeps about a server: how long it may take to come up."""

from __future__ import annotations

import pytest

from lspkit.config import Config
from lspkit.config.model import ServerConfig, ServerTimingConfig, TimingConfig
from lspkit.runtime.pool.slot import initialize_timeout
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.selection.choose import Choice

SLOW = [one for one in BUILT_IN if one.launch.initialize_timeout_ms is not None]


def seconds(definition, *, everywhere: int = 15_000, own: int | None = None) -> float:
    said = ServerConfig(timing=ServerTimingConfig(own))
    choice = Choice(definition=definition, config=said, root="/code", argv=())
    return initialize_timeout(choice, Config(timing=TimingConfig(everywhere)))


@pytest.mark.parametrize("definition", SLOW, ids=lambda one: one.id)
def test_what_a_user_says_counts_also_for_servers_that_are_known_to_be_slow(definition):
    assert seconds(definition) == definition.launch.initialize_timeout_ms / 1000
    assert seconds(definition, everywhere=2_000) == 2
    assert seconds(definition, everywhere=90_000) == 90


def test_what_is_said_about_one_server_comes_before_what_is_said_about_all():
    assert seconds(SLOW[0], everywhere=2_000, own=3_000) == 3
    assert seconds(SLOW[0], own=15_000) == 15
