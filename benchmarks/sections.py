"""Where benchmark results go: tables on the terminal, sections of `report.json`.

Each benchmark owns one section and leaves the others alone, so that any of them can be run
again by itself. Statistics that more than one benchmark needs live here, too.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: The checkout that the benchmarks belong to.
CHECKOUT = Path(__file__).resolve().parent.parent
#: Throwaway environments and downloads; not part of the repository.
CACHE = CHECKOUT / ".bench"
#: The file that all benchmarks write to.
REPORT = CHECKOUT / "benchmarks" / "report.json"


def machine() -> dict[str, Any]:
    """What a reader needs to know to place the numbers; nothing that names the machine."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "cores": os.cpu_count(),
        "system": platform.system(),
    }


def write_section(name: str, data: dict[str, Any]) -> None:
    """Replace one section of the report, in one step, so that a crash leaves the old file."""
    report = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    report[name] = {"machine": machine(), **data}
    draft = REPORT.with_suffix(".json.new")
    draft.write_text(json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    os.replace(draft, REPORT)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the sorted values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table with aligned columns; floats get three significant digits."""
    cells = [list(headings)] + [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    lines = [
        " | ".join(value.ljust(width) for value, width in zip(row, widths, strict=True))
        for row in cells
    ]
    lines.insert(1, " | ".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)
