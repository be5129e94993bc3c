"""Runs the command line as people do: as a process of its own.

The servers that a machine happens to have must not decide what a test sees. So the interpreter
stands in a folder of its own, beside the servers that a test wants and no others, and `PATH` has
none.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

TIMEOUT = 100

#: How a question for yes or no ends.
QUESTION = "[y/N]"

_UNPRIVILEGED = """
import sys
from lspkit.cli import main
from tests.edits.trees import without_privileges
statuses = []
without_privileges(lambda: statuses.append(main()))
sys.exit(*statuses)
"""


def on_terminal(
    command: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    answer: bytes = b"",
    size: tuple[int, int] = (0, 0),
    after: float = 0.0,
) -> tuple[int, str]:
    """Run it on a terminal with this many lines and columns: the exit status, and all that was
    seen there.

    A question is answered after some seconds. Who does not answer has hung up: it means no then.
    """
    import fcntl  # here: not every system has terminals
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    child = subprocess.Popen(
        command, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen, answered, until = b"", False, time.monotonic() + TIMEOUT
    try:
        while select.select([ours], [], [], max(0, until - time.monotonic()))[0]:
            try:
                read = os.read(ours, 65536)
            except OSError:  # as Linux says that the other end is closed
                read = b""
            if not read:
                break
            seen += read
            if QUESTION.encode() in seen and not answered:
                answered = True
                time.sleep(after)
                os.write(ours, answer or b"\x04")
    finally:
        os.close(ours)
        status = child.wait(TIMEOUT)
    assert b"Traceback" not in seen, seen
    return status, seen.decode()


class CommandLine:
    """An interpreter with lspkit, and the servers beside it."""

    def __init__(self, folder: Path, *servers: str) -> None:
        venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
        self.python = str(folder / "bin" / "python")
        here = Path(sys.executable).parent
        for server in servers:
            (folder / "bin" / server).symlink_to(here / server)
        self.environment = {
            "PATH": str(folder / "bin"),
            "HOME": str(folder),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "LC_ALL": "C.UTF-8",
            "LSPKIT_NO_SERVICE": "1",
        }

    def command(self, *words: str | Path) -> list[str]:
        return [self.python, "-m", "lspkit", *map(str, words)]

    def unprivileged(self, *words: str | Path) -> list[str]:
        """The same for somebody to whom the permission bits of files apply, also as root."""
        return [self.python, "-c", _UNPRIVILEGED, *map(str, words)]

    def __call__(
        self,
        *words: str | Path,
        cwd: Path | str = "/",
        given: str | None = None,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run it, with `given` on standard input."""
        done = subprocess.run(
            self.command(*words),
            cwd=cwd,
            env={**self.environment, "TMPDIR": os.environ["TMPDIR"], **environment},
            input=given,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=TIMEOUT,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done


def is_there(server: str) -> bool:
    """Whether a server was installed together with lspkit."""
    return shutil.which(server, path=os.path.dirname(sys.executable)) is not None
