"""What the service costs and saves: python benchmarks/service.py [ROUNDS]

1. A warm definition through `lspkit.connect()` against the same call on a `Workspace` of this
   process, on the canned server, in interleaved blocks: the price of the second process.
2. `lspkit definition` on real servers: with a warm service and without one, in turns, and beside
   them a bare interpreter. The same for `lspkit hook` after an edit.

The service has a runtime folder of its own, and ends with this program.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from canned import write_folder
from sections import CHECKOUT, QUICK, median, percentile, table, write_section

sys.path.insert(0, str(CHECKOUT))

import lspkit
from lspkit.servers.built_in import BUILT_IN

#: Blocks of calls per engine, and calls in a block.
ROUNDS = 5 if QUICK else 20
CALLS = 100
#: Runs of each command.
RUNS = 2 if QUICK else 7
#: The most that the service may add to a call, in milliseconds.
BAR = 0.25

#: Server to its file, a text in which `total` is defined and used, and a position of the use.
PROJECTS = {
    "pyright": ("shop.py", "def total(x: int) -> int:\n    return x\n\n\nprint(total(1))\n", "5:7"),
    "typescript": (
        "shop.ts",
        "function total(x: number): number {\n  return x;\n}\n\nconsole.log(total(1));\n",
        "5:13",
    ),
}


def only(**servers: dict[str, Any]) -> dict[str, Any]:
    """A configuration with these servers alone."""
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id not in servers}
    return {"lsp": {**others, **servers}}


def calls(folder: Path, rounds: int) -> dict[str, Any]:
    """Milliseconds of a definition, in this process and through the service."""
    write_folder(folder)
    command = [sys.executable, str(CHECKOUT / "benchmarks" / "canned.py"), str(folder)]
    config = only(
        canned={"command": command, "extensions": [".py"], "proof": "pull", "disabled": False}
    )
    with (
        lspkit.Workspace(folder, config=config, trusted=True) as local,
        lspkit.connect(folder, config=config, trusted=True) as remote,
    ):
        engines = {"in process": local, "service": remote}
        times: dict[str, list[float]] = {name: [] for name in engines}
        for ws in engines.values():
            block(ws)
        for number in range(rounds):
            order = list(engines.items())
            for name, ws in order if number % 2 else reversed(order):
                times[name] += block(ws)
        remote._engine.client.shutdown()  # type: ignore[attr-defined]
    return {
        name: {"p50_ms": median(values), "p95_ms": percentile(values, 0.95)}
        for name, values in times.items()
    }


def block(ws: lspkit.Workspace) -> list[float]:
    """Milliseconds of each call of a block."""
    spent = []
    for _ in range(CALLS):
        began = time.perf_counter()
        ws.definition("main.py", 3, 5)
        spent.append((time.perf_counter() - began) * 1000)
    return spent


def commands(server: str, folder: Path) -> dict[str, dict[str, float]]:
    """Seconds, and processor seconds of the command itself, of each way to run it."""
    name, text, position = PROJECTS[server]
    file = folder / name
    file.write_text(text, encoding="utf-8")
    config = folder.parent / f"{server}.json"
    config.write_text(json.dumps(only(**{server: {"disabled": False}})), encoding="utf-8")
    environ = {
        **os.environ,
        "LSPKIT_CONFIG": str(config),
        "LSPKIT_TRUST": "always",
        "PYTHONPATH": str(CHECKOUT),
    }
    environ.pop("LSPKIT_NO_SERVICE", None)
    environ["PATH"] = os.pathsep.join([str(CHECKOUT / ".servers" / "bin"), environ["PATH"]])
    own = [sys.executable, "-m", "lspkit"]
    ask = [*own, "definition", f"{name}:{position}"]
    call = {
        "session_id": "s",
        "cwd": str(folder),
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": str(file), "content": text},
        "tool_response": {"filePath": str(file), "success": True},
    }
    hook = json.dumps(call)
    ways: dict[str, Callable[[], tuple[float, float]]] = {
        "python -c pass": lambda: run([sys.executable, "-c", "pass"], folder, environ),
        "definition, warm": lambda: run(ask, folder, environ),
        "definition, cold": lambda: run([*ask, "--no-service"], folder, environ),
        "hook, warm": lambda: run([*own, "hook"], folder, environ, hook),
        "hook, cold": lambda: run([*own, "hook", "--no-service"], folder, environ, hook),
    }
    try:
        for _ in range(2):
            ways["definition, warm"]()
            ways["hook, warm"]()
        spent: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for _ in range(RUNS):
            for way, job in ways.items():
                spent[way].append(job())
    finally:
        run([*own, "stop"], folder, environ)
    return {
        way: {"seconds": median([one[0] for one in runs]), "cpu": median([one[1] for one in runs])}
        for way, runs in spent.items()
    }


def run(
    argv: list[str], folder: Path, environ: dict[str, str], given: str = ""
) -> tuple[float, float]:
    """Wall-clock and processor seconds of a command and the processes that it waited for."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        argv, cwd=folder, env=environ, input=given, text=True, capture_output=True, check=True
    )
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, cpu


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory(prefix="lk") as scratch:
        base = Path(scratch).resolve()
        os.environ["XDG_RUNTIME_DIR"] = str(base)
        found = calls(base / "canned", rounds)
        added = found["service"]["p50_ms"] - found["in process"]["p50_ms"]
        print(table(["engine", "p50 ms", "p95 ms"], [[n, *v.values()] for n, v in found.items()]))
        print(f"the service adds {added:.3f} ms, bar {BAR} ms")
        shown: dict[str, Any] = {}
        for server in ("pyright",) if QUICK else PROJECTS:
            folder = base / server
            folder.mkdir()
            shown[server] = commands(server, folder)
            rows = [[way, one["seconds"], one["cpu"]] for way, one in shown[server].items()]
            print(f"{server}:")
            print(table(["command", "seconds", "processor s"], rows))
            bare = shown[server]["python -c pass"]["seconds"]
            for what in ("definition", "hook"):
                cold = shown[server][f"{what}, cold"]["seconds"]
                warm = shown[server][f"{what}, warm"]["seconds"]
                ratios = f"cold {cold / warm:.1f} x warm, warm {warm / bare:.1f} x bare Python"
                print(f"{what}: {ratios}")
    write_section("service", {"calls": found, "added_ms": added, "bar_ms": BAR, "commands": shown})


if __name__ == "__main__":
    main()
