"""The lines of the panel: parts of text with the name of a style, as wide as the terminal allows.

Pure. Widths are cells of a terminal: a wide character has two. All text of servers and projects is
escaped.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, chop_cells, set_cell_size

from lspkit.panel.panel_rows import most_broken
from lspkit.servers.status import NOT_FOUND, RootStatus, ServerState, ServerStatus, WorkspaceStatus
from lspkit.visible_text import bytes_text, fold_lines, one_line

#: A part of a line, and the name of its style; empty for plain text.
Part = tuple[str, str]
Line = list[Part]

#: The shape of each state: states are not told by colour alone.
SHAPES = {
    ServerState.BROKEN: "✗",
    ServerState.STARTING: "◐",
    ServerState.ACTIVE: "●",
    ServerState.IDLE: "○",
    ServerState.UNAVAILABLE: "△",
    ServerState.DISABLED: "–",
}
#: The widths of columns. The root has what is left.
STATE, SOURCE, PROBLEMS, WORST_PROBLEMS, MEMORY = 13, 9, 9, 5, 8
SERVER_LEAST, SERVER_MOST, ROOT_LEAST = 8, 16, 6
#: From these widths of a line there are more columns.
WITH_MEMORY, WITH_ROOT, WITH_SOURCE = 44, 54, 66
CURSOR, GAP = "›", 1


def width_of(line: Line) -> int:
    """The cells of a line."""
    return sum(cell_len(text) for text, _ in line)


def fit(text: str, width: int) -> str:
    """The text on one line, cut to the width if it is longer."""
    text = one_line(text)
    if cell_len(text) <= width:
        return text
    return "" if width < 1 else set_cell_size(text, width - 1) + "…"


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly this width."""
    text = fit(text, width)
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def wrap(text: str, width: int, most: int) -> list[str]:
    """The text on at most so many lines, broken between words if possible."""
    lines: list[str] = []
    for word in fold_lines(text).split(" "):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines += chop_cells(word, width) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], fit(lines[most - 1] + " …", width)]
    return lines


def joined_to_fit(parts: Sequence[str], between: str, width: int) -> str:
    """As many of the parts as fit, from the left."""
    text = ""
    for part in parts:
        longer = f"{text}{between}{part}" if text else part
        if cell_len(longer) > width:
            break
        text = longer
    return text


def totals_line(status: WorkspaceStatus, width: int) -> Line:
    """How many servers there are, and how many in each state; worst first."""
    if status.unavailable:
        return [(fit(str(status), width), "warning")]
    for in_words in range(len(ServerState), 0, -1):
        line = _counts(status, in_words)
        if width_of(line) <= width:
            return line
    return cut(_counts(status, 0), width)


def _counts(status: WorkspaceStatus, in_words: int) -> Line:
    """The totals; the first states by their words, the others by their shapes only."""
    number = len(status.rows)
    line: Line = [(f"{number} server{'' if number == 1 else 's'}", "strong")]
    for at, state in enumerate(ServerState):
        count = sum(server.state is state for server in status.rows)
        word = f" {state.value}" if at < in_words else ""
        if count:
            line += [("  ", ""), (f"{SHAPES[state]} {count}{word}", state.value)]
    return line


def legend(width: int) -> str:
    """The shapes with their words."""
    return joined_to_fit([f"{SHAPES[state]} {state.value}" for state in ServerState], "  ", width)


class Columns:
    """The widths of the columns for a list of servers and a width of the line."""

    def __init__(self, servers: Iterable[ServerStatus], width: int) -> None:
        longest = max((cell_len(one_line(row.server)) for row in servers), default=0)
        self.width = width
        self.source = SOURCE if width >= WITH_SOURCE else 0
        self.memory = MEMORY if width >= WITH_MEMORY else 0
        #: On a narrow terminal only the worst problems are counted.
        self.problems = PROBLEMS if width >= WITH_MEMORY else WORST_PROBLEMS
        # The cursor with its gap, the state, and the columns at the right end.
        fixed = 2 + STATE + sum(width + GAP for width in (self.source, self.memory) if width)
        left = max(0, width - fixed - (self.problems + GAP) - GAP)
        self.server = min(left, max(SERVER_LEAST, min(SERVER_MOST, longest)))
        rest = left - self.server - GAP
        self.root = rest if width >= WITH_ROOT and rest >= ROOT_LEAST else 0
        if not self.root:
            self.server = left

    @property
    def after_source(self) -> int:
        """The cells from the root to the end of the line."""
        root = self.root + GAP if self.root else 0
        return root + self.problems + (self.memory + GAP if self.memory else 0)

    def heading(self) -> Line:
        """The names of the columns."""
        words = ["  ", pad("STATE", STATE), " " * GAP, pad("SERVER", self.server), " " * GAP]
        words += [pad("SOURCE", self.source), " " * GAP] if self.source else []
        words += [pad("ROOT", self.root), " " * GAP] if self.root else []
        words += [pad("PROBLEMS" if self.problems > 7 else "PROB", self.problems, right=True)]
        words += [" " * GAP, pad("MEMORY", self.memory, right=True)] if self.memory else []
        return [(fit("".join(words), self.width), "muted")]

    def row(self, server: ServerStatus, root: str, age: float, *, selected: bool) -> Line:
        """The line of a server. `age` is how many seconds old its status is."""
        state = server.state.value
        line: Line = [
            (f"{CURSOR} " if selected else "  ", "strong"),
            (pad(f"{SHAPES[server.state]} {state}", STATE), state),
            (" " * GAP, ""),
            (pad(server.server, self.server), "strong" if server.roots else "muted"),
            (" " * GAP, ""),
        ]
        if self.source:
            line += [(pad(server.source, self.source), "muted"), (" " * GAP, "")]
        if server.state is ServerState.UNAVAILABLE:
            line.append((pad(_why_not(server), self.after_source), "muted"))
            return cut(line, self.width)
        if self.root:
            line += [(pad(roots_text(server, root), self.root), ""), (" " * GAP, "")]
        line.append(_problems(server, self.problems))
        if self.memory:
            line += [(" " * GAP, ""), (pad(_memory(server, age), self.memory, right=True), "")]
        return cut(line, self.width)


def cut(line: Line, width: int) -> Line:
    """The line without what is beyond the width, on a terminal that is very narrow."""
    kept: Line = []
    for text, style in line:
        part = fit(text, width - width_of(kept))
        if part:
            kept.append((part, style))
    return kept


def relative(path: str, root: str) -> str:
    """A folder as seen from the workspace."""
    inside = path == root or path.startswith(os.path.join(root, ""))
    return os.path.relpath(path, root) if inside else path


def roots_text(server: ServerStatus, root: str) -> str:
    """The root of a server, or how many it has."""
    if len(server.roots) > 1:
        return f"{len(server.roots)} roots"
    return relative(server.roots[0].root, root) if server.roots else ""


def _why_not(server: ServerStatus) -> str:
    if server.reason == NOT_FOUND and server.install:
        return server.install
    # A program that is there, but does not work, was tried for a root.
    failed = (root.broken.error for root in server.roots if root.broken is not None)
    return server.reason or next(failed, "")


def _problems(server: ServerStatus, width: int) -> Part:
    counts = server.diagnostics
    errors, warnings = counts.get("error", 0), counts.get("warning", 0)
    if not server.roots:
        return " " * width, ""
    if not errors and not warnings:
        return pad(str(counts.get("total", 0)), width, right=True), "muted"
    words = [f"{number}{letter}" for number, letter in ((errors, "E"), (warnings, "W")) if number]
    text = " ".join(words if width == PROBLEMS else words[:1])
    return pad(text, width, right=True), "broken" if errors else "starting"


def _memory(server: ServerStatus, age: float) -> str:
    root = most_broken(server)
    if root is not None and root.broken is not None and root.broken.retry_in is not None:
        return f"↻ {max(0.0, root.broken.retry_in - age):.0f} s"
    used = sum(root.memory_bytes for root in server.roots)
    return bytes_text(used) if used else ""


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
    for running in server.roots:
        yield from _root_details(running, root, age)
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


def _root_details(running: RootStatus, root: str, age: float) -> Iterator[_Detail]:
    yield "root", f"{relative(running.root, root)}: {running.state.value}", 2, running.state.value
    if running.broken is not None:
        yield "error", running.broken.error, ERROR_LINES, "broken"
    if running.broken is not None and running.broken.attempts:
        again = running.broken.retry_in
        when = "not before a reload or a restart (s)"
        if again is not None:
            when = f"in {max(0.0, again - age):.0f} s at the earliest, or at once with s"
        number = running.broken.attempts
        yield "next try", f"{when}; {number} failure{'' if number == 1 else 's'}", 2, ""
    if running.pid is not None:
        yield "process", _process(running), 2, ""
    if running.requests.count:
        yield "requests", _requests(running), 2, ""
    if running.state in (ServerState.ACTIVE, ServerState.STARTING):
        yield "in flight", ", ".join(running.requests.in_flight) or "nothing", 2, ""
    for what, seconds in zip(running.busy_with, running.busy_for, strict=False):
        yield "busy with", f"{what}, for {seconds + age:.0f} s", 2, "starting"
    for sidecar in running.sidecars:
        yield "beside it", str(sidecar), 2, ""
    if running.last_seen is not None:
        yield "last seen", f"{running.last_seen + age:.0f} s ago", 1, ""
    for number, line in enumerate(running.stderr.strip().splitlines()[-STDERR_LINES:]):
        yield "stderr" if number == 0 else "", line, 0, "muted"


def _process(running: RootStatus) -> str:
    name = f"{running.name}, " if running.name else ""
    documents = f"{running.documents} open document{'' if running.documents == 1 else 's'}"
    used = f"{bytes_text(running.memory_bytes)}, {running.cpu_seconds:.1f} s of CPU"
    return f"{name}pid {running.pid}, {used}, {documents}"


def _requests(running: RootStatus) -> str:
    requests = running.requests
    more = f", {requests.timeouts} timed out" if requests.timeouts else ""
    more += f", {requests.crashes} crashes" if requests.crashes else ""
    half, most = f"{requests.p50:.0f} ms", f"{requests.p95:.0f} ms"
    return f"{requests.count}, half within {half}, 95 % within {most}{more}"


def _problem_counts(server: ServerStatus) -> str:
    counts = server.diagnostics
    words = [("error", "errors"), ("warning", "warnings"), ("info", "notes"), ("hint", "hints")]
    counted = [
        f"{counts.get(name, 0)} {name if counts.get(name) == 1 and name != 'info' else several}"
        for name, several in words
        if counts.get(name)
    ]
    files = sum(root.checks.files for root in server.roots)
    return (
        f"{', '.join(counted)} in {files} file{'' if files == 1 else 's'}"
        if counted
        else "none known"
    )
