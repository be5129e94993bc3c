"""What the tests of configuration share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A user and a project without any configuration."""
    return Scene(tmp_path)
