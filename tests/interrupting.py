"""Interrupts at every place where Python takes notice of one, one after the other.

A signal handler runs when a function begins, after a call has returned, and when a loop goes round
again. `interrupted` runs a function and raises `KeyboardInterrupt` at the n-th of these places in
the files that a test is about, so that no luck is needed to meet the one place that leaks.
"""

from __future__ import annotations

import contextlib
import dis
import os
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

#: Instructions before and behind which a handler may run.
BEFORE = ("RESUME", "JUMP_BACKWARD")
BEHIND = ("CALL",)


def each_interrupt(action: Callable[[], object], *folders: str, step: int = 1) -> Iterator[int]:
    """Runs the action with an interrupt at the first place, at the second, … until it ends.

    Yields after each interrupted run. The action is run once more than that, to its end. With a
    larger step only each so-and-so-many-th place is tried.
    """
    number = 0
    while interrupted(action, number, folders):
        yield number
        number += step


def interrupted(action: Callable[[], object], number: int, folders: tuple[str, ...]) -> bool:
    """Runs the action with an interrupt at this place; False if there is no such place."""
    tracer = _Tracer(number, folders)
    before = sys.gettrace()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            sys.settrace(tracer.begin)
            action()
    finally:
        sys.settrace(before)
    return tracer.left < 0


class _Tracer:
    def __init__(self, number: int, folders: tuple[str, ...]) -> None:
        self.left = number
        self._folders = folders
        self._last: dict[FrameType, str] = {}
        self._names: dict[CodeType, dict[int, str]] = {}

    def begin(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.left < 0 or not frame.f_code.co_filename.startswith(self._folders):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        frame.f_trace = self.step  # from Python 3.12 on, opcodes are traced from here
        sys.settrace(self.begin)
        return self.step

    def step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event in ("return", "exception"):  # a call that failed has not returned
            self._last.pop(frame, None)
        if event != "opcode" or self.left < 0:
            return self.step
        name = self._name(frame)
        last = self._last.get(frame, "")
        self._last[frame] = name
        if name.startswith(BEFORE) or last.startswith(BEHIND):
            self.left -= 1
            if self.left < 0:
                self._last.clear()
                raise KeyboardInterrupt
        return self.step

    def _name(self, frame: FrameType) -> str:
        code = frame.f_code
        if code not in self._names:
            self._names[code] = {one.offset: one.opname for one in dis.get_instructions(code)}
        return self._names[code].get(frame.f_lasti, "")


def open_descriptors() -> set[str]:
    """What this process has open, by number and by where it leads."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself
            found.add(f"{number} {os.readlink(f'/proc/self/fd/{number}')}")
    return found
