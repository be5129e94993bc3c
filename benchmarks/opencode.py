"""lspkit beside the published OpenCode, on the same projects: python benchmarks/opencode.py

For TypeScript and Python: a cold check by each command line, then warm rounds of edits and hovers
through OpenCode's tools and through lspkit's, in turns, each on a copy of the project; then what is
left running, and how long the text about an edit with many errors is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]  # so that it runs by its path, too

from environments import OPENCODE, Unavailable, opencode  # noqa: E402

import lspkit  # noqa: E402
from benchmarks.bars import parity  # noqa: E402
from benchmarks.many_files import Runner, runner  # noqa: E402
from benchmarks.opencode_program import OpenCode, ToolRun, cold_check, environ  # noqa: E402
from benchmarks.sections import QUICK, spread, table, write_section  # noqa: E402
from lspkit.agent import EditHooks, Summary, Toolbox  # noqa: E402
from lspkit.testing.leaks import (  # noqa: E402
    adopt_orphans,
    kill_leaked_processes,
    leaks_since,
    take_snapshot,
)
from tests import real_servers  # noqa: E402

#: Language: the server that OpenCode takes for it, its program, and the column of the name `own`.
LANGUAGES = {
    "TypeScript": ("typescript", "typescript-language-server", 14),
    "Python": ("pyright", "pyright-langserver", 1),
}
#: Warm rounds, and cold checks of each side.
ROUNDS, COLD = (2, 1) if QUICK else (8, 4)
#: Errors in the edit whose text is measured.
ERRORS = 60
#: In the output of OpenCode's tool when there are errors.
TOLD = "<diagnostics"
BREAKS, CLEAN, HOVER = "edit that breaks or mends", "edit that stays clean", "warm hover"

Times = dict[str, list[float]]


@dataclass
class Side:
    """What was measured of one side."""

    times: Times = field(default_factory=dict)
    #: Of each cold check, whether it found the error.
    cold_found: list[bool] = field(default_factory=list)
    #: Of each warm edit, whether the text about it was true: errors if it breaks, none otherwise.
    told: list[bool] = field(default_factory=list)
    left: int | None = None
    summary_bytes: int | None = None

    def add(self, what: str, milliseconds: float) -> None:
        self.times.setdefault(what, []).append(milliseconds)

    def kept(self) -> dict[str, Any]:
        """For `report.json`."""
        spreads = {what: spread(values) for what, values in self.times.items()}
        return {
            **spreads,
            "cold_found": f"{sum(self.cold_found)} of {len(self.cold_found)}",
            "told_truly": f"{sum(self.told)} of {len(self.told)}",
            "left": self.left,
            "summary_bytes": self.summary_bytes,
        }


@dataclass(frozen=True)
class Step:
    """One tool call of a round: an edit with its text, or a hover."""

    what: str
    text: str
    line: int
    broken: bool = False


def steps(own: Runner, number: int) -> list[Step]:
    """A round: break, mend, stay clean, hover."""
    template, first = own.course.alone, 10 * number
    found = []
    for at, (what, broken) in enumerate(((BREAKS, True), (BREAKS, False), (CLEAN, False))):
        text = template.make(first + at, broken=broken)
        found.append(Step(what, text.content, text.line, broken))
    return [*found, Step(HOVER, "", found[-1].line)]


def many_errors(own: Runner) -> str:
    """A text with the error of the project many times."""
    bad = own.course.alone.bad.replace("own", "ownNUMBER")
    return "\n".join(bad.replace("NUMBER", str(one)) for one in range(ERRORS)) + "\n"


def project(server: str, folder: Path) -> tuple[Runner, Path]:
    """A project with its file, which is in order."""
    own = runner(server, folder)
    own.course.write(folder, real_servers.NODE_MODULES)
    if server == "typescript":
        # OpenCode starts its server only where TypeScript is a package of the project.
        (folder / "package.json").write_text("{}\n")
        modules = folder / "node_modules"
        modules.mkdir()
        (modules / "typescript").symlink_to(real_servers.NODE_MODULES / "typescript")
    path = folder / own.course.alone.name
    path.write_text(own.course.alone.make(0, broken=False).content)
    return own, path


def programs_of(scratch: Path, program: str) -> Path:
    """A folder with this server's program alone, so that OpenCode runs no other beside it."""
    folder = scratch / "programs"
    folder.mkdir()
    (folder / program).symlink_to(real_servers.PROGRAMS / program)
    return folder


def cold(server: str, program: Path, scratch: Path, programs: Path, sides: dict[str, Side]) -> None:
    """A check of a broken file by each command line, in a fresh process and project."""
    for number in range(COLD):
        for side in ("lspkit", "opencode") if number % 2 else ("opencode", "lspkit"):
            own, path = project(server, scratch / f"cold-{side}-{number}")
            path.write_text(own.course.alone.make(number, broken=True).content)
            if side == "opencode":
                took, found = cold_check(program, path, environ(scratch, programs))
            else:
                took, found = own_cold_check(own, path, scratch)
            sides[side].add("cold check", took)
            sides[side].cold_found.append(found)


def own_cold_check(own: Runner, path: Path, scratch: Path) -> tuple[float, bool]:
    """The same by `lspkit check`, without a service."""
    config = scratch / "config.json"
    config.write_text(json.dumps(own.config()))
    variables = {**os.environ, "LSPKIT_CONFIG": str(config), "LSPKIT_TRUST": "always"}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "lspkit", "check", "--no-service", path.name],
        cwd=path.parent,
        env={**variables, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    took = (time.perf_counter() - began) * 1000
    if done.returncode not in (0, 1):
        raise RuntimeError(f"lspkit check: {(done.stderr or done.stdout).strip()[-200:]}")
    return took, done.returncode == 1


def theirs(program: OpenCode, path: Path, round_: list[Step], column: int) -> list[ToolRun]:
    """A round through OpenCode's tools."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for step in round_:
        place = {"filePath": str(path), "line": step.line, "character": column}
        write = {"filePath": str(path), "content": step.text}
        calls.append(
            ("lsp", {"operation": "hover", **place}) if not step.text else ("write", write)
        )
    runs = program.run(calls)
    failed = [run.output for run in runs if run.failed]
    if failed:
        raise RuntimeError(f"OpenCode's tool failed: {failed[0][:200]}")
    return runs


def ours(
    hooks: EditHooks, tools: Toolbox, path: Path, step: Step, column: int
) -> tuple[float, str]:
    """Milliseconds of one step through lspkit's tools and hooks, and the text for the model."""
    began = time.perf_counter()
    if step.text:
        path.write_text(step.text)
        call = {"path": str(path), "content": step.text}
        said = hooks.tool_result("write_file", call, "", timeout=60.0)
    else:
        place = {"filePath": str(path), "line": step.line, "character": column}
        said = tools.execute("lsp_hover", place, timeout=60.0)
    return (time.perf_counter() - began) * 1000, said


def warm(
    language: str, program: Path, scratch: Path, programs: Path, sides: dict[str, Side]
) -> None:
    """Rounds in turns, then what is left of each side."""
    server, _, column = LANGUAGES[language]
    own, path = project(server, scratch / "own")
    _, other = project(server, scratch / "other")
    before = take_snapshot()
    opencode_side = OpenCode(program, other.parent, scratch, programs)
    try:
        opencode_side.run([("read", {"filePath": str(other)})])
        with lspkit.Workspace(path.parent, config=own.config(), trusted=True) as ws:
            hooks, tools = EditHooks(ws, summary=Summary.compact(ws.config)), Toolbox(ws)
            for number in range(ROUNDS + 1):
                round_ = steps(own, number)
                runs = theirs(opencode_side, other, round_, column)
                times = [ours(hooks, tools, path, step, column) for step in round_]
                if number:  # the first loads the project
                    for step, run, (took, said) in zip(round_, runs, times, strict=True):
                        sides["opencode"].add(step.what, run.milliseconds)
                        sides["lspkit"].add(step.what, took)
                        if step.text:
                            sides["opencode"].told.append((TOLD in run.output) is step.broken)
                            sides["lspkit"].told.append(bool(said) is step.broken)
            text = many_errors(own)
            output = theirs(opencode_side, other, [Step(BREAKS, text, 1)], column)[0].output
            sides["opencode"].summary_bytes = len(output.encode())
            path.write_text(text)
            told = hooks.tool_result("write_file", {"path": str(path)}, "", timeout=60.0)
            sides["lspkit"].summary_bytes = len(told.encode())
    finally:
        opencode_side.close()
        left = [one for one in leaks_since(before) if one.startswith("process")]
        sides["opencode"].left = len(left)
        kill_leaked_processes(before)
        opencode_side.join()


def left_of_lspkit(server: str, scratch: Path) -> int:
    """Processes that outlive a workspace."""
    own, path = project(server, scratch / "left")
    before = take_snapshot()
    with lspkit.Workspace(path.parent, config=own.config(), trusted=True) as ws:
        ws.check(path, timeout=60.0)
    left = [one for one in leaks_since(before) if one.startswith("process")]
    kill_leaked_processes(before)
    return len(left)


def measured(language: str, program: Path) -> dict[str, Any]:
    """Both sides of one language."""
    server, name, _ = LANGUAGES[language]
    sides = {"lspkit": Side(), "opencode": Side()}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        scratch = Path(folder).resolve()
        programs = programs_of(scratch, name)
        cold(server, program, scratch, programs, sides)
        warm(language, program, scratch, programs, sides)
        sides["lspkit"].left = left_of_lspkit(server, scratch)
    return {side: one.kept() for side, one in sides.items()}


def main() -> None:
    """Measure, print, and keep the numbers."""
    adopt_orphans()
    section: dict[str, Any] = {"version": OPENCODE, "rounds": ROUNDS, "languages": {}}
    try:
        program = opencode()
    except Unavailable as error:
        write_section("opencode", {**section, "missing": str(error)})
        print(f"not measured: {error}")
        return
    for language in sys.argv[1:] or LANGUAGES:
        section["languages"][language] = measured(language, program)
    rows = [row.cells for row in parity(section)]
    print(table(["what", "language", "lspkit", "OpenCode", "at most", "", ""], rows))
    write_section("opencode", section)


if __name__ == "__main__":
    main()
