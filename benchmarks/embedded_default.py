"""Which Python server should come with lspkit: basedpyright, ty and pyrefly side by side.

    python benchmarks/embedded_default.py

Installs each into an environment of its own under `.bench/`, measures, prints tables and
writes a section of the report. The decision that rests on it is
docs/decisions.md. Linux and macOS; a few minutes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from candidates import PLAIN, TUNED, Candidate, installed
from embedded_findings import GROUPS, mistakes, noise
from embedded_runs import abilities, edits, footprint, planted, starts
from raw import ServerGone
from sections import table, write_section


def steadily(
    measurement: Callable[[Candidate, Path], dict[str, Any]], candidate: Candidate, folder: Path
) -> dict[str, Any]:
    """Once more if the server died on the way; that it did is kept with the result."""
    try:
        return measurement(candidate, folder)
    except ServerGone as error:
        print(f"{candidate.name}: {error}; once more", file=sys.stderr)
        return {**measurement(candidate, folder), "died_before": str(error)}


def measured(scratch: Path) -> dict[str, Any]:
    """All results, by measurement and candidate."""
    every = [*PLAIN, *TUNED]
    results: dict[str, Any] = {}
    measurements: dict[str, Callable[[], Any]] = {
        "installed": lambda: {one.name: installed(one.requirement) for one in PLAIN},
        "starts": lambda: starts(PLAIN, scratch / "starts"),
        "edits_push": lambda: edits(PLAIN, scratch / "edits", pull=False),
        "edits_pull": lambda: edits(PLAIN, scratch / "pulls", pull=True),
        "footprint": lambda: {one.name: footprint(one, scratch / "memory") for one in PLAIN},
        "abilities": lambda: {one.name: abilities(one, scratch / "abilities") for one in PLAIN},
        "planted": lambda: {one.name: planted(one, scratch / "planted") for one in PLAIN},
        "mistakes": lambda: {
            one.name: steadily(mistakes, one, scratch / "mistakes") for one in every
        },
        "noise": lambda: {one.name: steadily(noise, one, scratch / "noise") for one in every},
    }
    for name, measurement in measurements.items():
        start = time.monotonic()
        results[name] = measurement()
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return results


def show(results: dict[str, Any]) -> None:
    names = [one.name for one in PLAIN]
    ways = {"edits_push": "push", "edits_pull": "pull"}
    fastest = {
        key: min(results["starts"][name][key] for name in names)
        for key in ("initialize_ms", "definition_ms")
    }
    rows = [
        ["installed MB", *(results["installed"][name]["megabytes"] for name in names)],
        ["packages", *(", ".join(results["installed"][name]["packages"]) for name in names)],
    ]
    for key, least in fastest.items():
        values = [results["starts"][name][key] for name in names]
        rows.append([f"spawn to {key}", *(f"{v:.0f} ({v / least:.1f} x)" for v in values)])
    for key, way in ways.items():
        row = [results[key][name] for name in names]
        rows.append([f"edit to diagnostics, {way}, p50 ms", *(one["p50_ms"] for one in row)])
        rows.append([f"edit to diagnostics, {way}, p95 ms", *(one["p95_ms"] for one in row)])
        rows.append([f"wrong answer first, {way}", *(one["wrong_first"] for one in row)])
    for key in ("resident_mb", "unique_mb", "wrapper", "processes"):
        rows.append([key, *(_text(results["footprint"][name][key]) for name in names)])
    for key in ("encodings", "lacks"):
        rows.append([key, *(_text(results["abilities"][name][key]) for name in names)])
    for question in results["abilities"][names[0]]["finds"]:
        finds = (results["abilities"][name]["finds"][question] for name in names)
        rows.append([f"finds: {question}", *finds])
    for variant in results["planted"][names[0]]:
        ran = (results["planted"][name][variant] for name in names)
        rows.append([f"runs a planted python, {variant}", *ran])
    print(table(["", *names], rows), end="\n\n")
    _show_findings(results)


def _show_findings(results: dict[str, Any]) -> None:
    names = list(results["mistakes"])
    cases = results["mistakes"][names[0]]["found"]
    rows: list[list[Any]] = [
        [case, *(results["mistakes"][name]["found"][case] for name in names)] for case in cases
    ]
    for key in ("as_error", "as_warning"):
        rows.append([key, *(results["mistakes"][name][key] for name in names)])
    said = (len(results["mistakes"][name]["said_about_right_texts"]) for name in names)
    rows.append(["said about the right texts", *said])
    for group in GROUPS:
        for key in ("errors_per_1000", "warnings_per_1000"):
            row = (results["noise"][name][group][key] for name in names)
            rows.append([f"{group}: {key}", *row])
    print(table(["mistake", *names], rows))


def _text(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        results = measured(Path(scratch).resolve())
    show(results)
    write_section("embedded_default", results)


if __name__ == "__main__":
    main()
