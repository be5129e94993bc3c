"""Printing for people and pipes."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any, TextIO

from lspkit.late_imports import safe_imports
from lspkit.visible_text import one_line, visible_json


class OutputError(Exception):
    """The result could not be written, and not because its reader has gone."""


def escape_unprintable() -> None:
    """Names of files may be any bytes, and a terminal may know few letters."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_result(text: str) -> None:
    """Print the result. A reader who has seen enough (`| head`) is no mistake of anybody."""
    try:
        print(_escape_lines(text), flush=True)
    except OSError as problem:
        _handle_write_error(problem)


def as_json(plain: Any, indent: int | None = 1) -> str:
    """As JSON, in letters that standard output can print: Python's escapes would be no JSON."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    unicode = encoding.lower().replace("-", "").startswith("utf")
    return visible_json(json.dumps(plain, indent=indent, ensure_ascii=not unicode))


def _escape_lines(text: str) -> str:
    """Lines that no terminal obeys, whatever a project or a server has put into them."""
    return "\n".join(one_line(line) for line in text.split("\n"))


def flush_output() -> None:
    """Write what others have printed, while somebody can still be told that it does not work."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as problem:
        _handle_write_error(problem)


def _handle_write_error(problem: OSError) -> None:
    _redirect_to_null(sys.stdout)
    if not isinstance(problem, BrokenPipeError):
        raise OutputError(f"the result cannot be written: {problem.strerror}") from problem


def _redirect_to_null(stream: TextIO) -> None:
    """Python would try, and complain, once more while it ends."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def print_message(text: str) -> None:
    """A line, or some, beside the result. Where nobody can be told, the status has to do."""
    if sys.stderr is None:
        return
    _print_error(f"lspkit: {text}")


def print_traceback(problem: BaseException) -> None:
    """What went wrong with how it came about, for who wants to see that."""
    with safe_imports():
        import traceback  # here: hardly anybody does

    if sys.stderr is not None:
        _print_error("".join(traceback.format_exception(problem)).rstrip("\n"))


def _print_error(text: str) -> None:
    try:
        print(_escape_lines(text), file=sys.stderr, flush=True)
    except OSError:
        _redirect_to_null(sys.stderr)


def is_terminal(*streams: TextIO | None) -> bool:
    """Whether somebody sits at all of them. A stream that the caller has closed is None."""
    return all(one is not None and one.isatty() for one in streams)
