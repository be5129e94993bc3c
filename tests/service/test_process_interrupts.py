"""A client that is interrupted keeps its connection: no answer is lost, and none is torn."""

from __future__ import annotations

import json
import subprocess
import sys

from lspkit.testing import Fault, Log, Script
from tests.hosts.test_interrupts import HOST
from tests.service.site import Site


def test_200_interrupts_of_a_client_and_the_next_call_is_right():
    slow = Fault("textDocument/definition", "delay", seconds=0.001)
    with Site(Script(faults=[slow])) as site, site.connect() as other:
        other.definition("a.scr", 2, 4)  # the service runs from now on
        done = subprocess.run(
            [sys.executable, str(HOST), str(site.project), "200", "20261116"],
            env=site.environ,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["wrong"] == 0
        assert result["on disk"] == ["1:5"]
        assert result["interrupted"] > 100, "too few interrupts came in the middle to say anything"
        assert Log.of(site.argv).complaints() == []
