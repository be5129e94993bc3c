"""What an edit breaks in other files, through the hooks.

    python benchmarks/elsewhere.py [ROUNDS [SERVER…]]

Public functions of real packages are broken at random: another parameter, another name, another
type, or removed. After each edit the hook tells which other files are broken now. The truth is the
list of the same checker's own command line, run afresh on the changed package and compared with its
list for the unchanged one. Each edit is taken back through the hook, which has to tell nothing.

    told       files that are newly broken, and told
    missed     newly broken files that are not told
    wrong      files that are told and not newly broken
    over       milliseconds of the hook besides the check of the edited file itself
"""

from __future__ import annotations

import ast
import collections
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lspkit
from benchmarks.sections import CACHE, write_section
from lspkit.agent import EditHooks
from tests import real_servers

#: Where the packages are installed.
SOURCES = CACHE / "elsewhere"
PACKAGES = ("rich", "httpx")
SERVERS = ("ty", "pyright")
KINDS = ("arity", "name", "type", "removal")
ROUNDS = 40
SEED = 7
#: With `PATIENT` in the environment: no limits of time, to measure the search on a busy machine.
LONG = 60_000
TIMING = (
    {"dependentsTimeoutMs": LONG, "diagnosticsWaitTimeoutMs": LONG}
    if "PATIENT" in os.environ
    else {}
)
#: Files by path, each with its errors and how often each occurs.
Errors = dict[str, collections.Counter[str]]


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


@dataclass(frozen=True)
class Mutation:
    """An edit of one file."""

    path: str
    kind: str
    name: str
    old: str
    new: str


def install() -> None:
    """Install the packages, without what they depend on, unless they are there."""
    if all((SOURCES / one).is_dir() for one in PACKAGES):
        return
    argv = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(SOURCES)]
    subprocess.run([*argv, *PACKAGES], check=True)


def mutations(folder: Path, package: str, chance: random.Random) -> Iterator[Mutation]:
    """Random edits of public functions, without end."""
    found: list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    for path in sorted((folder / package).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        bodies = [tree, *(one for one in tree.body if isinstance(one, ast.ClassDef))]
        found += [
            (path, one)
            for body in bodies
            for one in body.body
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            and not one.name.startswith("_")
            and not one.decorator_list
        ]
    while True:
        path, function = chance.choice(found)
        kind = chance.choice(KINDS)
        edit = EDITS[kind](path.read_text(encoding="utf-8"), function)
        if edit is not None:
            yield Mutation(str(path.relative_to(folder)), kind, function.name, *edit)


def _whole(text: str, function: Any) -> str:
    lines = text.split("\n")[function.lineno - 1 : function.end_lineno]
    return "\n".join(lines) + "\n"


def _arity(text: str, function: Any) -> tuple[str, str] | None:
    whole = _whole(text, function)
    head = re.search(rf"def {function.name}\(\s*(self\b,?|cls\b,?)?\s*", whole)
    if head is None:
        return None
    end, first = head.end(), "" if whole[head.end() - 1] in "(, \n" else ", "
    new = f"{whole[:end]}{first}added_here: int, {whole[end:]}"
    return (whole, new) if _parses(new) else None


def _name(text: str, function: Any) -> tuple[str, str] | None:
    whole = _whole(text, function)
    return whole, whole.replace(f"def {function.name}(", f"def {function.name}_renamed(", 1)


def _type(text: str, function: Any) -> tuple[str, str] | None:
    arguments = [one for one in function.args.args if one.annotation is not None]
    if not arguments:
        return None
    whole, one = _whole(text, function), arguments[0]
    written = ast.get_source_segment(text, one.annotation) or ""
    old = f"{one.arg}: {written}"
    if whole.count(old) != 1 or "\n" in old:
        return None
    return whole, whole.replace(old, f"{one.arg}: memoryview")


def _removal(text: str, function: Any) -> tuple[str, str] | None:
    whole = _whole(text, function)
    indent = re.match(r"\s*", whole)
    return whole, f"{indent[0] if indent else ''}pass\n"


def _parses(text: str) -> bool:
    try:
        ast.parse("if 1:\n" + text if text.startswith(" ") else text)
    except SyntaxError:
        return False
    return True


EDITS: dict[str, Callable[[str, Any], tuple[str, str] | None]] = {
    "arity": _arity,
    "name": _name,
    "type": _type,
    "removal": _removal,
}


def checked_by_ty(folder: Path) -> Errors:
    """The errors of ty's own command."""
    argv = [real_servers.command("ty")[0], "check", "--output-format", "concise", "."]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    found: Errors = {}
    for line in done.stdout.splitlines():
        match = re.match(r"(.+?):\d+:\d+: error(.*)", line)
        if match:
            found.setdefault(match[1], collections.Counter())[match[2]] += 1
    return found


def checked_by_pyright(folder: Path) -> Errors:
    """The errors of pyright's own command."""
    program = Path(real_servers.command("pyright")[0]).with_name("pyright")
    argv = [str(program), "--outputjson", "."]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    found: Errors = {}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        if one["severity"] == "error":
            name = str(Path(one["file"]).relative_to(folder))
            found.setdefault(name, collections.Counter())[one["message"]] += 1
    return found


CHECKERS = {"ty": checked_by_ty, "pyright": checked_by_pyright}


def newly_broken(before: Errors, after: Errors) -> set[str]:
    """Files with an error more than before."""
    return {name for name, errors in after.items() if errors - before.get(name, errors.__class__())}


def race(server: str, package: str, rounds: int, chance: random.Random) -> Tally:
    """Edit a package at random, and compare what is told with the truth."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "project").resolve()
        shutil.copytree(SOURCES / package, folder / package)
        (folder / "pyproject.toml").write_text(f'[project]\nname = "{package}"\nversion = "1"\n')
        said = {
            "command": real_servers.command(server),
            "env": {**real_servers.environment(server), "TMPDIR": temporary},
            "disabled": False,
        }
        config = {"lsp": {server: said, "ruff": {"disabled": True}}, "timing": TIMING}
        before = CHECKERS[server](folder)
        with lspkit.Workspace(folder, config=config, trusted=True) as ws:
            hooks = EditHooks(ws)
            warm(hooks, folder, package)
            edits = mutations(folder, package, chance)
            while tally.rounds < rounds:
                one_round(tally, hooks, folder, next(edits), before, CHECKERS[server])
    return tally


def warm(hooks: EditHooks, folder: Path, package: str) -> None:
    """Start the server, and let it read the project, as after the first edit of an agent."""
    path = folder / package / "__init__.py"
    name, text = str(path.relative_to(folder)), path.read_text(encoding="utf-8")
    for new in (f"{text}\ndef added_here() -> None: ...\n", text):
        path.write_text(new, encoding="utf-8")
        hooks.tool_result("write", {"path": name}, "", timeout=60)


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


def main(rounds: int, servers: tuple[str, ...]) -> int:
    """Run all packages with all servers, and write the section of the report."""
    install()
    results: dict[str, Any] = {}
    for server in servers or SERVERS:
        real_servers.require(server)
        for package in PACKAGES:
            tally = race(server, package, rounds, random.Random(SEED))
            over = sorted(tally.over)
            figures = {
                "rounds": tally.rounds,
                "told": tally.told,
                "missed": tally.missed,
                "counted_as_not_checked": tally.counted,
                "wrong": tally.wrong,
                "wrong_after_undo": tally.wrong_after_undo,
                "over_p50_ms": round(statistics.median(over)),
                "over_p95_ms": round(over[int(0.95 * (len(over) - 1))]),
            }
            results[f"{server}, {package}"] = figures
            print(server, package, figures, flush=True)
            for line in tally.examples:
                print("   ", line, flush=True)
    write_section("elsewhere", {"results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS, tuple(sys.argv[2:])))
