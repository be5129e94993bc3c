"""The session that docs/trust.md shows is what is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import real_servers
from tests.real.transcript import BLOCK, PAGE, play

pytest.importorskip("pty")

pytestmark = [pytest.mark.server, pytest.mark.slow]


def test_the_session_of_the_page_is_what_is_seen(tmp_path: Path) -> None:
    for server in ("ty", "ruff", "typescript", "eslint"):
        real_servers.require(server)
    shown = BLOCK.search(PAGE.read_text(encoding="utf-8"))
    assert shown is not None
    assert shown[0] == play(tmp_path.resolve()), "run: python -m tests.real.transcript"
