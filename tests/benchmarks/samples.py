"""A small report, as the benchmarks write it."""

from __future__ import annotations

from typing import Any

STAMP = {
    "machine": {
        "python": "CPython 3.11.7",
        "cores": 2,
        "system": "Linux",
        "kernel": "6.1",
        "processor": "aarch64",
        "memory_gib": 23.5,
    },
    "commit": "0123456789",
    "quick": False,
}


def timed(middle: float, floor: float) -> dict[str, float]:
    """What is kept of one operation of one client."""
    return {
        "p50_ms": middle,
        "p95_ms": 2 * middle,
        "q1_ms": 0.9 * middle,
        "q3_ms": 1.1 * middle,
        "above_floor_ms": middle - floor,
        "times_floor": middle / floor,
    }


def spread(middle: float) -> dict[str, float]:
    """What is kept of one series."""
    return {"p50": middle, "p95": 2 * middle, "q1": 0.9 * middle, "q3": 1.1 * middle, "n": 7}


def client_cost(own: float = 0.12, imports: float = 50.0) -> dict[str, Any]:
    """The floor takes 0.05 ms, each peer 0.3 ms."""
    times = {"floor": 0.05, "lspkit": own, "SolidLSP": 0.3, "multilspy": 0.3}
    operations = ("definition", "hover", "references", "symbols")
    return {
        **STAMP,
        "results": {
            client: {operation: timed(middle, 0.05) for operation in operations}
            for client, middle in times.items()
        },
        "missing": {"pygls": "pygls==2.1.1: no such version"},
        "import_processor_ms": {"bare": 9.0, "json": 7.0, "lspkit": imports},
    }


def long_session(growth: float = 1.0) -> dict[str, Any]:
    """Ten looks at a session of 200 edits."""
    looks = [
        {"edit": 20 * number, "memory_mib": 40.0 + number, "threads": 9, "descriptors": 20}
        for number in range(1, 11)
    ]
    one = {
        "looks": looks,
        "memory_growth_percent": growth,
        "memory_first_mib": 41.0,
        "memory_last_mib": 41.4,
        "more_threads": 0,
        "more_descriptors": 0,
        "first_p50_ms": 3.0,
        "last_p50_ms": 3.0,
        "unknown": 0,
    }
    return {**STAMP, "edits": 200, "results": {"scripted": one}}


def opencode(hover: float = 10.0) -> dict[str, Any]:
    """One language, with a hover of lspkit that takes so long; OpenCode takes 100 ms for all."""
    edits = ("edit that breaks or mends", "edit that stays clean", "cold check")
    own = {what: spread(10.0) for what in edits} | {"warm hover": spread(hover)}
    theirs = {what: spread(100.0) for what in (*edits, "warm hover")}
    facts = {"cold_found": "4 of 4", "told_truly": "24 of 24", "left": 0, "summary_bytes": 1000}
    languages = {"Python": {"lspkit": {**own, **facts}, "opencode": {**theirs, **facts}}}
    return {**STAMP, "version": "1.0.0", "languages": languages}
