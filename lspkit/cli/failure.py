"""Exit statuses; failures of commands, as a line for people and as JSON; signals that end them."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from lspkit.cli.command_parser import UsageError
from lspkit.cli.output import (
    OutputError,
    as_json,
    print_error,
    print_message,
    print_result,
    print_traceback,
)
from lspkit.errors import LspkitError, RequestFailedError
from lspkit.visible_text import one_line

CLEAN = 0
FINDINGS = 1
#: Of commands that search.
FOUND = 0
NOTHING_FOUND = 1
#: A mistake in the call or in the configuration.
USAGE = 2
#: A mistake in the call of `lspkit hook`: for agents, 2 means that the tool call is blocked.
MISUSED_HOOK = 1
#: A server is missing or has not answered, or a file or folder cannot be read.
UNKNOWN = 3
#: The result cannot be written, or lspkit itself failed. `EX_SOFTWARE` of sysexits.h.
FAILED = 70
#: The status of shells after SIGINT.
INTERRUPTED = 130


#: Codes of errors after which nobody knows the answer. All others are mistakes in the call or in
#: the configuration.
NO_ANSWER = frozenset(
    {"ENOSERVER", "EUNAVAILABLE", "EBROKEN", "ETIMEDOUT", "ELSP", "EUNSUPPORTED"}
    | {"ECANCELLED", "ECLOSED", "EPROTOCOL", "EFRAMING"}
)
#: The next step, by code, where the message of the error does not name it.
NEXT_STEPS = {
    "EOUTSIDE": "name a folder that contains it with --root",
    "ETIMEDOUT": "give it more time with --timeout",
    "EBROKEN": "`lspkit status --json` shows the command of each server",
}


def report_failure(problem: Exception, words: Sequence[str], arguments: argparse.Namespace) -> int:
    """Print a failure, with the traceback after `--debug`, and return the exit status."""
    if arguments.debug and not isinstance(problem, UsageError):
        print_traceback(problem)
    status, line = _describe(problem, debug=arguments.debug)
    if _wants_json(words, arguments) and not isinstance(problem, OutputError):
        try:
            print_result(as_json({"error": _as_data(problem)}))
        except OutputError:
            status = FAILED
    if isinstance(problem, UsageError) and problem.usage:
        print_error(problem.usage.rstrip("\n"))
    first, *faults = line.split("\n")  # of a configuration; everything else is one line
    print_message(first)
    if faults:
        print_error("\n".join(faults))
    return status


def _describe(problem: Exception, *, debug: bool) -> tuple[int, str]:
    """The exit status, and the line for people."""
    if isinstance(problem, UsageError):
        return USAGE, one_line(str(problem))
    if isinstance(problem, OutputError):
        return FAILED, str(problem)
    if not isinstance(problem, LspkitError):
        more = "" if debug else "; run with --debug to see more"
        what = one_line(f"{type(problem).__name__}: {problem}")
        return FAILED, f"this should not have happened: {what}{more}"
    step = NEXT_STEPS.get(problem.code)
    line = f"{problem}; {step}" if step else str(problem)
    if isinstance(problem, RequestFailedError) and problem.introduced:
        return FINDINGS, line
    return UNKNOWN if problem.code in NO_ANSWER else USAGE, line


def _wants_json(words: Sequence[str], arguments: argparse.Namespace) -> bool:
    """Whether the caller reads JSON. After a mistake in the call only the words are known."""
    as_json = getattr(arguments, "json", False) or getattr(arguments, "format", "") == "json"
    return as_json or "--json" in words


def _as_data(problem: Exception) -> dict[str, Any]:
    if isinstance(problem, LspkitError):
        return {name: _finite(value) for name, value in problem.to_dict().items()}
    code = "EUSAGE" if isinstance(problem, UsageError) else LspkitError.code
    return {"code": code, "message": str(problem) or type(problem).__name__}


def _finite(value: Any) -> Any:
    """The value, as text if JSON has no such number: `retry_in` may be infinite."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def ending_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as an error would, so that it can clean up."""

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {getattr(signal, name): signal.signal(getattr(signal, name), end) for name in names}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
