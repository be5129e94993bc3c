"""Draws the pictures of the architecture page: python tools/draw.py [FOLDER]

The states of a session come from the table that the code runs by. The layers and the two walks are
tables here; tests compare them with the imports of the code and with real calls
(`tests/test_docs.py`, `tests/test_walks.py`), and the committed pictures with new ones.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

from lspkit.protocol.session import TRANSITIONS, State

STYLE = (
    "<style>text{font:14px sans-serif;fill:#222}.small{font-size:12px;fill:#555}"
    ".label{font-size:12px;fill:#555;paint-order:stroke;stroke:#fff;stroke-width:5px}"
    ".head{font-weight:bold}.code{font-family:monospace}.file{font-weight:bold}.note{font-size:12px}"
    "rect{fill:#f6f4ee;stroke:#888}path{fill:none;stroke:#555;marker-end:url(#tip)}"
    ".open{stroke:#bbb;stroke-dasharray:4;marker-end:none}"
    "</style><defs><marker id='tip' markerWidth='9' markerHeight='9' refX='8' refY='4' "
    "orient='auto'><path d='M0,0 L8,4 L0,8 z' style='fill:#555;stroke:none'/></marker></defs>"
)

#: Where each state stands: column and row.
STATE_AT = {
    State.NEW: (0, 0),
    State.INITIALIZING: (1, 0),
    State.RUNNING: (2, 0),
    State.STOPPING: (3, 0),
    State.FAILED: (1, 1),
    State.STOPPED: (3, 1),
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
    ("engine", "drives operations, has a handler per effect"),
    ("engine_api", "what a workspace needs of any engine"),
    ("freshness", "the effect Examine: findings with a proof"),
    ("effects", "one module per other effect"),
    ("exchange", "one request to one server, and what it waits for"),
    ("pool", "many servers: start, replace, stop, tell of files"),
    ("watch", "a tree on disk; knows no server"),
    ("server", "one server: documents, requests, findings"),
    ("files", "texts and stamps of files, overlays"),
    ("file_content", "the text and the stamp of one file"),
    ("process", "one process and all that descends from it"),
    ("concurrency", "waits, workers, timers; knows no protocol"),
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


#: How every operation begins and is driven.
_DRIVEN = (
    Call(1, "LocalEngine.run", "runtime/engine.py", "the time of the call begins"),
    Call(2, "LocalEngine._drive_here", "runtime/engine.py", "performs what the operation yields"),
)
#: How an effect begins that may wait for servers.
_WAITING = Call(3, "block", "runtime/concurrency/drive.py", "here the caller waits for servers")
_LOCATED = (
    Call(5, "Files.locate", "runtime/files.py", "the real path, inside of the workspace"),
    Call(5, "servers_of", "runtime/exchange/disk_sync.py", "by the disk as it is now"),
    Call(6, "Pool.servers_for", "runtime/pool/pool.py", "one per id and root"),
    Call(7, "choose", "servers/selection/choose.py", "root, program, trust"),
    Call(6, "DiskEvents.catch_up", "runtime/pool/disk_events.py", "tells servers what changed"),
    Call(7, "Watcher.catch_up", "runtime/watch/watcher.py", "compares with the snapshot"),
)
_READER = (
    Thread("the reader thread of the server"),
    Call(0, "Connection._read", "runtime/server/connection.py", "cuts and parses frames"),
    Call(1, "Session.receive", "protocol/session.py", "a message becomes an event"),
    Call(1, "Server._on_event", "runtime/server/server.py", "hands the event on"),
)
DEFINITION: tuple[Thread | Call, ...] = (
    Thread("the thread of the caller"),
    Call(0, "Queries.definition", "workspace/queries.py", "builds a DefinitionRequest"),
    *_DRIVEN,
    Call(3, "_lookup.<locals>.look_up", "operations/navigation.py", "yields Ask"),
    _WAITING,
    Call(4, "_ask_all", "runtime/effects/ask_file.py", "Ask: all servers at once"),
    *_LOCATED,
    Call(5, "prepare_server", "runtime/exchange/preparation.py", "up, and project loaded"),
    Call(5, "_send_until_answered", "runtime/exchange/ask_server.py", "retries"),
    Call(6, "DocumentChannel.ask_about", "runtime/server/document_channel.py", "in one step:"),
    Call(7, "Documents.sync", "protocol/open_documents.py", "what brings the text up to date"),
    Call(7, "Session.request", "protocol/session.py", "the request as bytes"),
    Call(7, "Connection.post", "runtime/server/connection.py", "both into the write queue"),
    Call(6, "wait_for_answer", "runtime/exchange/ask_server.py", "yields the wait to block"),
    Call(3, "ask_in_thread", "runtime/effects/ask_in_thread.py", "instead, once it is ready"),
    Call(4, "Routes.find", "runtime/exchange/request_routes.py", "has anything changed?"),
    Call(4, "DocumentChannel.ask_known", "runtime/server/document_channel.py", "the request alone"),
    Call(4, "Connection.read_answer", "runtime/server/connection.py", "if it comes at once"),
    Call(3, "_lookup.<locals>.look_up", "operations/navigation.py", "goes on, yields FindPlaces"),
    Call(4, "read_location_ranges", "protocol/wire/raw_items.py", "decodes an answer"),
    Call(3, "find_places", "runtime/effects/find_places.py", "FindPlaces: URIs become paths"),
    Thread("a worker thread, if the server does not run yet"),
    Call(0, "Pool._launch", "runtime/pool/pool.py", "one start for all callers"),
    Call(1, "Server.start", "runtime/server/server.py", "sends initialize"),
    Call(2, "launch", "runtime/process/launch.py", "the guardian starts the process"),
    Thread("the writer thread of the server"),
    Call(0, "Connection._write", "runtime/server/connection.py", "only this thread writes"),
    *_READER,
    Call(2, "Waiter.complete", "runtime/concurrency/waiter.py", "wakes the caller"),
)
CHECK: tuple[Thread | Call, ...] = (
    Thread("the thread of the caller"),
    Call(0, "Workspace.check", "workspace/workspace.py", "builds a CheckRequest"),
    *_DRIVEN,
    Call(3, "check", "operations/checks/check.py", "yields Examine"),
    _WAITING,
    Call(4, "check_file", "runtime/freshness/check_file.py", "Examine: all servers at once"),
    *_LOCATED,
    Call(5, "_examine_one", "runtime/freshness/check_file.py", "for each server:"),
    Call(6, "DocumentQueue.join", "runtime/server/document_queue.py", "a turn per document"),
    Call(6, "prepare_server", "runtime/exchange/preparation.py", "up, and project loaded"),
    Call(6, "wait_for_turn", "runtime/exchange/ask_server.py", "until it is this caller's turn"),
    Call(6, "refresh_documents", "runtime/exchange/disk_sync.py", "open documents follow the disk"),
    Call(6, "_prove_all", "runtime/freshness/check_file.py", "again if the text changes"),
    Call(
        7, "wait_until_read", "runtime/freshness/server_catch_up.py", "what changed on disk is read"
    ),
    Call(7, "wait_for_reread", "runtime/freshness/server_catch_up.py", "so is its configuration"),
    Call(7, "prove", "runtime/freshness/proof_by_request.py", "for each proof rule, either"),
    Call(8, "_send_until_answered", "runtime/exchange/ask_server.py", "asks for the findings"),
    Call(8, "wait_for_push", "runtime/freshness/proof_by_push.py", "or waits until it has spoken"),
    Call(9, "DocumentChannel.sync", "runtime/server/document_channel.py", "shows it the text"),
    Call(9, "DiagnosticsRecord.facts", "runtime/server/diagnostics_record.py", "what happened"),
    Call(9, "settle", "diagnostics/freshness_decision.py", "is it proven? if not, what to ask"),
    Call(3, "check", "operations/checks/check.py", "decodes the findings"),
    Call(4, "verdict_of", "diagnostics/report.py", "CLEAN, DIRTY or UNKNOWN"),
    *_READER,
    Call(2, "DiagnosticsRecord.pushed", "runtime/server/diagnostics_record.py", "keeps the push"),
    Call(2, "Broadcast.tell", "runtime/concurrency/broadcast.py", "wakes those who wait for it"),
)


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
    """Calls as a tree from top to bottom, in the order of time: who calls whom, in which file."""
    parts, top = [], 12
    #: Where the last box of each depth ends.
    ends: list[tuple[int, int]] = []
    for step in steps:
        if isinstance(step, Thread):
            ends = []
            parts.append(f"<text class='head' x='16' y='{top + 24}'>{escape(step.name)}</text>")
            top += 36
            continue
        left, middle = 16 + step.depth * 26, top + 17
        width, name = 250, escape(step.function)
        if step.depth:
            x, y = ends[step.depth - 1]
            parts.append(f"<path d='M{x},{y} V{middle} H{left}'/>")
        parts.append(f"<rect x='{left}' y='{top}' width='{width}' height='34' rx='6'/>")
        parts.append(f"<text class='code' x='{left + 10}' y='{middle + 5}'>{name}</text>")
        room, _, file = step.file.rpartition("/")
        place = f"{escape(room)}/<tspan class='file'>{escape(file)}</tspan>" if room else file
        parts.append(f"<text class='small' x='{left + width + 12}' y='{middle - 4}'>{place}</text>")
        note = f"x='{left + width + 12}' y='{middle + 13}'"
        parts.append(f"<text class='note' {note}>{escape(step.note)}</text>")
        ends[step.depth :] = [(left + 12, top + 34)]
        top += 42
    return picture(800, top + 8, parts)


def definition_walk() -> str:
    """From `ws.definition(...)` to the server and back."""
    return walk(DEFINITION)


def check_walk() -> str:
    """The same for `ws.check(...)`."""
    return walk(CHECK)


def states() -> str:
    """The states of a session, and what leads from one to another."""
    parts = [box(*_corner(state), 110, 44, state.value) for state in State]
    arrows: dict[tuple[State, State], list[str]] = {}
    for (before, action), after in TRANSITIONS.items():
        if before is not after:
            arrows.setdefault((before, after), []).append(action)
    for (before, after), actions in arrows.items():
        parts.append(_arrow(before, after, " · ".join(actions)))
    return picture(860, 300, parts)


def _corner(state: State) -> tuple[int, int]:
    column, row = STATE_AT[state]
    return 30 + column * 230, 40 + row * 180


def _arrow(before: State, after: State, label: str) -> str:
    (x1, y1), (x2, y2) = _corner(before), _corner(after)
    if y1 == y2:
        start, end = (x1 + 110, y1 + 22), (x2, y2 + 22)
    else:
        start, end = (x1 + 55, y1 + 44), (x2 + 55, y2)
    middle_x, middle_y = (start[0] + end[0]) // 2, (start[1] + end[1]) // 2
    if y1 == y2:
        middle_y -= 8
        words = label.split(" ")
    else:
        words = [label]
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
    "states.svg": states,
    "definition.svg": definition_walk,
    "check.svg": check_walk,
}


def main() -> None:
    """Write all of them."""
    default = Path(__file__).resolve().parent.parent / "docs"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for name, draw in PICTURES.items():
        (folder / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
