"""A program that is interrupted keeps a workspace that works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lspkit.testing import Fault, Log, Script
from tests.scripted import SOURCE

HOST = Path(__file__).with_name("interrupted.py")
CALLS = Path(__file__).with_name("interrupted_calls.py")
CLOSED = Path(__file__).with_name("closed.py")


@pytest.mark.slow
def test_200_interrupts_tear_no_frame_and_the_next_call_is_right(tmp_path, scripted):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    slow = Fault("textDocument/definition", "delay", seconds=0.001)
    argv = scripted(Script(faults=[slow]))
    seed = 20261115
    command = [sys.executable, str(HOST), str(tmp_path), "200", str(seed), *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    log = Log.of(argv)
    assert result["wrong"] == 0
    assert result["on disk"] == ["1:5"]
    assert result["interrupted"] > 100, "too few interrupts came in the middle to say anything"
    assert log.complaints() == []
    assert len(log.pids()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [20261119, 20261120])
def test_1000_interrupts_of_all_kinds_of_calls_break_nothing(tmp_path, scripted, seed):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.scr").write_text("def greet\ngreet\n", encoding="utf-8")
    argv = scripted(Script())
    command = [sys.executable, str(CALLS), str(folder), "1000", str(seed), *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert result["left"] == []
    assert result["threads"] < 20
    assert min(result["interrupted"].values()) > 3, "too few came in the middle to say anything"
    assert Log.of(argv).complaints() == []
    assert len(Log.of(argv).pids()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("interrupts", [1, 2, 3])
def test_interrupts_during_close_leave_nothing(tmp_path, scripted, interrupts):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    argv = scripted(Script(ignore=["shutdown", "exit", "eof", "SIGTERM"]))
    command = [sys.executable, str(CLOSED), str(tmp_path), "12", str(interrupts), "7", *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["left"] == []
    assert result["interrupted"] > 3, "too few interrupts came in the middle to say anything"


INTERRUPTED_IMPORT = """
import sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "datetime":
            sys.meta_path.remove(self)
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
try:
    FIRST
except KeyboardInterrupt:
    print("interrupted")
SECOND
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("import lspkit; lspkit.Config()", "print(lspkit.Config().timing.start_timeout)"),
        ("from lspkit.cli import main; main()", "import msgspec; msgspec.to_builtins(())"),
    ],
)
def test_an_interrupt_while_modules_are_loaded_is_not_lost(first: str, second: str) -> None:
    """msgspec would ignore it, and the process would crash at the first use."""
    program = INTERRUPTED_IMPORT.replace("FIRST", first).replace("SECOND", second)
    command = [sys.executable, "-c", program, "config", "show"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode >= 0, done.returncode  # no signal
    assert "interrupted" in done.stdout or done.returncode == 0, done.stderr
