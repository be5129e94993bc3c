"""Draws the pictures of the architecture page: python tools/draw.py [FOLDER]

The states of a session come from the table that the code runs by, so that the picture cannot say
anything else; a test compares the committed picture with a new one.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

from lspkit.protocol.session import TRANSITIONS, State

STYLE = (
    "<style>text{font:14px sans-serif;fill:#222}.small{font-size:12px;fill:#555}"
    ".label{font-size:12px;fill:#555;paint-order:stroke;stroke:#fff;stroke-width:5px}"
    "rect{fill:#f6f4ee;stroke:#888}path{fill:none;stroke:#555;marker-end:url(#tip)}"
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
LAYERS = [
    ("cli", "what people and programs call from outside"),
    ("workspace", "the API: builds requests, hands them to an engine"),
    ("runtime", "every thread, process and file: drives operations"),
    ("operations · servers · config · edits · diagnostics", "decide, over plain values"),
    ("protocol", "the state machine: bytes and calls in, events and bytes out"),
    ("types · errors", "what everybody speaks of"),
]


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
    """The layers, top to bottom."""
    parts = []
    for row, (name, note) in enumerate(LAYERS):
        top = 16 + row * 76
        parts.append(box(16, top, 568, 52, name, note))
        if row + 1 < len(LAYERS):
            parts.append(f"<path d='M300,{top + 52} V{top + 74}'/>")
    return picture(600, 16 + len(LAYERS) * 76, parts)


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


PICTURES = {"layers.svg": layers, "states.svg": states}


def main() -> None:
    """Write both."""
    default = Path(__file__).resolve().parent.parent / "docs"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for name, draw in PICTURES.items():
        (folder / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
