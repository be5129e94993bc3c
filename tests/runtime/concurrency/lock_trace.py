"""Runs a program and records in which order it takes its locks.

    python -m tests.runtime.concurrency.lock_trace PACKAGE MODULE ARGUMENT...

runs `main(ARGUMENT...)` of MODULE and prints, as JSON, which locks the modules of PACKAGE have made
and which were taken while another one was held, in any thread. Two threads that take two locks in
different orders can block each other for ever; here it is enough that each of them has run once.

A lock is named by the class and the attribute that it is assigned to, as in `Pool._lock`, or by the
module, as in `msgspec_types._lock`. This module imports nothing of PACKAGE: the functions that
make locks have to be replaced before.
"""

from __future__ import annotations

import ast
import functools
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple

#: The functions of `threading` that make a lock.
MAKERS = ("Lock", "RLock")
#: Classes whose lock is named by who has an instance of it: what may be taken while it is held
#: depends on that.
NAMED_BY_OWNER = frozenset({"Delivery"})
#: In a forked child nobody else runs: locks are replaced there and not taken.
AFTER_FORK = "drop_after_fork"


class Site(NamedTuple):
    """Where a lock is made: the name of it, and the line and column of the call."""

    name: str
    line: int
    column: int


# Names


def sites(path: Path, makers: tuple[str, ...] = MAKERS) -> list[Site]:
    """Where a module makes locks, or things that are named like their lock."""
    source = path.read_text(encoding="utf-8")
    if not any(maker in source for maker in makers):
        return []
    return list(_sites(ast.parse(source), path.stem, makers))


def _sites(node: ast.AST, owner: str, makers: tuple[str, ...]) -> Iterator[Site]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and child.name == AFTER_FORK:
            continue
        if isinstance(child, ast.Assign | ast.AnnAssign) and child.value is not None:
            for call in ast.walk(child.value):
                if isinstance(call, ast.Call) and _called(call) in makers:
                    name = f"{owner}.{_target(child, call)}"
                    yield Site(name, call.lineno, call.col_offset)
        yield from _sites(child, child.name if isinstance(child, ast.ClassDef) else owner, makers)


def _called(call: ast.Call) -> str:
    """The last word of what is called: `Lock` of `threading.Lock`, `Delivery` of `Delivery[T]`."""
    called = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _target(statement: ast.Assign | ast.AnnAssign, call: ast.Call) -> str:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    value = statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its_value in zip(target.elts, value.elts, strict=True):
            if call in ast.walk(its_value):
                target = one
    return ast.unparse(target).removeprefix("self.")


@functools.cache
def _named(path: Path, makers: tuple[str, ...]) -> dict[tuple[int, int], str]:
    return {(line, column): name for name, line, column in sites(path, makers)}


def _name(frame: FrameType, makers: tuple[str, ...]) -> str:
    """The name of what the call makes that the frame is at; empty if it has none."""
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line, column = positions[0] or 0, positions[2] or 0
    return _named(Path(frame.f_code.co_filename), makers).get((line, column), "")


# What is taken while what is held


class Trace:
    """What all threads of this process do with the locks of one package."""

    def __init__(self, package: str) -> None:
        self._package = package
        #: The locks that each thread holds, by its id. A thread has a list of its own.
        self._held: dict[int, list[TracedLock]] = {}
        #: Names of the locks that there are, and of those that were ever taken.
        self.made: set[str] = set()
        self.taken: set[str] = set()
        #: What was held, what was taken, and where that was first seen.
        self.edges: dict[tuple[str, str], str] = {}

    def lock_from(self, make: Callable[[], Any]) -> Any:
        """A lock; a traced one if it is the package's own."""
        frame: FrameType | None = sys._getframe(2)
        if frame is None or not self._is_ours(frame) or frame.f_code.co_name == AFTER_FORK:
            return make()
        name = _name(frame, MAKERS)
        if name.partition(".")[0] in NAMED_BY_OWNER:
            name = self._name_of_owner(frame, name.partition(".")[0])
        self.made.add(name)
        return TracedLock(make(), name, self)

    def _is_ours(self, frame: FrameType) -> bool:
        return str(frame.f_globals.get("__name__", "")).partition(".")[0] == self._package

    def _name_of_owner(self, frame: FrameType, made: str) -> str:
        above = frame.f_back
        while above is not None and not self._is_ours(above):
            above = above.f_back  # `Delivery[T](...)` goes through `typing`
        return "" if above is None else _name(above, (made,))

    def begin(self, lock: TracedLock, *, waits: bool) -> None:
        """The current thread is about to take a lock, and waits if it cannot have it now."""
        held = self._held.setdefault(threading.get_ident(), [])
        if waits and lock not in held:  # else it is one that may be taken again
            for one in held:
                self.edges.setdefault((one.name, lock.name), _where())

    def took(self, lock: TracedLock) -> None:
        """It has it."""
        self.taken.add(lock.name)
        self._held.setdefault(threading.get_ident(), []).append(lock)

    def let_go(self, lock: TracedLock) -> None:
        """It has it no more."""
        held = self._held[threading.get_ident()]
        held.reverse()
        held.remove(lock)  # the last one
        held.reverse()


class TracedLock:
    """A lock that says so when it is taken and released."""

    def __init__(self, lock: Any, name: str, trace: Trace) -> None:
        self._lock, self.name, self._trace = lock, name, trace

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As that of the lock itself."""
        self._trace.begin(self, waits=blocking)
        taken: bool = self._lock.acquire(blocking, timeout)
        if taken:
            self._trace.took(self)
        return taken

    def release(self) -> None:
        """The same."""
        self._trace.let_go(self)
        self._lock.release()

    def locked(self) -> bool:
        """The same."""
        return bool(self._lock.locked())

    __enter__ = acquire

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _where() -> str:
    """Who takes a lock: the innermost line outside of this module and of `threading`."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename in (__file__, threading.__file__):
        frame = frame.f_back
    if frame is None:
        return ""
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def install(package: str) -> Trace:
    """Trace the locks that this package makes from now on."""
    trace = Trace(package)
    for name in MAKERS:
        # By default arguments, since the loop goes on.
        make: Any = getattr(threading, name)
        setattr(threading, name, lambda make=make: trace.lock_from(make))
    return trace


def main() -> None:
    """Run the program, and print what it did."""
    package, module, *arguments = sys.argv[1:]
    trace = install(package)
    importlib.import_module(module).main(*arguments)
    edges = [[held, taken, where] for (held, taken), where in sorted(trace.edges.items())]
    found = {"made": sorted(trace.made), "taken": sorted(trace.taken), "edges": edges}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
