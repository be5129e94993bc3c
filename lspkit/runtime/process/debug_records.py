"""What the environment asks lspkit to record, in every process that imports it.

`LSPKIT_LOG=LEVEL` writes the log to standard error, `LSPKIT_LOG=LEVEL:FILE` to a file.
`LSPKIT_TRACE=FILE` records each message from and to a language server, as a line of JSON. Several
processes may append to one file. Such files contain source code, so only the user can read them.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
import warnings

#: The two variables.
LOG, TRACE = "LSPKIT_LOG", "LSPKIT_TRACE"
LEVELS = ("debug", "info", "warning", "error")


class MessageTrace:
    """A file with the messages of all servers of this process."""

    def __init__(self, file: str) -> None:
        self._descriptor = _open(file)

    def record(self, server: str, pid: int | None, sender: str, frame: bytes) -> None:
        """Append a message; `sender` is `lspkit` or `server`. It waits for the disk."""
        head, _, body = frame.rpartition(b"\r\n\r\n")
        try:
            message = json.loads(body if head else frame)
        except (ValueError, RecursionError):
            message = frame.decode("utf-8", "replace")
        line = {
            "at": time.time(),
            "server": server,
            "pid": pid,
            "sender": sender,
            "message": message,
        }
        with contextlib.suppress(OSError):  # a full disk does not end a server
            # In one call: other processes append, too.
            os.write(self._descriptor, json.dumps(line).encode() + b"\n")


def start_log(wanted: str) -> None:
    """Write the log as the value of `LSPKIT_LOG` says."""
    level, _, file = wanted.partition(":")
    if level not in LEVELS:
        warnings.warn(
            f"{LOG} is {wanted!r}: LEVEL or LEVEL:FILE is needed, with a LEVEL of "
            f"{', '.join(LEVELS)}; nothing is logged",
            stacklevel=3,
        )
        return
    try:
        if file:
            os.close(_open(file))
            handler: logging.Handler = logging.FileHandler(file, encoding="utf-8", errors="replace")
        else:
            handler = logging.StreamHandler()
    except OSError as problem:
        _warn_of_file(LOG, file, problem)
        return
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    )
    logger = logging.getLogger("lspkit")
    logger.setLevel(level.upper())
    logger.addHandler(handler)
    logger.propagate = False  # a command has a handler of its own, for warnings


def _message_trace(file: str) -> MessageTrace | None:
    try:
        return MessageTrace(file) if file else None
    except OSError as problem:
        _warn_of_file(TRACE, file, problem)
        return None


def _open(file: str) -> int:
    if not os.path.isabs(file):  # a service has another current folder
        raise OSError(0, "an absolute path is needed")
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _warn_of_file(variable: str, file: str, problem: OSError) -> None:
    why = f"which cannot be written to: {problem.strerror}"
    warnings.warn(f"{variable} names {file!r}, {why}; nothing is recorded", stacklevel=4)


#: Where messages are recorded; None if they are not.
message_trace = _message_trace(os.environ.get(TRACE, ""))
