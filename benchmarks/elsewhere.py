"""What an edit breaks in other files, through the hooks.

    python benchmarks/elsewhere.py [EDITS [SERVER or PACKAGE…]]

Public functions of real packages are broken at random: another parameter, another name, another
type, or removed. After each edit the hook tells which other files are broken now. Each edit is
taken back through the hook, which has to tell nothing. The number of edits is shared among the
packages. When all edits of a package are made, the list of its compiler, or of the same checker's
own command line, is the truth (`elsewhere_judges.py`).

    told        files that are newly broken, and told: by name, or in the number of further files
    counted     newly broken files that are not told, but are among the files that the text for the
                model counts as not checked
    unsearched  further newly broken files, where the text names what could not be searched
    missed      all other newly broken files: nothing in the text stands for them
    wrong       files that are told and not newly broken
    over        milliseconds of the hook besides the check of the edited file itself

An error in a C++ header has to be told for the header. A file that fails only through a header that
it includes need not be told, and is not wrong if it is: `through_header` counts those.
"""

from __future__ import annotations

import collections
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lspkit
from benchmarks.elsewhere_judges import Broken, Mutation, judge
from benchmarks.elsewhere_projects import PACKAGES, UNUSUAL, Package
from benchmarks.sections import percentile, write_rows
from lspkit.agent import EditHooks
from lspkit.operations.checks import check_edit, dependent_files
from tests import real_servers

#: Edits of all packages.
EDITS = 100
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
_NOT_CHECKED = re.compile(r"Files that use what the edit changed and could not be checked: (\d+)$")
_NOT_SEARCHED = "What the edit changed and whose uses could not be searched: "
_MORE = re.compile(r"\.\.\. and (\d+) more files?$")


@dataclass(frozen=True)
class Said:
    """What one hook has said about other files."""

    #: Files with new errors.
    told: frozenset[str]
    #: Files that the text for the model counts as not checked.
    counted: frozenset[str]
    #: Whether the text names declarations whose uses could not be searched.
    unsearched: bool
    #: Milliseconds besides the check of the edited file.
    over: float
    #: What was not known.
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Round:
    """An edit, what was said after it, and what after it was taken back."""

    edit: Mutation
    said: Said
    undone: Said


class LeftOut:
    """The files that lspkit counts as not checked: its result has only their number."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._compared, self._nothing = dependent_files._result, check_edit._unchecked

    def __enter__(self) -> LeftOut:
        dependent_files._result, check_edit._unchecked = self._result, self._unchecked
        return self

    def __exit__(self, *_: object) -> None:
        dependent_files._result, check_edit._unchecked = self._compared, self._nothing

    def _unchecked(self, search: Any) -> Any:
        self.paths = set(search.dependents)
        return self._nothing(search)

    def _result(self, found: Any, states: Any, compared: Any, search: Any, severities: Any) -> Any:
        proven = {path for path, one in states.items() if one.is_proven}
        self.paths = set(search.dependents) - proven
        return self._compared(found, states, compared, search, severities)


class Scene:
    """A package in a folder, with a workspace and its hooks."""

    def __init__(self, folder: Path, ws: lspkit.Workspace, left_out: LeftOut) -> None:
        self.folder, self.ws, self.left_out = folder, ws, left_out
        self.hooks = EditHooks(ws)

    def warm(self, package: Package) -> None:
        """Start the server, and let it read the project, as after the first edit of an agent."""
        name, added = package.first
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        for new in (f"{text}{added}", text):
            path.write_text(new, encoding="utf-8")
            self.hooks.tool_result("write", {"path": name}, "", timeout=120)
        for _ in range(INDEX_TRIES):
            if self.ws.workspace_symbols("added", name, timeout=60).complete:
                return

    def play(self, edit: Mutation) -> Round:
        """Make an edit, and take it back."""
        path = self.folder / edit.path
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
        said = self._say(edit.path, edit.old, edit.new)
        path.write_text(text, encoding="utf-8")
        return Round(edit, said, self._say(edit.path, edit.new, edit.old))

    def _say(self, name: str, old: str, new: str) -> Said:
        self.left_out.paths = set()
        arguments = {"path": name, "old_string": old, "new_string": new}
        text = self.hooks.tool_result("edit", arguments, "Edited.")
        last = self.hooks.last
        if last is None or not last.reports:
            raise RuntimeError(f"the hook has failed: {last}")
        introduced = last.other_files.introduced or {}
        broken = {
            self._relative(path)
            for path, findings in introduced.items()
            if any(one.severity.value == "error" for one in findings)
        }
        left = {self._relative(path) for path in self.left_out.paths}
        if len(left) != last.other_files.left_out:
            raise RuntimeError(f"{last.other_files.left_out} files left out, but found {left}")
        own = max(one.duration for one in last.reports.values())
        return Said(
            frozenset(broken if _stands_for(text, broken) else ()),
            frozenset(left if _number(_NOT_CHECKED, text) == len(left) else ()),
            _NOT_SEARCHED in text,
            (last.duration - own) * 1000,
            last.warnings,
        )

    def _relative(self, path: str) -> str:
        return str(Path(path).relative_to(self.folder))


def _number(pattern: re.Pattern[str], text: str) -> int:
    """The number in the line of a text that matches; 0 without such a line."""
    return next((int(one[1]) for line in text.splitlines() if (one := pattern.search(line))), 0)


def _stands_for(text: str, broken: set[str]) -> bool:
    """Whether a text has these files by name, or in its number of further files."""
    named = set(re.findall(r'^<diagnostics file="(.*)">$', text, re.MULTILINE))
    return len(broken - named) <= _number(_MORE, text)


def play_all(package: Package, folder: Path, edits: int, chance: random.Random) -> list[Round]:
    """Make random edits of a package, all different."""
    server, temporary = package.server, str(folder.parent)
    said = {
        "command": [*real_servers.command(server), *package.arguments],
        "env": {**real_servers.environment(server), "TMPDIR": temporary},
        "disabled": False,
    }
    others = {one: {"disabled": True} for one in ("ruff", "eslint", "biome", "oxlint")}
    config = {"lsp": {server: said, **others}, "timing": TIMING}
    played: list[Round] = []
    with LeftOut() as left_out, lspkit.Workspace(folder, config=config, trusted=True) as ws:
        scene = Scene(folder, ws, left_out)
        scene.warm(package)
        for edit in package.mutations(folder, chance):
            text = (folder / edit.path).read_text(encoding="utf-8")
            if text.count(edit.old) != 1 or any(one.edit == edit for one in played):
                continue
            played.append(scene.play(edit))
            if len(played) == edits:
                break
            print(f"{len(played)} edits", file=sys.stderr, flush=True)
    return played


def tally_of(rounds: list[tuple[Round, Broken]]) -> collections.Counter[str]:
    """How many files were told, counted, missed, and told wrongly."""
    tally = collections.Counter[str](edits=len(rounds))
    for one, truth in rounds:
        said, rest = one.said, truth.files - one.said.told
        silent = rest - said.counted
        tally["told"] += len(said.told & truth.files)
        tally["counted"] += len(rest & said.counted)
        tally["unsearched" if said.unsearched else "missed"] += len(silent)
        tally["through_header"] += len(said.told & truth.through_header)
        tally["wrong"] += len(said.told - truth.files - truth.through_header)
        tally["wrong_after_undo"] += len(one.undone.told)
        _print_difference(one, truth)
    return tally


def _print_difference(one: Round, truth: Broken) -> None:
    """What was not told, and what was told besides."""
    said, edit = one.said, one.edit
    rest = truth.files - said.told
    parts = {
        "counted": rest & said.counted,
        "unsearched" if said.unsearched else "missed": rest - said.counted,
        "through a header": said.told & truth.through_header,
        "wrong": said.told - truth.files - truth.through_header,
        "after undo": one.undone.told,
    }
    told = "; ".join(f"{name} {', '.join(sorted(those))}" for name, those in parts.items() if those)
    if told:
        why = "".join(f"\n        {one}" for one in said.warnings)
        print(f"    {edit.kind} of {edit.name} in {edit.path}: {told}{why}", flush=True)


def run(package: Package, edits: int) -> dict[str, Any]:
    """The figures of one package by one server."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "project").resolve()
        folder.mkdir()
        package.prepare(folder)
        rounds = play_all(package, folder, edits, random.Random(SEED))
        judged = time.monotonic()
        truths = judge(folder, package.check, [(one.edit, one.said.told) for one in rounds])
        tally = tally_of(list(zip(rounds, truths, strict=True)))
    over = [said.over for one in rounds for said in (one.said, one.undone)]
    return {
        **{name: tally[name] for name in COUNTED},
        "patient": bool(TIMING),
        "over_p50_ms": round(statistics.median(over)),
        "over_p95_ms": round(percentile(over, 0.95)),
        "hooks_s": round(judged - began),
        "judge_s": round(time.monotonic() - judged),
    }


#: Figures that are added up.
COUNTED = (
    "edits",
    "told",
    "counted",
    "unsearched",
    "missed",
    "wrong",
    "through_header",
    "wrong_after_undo",
)


def main(edits: int, names: tuple[str, ...]) -> int:
    """Run all packages, or those of these servers, and write the section of the report."""
    chosen = [
        (f"{one.server}, {one.name}", one)
        for one in PACKAGES
        if ({one.server, one.name, f"{one.server}, {one.name}"} & set(names))
        or (not names and one.name not in UNUSUAL)
    ]
    results: dict[str, dict[str, Any]] = {}
    for number, (title, package) in enumerate(chosen):
        real_servers.require(package.server)
        share = edits * (number + 1) // len(chosen) - edits * number // len(chosen)
        results[title] = run(package, share)
        print(title, json.dumps(results[title]), flush=True)
        write_rows("elsewhere", {title: results[title]})
    total = {name: sum(one[name] for one in results.values()) for name in COUNTED}
    print("all", json.dumps(total), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else EDITS, tuple(sys.argv[2:])))
