"""Which bars are met, why others are not, and the parity table against OpenCode.

Pure: a section in, lines out. A bar is a limit that was set beforehand; a figure that is not there
makes a line that says so, never one that is met. A row of the parity table passes only with figures
of both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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


#: By row of the table, or by row and what was measured where one reason does not fit all.
REASONS: dict[str, str] = {
    "warm request, canned": (
        "The floor sends fixed bytes and reads the next line. Before each request lspkit also asks "
        "the kernel whether anything has changed below the root, compares the open document with "
        "its file, and turns the answer into values with paths and columns in characters. The main "
        "thread hands the call to another one, since an interrupt may come to it at any line, and "
        "the reader of the server wakes that: four switches between threads, of which the floor "
        "has none. The rest is the amount of Python code, each line of which runs once in a "
        "request: where the server shares the core, it costs twice as much there as in a loop."
    ),
    "warm request, real": (
        "The same work in Python as on canned answers, about as many milliseconds. A server that "
        "answers in a tenth of a millisecond leaves 0.015 ms for it at 1.15 times the floor. On an "
        "answer that the server needs 2 ms for, the ratio is near the bar."
    ),
    "warm request, peers": (
        "The quicker peer sends the request as it is, with no look at the disk and the path, and "
        "returns the server's JSON as it came: positions in UTF-16 and URIs. On answers with many "
        "positions in other files lspkit is ahead, since those are decoded once and at once."
    ),
    "cold start": (
        "Before the server there is the guardian, which ends it should this process be killed: a "
        "Python interpreter with few modules, about 30 ms, for which the first server of a process "
        "waits. The configuration takes 7 ms more; the watched folders are read while the server "
        "starts, on the same cores. A second server of the same process does not wait for the "
        "guardian."
    ),
    "edit to diagnostics": (
        "lspkit is told of the write by the kernel, reads the file, makes the smallest change and "
        "decodes the findings: 2 to 4 ms of Python. Where the server may publish twice, as clangd "
        "does, it also waits until the server says that it is done, and for one more answer; the "
        "bare loop stops at the first push."
    ),
    "files edited at once": (
        "0.5 to 0.7 ms of Python for each file (the last column), while the server computes on the "
        "same cores."
    ),
    "files edited at once: 20 files, clangd": (
        "lspkit waits until clangd says that it is done with each file, and for the answer to a "
        "request after that, since the first push may be from before a header was read again; the "
        "bare loop stops at the first push."
    ),
    "files edited at once: 20 files, gopls": (
        "A push of gopls about a file may be from before it was told of another that changed with "
        "it. So each file but the last gets a second version when all were told. A bare loop that "
        "sends these versions, too, takes 1.04 to 1.24 times as long as one that does not; the "
        "rest is the processor time of lspkit in the last column, beside a server that uses both "
        "cores."
    ),
    "files edited at once: 20 files, ty": (
        "ty needs a quarter of a millisecond for a file. lspkit needs half a millisecond of Python "
        "for each (the last column): it is told by the kernel, reads the file, makes the smallest "
        "change, sends it, asks, decodes and merges the findings into a report. At 1.3 times the "
        "bare loop, which reads no file, 0.07 ms are left for each. Reading a file, comparing two "
        "texts, encoding two messages and decoding one take 0.05 ms in a flat loop without a "
        "server."
    ),
    "framing and decoding": (
        "json decodes a message that is there. lspkit joins 2,560 pieces of 4 KiB, and goes over "
        "the whole twice: once to find its parts, a quarter of what json needs, and once to decode "
        "the result. Between 1.3 and 1.5 times, as quick as the memory is."
    ),
    "32 threads": (
        "One interpreter runs one thread at a time. Each of the 5 system calls of a request lets "
        "another thread go on, so 32 threads change places far more often than one that waits for "
        "its answer; a single thread also reads its answer by itself, which several cannot. That "
        "a thread is woken for each answer is enough: 32 threads that take turns by a lock of "
        "their own, so that only one asks at a time, reach no more."
    ),
    "timeout of 5 s, 2,000 files": (
        "The end of the servers and the reports of the files take their turn on a processor that "
        "three other programs want as well."
    ),
    "service, warm definition": (
        "The call is encoded and decoded once more on both sides, and two processes take turns. "
        "That is Python, too, and grows with the time of a call in the process: 0.24 ms where such "
        "a call takes 0.22 ms, 0.29 ms where it takes 0.35 ms."
    ),
    "lspkit definition, warm service": (
        "The warm command is nearly all the start of Python and of the command itself, 0.15 s, "
        "most of it imports; how much longer a cold one takes depends on how quickly the server "
        "starts."
    ),
    "growth: edit and check one, open files, 1": (
        "Before a check every open document is compared with its file, one system call each: some "
        "file systems do not tell of changes that another machine made. 8 µs for each open file."
    ),
}


def reasons(bars: Iterable[Bar]) -> str:
    """A line for each row with a bar that is not met; empty if all are."""
    found: dict[str, list[str]] = {}
    for bar in bars:
        if not bar.met:
            reason = REASONS.get(f"{bar.row}: {bar.what}") or REASONS.get(bar.row)
            found.setdefault(reason or "Not examined.", []).append(f"{bar.row}, {bar.what}")
    return "\n".join(f"- {'; '.join(names)}. {reason}" for reason, names in found.items())


#: Shares that lspkit may be slower.
WARM, COLD = 1.05, 1.10
#: Milliseconds from an edit to its diagnostics at most, and bytes of a summary.
EDIT_P95_MS, SUMMARY_BYTES = 3500.0, 2048


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    what: str
    language: str
    own: float | None
    #: None where the bar is a number of its own.
    theirs: float | None
    limit: float | None
    unit: str

    @property
    def verdict(self) -> str:
        if self.own is None or self.limit is None:
            return "not measured"
        return "pass" if self.own <= self.limit else "**fail**"

    @property
    def cells(self) -> list[Any]:
        """The cells of its line in the table."""
        return [
            self.what,
            self.language,
            self.own,
            self.theirs,
            self.limit,
            self.unit,
            self.verdict,
        ]


def parity(section: dict[str, Any]) -> list[Row]:
    """All rows, for each language."""
    rows: list[Row] = []
    for language, sides in section.get("languages", {}).items():
        rows += _of_language(language, sides.get("lspkit") or {}, sides.get("opencode") or {})
    return rows


def passes(rows: list[Row]) -> bool:
    """Whether every row passes, and there is one."""
    return bool(rows) and all(row.verdict == "pass" for row in rows)


def _of_language(language: str, own: dict[str, Any], theirs: dict[str, Any]) -> Iterator[Row]:
    for what, allowed in (
        ("warm hover", WARM),
        ("edit that breaks or mends", WARM),
        ("edit that stays clean", WARM),
        ("cold check", COLD),
    ):
        for share in ("p50", "p95"):
            yield _compared(f"{what}, {share}", language, own, theirs, (what, share), allowed)
    edits = [own[what]["p95"] for what in own if what.startswith("edit ")]
    slowest = max(edits) if edits else None
    yield Row("edit to diagnostics, p95", language, slowest, None, EDIT_P95_MS, "ms")
    yield Row("processes left", language, own.get("left"), theirs.get("left"), 0, "")
    size = own.get("summary_bytes")
    yield Row("summary", language, size, theirs.get("summary_bytes"), SUMMARY_BYTES, "bytes")


def _compared(
    what: str,
    language: str,
    own: dict[str, Any],
    theirs: dict[str, Any],
    key: tuple[str, str],
    allowed: float,
) -> Row:
    kind, share = key
    mine, other = own.get(kind, {}).get(share), theirs.get(kind, {}).get(share)
    limit = None if other is None else other * allowed
    return Row(what, language, mine, other, limit, "ms")
