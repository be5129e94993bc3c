"""The sections of `report.json` as one page of Markdown. What was not run is not on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.bars import ROWS, bars_of, parity, passes, reasons
from benchmarks.sections import table

HEAD = """# Benchmarks

{machine}
{earlier}
All figures of a table come from runs that took turns on one machine: compare them with each other,
not with other machines. q1 and q3 are the quartiles.
{quick}"""

BARS = """
## Bars

{met} of {all} are met. [How to repeat this](../docs/performance.md).

{rows}
{reasons}"""

REASONS = """
### Not met, and why

{lines}
"""

PARITY = """
## Beside OpenCode {version}

The published program, driven without a model: cold by its own command, warm by a stand-in for a
model that replays tool calls. lspkit does the same on a copy of the project. A clean edit leaves
the file without errors, as it was before. {verdict}
{missing}
{rows}

What was told was true, errors for a broken file and none for one in order: {found}.
"""

COST = """
## The client's own cost

A server with ready answers, asked by a bare JSON-RPC loop (the floor) and by each client's
ordinary API. 50 references and 50 symbols per answer.

![Median milliseconds per call](client_cost.svg)

{costs}

Versions: {versions}.
{missing}
## Importing

{loads}
"""

REAL_REQUESTS = """
## Warm requests on real servers

The same contestants on copies of a real server and of one project.

{rows}
"""

COLD_START = """
## From nothing to the first definition

From making a workspace to the answer, beside a bare loop that starts the same server.

{rows}
"""

EDIT_TIME = """
## From an edit to fresh diagnostics

Edits that break and mend a file by turns. The bare loop stops at the first sign that the server has
looked. The rule is OpenCode's: a push, and then 150 ms without another one, at most 5 s.

{rows}
"""

MANY_FILES = """
## Twenty files edited at once

From the last write to the last verdict, for one file and for {files}, by `check_all` and by a bare
loop that has all of them under way on a second copy of the server. The bare ratio is the server's
own: one that looks at a file after the other takes longer for more of them, whoever asks.
`scripted` takes 100 ms for each file, and any number of them at the same time. Between two edits
there is a second.

`clangd` does not watch the disk, and compares what a source includes by size and by modification
time in whole seconds. What was written in a later second than its last work on the source it
notices with the next change. Anything else needs a forced rebuild, which also builds the preamble
anew: 20 files that are edited twice within a second take six times as long as the bare loop. That
one sends the change alone, and would miss a header that was written twice within a second.

{rows}
"""

DEADLINES = """
## A timeout on a busy machine

{files} files and {server}, from a cold start, while {loops} other programs compute. The timeout is
{timeout:g} s, and what is not checked by then is unknown.

{rows}
"""

CLEAN_EDIT = """
## An edit that leaves a file clean

{server}, from the edit to the verdict, beside a client that waits for a push and then for silence.

{rows}
"""

LONG_SESSION = """
## A session of {edits} edits

Each edit is written and checked; the process of lspkit is looked at after every twenty. What is
compared are the first and the last hundred edits.

{plots}

{rows}
"""

IDLE = """
## Idle

{count} servers, and nobody asks: processor seconds in {seconds:.0f} s.

{rows}
"""

SERVICE = """
## The service

A warm definition on ready answers, in the process and through the service.

{calls}

Commands with a warm service, and without one.

{commands}
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

RUNS = """
## What ran

{rows}
"""

ELSEWHERE = """
## What an edit breaks in other files

Random breaking edits of public functions, through the hooks, against the list of the compiler or of
the checker's own command line. A file over the limit of dependents or of time is not told, but is
counted in the text for the model. Where the uses of a declaration could not be searched, the text
names the declaration. All other broken files that are not told are missed silently. `over` is the
time of the hook besides the check of the edited file. A row that is `patient` was run without
limits of time, on a busy machine.

{rows}
"""


#: Sections that have no text of their own on the page: what they hold is in the table of bars.
WITHOUT_TEXT = frozenset({"runs", "bars", "parity", "schema_tokens"})
#: In this order in tables and on plots.
CLIENTS = ("floor", "lspkit", "SolidLSP", "multilspy", "pylspclient", "pygls")
LEGEND = ["row", "what", "figure", "bar", ""]


def _elsewhere(section: dict[str, Any]) -> str:
    columns = {
        "edits": "edits",
        "told": "files told",
        "counted": "counted as not checked",
        "unsearched": "said to be unsearched",
        "missed": "missed silently",
        "wrong": "wrongly told",
        "wrong_after_undo": "wrongly after undo",
        "over_p50_ms": "over p50 ms",
        "over_p95_ms": "p95",
        "patient": "patient",
    }
    rows = _by_name("server, package", section["results"], columns)
    return ELSEWHERE.format(rows=rows)


def page(report: dict[str, Any], plots: Mapping[str, str] | None = None) -> str:
    """The report as Markdown; `plots` are the names of the pictures beside it."""
    parts = [_head(report), _bars(report)]
    parts += [write(report[name]) for name, write in PARTS.items() if name in report]
    parts += [
        _other(name, section)
        for name, section in sorted(report.items())
        if name not in PARTS and name not in WITHOUT_TEXT
    ]
    text = "".join([*parts, _runs(report.get("runs", {}))])
    if plots is None:
        return text
    # A picture that was not drawn is not shown.
    lines = [line for line in text.splitlines() if not _is_missing(line, plots)]
    return "\n".join(lines) + "\n"


def _is_missing(line: str, plots: Mapping[str, str]) -> bool:
    return line.startswith("![") and line.rpartition("(")[2].rstrip(")") not in plots


def _measured(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: one for name, one in report.items() if isinstance(one, dict) and "machine" in one}


def _head(report: dict[str, Any]) -> str:
    sections = _measured(report)
    runs: dict[str, list[str]] = {}
    for name, one in sections.items():
        commit = f"commit `{one['commit']}`" if "commit" in one else "commit not known"
        runs.setdefault(f"{_machine(one['machine'])}; {commit}.", []).append(name)
    # Most sections are of one run. Those that have not run again since are named.
    last, *earlier = sorted(runs, key=lambda one: -len(runs[one])) or ["Nothing was measured."]
    named = [f"From another run: {', '.join(sorted(runs[one]))}. {one}" for one in earlier]
    quick = any(one.get("quick") for one in sections.values())
    return HEAD.format(
        machine=last,
        earlier="".join(f"\n{one}\n" for one in named),
        quick="A quick run: fewer rounds, wider spread.\n" if quick else "",
    )


def _machine(machine: dict[str, Any]) -> str:
    memory = machine.get("memory_gib")
    told = [
        machine.get("processor"),
        f"{machine.get('cores')} cores",
        f"{memory} GiB of memory" if memory else None,
        f"{machine.get('system')} {machine.get('kernel', '')}".strip(),
        machine.get("python"),
    ]
    return ", ".join(one for one in told if one)


def _bars(report: dict[str, Any]) -> str:
    bars, runs = bars_of(report), report.get("runs", {})
    missing = [
        [name.replace("_", " "), "", "–", "", f"not measured: {_reason(runs.get(name))}"]
        for name in ROWS
        if name not in report
    ]
    return BARS.format(
        met=sum(one.met for one in bars),
        all=len(bars),
        rows=table(LEGEND, [*(one.cells for one in bars), *missing]),
        reasons=REASONS.format(lines=why) if (why := reasons(bars)) else "",
    )


def _reason(run: dict[str, Any] | None) -> str:
    """Why a section is not there."""
    return "was not run" if run is None else str(run.get("failed", "left no figures"))


def _cost(cost: dict[str, Any]) -> str:
    imports = cost["import_processor_ms"]
    loads = table(["import", "processor ms"], [[name, imports[name]] for name in sorted(imports)])
    versions = [f"{name} {one}" for name, one in cost.get("versions", {}).items() if one]
    return COST.format(
        costs=_clients(cost["results"]),
        versions=", ".join(versions) or "not known",
        missing=_missing(cost.get("missing", {})),
        loads=loads,
    )


def _clients(results: dict[str, Any]) -> str:
    operations = next(iter(results.values()), {})
    known = [client for client in CLIENTS if client in results]
    columns = ("p50_ms", "p95_ms", "q1_ms", "q3_ms", "above_floor_ms", "times_floor")
    rows = [
        [operation, client, *(results[client][operation].get(column) for column in columns)]
        for operation in operations
        for client in known
    ]
    headings = ["p50 ms", "p95 ms", "q1 ms", "q3 ms", "above floor ms", "× floor"]
    return table(["operation", "client", *headings], rows)


def _missing(missing: dict[str, str]) -> str:
    return "".join(f"\nNot measured: {name}: {why}\n" for name, why in sorted(missing.items()))


def _real_requests(section: dict[str, Any]) -> str:
    parts = []
    for server, one in section["servers"].items():
        plot = f"![Median milliseconds per call on {server}](real_requests_{server}.svg)"
        missing = _missing(one["missing"])
        parts.append(f"### {server}\n\n{plot}\n\n{_clients(one['results'])}\n{missing}")
        parts.append(_answers(one.get("answers", {})))
    return REAL_REQUESTS.format(rows="\n".join(one for one in parts if one))


def _answers(answers: dict[str, dict[str, int]]) -> str:
    """Who got another number of things than the floor: SolidLSP leaves out the definition, say."""
    floor = answers.get("floor", {})
    told = [
        f"{client} {count} rather than {floor[operation]} for {operation}"
        for client, counts in answers.items()
        for operation, count in counts.items()
        if operation in floor and count != floor[operation]
    ]
    if not told:
        return ""
    return f"Other numbers of answers: {'; '.join(told)}. A peer without any is not compared.\n"


def _spreads(
    what: str, results: dict[str, Any], sides: dict[str, str], more: dict[str, str]
) -> str:
    """One line for each name, with the spread of each side."""
    headings = [what]
    for title in sides.values():
        headings += [f"{title} p50 ms", "p95", "q1 to q3"]
    rows = []
    for name, one in results.items():
        row: list[Any] = [name]
        for side in sides:
            spread = one[side]
            row += [spread["p50"], spread["p95"], f"{spread['q1']:.3g} to {spread['q3']:.3g}"]
        rows.append([*row, *(one[column] for column in more)])
    return table([*headings, *more.values()], rows)


def _cold_start(section: dict[str, Any]) -> str:
    sides = {"lspkit": "lspkit", "floor": "bare"}
    rows = _spreads("server", section["results"], sides, {"ratio": "ratio"})
    return COLD_START.format(rows=rows)


def _edit_time(section: dict[str, Any]) -> str:
    sides = {"lspkit": "lspkit", "floor": "bare", "rule": "rule"}
    more = {"times_as_fast_as_rule": "times as fast as the rule", "wrong": "wrong verdicts"}
    return EDIT_TIME.format(rows=_spreads("server", section["results"], sides, more))


def _long_session(section: dict[str, Any]) -> str:
    columns = {
        "memory_first_mib": "memory at first, MiB",
        "memory_last_mib": "at last, MiB",
        "memory_growth_percent": "growth %",
        "more_threads": "more threads",
        "more_descriptors": "more descriptors",
        "first_p50_ms": "first edits p50 ms",
        "last_p50_ms": "last edits p50 ms",
        "unknown": "unknown verdicts",
    }
    plots = [
        f"![Memory and threads, {server}](long_session_{server}.svg)"
        for server in section["results"]
    ]
    rows = _by_name("server", section["results"], columns)
    return LONG_SESSION.format(edits=section["edits"], plots="\n\n".join(plots), rows=rows)


def _many_files(section: dict[str, Any]) -> str:
    files = section["files"]
    return MANY_FILES.format(files=files, rows=many_files_table(files, section["results"]))


def _deadlines(section: dict[str, Any]) -> str:
    shown = {name: section[name] for name in ("files", "server", "loops", "timeout")}
    rows = [[way, one["most"], one["over"]] for way, one in section["results"].items()]
    made = table(["way", "slowest run s", "seconds over"], rows)
    return DEADLINES.format(**shown, rows=made)


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


def _service(section: dict[str, Any]) -> str:
    calls = [[name, one["p50_ms"], one["p95_ms"]] for name, one in section["calls"].items()]
    commands = [
        [server, command, one["seconds"], one["cpu"]]
        for server, ways in section["commands"].items()
        for command, one in ways.items()
    ]
    return SERVICE.format(
        calls=table(["engine", "p50 ms", "p95 ms"], calls),
        commands=table(["server", "command", "seconds", "processor seconds"], commands),
    )


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


def _opencode(section: dict[str, Any]) -> str:
    rows = parity(section)
    headings = ["what", "language", "lspkit", "OpenCode", "at most", "", ""]
    missing = section.get("missing")
    found = [
        f"{side}, {language}: {one['cold_found']} cold checks, {one['told_truly']} warm edits"
        for language, sides in section.get("languages", {}).items()
        for side, one in sides.items()
    ]
    return PARITY.format(
        version=section.get("version", ""),
        verdict="All rows pass." if passes(rows) else "Not all rows pass.",
        missing=f"\nNot measured: {missing}\n" if missing else "",
        rows=table(headings, [one.cells for one in rows]),
        found="; ".join(found),
    )


def _runs(runs: dict[str, dict[str, Any]]) -> str:
    rows = []
    for name, one in runs.items():
        ended = f"ran, status {one['status']}" if "status" in one else "ran"
        rows.append(
            [name, one["seconds"], f"failed: {one['failed']}" if "failed" in one else ended]
        )
    return RUNS.format(rows=table(["benchmark", "seconds", ""], rows)) if rows else ""


def _other(name: str, section: dict[str, Any]) -> str:
    """A section without a text of its own: its results as they are."""
    results = section.get("results")
    title = f"\n## {name.replace('_', ' ').capitalize()}\n\n"
    if isinstance(results, dict) and all(isinstance(one, dict) for one in results.values()):
        columns = list(dict.fromkeys(key for one in results.values() for key in one))
        plain = {column: column.replace("_", " ") for column in columns}
        rows = {
            name: {key: value for key, value in one.items() if not isinstance(value, (dict, list))}
            for name, one in results.items()
        }
        shown = {key: title for key, title in plain.items() if any(key in r for r in rows.values())}
        return f"{title}{_by_name('', rows, shown)}\n"
    if isinstance(results, dict):
        return f"{title}{table(['', ''], [list(one) for one in results.items()])}\n"
    if isinstance(results, list) and results and isinstance(results[0], dict):
        return f"{title}{table(list(results[0]), [list(one.values()) for one in results])}\n"
    return ""


def _by_name(what: str, results: dict[str, dict[str, Any]], columns: dict[str, str]) -> str:
    rows = [[name, *(row.get(column) for column in columns)] for name, row in results.items()]
    return table([what, *columns.values()], rows)


#: By section, in the order of the page.
PARTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "opencode": _opencode,
    "client_cost": _cost,
    "real_requests": _real_requests,
    "cold_start": _cold_start,
    "edit_time": _edit_time,
    "clean_edit": _clean_edit,
    "many_files": _many_files,
    "deadlines": _deadlines,
    "long_session": _long_session,
    "service": _service,
    "idle": _idle,
    "growth": _growth,
    "overlap": _overlap,
    "elsewhere": _elsewhere,
}
