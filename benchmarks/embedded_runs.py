"""Speed, memory, abilities and manners of the candidates; findings are in `embedded_findings`.

Candidates take turns within every measurement, so that what else the machine does falls on
all of them. The project they work on is made here: twenty small modules that import from one
another, with known answers to every question that is asked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
from candidates import Candidate, Running
from raw import RawServer, ServerGone, TooLate
from sections import median, percentile

#: Modules of the small project.
MODULES = 20
#: Cold starts per candidate.
STARTS = 7
#: Edits per candidate and way of asking.
EDITS = 20
#: Abilities that lspkit has an operation for, by their key in `initialize`.
ABILITIES = {
    "definition": "definitionProvider",
    "implementation": "implementationProvider",
    "references": "referencesProvider",
    "hover": "hoverProvider",
    "symbols": "documentSymbolProvider",
    "workspace symbols": "workspaceSymbolProvider",
    "call hierarchy": "callHierarchyProvider",
    "type hierarchy": "typeHierarchyProvider",
    "rename": "renameProvider",
    "code actions": "codeActionProvider",
}
#: The main module: line 4 calls, line 5 is where edits happen.
MAIN = """from shop.base import Item
from shop.item_3 import Item3

def run(item: Item) -> int:
    return item.price() + Item3().price()

count: int = 1
"""


def write_project(folder: Path) -> Path:
    """Make the small project anew; returns its main module."""
    shutil.rmtree(folder, ignore_errors=True)
    package = folder / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    base = "class Item:\n    def price(self) -> int:\n        return 0\n"
    (package / "base.py").write_text(base)
    for number in range(MODULES):
        lines = ["from shop.base import Item", "", f"class Item{number}(Item):"]
        lines += ["    def price(self) -> int:", f"        return {number}", ""]
        for step in range(20):
            lines += [f"def step_{step}(value: int) -> int:", f"    return value + {step}", ""]
        (package / f"item_{number}.py").write_text("\n".join(lines))
    main = folder / "main.py"
    main.write_text(MAIN)
    return main


def place(path: Path, line: int, character: int) -> dict[str, Any]:
    return {
        "textDocument": {"uri": path.as_uri()},
        "position": {"line": line, "character": character},
    }


def starts(candidates: Sequence[Candidate], folder: Path) -> dict[str, dict[str, float]]:
    """Milliseconds from nothing to `initialize` answered, and to the first right definition."""
    main = write_project(folder)
    times: dict[str, list[tuple[float, float]]] = {candidate.name: [] for candidate in candidates}
    for _ in range(STARTS):
        for candidate in candidates:
            running = Running(candidate, folder)
            running.server.open(main)
            end = time.perf_counter() + 30
            found: Any = None
            while not found and time.perf_counter() < end:
                found = running.server.request(
                    "textDocument/definition", place(main, 4, 27), timeout=30
                )
            done = time.perf_counter()
            times[candidate.name].append(
                (running.initialized - running.started, done - running.started)
            )
            running.close()
    return {
        name: {
            "initialize_ms": median([pair[0] for pair in pairs]) * 1000,
            "definition_ms": median([pair[1] for pair in pairs]) * 1000,
        }
        for name, pairs in times.items()
    }


def edits(
    candidates: Sequence[Candidate], folder: Path, *, pull: bool
) -> dict[str, dict[str, Any]]:
    """Milliseconds from `didChange` to right diagnostics of that version, over break and fix."""
    main = write_project(folder)
    running = {candidate.name: Running(candidate, folder, pull=pull) for candidate in candidates}
    times: dict[str, list[float]] = {name: [] for name in running}
    wrong: dict[str, int] = dict.fromkeys(running, 0)
    broken = MAIN.replace("= 1", "= undefined_thing")
    for one in running.values():
        one.server.open(main)
        one.server.wait_until(lambda o=one: main.as_uri() in o.pushed, 5 if pull else 30)
    for version in range(2, EDITS + 4):
        text = broken if version % 2 == 0 else MAIN
        for name, one in running.items():
            start = time.perf_counter()
            one.server.change(main, version, text)
            ask = _pulled if pull else _pushed
            right, earlier = ask(one, main, version, version % 2 == 0)
            if version > 3 and right:  # The first two warm up.
                times[name].append((time.perf_counter() - start) * 1000)
            wrong[name] += earlier
    for one in running.values():
        one.close()
    return {
        name: {
            "p50_ms": median(values) if values else None,
            "p95_ms": percentile(values, 0.95) if values else None,
            "edits": len(values),
            "wrong_first": wrong[name],
        }
        for name, values in times.items()
    }


def _pushed(one: Running, path: Path, version: int, broken: bool) -> tuple[bool, int]:
    """Whether the right push came, and how many wrong ones of the same version before it."""

    def of_version() -> list[bool]:
        pushes = one.pushed.get(path.as_uri(), [])
        return [
            _has_error(push["diagnostics"]) for push in pushes if push.get("version") == version
        ]

    right = one.server.wait_until(lambda: broken in of_version(), 10)
    return right, sum(1 for seen in of_version() if seen is not broken)


def _pulled(one: Running, path: Path, version: int, broken: bool) -> tuple[bool, int]:
    params = {"textDocument": {"uri": path.as_uri()}}
    report = one.server.request("textDocument/diagnostic", params, timeout=10)
    right = _has_error(report.get("items", ())) is broken
    return right, int(not right)


def _has_error(diagnostics: Sequence[dict[str, Any]]) -> bool:
    return any("undefined_thing" in diagnostic["message"] for diagnostic in diagnostics)


def footprint(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """Memory with the small project open, and the processes behind the command."""
    main = write_project(folder)
    running = Running(candidate, folder)
    running.diagnose([main, *sorted((folder / "shop").glob("*.py"))])
    root = psutil.Process(running.server.process.pid)
    tree = [root, *root.children(recursive=True)]
    memory = [process.memory_full_info() for process in tree]
    result = {
        "resident_mb": sum(used.rss for used in memory) / 1e6,
        "unique_mb": sum(used.uss for used in memory) / 1e6,
        "processes": [process.name() for process in tree],
        "wrapper": len(tree) > 1,
    }
    running.close()
    return result


def abilities(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """What it declares, which encodings it takes, and how much of the known truth it finds."""
    main = write_project(folder)
    taken = []
    for encoding in ("utf-8", "utf-16", "utf-32"):
        server = RawServer(candidate.command(), folder)
        capabilities = {"general": {"positionEncodings": [encoding]}}
        answer = server.initialize(folder, capabilities, timeout=30)
        chosen = answer["capabilities"].get("positionEncoding", "utf-16")
        taken += [encoding] if chosen == encoding else []
        server.close()
    running = Running(candidate, folder)
    running.diagnose([main])
    declared = running.answer["capabilities"]
    result = {
        "encodings": taken,
        "declares": [name for name, key in ABILITIES.items() if declared.get(key)],
        "lacks": [name for name, key in ABILITIES.items() if not declared.get(key)],
        "finds": _answers(running, main),
    }
    running.close()
    return result


def _answers(running: Running, main: Path) -> dict[str, str]:
    """Found and expected, for questions whose targets lie in files that were never opened.

    More than expected is no fault: some count the method itself as an implementation of it.
    """
    base = main.parent / "shop" / "base.py"
    method = place(base, 1, 9)
    expected = {
        # Item: its class, the import and the use in main, an import and a base per module.
        "references": (place(base, 0, 7) | {"context": {"includeDeclaration": True}}, 43),
        "implementation": (method, MODULES),
        "files renamed with overrides": (method | {"newName": "cost"}, MODULES + 2),
        "workspace symbols": ({"query": "Item3"}, 1),
        "incoming calls": (method, 1),
        "subtypes": (place(base, 0, 7), MODULES),
    }
    running.server.open(base)
    found = {}
    for name, (params, wanted) in expected.items():
        try:
            count = _count(running.server, name, params)
        except (RuntimeError, TooLate, ServerGone) as error:
            found[name] = f"error: {str(error)[:80]}"
            continue
        found[name] = f"{count} of {wanted}"
    return found


def _count(server: RawServer, name: str, params: dict[str, Any]) -> int:
    if name in ("references", "implementation"):
        return len(server.request(f"textDocument/{name}", params, 20) or [])
    if name == "workspace symbols":
        symbols = server.request("workspace/symbol", params, 20) or []
        return sum(1 for symbol in symbols if symbol["name"] == params["query"])
    if name == "files renamed with overrides":
        edit = server.request("textDocument/rename", params, 20) or {}
        changed = edit.get("documentChanges") or list((edit.get("changes") or {}).items())
        return len(changed)
    prepare, follow = {
        "incoming calls": ("textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls"),
        "subtypes": ("textDocument/prepareTypeHierarchy", "typeHierarchy/subtypes"),
    }[name]
    items = server.request(prepare, params, 20) or []
    return sum(len(server.request(follow, {"item": item}, 20) or []) for item in items)


#: Config files by which a project can name an interpreter of its own.
NAMED_INTERPRETER = {
    "pyproject.toml": (
        '[tool.pyrefly]\npython-interpreter-path = ".venv/bin/python"\n'
        '[tool.basedpyright]\nvenvPath = "."\nvenv = ".venv"\n'
        '[tool.ty.environment]\npython = ".venv"\n'
    )
}


#: What a client can say against it: take this interpreter.
OUR_INTERPRETER = {"python": {"pythonPath": sys.executable}}


def planted(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """Does the server run an interpreter that lies in the project? It leaves a file if so."""
    result = {}
    safe = dataclasses.replace(candidate, settings=OUR_INTERPRETER)
    for variant, files, server in (
        ("only there", {}, candidate),
        ("named by pyproject.toml", NAMED_INTERPRETER, candidate),
        ("client names another", {}, safe),
        ("both name one", NAMED_INTERPRETER, safe),
    ):
        shutil.rmtree(folder, ignore_errors=True)
        programs = folder / ".venv" / "bin"
        programs.mkdir(parents=True)
        marker = folder.parent / f"{folder.name}.ran"
        marker.unlink(missing_ok=True)
        (folder / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.0\n")
        (folder / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
        for name in ("python", "python3"):
            (programs / name).write_text(f'#!/bin/sh\necho "$0 $*" >> "{marker}"\nexit 1\n')
            (programs / name).chmod(0o755)
        for name, text in files.items():
            (folder / name).write_text(text)
        main = folder / "main.py"
        main.write_text("import json\n\nprint(json.dumps(1))\n")
        running = Running(server, folder)
        with contextlib.suppress(ServerGone):
            running.diagnose([main], quiet=4, limit=15)
        running.close()
        result[variant] = marker.exists()
    return result
