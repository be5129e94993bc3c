"""From the sections of `report.json` to the page with its plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.bars import bars_of
from benchmarks.page import CLIENTS, page
from benchmarks.parity import parity
from benchmarks.plots import bars, lines
from benchmarks.sections import CHECKOUT, change_report, without_paths
from benchmarks.summary_page import PAGE, summary, with_summary


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
