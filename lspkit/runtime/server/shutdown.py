"""Stopping servers in steps: `shutdown`, `exit`, terminate, kill.

All servers are stopped at the same time, so it takes as long as the slowest of them, 4.5 s at
worst. No thread is started, because that is impossible while the interpreter ends. An interrupt
skips to the last step.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from lspkit.errors import ProtocolError
from lspkit.protocol.session import State
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.server.server import Server

#: The steps, and the seconds that the server may take to react.
RUNGS: tuple[tuple[str, float], ...] = (
    ("shutdown", 1.5),
    ("exit", 0.5),
    ("terminate", 2.0),
    ("kill", 0.5),
)
#: Seconds that the threads and the last descendants may take to end.
SWEEP = 2.0


class _Answer(Waiter, eq=False, kw_only=True):
    """The answer to `shutdown`, which wakes the thread that stops all servers."""

    reacted: Waiter

    def wake(self) -> None:
        """It has come."""
        super().wake()
        self.reacted.wake()


class _Descent:
    """One server that is being stopped."""

    def __init__(self, server: Server, reacted: Waiter) -> None:
        self.server = server
        self.rung = -1
        self.until = 0.0
        self._answered = _Answer(reacted=reacted)
        server.exit_waiters.append(reacted)

    def ended(self) -> bool:
        """Whether its process is gone."""
        connection = self.server.channel.connection
        return connection is None or connection.child.status() is not None

    def step(self, now: float) -> None:
        """Do the steps that are due."""
        while not self.ended() and (now >= self.until or self._may_go_on()):
            if self.rung + 1 == len(RUNGS):
                return
            self.rung += 1
            action, patience = RUNGS[self.rung]
            self.until = now + patience
            self._do(action)

    def _may_go_on(self) -> bool:
        """Whether `shutdown` was answered, or cannot be sent."""
        running = self.server.channel.session.state in (State.RUNNING, State.STOPPING)
        return self.rung < 0 or (self.rung == 0 and (self._answered.done or not running))

    def _do(self, action: str) -> None:
        connection = self.server.channel.connection
        if connection is None:
            return
        if action == "terminate":
            connection.child.terminate()
        elif action == "kill":
            connection.child.kill()
        else:
            with self.server.channel.lock:
                try:
                    session = self.server.channel.session
                    ask = action == "shutdown"
                    connection.post(session.shutdown(self._answered) if ask else session.exit())
                except ProtocolError:
                    self.until = 0.0  # `shutdown` was sent already


def stop(servers: Sequence[Server], *, patient: bool = True) -> None:
    """End servers and everything that belongs to them; if not `patient`, by the last step."""
    reacted = Waiter()
    for server in servers:
        server.begin_stop()
    for server in servers:
        for sidecar in server.setup.sidecars:
            sidecar.terminate()
    descents = [_Descent(server, reacted) for server in servers]
    try:
        if patient:
            _descend(descents, reacted)
    finally:
        # Also after an interrupt, which ends the wait.
        for server in servers:
            if server.channel.connection is not None:
                server.channel.connection.child.kill()
        for server in servers:
            server.close(SWEEP)


def _descend(descents: list[_Descent], reacted: Waiter) -> None:
    last = len(RUNGS) - 1
    while True:
        now = time.monotonic()
        for descent in descents:
            descent.step(now)
        left = [descent for descent in descents if not descent.ended()]
        if not left or all(descent.rung == last and now >= descent.until for descent in left):
            return
        reacted.wait(min(descent.until for descent in left) - now)
