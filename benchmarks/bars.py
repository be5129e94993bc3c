"""Which bars are met: from the sections of `report.json` to one line for each bar.

Pure: a section in, lines out. A bar is a limit that was set beforehand; a figure that is not there
makes a line that says so, never one that is met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.sections import cell

#: On canned answers: milliseconds above the floor.
ABOVE_FLOOR = {"definition": 0.15, "hover": 0.15, "references": 0.5, "symbols": 0.5}
#: Peers that a warm request must be quicker than.
BEATEN = ("SolidLSP", "multilspy")
#: Servers that give a definite answer, so that an edit has a bar beside the floor.
DEFINITE = ("ty", "pyright", "gopls", "clangd", "typescript")


@dataclass(frozen=True)
class Bar:
    """One limit, with its figure."""

    row: str
    what: str
    figure: float
    limit: float
    unit: str
    #: Whether the figure has to be at least the limit, rather than at most.
    at_least: bool = False

    @property
    def met(self) -> bool:
        if self.at_least:
            return self.figure >= self.limit
        return self.figure <= self.limit

    @property
    def cells(self) -> list[Any]:
        """The cells of its line in the table."""
        word = "at least" if self.at_least else "at most"
        unit = f" {self.unit}" if self.unit else ""
        verdict = "met" if self.met else "**not met**"
        figure, limit = cell(float(self.figure)), cell(float(self.limit))
        return [self.row, self.what, f"{figure}{unit}", f"{word} {limit}", verdict]

    def kept(self) -> dict[str, Any]:
        """For `report.json`."""
        return {**asdict(self), "met": self.met}


def bars_of(report: dict[str, Any]) -> list[Bar]:
    """All bars of the sections that are there."""
    found: list[Bar] = []
    for name, read in ROWS.items():
        if name in report:
            found += read(report[name])
    return found


def _client_cost(section: dict[str, Any]) -> Iterator[Bar]:
    results = section["results"]
    own = results.get("lspkit", {})
    for operation, limit in ABOVE_FLOOR.items():
        if operation in own:
            above = own[operation]["above_floor_ms"]
            yield Bar("warm request, canned", operation, above, limit, "ms above the floor")
    yield from _beaten("canned", results)
    spent = section["import_processor_ms"].get("lspkit")
    if spent is not None:
        yield Bar("import lspkit", "processor time", spent, 60, "ms")


def _beaten(
    where: str, results: dict[str, Any], answers: dict[str, dict[str, int]] | None = None
) -> Iterator[Bar]:
    """Against the quickest of the peers that ran, and whose answers were not empty."""
    for operation, own in results.get("lspkit", {}).items():
        peers = [
            results[one][operation]["p50_ms"]
            for one in BEATEN
            if one in results and (answers or {}).get(one, {}).get(operation, 1)
        ]
        if peers:
            ratio = own["p50_ms"] / min(peers)
            what = f"{operation}, {where}"
            yield Bar("warm request, peers", what, ratio, 1, "× the quicker of both")


def _real_requests(section: dict[str, Any]) -> Iterator[Bar]:
    for server, found in section["servers"].items():
        for operation, own in found["results"].get("lspkit", {}).items():
            what = f"{operation}, {server}"
            yield Bar("warm request, real", what, own["times_floor"], 1.15, "× the floor")
        yield from _beaten(server, found["results"], found.get("answers"))


def _cold_start(section: dict[str, Any]) -> Iterator[Bar]:
    for server, one in section["results"].items():
        # At most 1.10 times the floor, or 60 ms above it where that is more.
        limit = max(0.10 * one["floor"]["p50"], 60.0)
        yield Bar("cold start", server, one["above_ms"], limit, "ms above the bare loop")


def _edit_time(section: dict[str, Any]) -> Iterator[Bar]:
    for server, one in section["results"].items():
        if server in DEFINITE:
            above = one["above_floor_ms"]
            yield Bar("edit to diagnostics", server, above, 5, "ms above the bare loop")
        yield Bar("edit to diagnostics, p95", server, one["lspkit"]["p95"], 3500, "ms")
        fast = one["times_as_fast_as_rule"]
        yield Bar("edit, OpenCode's rule", server, fast, 1, "× as fast", at_least=True)
        yield Bar("edit to diagnostics, wrong verdicts", server, one["wrong"], 0, "")


def _clean_edit(section: dict[str, Any]) -> Iterator[Bar]:
    one = section["results"]["stays clean"]
    fast = one["times_as_fast"]
    yield Bar("clean edit, OpenCode's rule", section["server"], fast, 20, "× as fast", True)


def _many_files(section: dict[str, Any]) -> Iterator[Bar]:
    for server, one in section["results"].items():
        what = f"{section['files']} files, {server}"
        # At most 1.5 times the bare loop, or 20 ms more where that is more.
        limit = max(1.5, 1 + 20 / one["bare_all_p50_ms"])
        yield Bar("files edited at once", what, one["all_to_bare_all"], limit, "× the bare loop")


def _deadlines(section: dict[str, Any]) -> Iterator[Bar]:
    row = f"timeout of {section['timeout']:g} s, {section['files']:,} files"
    for way, one in section["results"].items():
        yield Bar(row, way, one["over"], section["bar"], "s over")


def _sansio(section: dict[str, Any]) -> Iterator[Bar]:
    hovers = section["hovers"]
    if hovers["lspkit_ratio"] is not None:
        ratio = hovers["lspkit_ratio"]
        yield Bar("framing and decoding", "10,000 hovers", ratio, 1.5, "× json.loads")
        ahead = ratio / hovers["sansio_ratio"]
        yield Bar("framing and decoding", "10,000 hovers", ahead, 1, "× sansio-lsp-client")
    for row in section["growth"]:
        if row["megabytes"] == 10 and row["lspkit_s"] is not None:
            what = f"10 MB in chunks of {row['chunk'] // 1024} KiB"
            yield Bar("framing and decoding", what, row["lspkit_s"] / row["json_s"], 1.5, "× json")
            # One that was stopped at the limit took at least that long.
            ahead = row["lspkit_s"] / row["sansio_s"]
            yield Bar("framing and decoding", what, ahead, 1, "× sansio-lsp-client")


def _threads(section: dict[str, Any]) -> Iterator[Bar]:
    ratio = section["ratio"]
    yield Bar("32 threads", "throughput", ratio, 1, "× that of one thread", at_least=True)


def _large_tree(section: dict[str, Any]) -> Iterator[Bar]:
    results = section["results"]
    yield Bar("50,000 files watched", "start", results["ready_ms"], 2000, "ms")
    yield Bar("50,000 files watched", "one change, p95", results["latency_p95_ms"], 250, "ms")


def _service(section: dict[str, Any]) -> Iterator[Bar]:
    yield Bar("service, warm definition", "added", section["added_ms"], section["bar_ms"], "ms")
    for server, ways in section["commands"].items():
        ratio = ways["definition, cold"]["seconds"] / ways["definition, warm"]["seconds"]
        yield Bar("lspkit definition, warm service", server, ratio, 10, "× as fast", at_least=True)


def _long_session(section: dict[str, Any]) -> Iterator[Bar]:
    row = f"{section['edits']:,} edits"
    for server, one in section["results"].items():
        yield Bar(row, f"memory, {server}", one["memory_growth_percent"], 5, "% more")
        yield Bar(row, f"threads, {server}", one["more_threads"], 0, "more")
        yield Bar(row, f"descriptors, {server}", one["more_descriptors"], 0, "more")


def _summary_size(section: dict[str, Any]) -> Iterator[Bar]:
    for limits in dict.fromkeys(row["limits"] for row in section["results"]):
        rows = [row for row in section["results"] if row["limits"] == limits]
        largest = max(row["bytes"] for row in rows)
        yield Bar("summary of an edit", f"{limits} limits", largest, rows[0]["most"], "bytes")


def _growth(section: dict[str, Any]) -> Iterator[Bar]:
    for one in section["results"].values():
        limit = one["allowed"] + section["tolerance"]
        yield Bar("growth", f"{one['cost']}, {one['grows']}", one["exponent"], limit, "(exponent)")


#: By section, in the order of the table.
ROWS: dict[str, Callable[[dict[str, Any]], Iterator[Bar]]] = {
    "client_cost": _client_cost,
    "real_requests": _real_requests,
    "cold_start": _cold_start,
    "edit_time": _edit_time,
    "clean_edit": _clean_edit,
    "many_files": _many_files,
    "deadlines": _deadlines,
    "sansio": _sansio,
    "threads": _threads,
    "large_tree": _large_tree,
    "service": _service,
    "long_session": _long_session,
    "summary_size": _summary_size,
    "growth": _growth,
}
