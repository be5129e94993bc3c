"""What the tests of configuration share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.scene import Scene
from tests.config.trust.trusting import World


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A user and a project without any configuration."""
    return Scene(tmp_path)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A user who may trust projects."""
    return World(tmp_path)
