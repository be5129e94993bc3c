"""Draws the pictures and call trees of the architecture page: python tools/draw.py

The states of a session and of a server come from the tables that the code runs by. The layers and
the two walks are tables here; tests compare them with the imports of the code and with real calls
(`tests/test_docs.py`, `tests/test_walks.py`), and what is committed with what is drawn.
"""

from __future__ import annotations

import enum
from html import escape
from pathlib import Path
from typing import NamedTuple, TypeVar

from lspkit.protocol.session import TRANSITIONS, State
from lspkit.runtime.server import process_state
from lspkit.runtime.server.process_state import ProcessState

STYLE = (
    "<style>text{font:14px sans-serif;fill:#222}.small{font-size:12px;fill:#555}"
    ".label{font-size:12px;fill:#555;paint-order:stroke;stroke:#fff;stroke-width:5px}"
    "rect{fill:#f6f4ee;stroke:#888}path{fill:none;stroke:#555;marker-end:url(#tip)}"
    ".open{stroke:#bbb;stroke-dasharray:4;marker-end:none}"
    "</style><defs><marker id='tip' markerWidth='9' markerHeight='9' refX='8' refY='4' "
    "orient='auto'><path d='M0,0 L8,4 L0,8 z' style='fill:#555;stroke:none'/></marker></defs>"
)

Kind = TypeVar("Kind", bound=enum.Enum)

#: The width of the box of a state.
WIDE = 146
#: Where each state stands: column and row.
SESSION_AT = {
    State.NEW: (0, 0),
    State.INITIALIZING: (1, 0),
    State.RUNNING: (2, 0),
    State.STOPPING: (3, 0),
    State.FAILED: (1, 1),
    State.STOPPED: (3, 1),
}
SERVER_AT = {
    ProcessState.NEW: (0, 0),
    ProcessState.STARTING: (1, 0),
    ProcessState.LOADING: (2, 0),
    ProcessState.READY: (3, 0),
    ProcessState.RELOADING: (4, 0),
    ProcessState.STARTING_OUTDATED: (1, 1),
    ProcessState.OUTDATED: (3, 1),
    ProcessState.STOPPING: (2, 2),
    ProcessState.ENDED: (3, 2),
}
#: What is drawn in one box, from top to bottom. A box imports only from the boxes below it.
LAYERS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("cli",), "the command line"),
    (("panel", "web", "mcp", "notebook"), "a terminal, HTTP and a page, MCP, IPython"),
    (("service",), "the same workspace in a process of its own"),
    (("agent", "batch"), "tools and hooks for a model; checks of whole projects"),
    (("workspace",), "the API: builds requests, hands them to an engine"),
    (("runtime",), "every thread, process, wait and watch"),
    (("install",), "gets servers, and says how to get them"),
    (("operations", "servers", "config", "edits", "diagnostics"), "decide, over plain values"),
    (("workspace_boundary",), "which paths may be touched"),
    (("protocol",), "the state machine: bytes and calls in, events and bytes out"),
    (("edit_types", "types", "errors", "limits", "version"), "values that all parts share"),
)
#: The same inside of `runtime/`.
FLOORS: tuple[tuple[str, str], ...] = (
    ("engine", "one workspace: carries out requests, and ends"),
    ("engine_api", "what a workspace needs of any engine"),
    ("host", "what an operation may ask for, done for one call"),
    ("freshness", "checks: findings with a proof"),
    ("exchange", "one request to one server, and what it waits for"),
    ("pool", "many servers: start, replace, stop, tell of files"),
    ("watch", "a tree on disk; knows no server"),
    ("server", "one server: documents, requests, findings"),
    ("files", "texts and stamps of files, overlays"),
    ("process", "one process and all that descends from it"),
    ("concurrency", "threads, waits, timers; knows no protocol"),
)


class Thread(NamedTuple):
    """Who runs the calls below."""

    name: str


class Call(NamedTuple):
    """A call in a walk, made by the last one above that has a smaller depth."""

    depth: int
    function: str
    #: In `lspkit/`.
    file: str
    note: str


_MAIN = Thread("the main thread")
_CALL = Thread("a thread for calls, or the caller's own if that is not the main thread")
#: How every call begins.
_RUN = (
    Call(1, "LocalEngine.run", "runtime/engine.py", "the time of the call begins"),
    Call(2, "hand_over", "runtime/concurrency/parallel.py", "to another thread; waits for it"),
    _CALL,
    Call(0, "LocalEngine._carry_out", "runtime/engine.py", ""),
    Call(1, "Calls.run", "runtime/exchange/context.py", "the call is under way"),
)
_SERVERS = (
    Call(6, "servers_of", "runtime/exchange/disk_sync.py", "by the disk as it is at this moment"),
    Call(7, "Pool.servers_for", "runtime/pool/pool.py", "one per id and root"),
    Call(8, "choose", "servers/selection/choose.py", "root, program, trust"),
    Call(7, "catch_up_with_disk", "runtime/exchange/disk_sync.py", "once per call"),
    Call(8, "DiskEvents.catch_up", "runtime/pool/disk_events.py", "tells servers what changed"),
    Call(9, "Watcher.catch_up", "runtime/watch/watcher.py", "compares with the snapshot"),
)
_READER = (
    Thread("the reader thread of the server"),
    Call(0, "Connection._read", "runtime/server/connection.py", "cuts and parses frames"),
    Call(1, "Session.receive", "protocol/session.py", "a message becomes an event"),
    Call(1, "Server._on_event", "runtime/server/server.py", "hands the event on"),
)
DEFINITION: tuple[Thread | Call, ...] = (
    _MAIN,
    Call(0, "Queries.definition", "workspace/queries.py", "builds a DefinitionRequest"),
    *_RUN,
    Call(2, "definition", "operations/navigation.py", "asks, and reads the answers"),
    Call(3, "ask_at", "operations/symbol_positions.py", "which position is meant"),
    Call(4, "CallHost.ask", "runtime/host/call_host.py", "what Host.ask is here"),
    Call(5, "ask_servers_of_file", "runtime/host/ask_file.py", "begins at all, then waits"),
    Call(6, "Files.locate", "runtime/files.py", "the real path, inside of the workspace"),
    *_SERVERS,
    Call(6, "prepare_server", "runtime/exchange/preparation.py", "if it is not ready yet"),
    Call(6, "begin_document_request", "runtime/exchange/ask_server.py", "to each server"),
    Call(7, "DocumentChannel.ask_about", "runtime/server/document_channel.py", "in one step:"),
    Call(8, "Documents.sync", "protocol/open_documents.py", "what brings the text up to date"),
    Call(8, "Session.request", "protocol/session.py", "the request as bytes"),
    Call(8, "Connection.post", "runtime/server/connection.py", "both; queued if it has to be"),
    Call(9, "Connection._write_here", "runtime/server/connection.py", "small: into the pipe"),
    Call(6, "await_reply", "runtime/exchange/ask_server.py", "of each; asks again if dropped"),
    Call(7, "wait_for_answer", "runtime/exchange/ask_server.py", ""),
    Call(8, "Call.wait", "runtime/concurrency/call.py", "blocks; answer, deadline or cancel"),
    Call(3, "locations_of", "operations/navigation.py", ""),
    Call(4, "read_location_ranges", "protocol/wire/results.py", "decodes an answer"),
    Call(4, "CallHost.find_places", "runtime/host/call_host.py", "URIs become paths"),
    Thread("another thread for calls, if the server does not run yet"),
    Call(0, "Pool._start", "runtime/pool/pool.py", "one start serves all callers"),
    Call(1, "Server.start", "runtime/server/server.py", "sends initialize"),
    Call(2, "Guardian.launch", "runtime/process/guardian.py", "a process that starts processes"),
    Thread("the writer thread of the server"),
    Call(0, "Connection._write", "runtime/server/connection.py", "what callers could not write"),
    *_READER,
    Call(2, "Waiter.complete", "runtime/concurrency/waiter.py", "wakes the caller"),
)
CHECK: tuple[Thread | Call, ...] = (
    _MAIN,
    Call(0, "Workspace.check", "workspace/workspace.py", "builds a CheckRequest"),
    *_RUN,
    Call(2, "check", "operations/checks/check.py", "asks, and makes the report"),
    Call(3, "CallHost.examine", "runtime/host/call_host.py", "what Host.examine is here"),
    Call(4, "check_file", "runtime/freshness/check_file.py", "tried again after a restart"),
    Call(5, "Files.locate", "runtime/files.py", "the real path, inside of the workspace"),
    *(step._replace(depth=step.depth - 1) for step in _SERVERS),
    Call(5, "in_parallel", "runtime/concurrency/parallel.py", "a thread for each further server"),
    Call(6, "_examine_one", "runtime/freshness/check_file.py", "for each server:"),
    Call(7, "DocumentQueue.join", "runtime/server/document_queue.py", "a turn per document"),
    Call(7, "prepare_server", "runtime/exchange/preparation.py", "up, and project loaded"),
    Call(7, "wait_for_turn", "runtime/exchange/ask_server.py", "until it is this caller's turn"),
    Call(7, "refresh_documents", "runtime/exchange/disk_sync.py", "open documents follow the disk"),
    Call(7, "_prove_all", "runtime/freshness/check_file.py", "again if the text changes"),
    Call(8, "wait_until_read", "runtime/freshness/check_file.py", "it has read what changed"),
    Call(8, "wait_while_reloading", "runtime/exchange/preparation.py", "and its configuration"),
    Call(8, "prove", "runtime/freshness/proof_by_request.py", "for each proof rule, either"),
    Call(9, "request_document", "runtime/exchange/ask_server.py", "asks, and waits"),
    Call(9, "wait_for_push", "runtime/freshness/proof_by_push.py", "or waits until it has spoken"),
    Call(10, "DocumentChannel.sync", "runtime/server/document_channel.py", "shows it the text"),
    Call(10, "DiagnosticsRecord.facts", "runtime/server/diagnostics_record.py", "what happened"),
    Call(10, "settle", "diagnostics/freshness_decision.py", "is it proven? if not, what to ask"),
    Call(10, "Call.wait", "runtime/concurrency/call.py", "blocks until there is news"),
    Call(3, "merge_findings", "operations/checks/findings.py", "decodes the findings"),
    Call(3, "verdict_of", "diagnostics/report.py", "CLEAN, DIRTY or UNKNOWN"),
    *_READER,
    Call(2, "DiagnosticsRecord.pushed", "runtime/server/diagnostics_record.py", "keeps the push"),
    Call(2, "Broadcast.tell", "runtime/concurrency/waiter.py", "wakes those who wait for it"),
)
END: tuple[Thread | Call, ...] = (
    _READER[0],
    Call(0, "Connection._read", "runtime/server/connection.py", "the output has ended"),
    Call(1, "Server._on_lost", "runtime/server/server.py", "why, and the exit status"),
    Call(2, "Server._end_with", "runtime/server/server.py", ""),
    Call(3, "Pool._end", "runtime/pool/pool.py", "before any caller knows"),
    Call(4, "record_end", "runtime/pool/slot.py", "when another may be started"),
    Call(4, "DocumentChannel.end", "runtime/server/document_channel.py", "its state is ENDED"),
    Call(3, "Waiter.complete", "runtime/concurrency/waiter.py", "each request gets ConnectionLost"),
    _CALL,
    Call(0, "LocalEngine._carry_out", "runtime/engine.py", "the next call, not a timer"),
    Call(1, "Pool.servers_for", "runtime/pool/pool.py", ""),
    Call(2, "Pool.server_of", "runtime/pool/pool.py", ""),
    Call(3, "Pool._take_slot", "runtime/pool/pool.py", ""),
    Call(4, "next_step", "runtime/pool/slot.py", "may another be started? raises if not"),
    Thread("another thread for calls"),
    Call(0, "Pool._start", "runtime/pool/pool.py", "one or several; the state lets one start it"),
    Call(1, "Server.start", "runtime/server/server.py", "STARTING"),
    Call(2, "Guardian.launch", "runtime/process/guardian.py", "a process that starts processes"),
    Call(2, "Connection.start", "runtime/server/connection.py", "three threads"),
)
#: The walks, by the headings under which they are on the page.
WALKS = {
    "The walk of a definition": DEFINITION,
    "The walk of a check": CHECK,
    "The end of a server, and the next start": END,
}


def picture(width: int, height: int, parts: list[str]) -> str:
    """An SVG file with its own style, and a light ground also on a dark page."""
    ground = f"<rect width='{width}' height='{height}' style='fill:#fff;stroke:none'/>"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'>"
    return "\n".join([head, STYLE, ground, *parts, "</svg>"]) + "\n"


def box(x: int, y: int, width: int, height: int, name: str, note: str = "") -> str:
    """A box with a name, and a smaller line below it."""
    middle = x + width // 2
    up = 5 if not note else -4
    lines = [
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='6'/>",
        f"<text x='{middle}' y='{y + height // 2 + up}' text-anchor='middle'>{escape(name)}</text>",
    ]
    if note:
        below = y + height // 2 + 15
        place = f"x='{middle}' y='{below}' text-anchor='middle'"
        lines.append(f"<text class='small' {place}>{escape(note)}</text>")
    return "\n".join(lines)


def layers() -> str:
    """The layers, and beside them the floors of `runtime/`, both from top to bottom."""
    parts = []
    for row, (names, note) in enumerate(LAYERS):
        top = 40 + row * 76
        parts.append(box(16, top, 440, 52, " · ".join(names), note))
        if row + 1 < len(LAYERS):
            parts.append(f"<path d='M236,{top + 52} V{top + 74}'/>")
    bottom = 40 + len(FLOORS) * 54
    row = [names for names, _ in LAYERS].index(("runtime",))
    top = 40 + row * 76
    parts.append(f"<path class='open' d='M456,{top} L512,30 M456,{top + 52} L512,{bottom}'/>")
    parts.append("<text class='small' x='16' y='24'>lspkit/</text>")
    parts.append("<text class='small' x='520' y='24'>lspkit/runtime/</text>")
    for row, (name, note) in enumerate(FLOORS):
        parts.append(box(520, 40 + row * 54, 364, 42, name, note))
        if row + 1 < len(FLOORS):
            parts.append(f"<path d='M702,{82 + row * 54} V{93 + row * 54}'/>")
    return picture(900, max(40 + len(LAYERS) * 76, bottom) + 6, parts)


def walk(steps: tuple[Thread | Call, ...]) -> str:
    """Calls as a tree in text, in the order of time: who calls whom, in which file."""
    calls = [step for step in steps if isinstance(step, Call)]
    names = max(2 * step.depth + len(step.function) for step in calls)
    files = max(len(step.file) for step in calls)
    lines = []
    for step in steps:
        if isinstance(step, Thread):
            lines += ["", f"# {step.name}"]
        else:
            name = "  " * step.depth + step.function
            lines.append(f"{name:{names}}  lspkit/{step.file:{files}}  {step.note}".rstrip())
    return "\n".join(lines[1:]) + "\n"


def with_walks(page: str) -> str:
    """The architecture page with the walks in it: each is the first block below its heading."""
    for heading, steps in WALKS.items():
        fence = page.index("```text\n", page.index(f"\n## {heading}\n"))
        start = page.index("\n", fence) + 1
        page = page[:start] + walk(steps) + page[page.index("```\n", start) :]
    return page


def session_states() -> str:
    """The states of a session, and what leads from one to another."""
    return picture(860, 300, _diagram(TRANSITIONS, SESSION_AT))


def server_states() -> str:
    """The states of a server. The ends, which lead from every state, are drawn once."""
    ends = ProcessState.STOPPING, ProcessState.ENDED
    moves = {
        (before, event): after
        for (before, event), after in process_state.TRANSITIONS.items()
        if after not in ends or before is ends[0]
    }
    events = [
        f"{event}: from every state above"
        for after, event in dict.fromkeys(
            (after, event)
            for (_, event), after in process_state.TRANSITIONS.items()
            if after in ends
        )
    ]
    notes = []
    for after, words in zip(ends, events, strict=True):
        x, y = _corner(SERVER_AT[after])
        notes.append(
            f"<text class='small' x='{x + WIDE // 2}' y='{y + 62}' "
            f"text-anchor='middle'>{escape(words)}</text>"
        )
    return picture(1100, 440, [*_diagram(moves, SERVER_AT), *notes])


def _diagram(
    transitions: dict[tuple[Kind, str], Kind], places: dict[Kind, tuple[int, int]]
) -> list[str]:
    """A box for each state, and an arrow for all that leads from one to another."""
    parts = [box(*_corner(place), WIDE, 44, state.value) for state, place in places.items()]
    arrows: dict[tuple[Kind, Kind], list[str]] = {}
    for (before, action), after in transitions.items():
        if before is not after:
            arrows.setdefault((before, after), []).append(action)
    for (before, after), actions in arrows.items():
        is_second = (after, before) in arrows and places[before] > places[after]
        label = " · ".join(actions)
        parts.append(_arrow(_corner(places[before]), _corner(places[after]), label, is_second))
    return parts


def _corner(place: tuple[int, int]) -> tuple[int, int]:
    column, row = place
    return 30 + column * (WIDE + 84), 40 + row * 150


def _arrow(before: tuple[int, int], after: tuple[int, int], label: str, is_second: bool) -> str:
    """An arrow from box to box. The second one of two between the same boxes is drawn below."""
    (x1, y1), (x2, y2) = before, after
    is_level = y1 == y2
    if is_level and x1 < x2:
        start, end = (x1 + WIDE, y1 + 16), (x2, y2 + 16)
    elif is_level:
        start, end = (x1, y1 + 32), (x2 + WIDE, y2 + 32)
    else:
        start, end = (x1 + WIDE // 2, y1 + 44), (x2 + WIDE // 2, y2)
    middle_x, middle_y = (start[0] + end[0]) // 2, (start[1] + end[1]) // 2
    if is_level:
        middle_y += 18 if is_second else -8
    words = label.split(" ") if is_level else [label]
    lines = []
    for number, word in enumerate(words):
        up = (len(words) - 1 - number) * 14
        lines.append(
            f"<text class='label' x='{middle_x}' y='{middle_y - up}' "
            f"text-anchor='middle'>{escape(word)}</text>"
        )
    line = f"<path d='M{start[0]},{start[1]} L{end[0]},{end[1]}'/>"
    return "\n".join([line, *lines])


PICTURES = {
    "layers.svg": layers,
    "session-states.svg": session_states,
    "server-states.svg": server_states,
}


def main() -> None:
    """Write all of them."""
    folder = Path(__file__).resolve().parent.parent / "docs"
    for name, draw in PICTURES.items():
        (folder / name).write_text(draw(), encoding="utf-8")
    page = folder / "architecture.md"
    page.write_text(with_walks(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
