"""A client of the service that has no file descriptor left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.site import PATIENCE, Site

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
PROGRAM = """if True:
    import sys, lspkit
    from tests.faults.starved import ROOMY, ask, set_limit, taken
    with lspkit.connect(sys.argv[1], ready_timeout=60) as ws:
        set_limit(ROOMY)
        with taken(0):
            print(ask(ws))
"""


def test_it_can_still_ask_for_what_it_has_not_asked_before(site: Site) -> None:
    """Nothing has to be imported for that."""
    with site.connect():  # starts the service
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(site.project)],
            env={**site.environ, "PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.stdout, done.stderr) == ("1:5\n", "")
