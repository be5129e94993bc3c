"""References from a cold server against the same server warm: python benchmarks/completeness.py

For each server, random symbols of a real package (or of a generated C project) are asked for. Some
are the first question to a new server; then all are asked again, when the server has answered
everything once. The warm answers are the truth. An answer that has fewer places, and no caveat, is
a fault of lspkit: it looks complete and is not.

    python benchmarks/completeness.py [SERVER…] [--symbols 100] [--starts 5]
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from lspkit.operations.symbol_names import symbol_chains  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.running import workspace  # noqa: E402

#: Seconds for one question.
TIMEOUT = 60.0
KINDS = frozenset({"class", "function", "method"})
#: Always the same symbols.
SEED = 7

Place = tuple[str, int, int]


def python_package(folder: Path) -> None:
    """The sources of pendulum."""
    source = real_servers.SERVERS / "python-sources" / "pendulum"
    shutil.copytree(source, folder / "pendulum", ignore=shutil.ignore_patterns("*.so", "*.pyc"))
    (folder / "pyproject.toml").touch()


def script_package(folder: Path) -> None:
    """The sources of rxjs."""
    source = real_servers.SERVERS / "node-sources" / "node_modules" / "rxjs" / "src"
    shutil.copytree(source / "internal", folder / "src" / "internal")
    (folder / "tsconfig.json").write_text('{"include": ["src"], "compilerOptions": {}}')
    (folder / "build.js").write_text("console.log(1);\n")


def c_project(folder: Path) -> None:
    """Sixty files that call each other's functions, with a compilation database."""
    chance = random.Random(SEED)
    commands = []
    for number in range(60):
        called = chance.sample(range(60), 5)
        name = f"unit{number}.c"
        header = f"int work{number}(int value);\n"
        (folder / f"unit{number}.h").write_text(header)
        includes = "".join(f'#include "unit{one}.h"\n' for one in {number, *called})
        sum_of_calls = " + ".join(f"work{one}(value - 1)" for one in called)
        body = f"int work{number}(int value) {{ return value ? {sum_of_calls} : 1; }}\n"
        (folder / name).write_text(includes + body)
        commands.append({"directory": str(folder), "file": name, "command": f"cc -c {name}"})
    (folder / "compile_commands.json").write_text(json.dumps(commands))


PROJECTS: dict[str, tuple[Callable[[Path], None], str]] = {
    **dict.fromkeys(
        ("ty", "pyright", "basedpyright", "pyrefly", "zuban"), (python_package, "**/*.py")
    ),
    **dict.fromkeys(("typescript", "vtsls", "typescript-7"), (script_package, "src/**/*.ts")),
    "clangd": (c_project, "*.c"),
}


def symbols_of(folder: Path, server: str, number: int, pattern: str) -> list[Place]:
    """Random symbols, by the server's own outline."""
    chance = random.Random(SEED)
    files = sorted(folder.glob(pattern))
    chance.shuffle(files)
    found: list[Place] = []
    with open_workspace(folder, server) as ws:
        for file in files[:60]:
            for _, one in symbol_chains(ws.document_symbols(file, timeout=TIMEOUT)):
                if one.kind in KINDS:
                    found.append((str(file), one.line, one.column))
    chance.shuffle(found)
    return found[:number]


def open_workspace(folder: Path, server: str) -> lspkit.Workspace:
    return workspace(folder, server, argv=real_servers.command(server))


def places_of(found: lspkit.Answer[lspkit.Location]) -> set[Place]:
    return {(str(one.path), one.line, one.column) for one in found}


def measure(server: str, symbols: int, starts: int) -> Iterator[str]:
    """Figures of one server, as lines."""
    make, pattern = PROJECTS[server]
    with tempfile.TemporaryDirectory(prefix="completeness-") as name:
        folder = Path(name) / "project"
        folder.mkdir()
        make(folder)
        chosen = symbols_of(folder, server, symbols, pattern)
        first: dict[Place, tuple[set[Place], bool]] = {}
        times: list[float] = []
        for at in chosen[:starts]:
            shutil.rmtree(folder / ".cache", ignore_errors=True)  # the index of clangd
            with open_workspace(folder, server) as ws:
                began = time.monotonic()
                found = ws.references(*at, timeout=TIMEOUT)
                times.append(time.monotonic() - began)
                first[at] = places_of(found), found.complete
        shutil.rmtree(folder / ".cache", ignore_errors=True)
        with open_workspace(folder, server) as ws:
            cold = {at: ws.references(*at, timeout=TIMEOUT) for at in chosen}
            truth = {at: places_of(ws.references(*at, timeout=TIMEOUT)) for at in chosen}
        answers = [(at, places, complete) for at, (places, complete) in first.items()]
        answers += [(at, places_of(one), one.complete) for at, one in cold.items()]
        fewer = [(at, complete) for at, places, complete in answers if places < truth[at]]
        silent = [at for at, complete in fewer if complete]
        other = [at for at, places, complete in answers if complete and places - truth[at]]
        caveats = sum(not complete for _, _, complete in answers)
    total = sum(map(len, truth.values()))
    yield (
        f"{server:14} {len(chosen):4} symbols, {total:5} places; first questions to "
        f"{len(first)} new servers: {max(times, default=0.0):5.1f} s at most; "
        f"{len(fewer)} of {len(answers)} answers had fewer places, {caveats} had caveats"
    )
    yield f"{'':14} fewer without a caveat: {len(silent)}; with other places: {len(other)}"
    yield from (f"{'':14}   {at}" for at in silent[:5])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", default=list(PROJECTS))
    parser.add_argument("--symbols", type=int, default=100)
    parser.add_argument("--starts", type=int, default=5)
    given = parser.parse_args()
    for server in given.servers:
        for line in measure(server, given.symbols, given.starts):
            print(line, flush=True)


if __name__ == "__main__":
    main()
