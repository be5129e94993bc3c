"""`lspkit panel` on a real terminal, without one, and without its extra."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from lspkit.testing import Script
from tests.cli.conftest import bare as bare
from tests.cli.running import TIMEOUT, CommandLine
from tests.cli.shop import scripted_project

pytest.importorskip("textual", reason="the extra is not installed: pip install 'lspkit[panel]'")

pytestmark = pytest.mark.slow  # a process each

#: What the panel shows at last, and how a program leaves the second screen of a terminal.
DRAWN, LEFT = "q quit", b"\x1b[?1049l"
#: As if textual were not installed.
WITHOUT_TEXTUAL = (
    "import sys; sys.modules['textual'] = None\nfrom lspkit.cli import main; sys.exit(main())"
)


@pytest.fixture
def project(tmp_path: Path, scripted) -> tuple[Path, dict[str, str]]:
    """A folder with the scripted server, and the variables for it."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder, scripted_project(folder, scripted(Script()))


class Terminal:
    """A program on a terminal of its own."""

    def __init__(
        self,
        command: list[str],
        cwd: Path,
        environ: dict[str, str],
        size: tuple[int, int] = (24, 80),
    ) -> None:
        self.seen, self._read_up_to = b"", 0
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.child = subprocess.Popen(
            command, cwd=cwd, env=environ, stdin=theirs, stdout=theirs, stderr=theirs
        )

    def until(self, words: str) -> None:
        """Read until these words were printed, after those of the call before."""
        deadline = time.monotonic() + TIMEOUT
        while words.encode() not in self.seen[self._read_up_to :]:
            assert time.monotonic() < deadline, self.seen[self._read_up_to :]
            self._read(1.0)
        self._read_up_to = len(self.seen)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        self.seen += os.read(self._ours, 65536)
        return True

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        """Wait for the program; returns its exit status."""
        deadline = time.monotonic() + TIMEOUT
        while self.child.poll() is None:
            assert time.monotonic() < deadline, self.seen
            self._read(0.05)
        while self._read(0):
            pass
        return self.child.wait()

    def close(self) -> None:
        """Close the terminal; a program that still runs is ended."""
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self._ours)
        os.close(self._theirs)


def environment(command: CommandLine, variables: dict[str, str]) -> dict[str, str]:
    more = {"TERM": "xterm-256color", "TMPDIR": os.environ["TMPDIR"]}
    return {**command.environment, **more, **variables}


def test_keys_on_a_real_terminal(bare, project):
    folder, variables = project
    terminal = Terminal(bare.command("panel", "--no-service"), folder, environment(bare, variables))
    try:
        terminal.until(DRAWN)
        terminal.type("/zzz")
        terminal.until("no rows match filter")
        terminal.type("\x1b")
        terminal.until("scripted")
        terminal.type("?")
        terminal.until("this help")
        terminal.type("\x03")
        assert terminal.end() == 0
        assert LEFT in terminal.seen
        assert b"Traceback" not in terminal.seen
        assert termios.tcgetattr(terminal._theirs) == terminal.before
    finally:
        terminal.close()


def test_nothing_is_left_after_it_was_opened_and_closed_50_times(bare, project):
    """On a terminal, in one program: no thread, descriptor, process or panel."""
    folder, _ = project
    config = json.loads(folder.with_suffix(".json").read_text(encoding="utf-8"))
    program = [bare.python, "-m", "tests.panel.embedded_panel", str(folder), json.dumps(config)]
    terminal = Terminal([*program, "50"], folder, environment(bare, {}), (12, 40))
    try:
        for _ in range(50):
            terminal.until(DRAWN)
            terminal.type("q")
            terminal.until(LEFT.decode())
        assert terminal.end() == 0
        left = json.loads(terminal.seen[terminal.seen.rindex(b'{"before"') :])
        assert left["after"] == left["before"]
        assert len(left["before"]["processes"]) >= 1  # the server of the workspace, and no more
        assert left["panels"] <= 1
        assert termios.tcgetattr(terminal._theirs) == terminal.before
    finally:
        terminal.close()


def test_without_a_terminal_it_is_text(bare, project):
    folder, variables = project
    done = bare("panel", cwd=folder, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("LSP servers: ")


def test_rows_as_json_need_no_extra(bare, project):
    folder, variables = project
    done = subprocess.run(
        [bare.python, "-c", WITHOUT_TEXTUAL, "panel", "--json"],
        cwd=folder,
        env=environment(bare, variables),
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["totals"]["configured"] == len(found["rows"])
    [row] = [one for one in found["rows"] if one["serverId"] == "scripted"]
    assert row["extensions"] == [".scr"]


def test_without_the_extra_a_line_says_what_to_type(bare, project):
    folder, variables = project
    terminal = Terminal(
        [bare.python, "-c", WITHOUT_TEXTUAL, "panel"], folder, environment(bare, variables)
    )
    try:
        assert terminal.end() == 2
        [line] = terminal.seen.decode().splitlines()
        assert line.startswith("lspkit: the panel needs textual, which is not installed")
        assert line.endswith("pip install 'lspkit[panel]'")
    finally:
        terminal.close()


def test_a_program_without_the_extra_is_told_as_well(tmp_path, monkeypatch):
    import lspkit
    from lspkit.panel import run

    monkeypatch.setitem(sys.modules, "textual", None)
    with lspkit.Workspace(tmp_path) as ws, pytest.raises(ImportError, match=r"lspkit\[panel\]"):
        run(ws)
