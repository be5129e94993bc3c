"""Grandchildren of the client: processes that the scripted server leaves behind.

Each is a `sleep` that ends by itself after five minutes, so that a failed test run does not
litter the machine for ever. `start` returns when the grandchild runs its own program: from then
on its session, its signals and its environment are what its kind says.
"""

from __future__ import annotations

import os
import signal

#: group: a plain child in the server's process group. session: a child in a session of its own.
#: escaped: double-forked, in a session of its own, deaf to SIGTERM, with an empty environment.
KINDS = ("group", "session", "escaped")

_PROGRAM = ("/bin/sleep", "300")


def start(kind: str, inherit: bool) -> int:
    """Starts a grandchild and returns its pid. `inherit`: it keeps the server's output open."""
    ready, tell = os.pipe()  # close-on-exec: the read below ends when the program runs
    child = os.fork()
    if child == 0:
        try:
            if kind == "escaped" and os.fork() != 0:
                os._exit(0)
            _become(kind, inherit, tell)
        finally:
            os._exit(127)
    os.close(tell)
    answer = b""
    while chunk := os.read(ready, 64):
        answer += chunk
    os.close(ready)
    if kind == "escaped":
        os.waitpid(child, 0)
    return int(answer)


def _become(kind: str, inherit: bool, tell: int) -> None:
    if kind != "group":
        os.setsid()
    deaf = kind == "escaped"
    signal.signal(signal.SIGTERM, signal.SIG_IGN if deaf else signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0,) if inherit else (0, 1, 2):
        os.dup2(null, descriptor)
    os.write(tell, str(os.getpid()).encode())
    os.execve(_PROGRAM[0], _PROGRAM, {} if deaf else os.environ)
