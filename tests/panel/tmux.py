"""A real terminal: a window of tmux, in which keys are pressed and whose screen is read."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.scripted import comes_true

#: Seconds for one command of tmux.
TIMEOUT = 60
#: What is printed below the program when it has ended, before its exit status.
ENDED = "ended with status"
#: The corners and sides of the panel.
FRAME = {"╭": "╮", "│": "│", "╰": "╯"}


def require_tmux() -> str:
    """The program; skips the test where there is none."""
    found = shutil.which("tmux")
    if found is None:
        pytest.skip("no program tmux: apt install tmux")
    return found


class TmuxWindow:
    """A window of a tmux server of its own. Its program ends with it."""

    def __init__(
        self,
        command: Sequence[str],
        size: tuple[int, int],
        cwd: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.width, self.height = size
        self._program = require_tmux()
        self._environment = {**os.environ, **environment, "TERM": "xterm-256color"}
        # A socket has a short path.
        self._folder = tempfile.mkdtemp(prefix="tmux-")
        self._settings = [os.path.join(self._folder, name) for name in ("before", "after")]
        before, after = (f"stty -g >{shlex.quote(one)}" for one in self._settings)
        shown = f"{before}; {shlex.join(command)}; s=$?; {after}; echo {ENDED} $s; exec cat"
        words = ["-u", "-f", "/dev/null", "new-session", "-d", "-c", str(cwd)]
        try:
            self._tmux(*words, "-x", str(self.width), "-y", str(self.height), shown)
        except BaseException:
            self.close()
            raise

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            [self._program, "-S", os.path.join(self._folder, "socket"), *words],
            env=self._environment,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def __enter__(self) -> TmuxWindow:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server of tmux, with its window."""
        command = [self._program, "-S", os.path.join(self._folder, "socket"), "kill-server"]
        subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
        shutil.rmtree(self._folder)

    def press(self, *keys: str) -> None:
        """Press keys, by the names that tmux gives them."""
        self._tmux("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self.width, self.height = width, height
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def lines(self) -> list[str]:
        """The lines of the screen, without the space at their ends."""
        return self._tmux("capture-pane", "-p").splitlines()

    def coloured(self) -> str:
        """The screen with the codes for its colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def text(self) -> str:
        """The whole screen."""
        return "\n".join(self.lines())

    def until(self, *words: str) -> None:
        """Wait until all of these are on the screen."""
        assert comes_true(lambda: all(one in self.text() for one in words)), self.text()

    def until_gone(self, words: str) -> None:
        """Wait until this is not on the screen any more."""
        assert comes_true(lambda: words not in self.text()), self.text()

    def until_framed(self) -> None:
        """Wait until the frame is whole, and no line too wide: a screen is not drawn at once."""
        assert comes_true(lambda: not self.frame_problems()), self.text()

    def settings_are_restored(self) -> bool:
        """Whether the terminal has the settings again that it had before the program."""
        before, after = (Path(one).read_text(encoding="ascii") for one in self._settings)
        return before == after

    def frame_problems(self) -> list[str]:
        """The lines that break the frame of the panel or are wider than the window."""
        lines = [one for one in self.lines() if one.strip()]
        widest = max(map(cell_len, lines), default=0)
        left = min((len(one) - len(one.lstrip()) for one in lines), default=0)
        return [
            one
            for one in lines
            if cell_len(one) != widest
            or widest > self.width
            or FRAME.get(one[left]) != one[-1]
            or cell_len(one) + left > self.width
        ]
