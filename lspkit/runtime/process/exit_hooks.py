"""Hooks for the exit and the forks of the host process.

At interpreter exit every open workspace is closed. In a forked child every workspace is dropped:
its pipes belong to the parent, which continues.
"""

from __future__ import annotations

import atexit
import os
from typing import Protocol

from lspkit.runtime.concurrency.teardown import Teardown


class Closable(Protocol):
    """Something that has to be closed."""

    def close(self) -> None:
        """Close it."""

    def drop_after_fork(self) -> None:
        """Drop it in a forked child; takes no lock."""


#: By identity. A plain dict: the fork hook must be able to iterate it without a lock.
_open: dict[int, Closable] = {}


def register(one: Closable) -> None:
    """Close it at exit, unless it is closed before."""
    _open[id(one)] = one


def unregister(one: Closable) -> None:
    """It is closed."""
    _open.pop(id(one), None)


def opened() -> frozenset[int]:
    """The identities of all that are open now."""
    return frozenset(_open)


def _close_all() -> None:
    # Each is closed, whatever becomes of the others; then the first problem is raised.
    Teardown(*[one.close for one in list(_open.values())]).run()


def _after_fork() -> None:
    for one in list(_open.values()):
        one.drop_after_fork()
    _open.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
