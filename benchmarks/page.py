"""The sections of `report.json` as one page of Markdown. What was not run is not on it."""

from __future__ import annotations

from typing import Any

from benchmarks.sections import table

CLIENTS = ("floor", "lspkit", "SolidLSP", "multilspy")

HEAD = """# Benchmarks

{python}, {cores} cores. All figures of a table come from runs that took turns on one machine:
compare them with each other, not with other machines.
"""

COST = """
## The client's own cost

A server with ready answers, asked by a bare JSON-RPC loop (the floor) and by each client's
ordinary API. 50 references and 50 symbols per answer.

![Median milliseconds per call](client_cost.svg)

{costs}

## Importing

{loads}
"""

MANY_FILES = """
## Twenty files edited at once

From the last write to the last verdict, for one file and for {files}, by `check_all` and by a bare
loop that has all of them under way on a second copy of the server. The bare ratio is the server's
own: one that looks at a file after the other takes longer for more of them, whoever asks.
`scripted` takes 100 ms for each file, and any number of them at the same time. Between two edits
there is a second.

{rows}
"""

CLEAN_EDIT = """
## An edit that leaves a file clean

{server}, from the edit to the verdict, beside a client that waits for a push and then for silence.

{rows}
"""

IDLE = """
## Idle

{count} servers, and nobody asks: processor seconds in {seconds:.0f} s.

{rows}
"""

GROWTH = """
## Growth

Each cost at growing multiples of the work, on the scripted server: milliseconds of lspkit's own
processor time, or of the clock where the service takes part. An exponent of 1 means that ten times
the work costs ten times as much, 0 that the cost does not depend on it.

{rows}
"""

OVERLAP = """
## Edits that overlap

Verdicts while edits come faster than answers, held against the truth; and the time from an edit to
its verdict when they do not, beside the bare loop.

{rows}
"""

ELSEWHERE = """
## What an edit breaks in other files

Random breaking edits of public functions, through the hooks, against the list of the compiler or of
the checker's own command line. Of the missed files, some are over the limit of dependents or of
time, and are counted in the text for the model. `over` is the time of the hook besides the check of
the edited file. A row that is `patient` was run without limits of time, on a busy machine.

{rows}
"""


def page(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    parts = [HEAD.format(**report["client_cost"]["machine"])]
    return "".join(parts + [write(report[name]) for name, write in PARTS.items() if name in report])


def _cost(cost: dict[str, Any]) -> str:
    rows = [
        [operation, client, values["p50_ms"], values["p95_ms"], values["above_floor_ms"]]
        for operation in cost["bar_ms"]
        for client in CLIENTS
        if (values := cost["results"].get(client, {}).get(operation))
    ]
    imports = cost["import_processor_ms"]
    costs = table(["operation", "client", "p50 ms", "p95 ms", "above floor ms"], rows)
    loads = table(["import", "processor ms"], [[name, imports[name]] for name in sorted(imports)])
    return COST.format(costs=costs, loads=loads)


def _many_files(section: dict[str, Any]) -> str:
    files = section["files"]
    return MANY_FILES.format(files=files, rows=many_files_table(files, section["results"]))


def many_files_table(files: int, results: dict[str, Any]) -> str:
    """One file against many, by server."""
    columns = {
        "one_p50_ms": "1 file p50 ms",
        "one_p95_ms": "p95",
        "all_p50_ms": f"{files} files p50 ms",
        "all_p95_ms": "p95",
        "ratio": "ratio",
        "bare_one_p50_ms": "bare 1 p50 ms",
        "bare_all_p50_ms": f"bare {files} p50 ms",
        "bare_ratio": "bare ratio",
        "all_to_bare_all": "lspkit / bare",
        "own_processor_ms": "lspkit's processor ms",
    }
    return _by_name("server", results, columns)


def _clean_edit(section: dict[str, Any]) -> str:
    columns = {
        "lspkit_p50_ms": "lspkit p50 ms",
        "lspkit_p95_ms": "p95",
        "rule_p50_ms": "push and silence p50 ms",
        "rule_p95_ms": "p95",
        "times_as_fast": "times as fast",
    }
    rows = _by_name("the edit", section["results"], columns)
    return CLEAN_EDIT.format(server=section["server"], rows=rows)


def _idle(section: dict[str, Any]) -> str:
    rows = table(["who", "processor seconds"], list(section["processor_seconds"].items()))
    return IDLE.format(count=len(section["servers"]), seconds=section["seconds"], rows=rows)


def _growth(section: dict[str, Any]) -> str:
    return GROWTH.format(rows=growth_table(section["results"]))


def growth_table(results: dict[str, Any]) -> str:
    """The costs at each scale, and their exponents."""
    rows = []
    for row in results.values():
        costs = [f"{value:.3g} (×{scale})" for scale, value in row["milliseconds"].items()]
        limits = [row["exponent"], row["allowed"], row["ok"]]
        rows.append([row["grows"], row["cost"], row["clock"], *costs, *limits])
    scales = ["least, ms", "more, ms", "most, ms"]
    return table(["what grows", "cost of", "clock", *scales, "exponent", "allowed", "ok"], rows)


def _overlap(section: dict[str, Any]) -> str:
    rows = []
    for server, row in section["results"].items():
        times = {side: values["p50"] for side, values in row["milliseconds"].items()}
        counts = [row[name] for name in ("calls", "sure", "wrong", "false_clean", "unknown")]
        rows.append([server, *counts, times["lspkit"], times["floor"]])
    headings = ["server", "calls", "sure", "wrong", "false clean", "unknown"]
    return OVERLAP.format(rows=table([*headings, "lspkit p50 ms", "bare p50 ms"], rows))


def _elsewhere(section: dict[str, Any]) -> str:
    columns = {
        "rounds": "edits",
        "told": "files told",
        "missed": "missed",
        "counted_as_not_checked": "of these, counted",
        "wrong": "wrongly told",
        "wrong_after_undo": "wrongly after undo",
        "over_p50_ms": "over p50 ms",
        "over_p95_ms": "p95",
        "patient": "patient",
    }
    rows = _by_name("server, package", section["results"], columns)
    return ELSEWHERE.format(rows=rows)


def _by_name(what: str, results: dict[str, dict[str, Any]], columns: dict[str, str]) -> str:
    rows = [[name, *(row.get(column) for column in columns)] for name, row in results.items()]
    return table([what, *columns.values()], rows)


#: By section, in the order of the page.
PARTS = {
    "client_cost": _cost,
    "many_files": _many_files,
    "clean_edit": _clean_edit,
    "idle": _idle,
    "growth": _growth,
    "overlap": _overlap,
    "elsewhere": _elsewhere,
}
