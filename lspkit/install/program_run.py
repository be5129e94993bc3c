"""Runs a program to its end, and ends it with all its processes if it is too slow or Ctrl-C comes.

Only a process that has left the group of the program goes on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

#: Loaded here, since the child may not load anything.
_LIBC = ctypes.CDLL(None)


def run_program(
    argv: Sequence[str], folder: str, environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a program without input. Raises `OSError` and `subprocess.TimeoutExpired`.

    It has a process group of its own, which is killed if this process is interrupted, or if the
    program has not ended after `timeout` seconds.
    """
    # An interrupt waits until the child is known: else it would be lost during the fork, where
    # Python ignores exceptions, or leave the child behind.
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        child = subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_prepare_child,
        )
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        raise
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        printed, told = child.communicate(timeout=timeout)
    except BaseException:
        _kill(child)
        raise
    return subprocess.CompletedProcess(argv, child.returncode, printed, told)


def _prepare_child() -> None:
    """In the child: it ends when lspkit is killed, so that nothing goes on writing into its folder,
    and it can be interrupted."""
    if sys.platform == "linux":
        _LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _kill(child: subprocess.Popen[str]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended meanwhile
    child.wait()
    # They are not read to their end: a process that has left the group may hold the other side.
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()
