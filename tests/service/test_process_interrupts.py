"""A client that is interrupted keeps its connection: no answer is lost, and none is torn."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.hosts.test_interrupts import HOST
from tests.runtime.server_log import PULL
from tests.scripted import SOURCE, comes_true
from tests.service.site import PATIENCE, Site


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


def test_a_rename_that_is_interrupted_while_it_is_verified_is_undone(monkeypatch):
    """By the service: the client does not wait for that."""
    monkeypatch.delenv("LSPKIT_NO_SERVICE")
    hang = Fault(PULL, "hang", nth=2)  # a.scr before the edit, and after it
    with Site(Script(diagnostics=Diagnostics(how="pull"), faults=[hang])) as site:
        file = site.project / "a.scr"
        with site.connect():  # the service runs from now on
            words = ("rename", "a.scr:2:3", "hello", "--apply")
            process = site.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            site.log.wait_for_message(PULL, 2)
            assert "hello" in file.read_text(encoding="utf-8")
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=PATIENCE) == (b"", b"")
            assert process.returncode == 130
            assert comes_true(lambda: file.read_text(encoding="utf-8") == SOURCE)
            assert len(site.log.pids()) == 1, "the command has used the service"
