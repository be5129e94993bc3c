"""Where benchmark results go: tables on the terminal, sections of `report.json`.

Each benchmark owns one section and leaves the others alone, so that any of them can be run
again by itself. Statistics that more than one benchmark needs live here, too.
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: The checkout that the benchmarks belong to.
CHECKOUT = Path(__file__).resolve().parent.parent
#: Throwaway environments and downloads; not part of the repository, and removed by `make clean`.
CACHE = CHECKOUT / "build" / "peers"
#: Set by `python -m benchmarks` for the programs that it starts.
QUICK_VARIABLE, REPORT_VARIABLE = "LSPKIT_BENCH_QUICK", "LSPKIT_BENCH_REPORT"
#: Whether each benchmark makes fewer runs and installs nothing.
QUICK = os.environ.get(QUICK_VARIABLE) == "1"
#: The file that all benchmarks write to.
REPORT = Path(os.environ.get(REPORT_VARIABLE) or CHECKOUT / "benchmarks" / "report.json")


def machine() -> dict[str, Any]:
    """What a reader needs to know to place the numbers; no host name and no path."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "cores": os.cpu_count(),
        "system": platform.system(),
        "kernel": platform.release(),
        "processor": _processor(),
        "memory_gib": _memory_gib(),
    }


def _processor() -> str:
    """The name that the kernel tells; on ARM it tells none, and the architecture has to do."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_gib() -> float | None:
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None
    return round(found / 2**30, 1)


def commit() -> str:
    """The commit that is measured, and whether its files have changed since."""
    told = [_git("rev-parse", "--short=10", "HEAD")]
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "lspkit")
    if changed:
        told.append("with changes")
    return " ".join(told) if told[0] else "unknown"


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def write_section(name: str, data: dict[str, Any]) -> None:
    """Replace one section of the report."""
    stamp = {"machine": machine(), "commit": commit(), "quick": QUICK}
    change_report({name: {**stamp, **data}})


def write_rows(name: str, rows: dict[str, Any]) -> None:
    """Replace rows of one section; those that are not run now stay."""
    report: dict[str, Any] = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    known: dict[str, Any] = report.get(name, {}).get("results", {})
    write_section(name, {"results": {**known, **rows}})


def change_report(sections: dict[str, dict[str, Any] | None]) -> dict[str, Any]:
    """Replace sections, or remove those that are None, and return the whole report.

    The file is replaced in one step, so that a crash leaves the old one.
    """
    report: dict[str, Any] = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    for name, section in sections.items():
        report.pop(name, None)
        if section is not None:
            report[name] = section
    draft = REPORT.with_suffix(".json.new")
    draft.write_text(json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    os.replace(draft, REPORT)
    return report


def without_paths(text: str) -> str:
    """The text with only the last name of each path: a report says nothing about a machine."""
    return re.sub(r"(?<![\w:/])(?:/[\w.@+-]+)*/(?=[\w.@+-])", "", text)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the sorted values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float]) -> dict[str, float]:
    """The median, the 95th percentile, both quartiles, and how many values there are."""
    return {
        "p50": median(values),
        "p95": percentile(values, 0.95),
        "q1": percentile(values, 0.25),
        "q3": percentile(values, 0.75),
        "n": len(values),
    }


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table with aligned columns; floats get three significant digits."""
    cells = [list(headings)] + [[cell(value) for value in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    lines = [
        " | ".join(value.ljust(width) for value, width in zip(row, widths, strict=True))
        for row in cells
    ]
    lines.insert(1, " | ".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


def cell(value: Any) -> str:
    """A value as the text of a table's cell."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value).replace("|", "\\|").replace("\n", " ")
