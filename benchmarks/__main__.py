"""Runs the benchmarks and writes `report.md` with a plot: python -m benchmarks [NAME…]

Each benchmark is a program of its own and writes its section of `report.json`; this one runs them
one after the other and turns the sections into a page. Names choose among `BENCHMARKS`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from html import escape
from typing import Any

from benchmarks.page import CLIENTS, page
from benchmarks.sections import CHECKOUT, REPORT

#: In the order in which they run; whether without being named (some take many minutes).
BENCHMARKS = {
    "client_cost": True,
    "sansio": True,
    "embedded_default": False,
    "schema_tokens": True,
    "watching": False,
    "many_files": True,
    "clean_edit": True,
    "idle": True,
    "growth": True,
    "overlap": False,
}
COLOURS = {"floor": "#999", "lspkit": "#2a6", "SolidLSP": "#c63", "multilspy": "#63c"}


def main(names: list[str]) -> int:
    """Run, then write the page; the status says whether all have run."""
    failed = []
    for name in names or [name for name, usual in BENCHMARKS.items() if usual]:
        print(f"== {name}", flush=True)
        program = CHECKOUT / "benchmarks" / f"{name}.py"
        if subprocess.run([sys.executable, str(program)], check=False).returncode:
            failed.append(name)
    report = json.loads(REPORT.read_text())
    (CHECKOUT / "benchmarks" / "report.md").write_text(page(report), encoding="utf-8")
    plot = picture(report["client_cost"]["results"])
    (CHECKOUT / "benchmarks" / "client_cost.svg").write_text(plot, encoding="utf-8")
    print("wrote benchmarks/report.md")
    return 1 if failed else 0


def picture(results: dict[str, Any]) -> str:
    """Median milliseconds per call: one group of bars per operation, on a scale of its own."""
    operations = list(results["lspkit"])
    parts = [
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 300'>",
        "<style>text{font:12px sans-serif;fill:#222}</style>",
        "<rect width='760' height='300' fill='#fff'/>",
    ]
    for group, operation in enumerate(operations):
        left = 20 + group * 185
        known = {client: results[client][operation] for client in CLIENTS if client in results}
        tallest = max(values["p50_ms"] for values in known.values())
        parts.append(f"<text x='{left}' y='290'>{escape(operation)}</text>")
        for place, (client, values) in enumerate(known.items()):
            height = 220 * values["p50_ms"] / tallest
            x, y = left + place * 40, 268 - height
            parts.append(
                f"<rect x='{x}' y='{y:.1f}' width='34' height='{height:.1f}' "
                f"fill='{COLOURS[client]}'/><text x='{x}' y='{y - 4:.1f}'>"
                f"{values['p50_ms']:.2f}</text>"
            )
    for place, client in enumerate(CLIENTS):
        x = 20 + place * 110
        parts.append(f"<rect x='{x}' y='8' width='12' height='12' fill='{COLOURS[client]}'/>")
        parts.append(f"<text x='{x + 18}' y='18'>{client}, ms</text>")
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
