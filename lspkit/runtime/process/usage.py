"""Memory, CPU and state of a server's processes. psutil is imported when it is needed."""

from __future__ import annotations

import os
import time
from typing import Any

#: How often, and how many seconds apart, the state is read: a process may wait for a moment.
LOOKS, PAUSE = 3, 0.004


def usage(pid: int | None) -> tuple[int, float]:
    """Memory in bytes and CPU in seconds of a process and its descendants."""
    memory, cpu = 0, 0.0
    for process in _family(pid):
        facts = _ask(process, "memory_info", "cpu_times")
        if facts:
            memory += facts["memory_info"].rss
            cpu += facts["cpu_times"].user + facts["cpu_times"].system
    return memory, round(cpu, 2)


def files_of_command(pid: int) -> list[str]:
    """The absolute paths on the command line of a process; none where the system does not tell."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            words = [os.fsdecode(word) for word in line.read().split(b"\0")]
    except OSError:
        return []
    return [word for word in words if os.path.isabs(word)]


def is_asleep(pid: int) -> bool:
    """Whether a process and its descendants are idle for a moment."""
    for look in range(LOOKS):
        if look:
            time.sleep(PAUSE)
        if not is_idle(pid):
            return False
    return True


def is_idle(pid: int) -> bool:
    """Whether no thread of a process or of a descendant is running, at this moment.

    On Linux a process counts as sleeping if its first thread sleeps. Other systems say no more.
    """
    for process in _family(pid):
        states = _thread_states(process.pid) or {_ask(process, "status").get("status", "")}
        if states & {"R", "D", "running", "disk-sleep"}:
            return False
    return True


def _thread_states(pid: int) -> set[str]:
    """The states of all threads of a process, as letters; empty if they are not known."""
    states: set[str] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(
                f"/proc/{pid}/task/{thread}/stat", encoding="utf-8", errors="replace"
            ) as stat:
                # The name before the state may contain anything.
                states.add(stat.read().rpartition(")")[2].strip()[:1])
    except OSError:
        pass  # it has ended, or this is another system
    return states


def _family(pid: int | None) -> list[Any]:
    import psutil  # here: it takes 10 ms to import, and is rarely needed

    if pid is None:
        return []
    try:
        own = psutil.Process(pid)
        return [own, *own.children(recursive=True)]
    except psutil.Error:
        return []


def _ask(process: Any, *names: str) -> dict[str, Any]:
    import psutil

    try:
        facts: dict[str, Any] = process.as_dict(names)
    except psutil.Error:
        return {}
    return facts
