"""Running a package manager: an interrupt ends it, at whatever moment it comes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: Interrupts itself while it forks; what it runs would never end.
PROGRAM = """
import os, signal, sys
from lspkit.install.package_managers import run, this_machine

os.register_at_fork(**{sys.argv[1]: lambda: os.kill(os.getpid(), signal.SIGINT)})
try:
    run([sys.executable, "-c", "import signal; signal.pause()"], os.curdir, this_machine(os.curdir))
except KeyboardInterrupt:
    print("interrupted")
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("nothing is left")
"""


@pytest.mark.parametrize("moment", ["before", "after_in_parent"])
def test_an_interrupt_during_the_fork_is_not_lost(moment: str, tmp_path: Path) -> None:
    """Python ignores an exception that is raised there."""
    argv = [sys.executable, "-c", PROGRAM, moment]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert (done.stdout, done.stderr) == ("interrupted\nnothing is left\n", "")
