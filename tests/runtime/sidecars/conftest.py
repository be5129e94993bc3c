"""A sidecar that is a script, and the ears of the test."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.guardian import Guardian
from lspkit.runtime.process.sidecar import Sidecar, stop_all
from tests.runtime.process_trees import python
from tests.runtime.sidecars.hearing import SAY, SOON, Ear, States, middle


@pytest.fixture
def ear(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ear]:
    ear = Ear(tmp_path_factory.mktemp("ear") / "ear")
    yield ear
    ear.close()


@pytest.fixture
def states() -> Iterator[States]:
    log = logging.getLogger("lspkit.runtime")
    states, level = States(), log.level
    log.addHandler(states)
    log.setLevel(logging.DEBUG)
    yield states
    log.removeHandler(states)
    log.setLevel(level)


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    guardian = Guardian()
    yield guardian
    guardian.close()


@pytest.fixture
def run(tmp_path: Path, ear: Ear, guardian: Guardian) -> Iterator[object]:
    """Starts a sidecar that is a script, and ends it after the test."""
    sidecars: list[Sidecar] = []

    def start(script: str, *arguments: str, restart: Restart = SOON) -> Sidecar:
        argv = python(SAY + script, *arguments)
        sidecars.append(
            Sidecar(argv, str(tmp_path), ear.env, guardian, restart=restart, dice=middle)
        )
        sidecars[-1].start()
        return sidecars[-1]

    yield start
    stop_all(sidecars)
