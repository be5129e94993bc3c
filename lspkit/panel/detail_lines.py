"""The lines below an expanded server: its command, trust, error, processes, last words. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lspkit.panel.server_lines import Line, cut, fit, pad, relative, wrap
from lspkit.servers.status import RootStatus, ServerState, ServerStatus
from lspkit.visible_text import bytes_text

#: Cells before the text: an indent, and a label.
INDENT, LABEL = 4, 10
#: Most lines of an error, of a command, and of standard error.
ERROR_LINES, COMMAND_LINES, STDERR_LINES = 6, 3, 5

#: Sources of servers that lspkit knows by itself.
BUILT_IN = ("built-in", "merged")

#: What each kind of trust means.
TRUST = {
    "trusted": "trusted: may run programs of the project",
    "restricted": "restricted: runs without the project's own programs and settings (t)",
    "configured": "configured: runs because you have given its command",
    "untrusted": "untrusted: it would run code of the project (t)",
    "stale": "stale: the project's configuration has changed since it was trusted (t)",
}


def detail_lines(server: ServerStatus, root: str, age: float, width: int) -> list[Line]:
    """All that is known about a server. `age` is how many seconds old its status is."""
    lines: list[Line] = []
    for label, text, most, style in _details(server, root, age):
        room = max(1, width - INDENT - LABEL)
        for number, part in enumerate(wrap(text, room, most) if most else [fit(text, room)]):
            head = pad(label if number == 0 else "", LABEL)
            lines.append(cut([(" " * INDENT + head, "muted"), (part, style)], width))
    return lines


#: Label, text, most lines (0: one line that is cut), style.
_Detail = tuple[str, str, int, str]


def _details(server: ServerStatus, root: str, age: float) -> Iterator[_Detail]:
    if server.reason:
        yield "reason", server.reason, ERROR_LINES, "broken"
    if server.state is ServerState.UNAVAILABLE and server.install:
        yield "get it", server.install, COMMAND_LINES, "strong"
    if server.why:
        yield "chosen", f"because {server.why}", 2, ""
    for one in server.roots:
        yield from _root_details(one, root, age)
    command = shlex.join(server.command) if server.command else "(its program was not found)"
    yield "command", command, COMMAND_LINES, ""
    yield "trust", TRUST.get(server.trust, server.trust), 2, ""
    if server.roots:
        yield "problems", _problem_counts(server), 2, ""
    yield "files", " ".join(server.extensions), 2, ""
    tested = server.verified if server.source in BUILT_IN else ""
    known = "known from its documentation" if tested == "documentation" else f"tested with {tested}"
    if tested:
        yield "version", known, 1, "muted"


def _root_details(one: RootStatus, root: str, age: float) -> Iterator[_Detail]:
    yield "root", f"{relative(one.root, root)}: {one.state.value}", 2, one.state.value
    if one.broken is not None:
        yield "error", one.broken.error, ERROR_LINES, "broken"
    if one.broken is not None and one.broken.attempts:
        again = one.broken.retry_in
        when = "not before a reload or a restart (s)"
        if again is not None:
            when = f"in {max(0.0, again - age):.0f} s at the earliest, or at once with s"
        number = one.broken.attempts
        yield "next try", f"{when}; {number} failure{'' if number == 1 else 's'}", 2, ""
    if one.pid is not None:
        yield "process", _process(one), 2, ""
    if one.requests.count:
        yield "requests", _requests(one), 2, ""
    if one.state in (ServerState.ACTIVE, ServerState.STARTING):
        yield "in flight", ", ".join(one.requests.in_flight) or "nothing", 2, ""
    for what, seconds in zip(one.busy_with, one.busy_for, strict=False):
        yield "busy with", f"{what}, for {seconds + age:.0f} s", 2, "starting"
    for beside in one.sidecars:
        yield "beside it", str(beside), 2, ""
    if one.last_seen is not None:
        yield "last seen", f"{one.last_seen + age:.0f} s ago", 1, ""
    for number, line in enumerate(one.stderr.strip().splitlines()[-STDERR_LINES:]):
        yield "stderr" if number == 0 else "", line, 0, "muted"


def _process(one: RootStatus) -> str:
    name = f"{one.name}, " if one.name else ""
    documents = f"{one.documents} open document{'' if one.documents == 1 else 's'}"
    used = f"{bytes_text(one.memory_bytes)}, {one.cpu_seconds:.1f} s of CPU"
    return f"{name}pid {one.pid}, {used}, {documents}"


def _requests(one: RootStatus) -> str:
    said = one.requests
    more = f", {said.timeouts} timed out" if said.timeouts else ""
    more += f", {said.crashes} crashes" if said.crashes else ""
    return f"{said.count}, half within {said.p50:.0f} ms, 95 % within {said.p95:.0f} ms{more}"


def _problem_counts(server: ServerStatus) -> str:
    counts = server.diagnostics
    words = [("error", "errors"), ("warning", "warnings"), ("info", "notes"), ("hint", "hints")]
    told = [
        f"{counts.get(name, 0)} {name if counts.get(name) == 1 and name != 'info' else several}"
        for name, several in words
        if counts.get(name)
    ]
    files = sum(one.checks.files for one in server.roots)
    return f"{', '.join(told)} in {files} file{'' if files == 1 else 's'}" if told else "none known"
