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

from lspkit.runtime import host

#: The environment variable whose value marks the processes that this one started.
MARKER = "LSPKIT_TEST_RUN"

#: Seconds that processes and threads which are about to end are given.
GRACE = 2.0

_STEP = 0.01
_TASKS = Path("/proc/self/task")
_DESCRIPTORS = Path("/proc/self/fd") if _TASKS.exists() else Path("/dev/fd")
_PR_SET_CHILD_SUBREAPER = 36

#: A token of this process; a forked child keeps it, a nested test run adds its own.
_TOKEN = uuid.uuid4().hex

#: Processes that were there at the last look, and not ours: they need not be asked again.
_STRANGERS: set[int] = set()


@dataclass(frozen=True)
class Snapshot:
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


def take_snapshot(folder: Path | str | None = None) -> Snapshot:
    """Marks this process's future children, and notes what there is now."""
    tokens = os.environ.get(MARKER, "").split()
    if _TOKEN not in tokens:
        os.environ[MARKER] = " ".join([*tokens, _TOKEN])
    watched = None if folder is None else Path(folder)
    return Snapshot(
        processes=frozenset(_processes()),
        threads=frozenset(_threads()),
        descriptors=frozenset(_descriptors()),
        workspaces=frozenset(host.opened()),
        folder=watched,
        entries=frozenset(_entries(watched)),
    )


def leaks_since(snapshot: Snapshot, *, grace: float = GRACE) -> list[str]:
    """One line for each thing that was not there before, once the grace period is over.

    Returns as soon as there is nothing. Children that have ended, but were not waited for, are
    reaped and do not count: adopted orphans cannot be told from children of our own.
    """
    deadline = time.monotonic() + grace
    while (leaks := list(_differences(snapshot))) and time.monotonic() < deadline:
        time.sleep(_STEP)
    return leaks


def kill_leaked_processes(snapshot: Snapshot) -> None:
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


def _differences(snapshot: Snapshot) -> Iterator[str]:
    for process in _new_processes(snapshot):
        yield f"process {process.pid}: {_command(process)}"
    older = bool(snapshot.workspaces & host.opened())
    for thread, name in _threads().items():
        if thread not in snapshot.threads and not (older and name.startswith("lspkit-")):
            yield f"thread {thread}: {name}"
    for descriptor in _descriptors():
        if descriptor not in snapshot.descriptors:
            yield f"descriptor {descriptor[0]}: {_target(descriptor[0])}"
    for entry in _entries(snapshot.folder):
        if entry not in snapshot.entries:
            yield f"temporary file {entry}"


def _new_processes(snapshot: Snapshot) -> list[psutil.Process]:
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
    found: dict[tuple[int, float], psutil.Process] = {}
    for process in (*psutil.Process().children(recursive=True), *_marked()):
        with contextlib.suppress(psutil.NoSuchProcess):
            found[process.pid, process.create_time()] = process
    return found


def _marked() -> Iterator[psutil.Process]:
    pids = set(psutil.pids())
    _STRANGERS.intersection_update(pids)
    for pid in pids - _STRANGERS:
        if pid != os.getpid() and _is_marked(pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                yield psutil.Process(pid)


def _is_marked(pid: int) -> bool:
    if _TASKS.exists():  # one read instead of psutil's parsing: it is done for every process
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False
        marked = _TOKEN.encode() in environment
        # Without any environment it may be about to become another program.
        if not marked and (environment or _is_kernels(pid)):
            _STRANGERS.add(pid)
        return marked
    try:
        return _TOKEN in psutil.Process(pid).environ().get(MARKER, "")
    except (psutil.Error, OSError):
        return False


def _is_kernels(pid: int) -> bool:
    """Whether it is a thread of the Linux kernel: those are children of number 2."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2]
    except OSError:
        return False
    return pid == 2 or after_name.split()[1:2] == [b"2"]


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
    for task in os.listdir(_TASKS):
        with contextlib.suppress(OSError):
            comm = (_TASKS / task / "comm").read_text().strip()
            threads[int(task)] = known.get(int(task), f"{comm} (not a thread of Python)")
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
