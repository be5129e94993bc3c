"""What an edit breaks in files that nobody has opened, through `write(scope="project")`.

    python benchmarks/unopened.py [EDITS [SERVER…]]

Packages of PyPI and npm that nothing here uses are put into a folder. Edits of the ordinary kinds
(`breaking_edits.py`) are made at random; a fresh run of a checker's own command line says which
other files each of them breaks, and those that break at least one are kept: the same number of each
kind, as far as there are such. Each is then written by a new workspace that has not seen any file
of the package.

    told        edits of which every broken file was told
    incomplete  edits of which a file was not told, and the report says that something is not known
    silent      edits of which a file was not told, and nothing in the report stands for it
    wrong       edits after which a file was told that is not newly broken
    clean       those of the silent ones whose verdict is CLEAN

What the checkers have found is kept in `build/`, so that a second run judges nothing.
"""

from __future__ import annotations

import collections
import itertools
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lspkit
from benchmarks.breaking_edits import PYTHON, TYPESCRIPT, Kind, breaking_edits, parses
from benchmarks.elsewhere_judges import (
    Check,
    Mutation,
    checked_by_pyright,
    checked_by_tsc_7,
    checked_by_ty,
    judge,
)
from benchmarks.sections import CACHE, percentile, write_rows
from tests import real_servers

#: Breaking edits for each server.
EDITS = 60
SEED = 11
#: How many breaking edits are looked for, and how many are judged at a time.
ENOUGH, BATCH = 80, 32
#: Seconds for one call.
TIMEOUT = 60.0
CHECKERS = (
    "ty",
    "pyright",
    "basedpyright",
    "pyrefly",
    "zuban",
    "ruff",
    "eslint",
    "biome",
    "oxlint",
)
WHEELS = ("werkzeug==3.1.3", "marshmallow==4.4.0", "mistune==3.4.0")
TARBALLS = ("@tanstack/query-core@5.107.1", "immer@11.2.10", "redux@5.0.1")
DOWNLOADS = CACHE / "unopened"


@dataclass(frozen=True)
class Language:
    """Where the packages of a language come from, and how they are changed and judged."""

    prepare: Callable[[Path], None]
    pattern: str
    kinds: dict[str, Kind]
    check: Check
    #: A quicker checker, whose list says which edits are judged at all.
    quicker: str = ""
    #: Whether a text is one of the language.
    is_text: Callable[[str], bool] = lambda text: True


@dataclass(frozen=True)
class Breaking:
    """An edit, and the other files that it breaks."""

    edit: Mutation
    files: frozenset[str]


@dataclass(frozen=True)
class Outcome:
    """What a report says about other files after an edit."""

    told: frozenset[str]
    #: Whether the report says that something about other files is not known.
    incomplete: bool
    verdict: str
    text: str
    seconds: float


def prepare_python(folder: Path) -> None:
    """The packages side by side, without what they need."""
    if not (DOWNLOADS / "python").is_dir():
        argv = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
        subprocess.run([*argv, str(DOWNLOADS / "python"), *WHEELS], check=True)
    for name in WHEELS:
        package = name.partition("==")[0]
        compiled = shutil.ignore_patterns("__pycache__")
        shutil.copytree(DOWNLOADS / "python" / package, folder / package, ignore=compiled)
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')


def prepare_typescript(folder: Path) -> None:
    """The sources of the packages side by side, with one configuration."""
    for spec in TARBALLS:
        name = spec.rpartition("@")[0].rpartition("/")[2]
        kept = DOWNLOADS / name
        if not kept.is_dir():
            kept.mkdir(parents=True)
            argv = ["npm", "pack", "--silent", spec]
            packed = subprocess.run(argv, cwd=kept, check=True, capture_output=True, text=True)
            tarball = packed.stdout.split()[-1]
            subprocess.run(["tar", "xzf", tarball, "--strip-components=1"], cwd=kept, check=True)
        tests = shutil.ignore_patterns("__tests__", "*.test.ts", "*.d.ts")
        shutil.copytree(kept / "src", folder / name, ignore=tests)
    options = {
        "strict": True,
        "target": "es2022",
        "module": "esnext",
        "moduleResolution": "bundler",
        "lib": ["es2022", "dom"],
        "types": [],
        "noEmit": True,
        "skipLibCheck": True,
        "useDefineForClassFields": False,
    }
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options}))
    (folder / "package.json").write_text("{}")
    given = ("__DEV__: boolean", "process: any", "global: any")
    (folder / "given.d.ts").write_text("".join(f"declare const {one}\n" for one in given))


LANGUAGES = {
    "ty": Language(prepare_python, "*/**/*.py", PYTHON, checked_by_ty, "", parses),
    "pyright": Language(prepare_python, "*/**/*.py", PYTHON, checked_by_pyright, "ty"),
    "typescript": Language(prepare_typescript, "*/**/*.ts", TYPESCRIPT, checked_by_tsc_7),
}


def breaking(server: str, folder: Path) -> list[Breaking]:
    """Edits that break other files, the kinds in turn."""
    kept = DOWNLOADS / f"{server}-{SEED}.json"
    if kept.is_file():
        return [
            Breaking(_mutation(folder, one), frozenset(one["files"]))
            for one in json.loads(kept.read_text(encoding="utf-8"))
        ]
    language = LANGUAGES[server]
    if language.quicker:
        candidates = iter([one.edit for one in breaking(language.quicker, folder)])
    else:
        chance = random.Random(SEED)
        by_kind = breaking_edits(folder, language.pattern, language.kinds, chance, language.is_text)
        turns = itertools.zip_longest(*by_kind.values())
        candidates = (one for turn in turns for one in turn if one is not None)
    chosen: list[Breaking] = []
    while len(chosen) < ENOUGH and (batch := list(itertools.islice(candidates, BATCH))):
        judged = judge(folder, language.check, [(one, frozenset()) for one in batch])
        pairs = zip(batch, judged, strict=True)
        chosen += [Breaking(edit, broken.files) for edit, broken in pairs if broken.files]
        print(f"{len(chosen)} of {ENOUGH} edits", file=sys.stderr, flush=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps([{**_span(one.edit), "files": sorted(one.files)} for one in chosen]))
    return chosen


def _span(edit: Mutation) -> dict[str, Any]:
    """An edit without what stays as it is."""
    start = next(
        (at for at, pair in enumerate(zip(edit.old, edit.new, strict=False)) if len({*pair}) > 1),
        min(len(edit.old), len(edit.new)),
    )
    most = min(len(edit.old), len(edit.new)) - start
    same = next((n for n in range(most) if edit.old[-1 - n] != edit.new[-1 - n]), most)
    return {
        **{name: value for name, value in asdict(edit).items() if name not in ("old", "new")},
        "at": [start, len(edit.old) - same],
        "text": edit.new[start : len(edit.new) - same],
    }


def _mutation(folder: Path, span: dict[str, Any]) -> Mutation:
    old = (folder / span["path"]).read_text(encoding="utf-8")
    start, end = span["at"]
    new = old[:start] + span["text"] + old[end:]
    return Mutation(span["path"], span["kind"], span["name"], old, new)


def write_edit(server: str, folder: Path, edit: Mutation) -> Outcome:
    """Write an edit in a new workspace, and take it back."""
    command = {
        "command": real_servers.command(server),
        "env": {**real_servers.environment(server), "TMPDIR": str(folder.parent)},
        "disabled": False,
    }
    others = {one: {"disabled": True} for one in CHECKERS if one != server}
    path = folder / edit.path
    try:
        with lspkit.Workspace(
            folder, config={"lsp": {**others, server: command}}, trusted=True
        ) as ws:
            began = time.monotonic()
            report = ws.write(edit.path, edit.new, scope="project", timeout=TIMEOUT)
            seconds = time.monotonic() - began
    finally:
        path.write_text(edit.old, encoding="utf-8")
    others_found = report.other_files
    told = {
        str(Path(name).relative_to(folder))
        for name, findings in others_found.shown.items()
        if any(one.severity.value == "error" for one in findings)
    }
    says = others_found.left_out or others_found.unsearched or others_found.unknown
    unknown = bool(says) or others_found.verdict.unknown
    text = "\n".join(str(report).splitlines()[-12:])
    return Outcome(frozenset(told), unknown, report.verdict.value, text, seconds)


def grade(breaks: Breaking, outcome: Outcome) -> str:
    """`told`, `incomplete` or `silent`.

    >>> edit = Mutation("a.py", "removed", "f", "", "")
    >>> silence = Outcome(frozenset(), False, "clean", "", 1.0)
    >>> grade(Breaking(edit, frozenset({"b.py"})), silence)
    'silent'
    """
    if breaks.files <= outcome.told:
        return "told"
    return "incomplete" if outcome.incomplete else "silent"


def run(server: str, edits: int) -> dict[str, Any]:
    """The figures of one server."""
    tally: collections.Counter[str] = collections.Counter()
    took: list[float] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "project").resolve()
        folder.mkdir()
        LANGUAGES[server].prepare(folder)
        for breaks, outcome in _outcomes(server, folder, edits):
            result = grade(breaks, outcome)
            tally["edits"] += 1
            tally[result] += 1
            print(f"{tally['edits']} {result}", file=sys.stderr, flush=True)
            tally["clean"] += result == "silent" and outcome.verdict == "clean"
            wrong = outcome.told - breaks.files
            tally["wrong"] += bool(wrong)
            took.append(outcome.seconds)
            if result != "told" or wrong:
                _print(result, breaks, outcome)
    return {
        **{name: tally[name] for name in COUNTED},
        "p50_s": round(statistics.median(took), 1),
        "p95_s": round(percentile(took, 0.95), 1),
    }


def _outcomes(server: str, folder: Path, edits: int) -> Iterator[tuple[Breaking, Outcome]]:
    for breaks in breaking(server, folder)[:edits]:
        yield breaks, write_edit(server, folder, breaks.edit)


def _print(result: str, breaks: Breaking, outcome: Outcome) -> None:
    edit, rest = breaks.edit, sorted(breaks.files - outcome.told)
    wrong = sorted(outcome.told - breaks.files)
    print(
        f"  {result}: {edit.kind} of {edit.name} in {edit.path}: {outcome.verdict}, "
        f"{len(breaks.files & outcome.told)} of {len(breaks.files)} told; not {', '.join(rest)}"
        + (f"; wrong {', '.join(wrong)}" if wrong else ""),
        flush=True,
    )
    print("      " + outcome.text.replace("\n", "\n      "), flush=True)


#: Figures that are counted.
COUNTED = ("edits", "told", "incomplete", "silent", "clean", "wrong")


def main(edits: int, servers: tuple[str, ...]) -> int:
    """Run these servers, or all, and write the section of the report."""
    for server in servers or tuple(LANGUAGES):
        real_servers.require(server)
        row = run(server, edits)
        print(server, json.dumps(row), flush=True)
        write_rows("unopened", {server: row})
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else EDITS, tuple(sys.argv[2:])))
