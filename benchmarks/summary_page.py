"""The summary of the report in `docs/performance.md`: one line for each row, between two marks."""

from __future__ import annotations

from typing import Any

from benchmarks.bars import ROWS, Bar, bars_of
from benchmarks.parity import Row, parity, passes
from benchmarks.sections import CHECKOUT, table

PAGE = CHECKOUT / "docs" / "performance.md"
BEGIN, END = "<!-- summary: python -m benchmarks writes this -->", "<!-- end of summary -->"


def summary(report: dict[str, Any]) -> str:
    """How many bars of each row are met, and which is the farthest from its bar."""
    rows: dict[str, list[Bar]] = {}
    for bar in bars_of(report):
        rows.setdefault(bar.row, []).append(bar)
    lines = [
        [row, f"{sum(one.met for one in found)} of {len(found)}", _worst(found)]
        for row, found in rows.items()
    ]
    missing = [[name.replace("_", " "), "not measured", ""] for name in ROWS if name not in report]
    parts = [table(["row", "bars met", "farthest from its bar"], [*lines, *missing])]
    if "opencode" in report:
        parts.append(_parity(report["opencode"]))
    return "\n\n".join(parts)


def _worst(bars: list[Bar]) -> str:
    """The figure with the largest share of its limit."""

    def share(bar: Bar) -> float:
        if bar.at_least:
            return bar.limit / bar.figure if bar.figure else float("inf")
        return bar.figure / bar.limit if bar.limit else bar.figure

    worst = max(bars, key=share)
    _, what, figure, limit, _ = worst.cells
    return f"{what}: {figure} ({limit})"


def _parity(section: dict[str, Any]) -> str:
    rows = parity(section)
    if passes(rows):
        return f"Beside OpenCode {section['version']}: all {len(rows)} rows pass."
    if not rows:
        return f"Beside OpenCode: not measured ({section.get('missing', 'no figures')})."
    failed = [_named(row) for row in rows if row.verdict != "pass"]
    told = f"{len(rows) - len(failed)} of {len(rows)} rows pass"
    return f"Beside OpenCode {section['version']}: {told}. Not so: {'; '.join(failed)}."


def _named(row: Row) -> str:
    return f"{row.what}, {row.language} ({row.verdict.strip('*')})"


def with_summary(page: str, text: str) -> str:
    """The page with this summary between its marks."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}"
