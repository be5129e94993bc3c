"""What did a piece of code leave behind? Processes, threads, descriptors, temporary files.

`take_snapshot` before, `leaks_since` after. Processes are found in two ways: as descendants of
this process, and by a marker in their environment. On Linux `adopt_orphans` closes the gap
between the two: a daemon that left its session and scrubbed its environment is handed to this
process by the kernel when its parent ends, and so is a descendant again.

File locks are not listed by themselves: each is held through an open descriptor, which is.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import stat
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from lspkit.runtime.concurrency import teardown

#: The environment variable whose value marks the processes that this one started.
MARKER = "LSPKIT_TEST_RUN"

#: Seconds that processes and threads which are about to end are given.
GRACE = 2.0

_STEP = 0.01
_TASKS = Path("/proc/self/task")
_DESCRIPTORS = Path("/proc/self/fd") if _TASKS.exists() else Path("/dev/fd")
_PR_SET_CHILD_SUBREAPER = 36
#: Among the flags of a process that the Linux kernel tells: it is a thread of the kernel.
_PF_KTHREAD = 0x00200000

#: A token of this process; a forked child keeps it, a nested test run adds its own.
_TOKEN = uuid.uuid4().hex

#: Processes that are not ours and cannot become ours: they need not be asked again. Each is known
#: by its number and by the inode of its folder in /proc, which is another one when the number is
#: used again.
_STRANGERS: set[tuple[int, int]] = set()


@dataclass(frozen=True)
class ResourceSnapshot:
    """The world of this process at one moment."""

    #: Pid and time of creation: pids are used again.
    processes: frozenset[tuple[int, float]]
    #: Ids of threads; on Linux of all, also of those that Python did not start.
    threads: frozenset[int]
    #: Number, device and inode: a number may be closed and used again for something else.
    descriptors: frozenset[tuple[int, int, int]]
    #: Workspaces that were open already, by identity: they may start threads of their own later.
    workspaces: frozenset[int]
    #: The folder for temporary files that is watched, and its entries.
    folder: Path | None
    entries: frozenset[str]


def take_snapshot(folder: Path | str | None = None) -> ResourceSnapshot:
    """Marks this process's future children, and notes what there is now."""
    tokens = os.environ.get(MARKER, "").split()
    if _TOKEN not in tokens:
        os.environ[MARKER] = " ".join([*tokens, _TOKEN])
    watched = None if folder is None else Path(folder)
    return ResourceSnapshot(
        processes=frozenset(_processes()),
        threads=frozenset(_threads()),
        descriptors=frozenset(_descriptors()),
        workspaces=frozenset(teardown.opened()),
        folder=watched,
        entries=frozenset(_entries(watched)),
    )


def leaks_since(snapshot: ResourceSnapshot, *, grace: float = GRACE) -> list[str]:
    """One line for each thing that was not there before, once the grace period is over.

    Returns as soon as there is nothing. Children that have ended, but were not waited for, are
    reaped and do not count: adopted orphans cannot be told from children of our own.
    """
    deadline = time.monotonic() + grace
    while (leaks := list(_differences(snapshot))) and time.monotonic() < deadline:
        time.sleep(_STEP)
    return leaks


def kill_leaked_processes(snapshot: ResourceSnapshot) -> None:
    """Ends every process that `leaks_since` would name, and waits until it is gone."""
    deadline = time.monotonic() + GRACE
    while (leaked := _new_processes(snapshot)) and time.monotonic() < deadline:
        for process in leaked:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        time.sleep(_STEP)


def adopt_orphans() -> bool:
    """Makes this process the parent of orphans among its descendants; False where it cannot be."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def _differences(snapshot: ResourceSnapshot) -> Iterator[str]:
    for process in _new_processes(snapshot):
        yield f"process {process.pid}: {_command(process)}"
    older = bool(snapshot.workspaces & teardown.opened())
    for thread, name in _threads().items():
        if thread not in snapshot.threads and not (older and name.startswith("lspkit-")):
            yield f"thread {thread}: {name}"
    for descriptor in _descriptors():
        if descriptor not in snapshot.descriptors:
            yield f"descriptor {descriptor[0]}: {_target(descriptor[0])}"
    for entry in _entries(snapshot.folder):
        if entry not in snapshot.entries:
            yield f"temporary file {entry}"


def _new_processes(snapshot: ResourceSnapshot) -> list[psutil.Process]:
    return [
        process
        for identity, process in _processes().items()
        if identity not in snapshot.processes and not _reaped(process)
    ]


def _reaped(process: psutil.Process) -> bool:
    """Has it ended? If it is a child of ours, it is waited for."""
    try:
        if process.status() != psutil.STATUS_ZOMBIE:
            return False
        if process.ppid() == os.getpid():
            os.waitpid(process.pid, os.WNOHANG)
    except (psutil.NoSuchProcess, ChildProcessError):
        pass
    return True


def _processes() -> dict[tuple[int, float], psutil.Process]:
    """Descendants of this process, and processes that carry its marker."""
    processes: dict[tuple[int, float], psutil.Process] = {}
    for process in _descendants() if not _TASKS.exists() else _ours():
        with contextlib.suppress(psutil.NoSuchProcess):
            processes[process.pid, process.create_time()] = process
    return processes


def _descendants() -> Iterator[psutil.Process]:
    """By psutil, which reads more of each process than is needed: for other systems than Linux."""
    yield from psutil.Process().children(recursive=True)
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and _TOKEN in process.environ().get(MARKER, ""):
                yield process


def _ours() -> Iterator[psutil.Process]:
    """By `/proc`, for Linux: quick, since it is done twice for every test."""
    own = os.getpid()
    with os.scandir("/proc") as entries:
        present = {(int(entry.name), entry.inode()) for entry in entries if entry.name.isdecimal()}
    _STRANGERS.intersection_update(present)
    parents: dict[int, int | None] = {}
    for pid, inode in present - _STRANGERS:
        if pid == own:
            continue
        ancestors = _ancestors(pid, parents)
        environment = _read(f"/proc/{pid}/environ")
        if own in ancestors or _TOKEN.encode() in environment:
            with contextlib.suppress(psutil.NoSuchProcess):
                yield psutil.Process(pid)
        # An orphan is handed to one of its ancestors, and we are none. Where not all of them were
        # seen, one has just ended; and without an environment it may be about to become another
        # program. Both are asked again.
        elif 0 in ancestors and (environment or _has_no_program(pid)):
            _STRANGERS.add((pid, inode))


def _ancestors(pid: int, parents: dict[int, int | None]) -> set[int]:
    """Parent, grandparent and so on, up to 0, or up to one that has ended meanwhile."""
    ancestors: set[int] = set()
    at: int | None = pid
    while at is not None and at not in ancestors:
        ancestors.add(at)
        if at not in parents:
            parents[at] = _parent(at)
        at = parents[at]
    return ancestors - {pid}


def _parent(pid: int) -> int | None:
    """The parent's number; 0 is the one of the first process. None if it has ended."""
    fields = _status(pid)
    return int(fields[1]) if fields else None


def _has_no_program(pid: int) -> bool:
    """Whether it is a thread of the kernel, or has ended and is only not waited for."""
    fields = _status(pid)
    return bool(fields) and (fields[0] == b"Z" or bool(int(fields[6]) & _PF_KTHREAD))


def _status(pid: int) -> list[bytes]:
    """What the kernel tells about a process, from its state on; nothing if it has ended."""
    # The name before that, which is in brackets, may hold anything.
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    """The contents of a small file of the kernel's; empty if it is gone, or not for us."""
    try:
        with open(path, "rb", buffering=0) as stream:
            return stream.read()
    except OSError:
        return b""


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()) or process.name()
    except psutil.Error:
        return "(its command cannot be read)"


def _threads() -> dict[int, str]:
    """Names of the running threads by id."""
    known = {thread.native_id: thread.name for thread in threading.enumerate()}
    if not _TASKS.exists():
        return {thread: name for thread, name in known.items() if thread is not None}
    threads = {}
    for task in map(int, os.listdir(_TASKS)):
        if name := known.get(task):
            threads[task] = name
        elif comm := _read(f"{_TASKS}/{task}/comm"):
            threads[task] = f"{os.fsdecode(comm).strip()} (not a thread of Python)"
    return threads


def _descriptors() -> list[tuple[int, int, int]]:
    descriptors = []
    for name in os.listdir(_DESCRIPTORS):
        with contextlib.suppress(OSError):  # the one by which the folder was listed is closed now
            status = os.fstat(int(name))
            descriptors.append((int(name), status.st_dev, status.st_ino))
    return descriptors


def _target(descriptor: int) -> str:
    try:
        return os.readlink(_DESCRIPTORS / str(descriptor))
    except OSError:
        with contextlib.suppress(OSError):
            return stat.filemode(os.fstat(descriptor).st_mode)
        return "(closed meanwhile)"


def _entries(folder: Path | None) -> list[str]:
    return [] if folder is None else [str(path) for path in sorted(folder.iterdir())]
