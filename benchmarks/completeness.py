"""References from a cold server against the same server warm: python benchmarks/completeness.py

For each server, random symbols of a real package (httpx, rxjs or leveldb) are asked for. Some are
the first question to a new server; then all are asked again, when the server has answered
everything once. The warm answers are the truth. An answer that has fewer places, and no caveat, is
a fault of lspkit: it looks complete and is not. Then the status of the program is 1.

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
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.elsewhere_projects import (  # noqa: E402
    prepare_leveldb,
    prepare_python,
    prepare_rxjs,
)
from benchmarks.sections import write_rows  # noqa: E402
from lspkit.operations.symbol_names import symbol_chains  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.running import workspace  # noqa: E402

#: Seconds for one question.
TIMEOUT = 60.0
KINDS = frozenset({"class", "function", "method"})
#: Always the same symbols.
SEED = 7

Place = tuple[str, int, int]


def script_package(folder: Path) -> None:
    """The sources of rxjs, and a file that is not part of their project."""
    prepare_rxjs(folder)
    (folder / "build.js").write_text("console.log(1);\n")


#: By server: makes the project in a folder, and has the files whose symbols are chosen.
PROJECTS: dict[str, tuple[Callable[[Path], None], str]] = {
    **dict.fromkeys(
        ("ty", "pyright", "basedpyright", "pyrefly", "zuban"),
        (prepare_python("httpx"), "httpx/**/*.py"),
    ),
    **dict.fromkeys(("typescript", "vtsls", "typescript-7"), (script_package, "src/**/*.ts")),
    "clangd": (prepare_leveldb, "**/*.cc"),
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
    return workspace(folder, server, argv=real_servers.command(server), trusted=True)


def measure(server: str, symbols: int, starts: int) -> tuple[dict[str, Any], list[Place]]:
    """Figures of one server, and the symbols that have fewer places without a caveat."""
    make, pattern = PROJECTS[server]
    with tempfile.TemporaryDirectory(prefix="completeness-") as name:
        folder = Path(name).resolve() / "project"
        folder.mkdir()
        make(folder)
        chosen = symbols_of(folder, server, symbols, pattern)
        answers: list[tuple[Place, set[Place], bool]] = []
        times: list[float] = []
        for at in chosen[:starts]:
            shutil.rmtree(folder / ".cache", ignore_errors=True)  # the index of clangd
            with open_workspace(folder, server) as ws:
                began = time.monotonic()
                answers.append(ask(ws, at))
                times.append(time.monotonic() - began)
        shutil.rmtree(folder / ".cache", ignore_errors=True)
        with open_workspace(folder, server) as ws:
            answers += [ask(ws, at) for at in chosen]
            warm = [ask(ws, at) for at in chosen]
    truth = {at: places for at, places, _ in warm}
    fewer = [(at, complete) for at, places, complete in answers if truth[at] - places]
    silent = [at for at, complete in fewer if complete]
    figures = {
        "symbols": len(chosen),
        "places": sum(map(len, truth.values())),
        "new_servers": len(times),
        "slowest_first_s": round(max(times, default=0.0), 1),
        "answers": len(answers),
        "with_caveats": sum(not complete for _, _, complete in answers),
        "warm_with_caveats": sum(not complete for _, _, complete in warm),
        "fewer": len(fewer),
        "fewer_without_caveat": len(silent),
        "other_places": sum(bool(complete and some - truth[at]) for at, some, complete in answers),
    }
    return figures, silent


def ask(ws: lspkit.Workspace, at: Place) -> tuple[Place, set[Place], bool]:
    """The references to a symbol, and whether no caveat says that there may be more."""
    found = ws.references(*at, timeout=TIMEOUT)
    return at, {(str(one.path), one.line, one.column) for one in found}, found.complete


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", default=list(PROJECTS))
    parser.add_argument("--symbols", type=int, default=100)
    parser.add_argument("--starts", type=int, default=5)
    given = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    for server in given.servers:
        real_servers.require(server)
        results[server], silent = measure(server, given.symbols, given.starts)
        print(server, json.dumps(results[server]), flush=True)
        for at in silent[:5]:
            print(f"    fewer places, and no caveat: {at}", flush=True)
        write_rows("completeness", {server: results[server]})
    return int(any(one["fewer_without_caveat"] for one in results.values()))


if __name__ == "__main__":
    sys.exit(main())
