"""Running a package manager: what is said if it fails, and that an interrupt ends it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lspkit.install.install_hint import has_pip
from lspkit.install.installation import InstallError, Machine, install_into, this_machine
from lspkit.install.recipe_table import Package

#: Interrupts itself while it forks; what it runs would never end.
PROGRAM = """
import os, signal, sys
from lspkit.install.installation import run, this_machine

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


#: A package that no index has.
NOTHING = [Package("pip", "lspkit-nothing", "1.0")]


def machine(**environment: str) -> Machine:
    """This machine with other settings of pip."""
    mine = this_machine(os.curdir)
    plain = {key: value for key, value in mine.environment.items() if not key.startswith("PIP_")}
    environment = {**plain, "PIP_CONFIG_FILE": os.devnull, "no_proxy": "*", **environment}
    return Machine(mine.folders, environment, mine.processor)


@pytest.mark.skipif(not has_pip(), reason="this is about the messages of pip")
@pytest.mark.parametrize("retries", ["0", "1"])
def test_an_index_that_cannot_be_reached_is_not_taken_for_a_missing_build(
    tmp_path: Path, retries: str
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # nobody listens there
        index = f"http://127.0.0.1:{unused.getsockname()[1]}/simple"
        offline = machine(PIP_INDEX_URL=index, PIP_RETRIES=retries)
        with pytest.raises(InstallError) as caught:
            install_into(str(tmp_path), "pip", NOTHING, offline)
    assert str(caught.value).startswith(f"pip cannot reach {index}/lspkit-nothing/")
    assert "no build" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not has_pip(), reason="this is about the messages of pip")
def test_a_missing_build_is_said(tmp_path: Path) -> None:
    nowhere = machine(PIP_NO_INDEX="1")
    with pytest.raises(InstallError, match=r"pip finds no build of lspkit-nothing 1\.0 for this"):
        install_into(str(tmp_path), "pip", NOTHING, nowhere)
