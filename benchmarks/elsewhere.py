"""What an edit breaks in other files, through the hooks.

    python benchmarks/elsewhere.py [ROUNDS [SERVER or PACKAGE…]]

Public functions of real packages are broken at random: another parameter, another name, another
type, or removed. After each edit the hook tells which other files are broken now. The truth is the
list of the compiler, or of the same checker's own command line (`elsewhere_projects.py`), run on
the changed package and compared with its list for the unchanged one. Each edit is taken back
through the hook, which has to tell nothing.

    told       files that are newly broken, and told
    missed     newly broken files that are not told
    wrong      files that are told and not newly broken
    over       milliseconds of the hook besides the check of the edited file itself
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lspkit
from benchmarks.elsewhere_projects import PACKAGES, Errors, Mutation, Package
from benchmarks.sections import REPORT, write_section
from lspkit.agent import EditHooks
from tests import real_servers

ROUNDS = 40
SEED = 7
#: How often a minute is waited until the server has read the project.
INDEX_TRIES = 10
#: With `PATIENT` in the environment: no limits of time, to measure the search on a busy machine.
LONG = 60_000
TIMING = (
    {"dependentsTimeoutMs": LONG, "diagnosticsWaitTimeoutMs": LONG}
    if "PATIENT" in os.environ
    else {}
)


@dataclass
class Tally:
    """What came of the edits of one package by one server."""

    rounds: int = 0
    told: int = 0
    missed: int = 0
    wrong: int = 0
    #: Of the missed files, those that the hook has counted as not checked.
    counted: int = 0
    wrong_after_undo: int = 0
    over: list[float] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)


def newly_broken(before: Errors, after: Errors) -> set[str]:
    """Files with an error more than before."""
    return {name for name, errors in after.items() if errors - before.get(name, errors.__class__())}


def race(package: Package, rounds: int, chance: random.Random) -> Tally:
    """Edit a package at random, and compare what is told with the truth."""
    tally, server = Tally(), package.server
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "project").resolve()
        folder.mkdir()
        package.prepare(folder)
        said = {
            "command": [*real_servers.command(server), *package.arguments],
            "env": {**real_servers.environment(server), "TMPDIR": temporary},
            "disabled": False,
        }
        others = {one: {"disabled": True} for one in ("ruff", "eslint", "biome", "oxlint")}
        config = {"lsp": {server: said, **others}, "timing": TIMING}
        before = package.check(folder)
        with lspkit.Workspace(folder, config=config, trusted=True) as ws:
            hooks = EditHooks(ws)
            warm(hooks, folder, package)
            for _ in range(INDEX_TRIES):
                if ws.workspace_symbols("added", package.first[0], timeout=60).complete:
                    break
            edits = package.mutations(folder, chance)
            while tally.rounds < rounds:
                print(f"round {tally.rounds}", file=sys.stderr, flush=True)
                one_round(tally, hooks, folder, next(edits), before, package.check)
    return tally


def warm(hooks: EditHooks, folder: Path, package: Package) -> None:
    """Start the server, and let it read the project, as after the first edit of an agent."""
    name, added = package.first
    path = folder / name
    text = path.read_text(encoding="utf-8")
    for new in (f"{text}{added}", text):
        path.write_text(new, encoding="utf-8")
        hooks.tool_result("write", {"path": name}, "", timeout=120)


def one_round(
    tally: Tally,
    hooks: EditHooks,
    folder: Path,
    edit: Mutation,
    before: Errors,
    checker: Callable[[Path], Errors],
) -> None:
    path = folder / edit.path
    text = path.read_text(encoding="utf-8")
    if text.count(edit.old) != 1:
        return
    path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    arguments = {"path": edit.path, "old_string": edit.old, "new_string": edit.new}
    told, left, over = run_hook(hooks, arguments, folder)
    truth = newly_broken(before, checker(folder)) - {edit.path}
    path.write_text(text, encoding="utf-8")
    back = {"path": edit.path, "old_string": edit.new, "new_string": edit.old}
    undone, _, over_back = run_hook(hooks, back, folder)
    tally.rounds += 1
    tally.told += len(told & truth)
    tally.missed += len(truth - told)
    tally.wrong += len(told - truth)
    tally.counted += min(len(truth - told), left)
    tally.wrong_after_undo += len(undone)
    tally.over += [over, over_back]
    if told != truth or undone:
        line = f"{edit.kind} of {edit.name} in {edit.path}: "
        line += f"missed {sorted(truth - told)}, wrong {sorted(told - truth)}, left out {left}"
        tally.examples.append(line + (f", after undo {sorted(undone)}" if undone else ""))


def run_hook(
    hooks: EditHooks, arguments: dict[str, str], folder: Path
) -> tuple[set[str], int, float]:
    """The files that are told, how many are counted as not checked, and the time besides."""
    hooks.tool_result("edit", arguments, "Edited.")
    last = hooks.last
    if last is None or not last.reports:
        raise RuntimeError(f"the hook has failed: {last}")
    introduced = last.other_files.introduced or {}
    told = {
        str(Path(path).relative_to(folder))
        for path, findings in introduced.items()
        if any(one.severity.value == "error" for one in findings)
    }
    own = max(one.duration for one in last.reports.values())
    return told, last.other_files.left_out, (last.duration - own) * 1000


def main(rounds: int, names: tuple[str, ...]) -> int:
    """Run all packages, or those of these servers, and write the section of the report."""
    for package in PACKAGES:
        title = f"{package.server}, {package.name}"
        if names and not {package.server, package.name, title} & set(names):
            continue
        real_servers.require(package.server)
        tally = race(package, rounds, random.Random(SEED))
        over = sorted(tally.over)
        figures = {
            "rounds": tally.rounds,
            "told": tally.told,
            "missed": tally.missed,
            "counted_as_not_checked": tally.counted,
            "wrong": tally.wrong,
            "wrong_after_undo": tally.wrong_after_undo,
            "patient": bool(TIMING),
            "over_p50_ms": round(statistics.median(over)),
            "over_p95_ms": round(over[int(0.95 * (len(over) - 1))]),
        }
        print(title, figures, flush=True)
        for line in tally.examples:
            print("   ", line, flush=True)
        write_section("elsewhere", {"results": {**known_rows(), title: figures}})
    return 0


def known_rows() -> dict[str, Any]:
    """The rows of the report: those that are not run now stay."""
    report: dict[str, Any] = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    rows: dict[str, Any] = report.get("elsewhere", {}).get("results", {})
    return rows


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS, tuple(sys.argv[2:])))
