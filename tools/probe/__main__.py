"""Measures a server on this machine: python -m tools.probe SERVER [--rounds NUMBER] [--json]

`bare_client.py` talks to one process and waits for what it says; `measurement.py` measures with it;
`race.py` lets checks of a workspace overlap, and counts wrong verdicts. The exit status is 1 if a
verdict was wrong, 3 if the server is missing or has not answered.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from lspkit.config.load import load
from lspkit.errors import ServerUnavailableError
from lspkit.install.install_hint import GET_IT_WITH, install_hint
from lspkit.install.recipe_table import recipes_of
from lspkit.servers.definition import Definition
from lspkit.servers.restriction.trust_profile import ALL
from lspkit.servers.selection.choose import Choice, aliases, definitions, permitted
from lspkit.servers.selection.program_lookup import package_of, search_folders
from lspkit.visible_text import one_line
from lspkit.workspace import Workspace
from tools.probe.bare_client import ProbeError
from tools.probe.courses import COURSES, Course
from tools.probe.measurement import Measured, probe
from tools.probe.race import Raced, race

COLUMNS = (
    *("server", "argv", "init", "capabilities", "encodings", "push / pull"),
    *("open → diagnostics / change → diagnostics", "version in push", "pushes per change", "tier"),
)


def main() -> int:
    """Measure, then race."""
    parser = argparse.ArgumentParser(prog="python -m tools.probe", description=__doc__)
    parser.add_argument("server", metavar="SERVER", help="as `lspkit servers` names it")
    parser.add_argument("--rounds", type=int, default=40, help="overlapping checks (default: 40)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        return _probe(arguments)
    except (ProbeError, ServerUnavailableError) as problem:
        print(f"{arguments.server} cannot be probed: {problem}", file=sys.stderr)
        return 3


def _probe(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="lspkit-probe-") as name:
        folder = os.path.realpath(name)
        choice = _choose(arguments.server, folder)
        course = COURSES.get(choice.id)
        file = _write(course, choice, Path(folder))
        template = course.alone if course is not None else None
        measured = probe(choice, template, file)
        raced = None
        if template is not None and measured.opened is not None and arguments.rounds:
            config = {"lsp": {choice.id: {"command": list(choice.argv)}}}
            with Workspace(folder, config=config, trusted=True) as ws:
                raced = race(ws, choice.id, template, file, arguments.rounds)
    _print(measured, raced, as_data=arguments.json)
    if measured.opened is None and template is not None:
        return 3
    return 1 if raced is not None and raced.wrong else 0


def _choose(name: str, folder: str) -> Choice:
    """The server as it runs in a trusted project. The current project has no say in that."""
    config = load(folder, aliases=aliases()).config
    known: dict[str, Definition] = {one.id: one for one in definitions(config)}
    id = aliases().get(name, name)
    if id not in known:
        raise ProbeError(f"lspkit knows no server {name!r} (see: lspkit servers)")
    folders = search_folders(os.path.realpath(os.curdir))
    said = config.server(id, known[id].aliases)
    choice = permitted(known[id], said, folder, folder, folders, ALL, folder)
    if not choice.argv:
        hint = install_hint(known[id], folders)
        message = f"{id} is not installed{GET_IT_WITH}{hint}"
        raise ServerUnavailableError(message, server=id, install=hint.command)
    if choice.held_back:
        raise ServerUnavailableError(f"{id} {choice.why_not}", server=id)
    return choice


def _write(course: Course | None, choice: Choice, folder: Path) -> Path:
    """Write the project; returns the file that is measured."""
    if course is not None:
        course.write(folder, _modules(choice))
        file = folder / course.alone.name
        file.write_text(course.alone.make(0, broken=False).content, encoding="utf-8")
        return file
    name = next(iter(choice.definition.languages), ".txt").replace("*", "probe")
    file = folder / (f"probe{name}" if name.startswith(".") else name)
    file.write_text("", encoding="utf-8")
    return file


def _modules(choice: Choice) -> Path:
    """The `node_modules` that the server is installed in."""
    for recipe in recipes_of(choice.id):
        package = package_of(choice.argv[0], recipe.packages[0].name)
        for above in Path(package).parents if package is not None else ():
            if above.name == "node_modules":
                return above
    return Path("/nonexistent")


def _print(measured: Measured, raced: Raced | None, *, as_data: bool) -> None:
    if as_data:
        race_data = raced.to_dict() if raced is not None else None
        print(json.dumps({**measured.to_dict(), "race": race_data}, indent=1))
        return
    lines = [_cells(COLUMNS), _cells(["---"] * len(COLUMNS)), _cells(row_of(measured))]
    if raced is not None:
        lines += ["", race_line(raced)]
    lines += ["", *map(one_line, measured.notes)] if measured.notes else []
    print("\n".join(lines))


def _cells(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def row_of(one: Measured) -> list[str]:
    """The cells of the row."""
    argv = " ".join([os.path.basename(one.argv[0]), *one.argv[1:]])

    def time(value: float | None) -> str:
        return "–" if value is None else f"{value:.0f}"

    versioned = "–" if one.version_in_push is None else "yes" if one.version_in_push else "**no**"
    return [
        one_line(one.name or one.server),
        f"`{one_line(argv)}`",
        time(one.initialize),
        one.capabilities,
        " ".join(map(str, one.encodings)),
        one.diagnostics,
        f"{time(one.opened)} / {time(one.changed)}",
        versioned,
        "–" if one.pushes_per_change is None else f"{one.pushes_per_change:g}",
        one.tier or "–",
    ]


def race_line(one: Raced) -> str:
    """The race in one line."""
    return (
        f"{one.reports} overlapping checks: {one.wrong} wrong, {one.false_clean} of them falsely "
        f"clean, {one.unknown} unknown; proof {', '.join(one.proof) or 'none'}, "
        f"p50 {one.p50:.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
