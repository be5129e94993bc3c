"""From the sections of `report.json` to the page with its plots, and the summary in the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.bars import ROWS, Bar, Row, bars_of, parity, passes
from benchmarks.page import CLIENTS, page
from benchmarks.plots import bars, lines
from benchmarks.sections import CHECKOUT, change_report, table, without_paths

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


def finish(folder: Path, runs: dict[str, dict[str, Any]]) -> None:
    """Add which bars are met, and write the page and its plots."""
    report = change_report({})
    known = {**report.get("runs", {}), **runs}
    added: dict[str, Any] = {"runs": known, "bars": [one.kept() for one in bars_of(report)]}
    if "opencode" in report:
        added["parity"] = [
            {"what": one.what, "language": one.language, "verdict": one.verdict}
            for one in parity(report["opencode"])
        ]
    report = change_report(added)
    drawn = plots(report)
    for name, text in drawn.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "report.md").write_text(page(report, drawn), encoding="utf-8")
    if folder == CHECKOUT / "benchmarks":
        text = with_summary(PAGE.read_text(encoding="utf-8"), summary(report))
        PAGE.write_text(text, encoding="utf-8")


def plots(report: dict[str, Any]) -> dict[str, str]:
    """The plots of the sections that are there, by name of file."""
    drawn = {}
    if "client_cost" in report:
        drawn["client_cost.svg"] = bars(_groups(report["client_cost"]["results"]), "ms")
    for server, one in report.get("real_requests", {}).get("servers", {}).items():
        drawn[f"real_requests_{server}.svg"] = bars(_groups(one["results"]), "ms")
    session = report.get("long_session")
    if session:
        for server, one in session["results"].items():
            title = f"{server}: lspkit's process, as a share of the first look"
            looks = one["looks"]
            columns = {"memory, MiB": "memory_mib", "threads": "threads", "fds": "descriptors"}
            series = {
                name: [(look["edit"], look[column]) for look in looks]
                for name, column in columns.items()
            }
            drawn[f"long_session_{server}.svg"] = lines(title, series, "edits")
    return drawn


def _groups(results: dict[str, Any]) -> dict[str, dict[str, tuple[float, float, float]]]:
    operations = next(iter(results.values()), {})
    return {
        operation: {
            client: (
                one["p50_ms"],
                one.get("q1_ms", one["p50_ms"]),
                one.get("q3_ms", one["p50_ms"]),
            )
            for client in CLIENTS
            if client in results
            for one in [results[client][operation]]
        }
        for operation in operations
    }


def last_error(said: str) -> str:
    """The last line of what a program said, without the paths of this machine."""
    found = [line.strip() for line in said.splitlines() if line.strip()]
    return without_paths(found[-1])[:300] if found else ""
