"""The state of a program that runs beside a server."""

from __future__ import annotations

from typing import Literal

from lspkit.types import Value
from lspkit.visible_text import one_line

#: `waiting`: it has ended, and will be restarted. `failed`: it has ended for good.
SidecarState = Literal["starting", "running", "waiting", "failed", "stopped"]


class SidecarStatus(Value, frozen=True):
    """One program that runs beside a server."""

    #: Program and arguments.
    command: tuple[str, ...]
    state: SidecarState
    pid: int | None = None
    #: How often it was restarted.
    restarts: int = 0
    #: Seconds until it is restarted.
    retry_in: float | None = None
    #: Why it last ended; empty if it never has.
    error: str = ""
    #: Its last output on standard error.
    stderr: str = ""

    def __str__(self) -> str:
        pid = f", pid {self.pid}" if self.pid else ""
        again = f", next try in {self.retry_in:.0f} s" if self.retry_in is not None else ""
        in_trouble = self.error and self.state in ("waiting", "failed")
        error = f": {one_line(self.error)}" if in_trouble else ""
        return f"{one_line(' '.join(self.command))}: {self.state}{pid}{again}{error}"
