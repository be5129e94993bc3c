"""Plots of the report as SVG, written by hand: bars for medians, lines for what grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#999", "#2a6", "#c63", "#63c", "#28c", "#b83", "#c36")
WIDTH = 760

#: Per operation and contestant: the median, and the quartiles around it.
Groups = Mapping[str, Mapping[str, tuple[float, float, float]]]
#: Per line: points, x and y.
Lines = Mapping[str, Sequence[tuple[float, float]]]


def bars(groups: Groups, unit: str) -> str:
    """One group of bars per operation, each group on a scale of its own; whiskers: quartiles."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    colours = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}
    room = (WIDTH - 20) / max(1, len(groups))
    step = (room - 12) / max(1, len(names))
    parts = []
    for at, (operation, group) in enumerate(groups.items()):
        left = 16 + at * room
        tallest = max((value[2] for value in group.values()), default=0) or 1.0
        parts.append(f"<text x='{left:.1f}' y='290'>{escape(operation)}</text>")
        for place, name in enumerate(names):
            if name in group:
                x = left + place * step
                parts += _bar(x, step * 0.82, group[name], 210 / tallest, colours[name])
    return _picture(300, [*_legend([f"{name}, {unit}" for name in names]), *parts])


def _bar(
    x: float, width: float, values: tuple[float, float, float], scale: float, colour: str
) -> list[str]:
    middle, low, high = values
    top, centre = 268 - middle * scale, x + width / 2
    size = f"width='{width:.1f}' height='{middle * scale:.1f}'"
    whisker = f"M{centre:.1f},{268 - low * scale:.1f} V{268 - high * scale:.1f}"
    return [
        f"<rect x='{x:.1f}' y='{top:.1f}' {size} fill='{colour}'/>",
        f"<path d='{whisker}' stroke='#222' fill='none'/>",
        f"<text class='small' x='{x:.1f}' y='{268 - high * scale - 4:.1f}'>{middle:.2g}</text>",
    ]


def lines(title: str, series: Lines, x_unit: str) -> str:
    """Lines over one axis, each as a percentage of its own first value: units may differ."""
    points = {name: values for name, values in series.items() if values}
    relative = {
        name: [(x, 100 * y / (values[0][1] or 1)) for x, y in values]
        for name, values in points.items()
    }
    highest = max((y for values in relative.values() for _, y in values), default=100.0)
    farthest = max((x for values in relative.values() for x, _ in values), default=1.0) or 1.0
    top = max(120.0, highest * 1.05)
    parts = [f"<text x='16' y='38'>{escape(title)}</text>"]
    for mark in (0.0, 50.0, 100.0, top):
        y = 268 - 210 * mark / top
        parts.append(f"<path d='M56,{y:.1f} H{WIDTH - 16}' stroke='#ddd' fill='none'/>")
        parts.append(f"<text class='small' x='10' y='{y + 4:.1f}'>{mark:.0f} %</text>")
    for at, values in enumerate(relative.values()):
        path = " L".join(
            f"{56 + (WIDTH - 72) * x / farthest:.1f},{268 - 210 * y / top:.1f}" for x, y in values
        )
        colour = COLOURS[(at + 1) % len(COLOURS)]
        parts.append(f"<path d='M{path}' stroke='{colour}' stroke-width='1.5' fill='none'/>")
    parts.append(f"<text class='small' x='56' y='290'>0 to {farthest:.0f} {escape(x_unit)}</text>")
    named = [f"{name} (from {values[0][1]:.4g})" for name, values in points.items()]
    return _picture(300, [*_legend(named, first=1), *parts])


def _legend(names: Sequence[str], first: int = 0) -> list[str]:
    parts = []
    room = (WIDTH - 20) / max(1, len(names))
    for at, name in enumerate(names):
        x = 16 + at * room
        colour = COLOURS[(at + first) % len(COLOURS)]
        parts.append(f"<rect x='{x:.1f}' y='8' width='12' height='12' fill='{colour}'/>")
        parts.append(f"<text class='small' x='{x + 16:.1f}' y='18'>{escape(name)}</text>")
    return parts


def _picture(height: int, parts: Sequence[str]) -> str:
    """An SVG file with its own style, and a light ground also on a dark page."""
    head = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}'>",
        "<style>text{font:12px sans-serif;fill:#222}.small{font-size:11px}</style>",
        f"<rect width='{WIDTH}' height='{height}' fill='#fff'/>",
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
