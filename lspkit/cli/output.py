"""Output to terminals and pipes."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from lspkit.visible_text import count, one_line, several_lines, visible_json

#: Styles of parts of a line, as parameters of the escape code that begins them.
STYLES = {
    "path": "35",
    "position": "32",
    "name": "1",
    "kind": "36",
    "removed": "31",
    "added": "32",
    "hunk": "36",
}

#: Most warnings that other commands print.
MOST_WARNINGS = 10

#: A part of a line: its text and its style, empty for plain text.
Part = tuple[str, str]


class OutputError(Exception):
    """The result could not be written, for another reason than a closed pipe."""


def escape_unprintable() -> None:
    """Escape characters that an output stream cannot encode."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_result(text: str) -> None:
    """Print the result. A reader that closes the pipe (`| head`) is not an error."""
    _print(_escape_lines(text))


def print_commands(text: str) -> None:
    """Print workflow commands, in which everything is escaped already."""
    _print("\n".join(one_line(line) for line in text.split("\n")))


def print_lines(lines: Iterable[Iterable[Part]]) -> None:
    """Print the result as lines of parts, in colour on a terminal. Tabs are kept."""
    colour = uses_colour(sys.stdout)
    text = "\n".join("".join(_render(*part, colour=colour) for part in line) for line in lines)
    _print(hide_commands(text))


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except OSError as problem:
        _handle_write_error(problem)


def _render(text: str, style: str, *, colour: bool) -> str:
    escaped = several_lines(text)
    return f"\x1b[{STYLES[style]}m{escaped}\x1b[0m" if style and colour else escaped


def uses_colour(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that shows colours, and the user has not refused them."""
    # https://no-color.org: any value that is not empty.
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not refused and is_terminal(stream)


def as_json(plain: Any, indent: int | None = 1) -> str:
    """JSON with characters that standard output can encode."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    unicode = encoding.lower().replace("-", "").startswith("utf")
    return visible_json(json.dumps(plain, indent=indent, ensure_ascii=not unicode))


def _escape_lines(text: str) -> str:
    """The lines with control characters escaped, which may come from a project or a server."""
    return hide_commands("\n".join(one_line(line) for line in text.split("\n")))


def hide_commands(text: str) -> str:
    """The text so that the runner of GitHub Actions, if this is one, finds no command in it."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return text
    return "\n".join(map(_hide_command, text.split("\n")))


def _hide_command(line: str) -> str:
    line = line.replace("##[", "##\\u005b")  # valid in JSON as well
    return line.replace("::", "\\u003a:", 1) if line.lstrip().startswith("::") else line


def flush_output() -> None:
    """Flush standard output while a failure can still be reported."""
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
    """Redirect a stream to the null device: Python would fail again when it exits."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def print_message(text: str) -> None:
    """Print a message on one line of standard error, if there is one."""
    print_error(f"lspkit: {one_line(text)}")


def print_warnings(warnings: Sequence[str]) -> None:
    """Print warnings about the configuration, for other commands."""
    for warning in warnings[:MOST_WARNINGS]:
        print_message(warning)
    if len(warnings) > MOST_WARNINGS:
        print_message(
            f"{count(len(warnings) - MOST_WARNINGS, 'more warning')}, shown by: lspkit config show"
        )


def print_traceback(problem: BaseException) -> None:
    """Print a traceback on standard error."""
    print_error("".join(traceback.format_exception(problem)).rstrip("\n"))


def print_error(text: str) -> None:
    """Print lines on standard error, if there is one."""
    if sys.stderr is None:
        return
    try:
        print(_escape_lines(text), file=sys.stderr, flush=True)
    except OSError:
        _redirect_to_null(sys.stderr)


def is_terminal(*streams: TextIO | None) -> bool:
    """Whether all streams are terminals. A closed stream is None."""
    return all(stream is not None and stream.isatty() for stream in streams)
