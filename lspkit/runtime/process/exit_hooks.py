"""The process that lspkit runs in: its end, and its forks.

At interpreter exit every workspace that is still open is closed. In a forked child every workspace
is let go of: its pipes belong to the parent, which goes on.
"""

from __future__ import annotations

import atexit
import os
from typing import Protocol

from lspkit.runtime.process import launch


class Closable(Protocol):
    """What has to be closed."""

    def close(self) -> None:
        """End it."""

    def drop_after_fork(self) -> None:
        """Let go of it in a forked child; takes no lock."""


#: By identity. A plain dict: the fork hook must be able to walk it without a lock.
_open: dict[int, Closable] = {}


def register(one: Closable) -> None:
    """Close it at exit, unless it is closed before."""
    _open[id(one)] = one


def unregister(one: Closable) -> None:
    """It is closed."""
    _open.pop(id(one), None)


def opened() -> frozenset[int]:
    """What is open now, by identity."""
    return frozenset(_open)


def _close_all() -> None:
    for one in list(_open.values()):
        one.close()


def _after_fork() -> None:
    for one in list(_open.values()):
        one.drop_after_fork()
    _open.clear()
    launch.drop_after_fork()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
