"""Compares what two checkouts send to servers: python tools/compare_wire.py OTHER_CHECKOUT

Some fifty scenarios run on the scripted server, with each checkout twice. What differs between two
runs of one checkout is left to chance (which of two servers is asked first, when the watcher tells
of a file) and is named as such; any other difference is printed, message by message.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lspkit
from lspkit.testing import Diagnostics, Fault, Log, Script, progress

PATIENCE = 20.0
SOURCE = "def greet\ngreet ok\n"
PULL = Script(diagnostics=Diagnostics(how="pull"))
HOVER, DEFINITION = "textDocument/hover", "textDocument/definition"
Work = Callable[[Any, Path], object]

#: Names, how the server behaves, and what is done. Further servers have the same files.
SCENARIOS: dict[str, tuple[list[Script], Work]] = {}


def scenario(*scripts: Script) -> Callable[[Work], Work]:
    def add(work: Work) -> Work:
        SCENARIOS[work.__name__] = (list(scripts or (Script(),)), work)
        return work

    return add


def simple(name: str, work: Work, *scripts: Script) -> None:
    SCENARIOS[name] = (list(scripts or (Script(),)), work)


def quietly(work: Callable[[], object]) -> None:
    """A call that may fail, as the scenario wants it."""
    try:
        work()
    except lspkit.LspkitError:
        pass


def edit(folder: Path, text: str, name: str = "a.scr") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def asked_at(method: str) -> Work:
    """A cold question about a position, which the server may not be able to answer."""
    return lambda ws, _: quietly(lambda: getattr(ws, method)("a.scr", 2, 2, timeout=PATIENCE))


AT_POSITIONS = (
    "definition declaration type_definition implementation references hover signature_help "
    "code_actions prepare_call_hierarchy incoming_calls outgoing_calls supertypes subtypes"
)
for _method in AT_POSITIONS.split():
    simple(_method, asked_at(_method))
simple("symbols", lambda ws, _: (ws.document_symbols("a.scr"), ws.workspace_symbols("greet")))
simple("definition warm", lambda ws, _: [ws.definition("a.scr", 2, 2) for _ in range(3)])
simple("definition by name", lambda ws, _: ws.definition("a.scr", symbol="greet"))
simple("definition with a text", lambda ws, _: ws.definition("a.scr", 3, 2, text="\n" + SOURCE))
simple("two servers", lambda ws, _: ws.definition("a.scr", 2, 2), Script(), Script())
simple("two servers hover", lambda ws, _: ws.hover("a.scr", 2, 2), Script(), Script())
simple("check cold", lambda ws, _: ws.check("a.scr", timeout=PATIENCE))
simple("check cold by pull", lambda ws, _: ws.check("a.scr", timeout=PATIENCE), PULL)
simple("check two servers", lambda ws, _: ws.check("a.scr", timeout=PATIENCE), Script(), PULL)
simple("check missing", lambda ws, _: quietly(lambda: ws.check("missing.scr", timeout=PATIENCE)))
simple("check with a text", lambda ws, _: ws.check("a.scr", text="ERROR\n", timeout=PATIENCE))
simple("project", lambda ws, _: ws.check("a.scr", scope="project", timeout=PATIENCE), PULL)
simple("raw", lambda ws, _: quietly(lambda: ws.request("a.scr", HOVER, {"x": 1})))
simple("sync", lambda ws, _: (ws.sync("a.scr", "ERROR\n"), ws.check("a.scr", timeout=PATIENCE)))
simple(
    "restart",
    lambda ws, _: (ws.hover("a.scr", 2, 2), ws.restart("scripted0"), ws.hover("a.scr", 2, 2)),
)
simple("reload", lambda ws, _: (ws.hover("a.scr", 2, 2), ws.reload(), ws.hover("a.scr", 2, 2)))


@scenario()
def edits_on_disk(ws: Any, folder: Path) -> None:
    for number in range(3):
        edit(folder, "\n" * number + SOURCE)
        ws.definition("a.scr", number + 2, 2)
        ws.check("a.scr", timeout=PATIENCE)


@scenario(PULL)
def edits_on_disk_by_pull(ws: Any, folder: Path) -> None:
    for text in (SOURCE, "ERROR\n", SOURCE):
        edit(folder, text)
        ws.check("a.scr", timeout=PATIENCE)


@scenario()
def several_files_changed_together(ws: Any, folder: Path) -> None:
    names = ["a.scr", "b.scr", "c.scr"]
    for text in (SOURCE, "ERROR\n"):
        for name in names:
            edit(folder, text, name)
        ws.check_all(names, timeout=PATIENCE)


@scenario(PULL)
def several_files_by_pull(ws: Any, folder: Path) -> None:
    several_files_changed_together(ws, folder)


@scenario()
def writes(ws: Any, folder: Path) -> None:
    ws.write("a.scr", "ERROR\n", timeout=PATIENCE)
    ws.write("new.scr", SOURCE, timeout=PATIENCE)


@scenario(PULL)
def writes_with_dependents(ws: Any, folder: Path) -> None:
    ws.check("a.scr", timeout=PATIENCE)
    ws.write("a.scr", "def other\n", check="project", timeout=PATIENCE)


@scenario()
def moves_and_deletes(ws: Any, folder: Path) -> None:
    ws.check("a.scr", timeout=PATIENCE)
    ws.move("a.scr", "moved.scr", check="project", timeout=PATIENCE)
    ws.delete("moved.scr", check="project", timeout=PATIENCE)


@scenario()
def renames(ws: Any, folder: Path) -> None:
    applied = ws.apply(ws.rename("a.scr", 1, 5, new_name="meets"), force=True)
    ws.undo(applied)


@scenario(PULL)
def verified_rename(ws: Any, folder: Path) -> None:
    edit_ = ws.rename("a.scr", 1, 5, new_name="meets")
    quietly(lambda: ws.apply(edit_, check="project", force=True, timeout=PATIENCE))


@scenario(PULL)
def overlays(ws: Any, folder: Path) -> None:
    ws.check("a.scr", timeout=PATIENCE)
    with ws.overlay({"a.scr": "ERROR\n"}):
        ws.check("a.scr", timeout=PATIENCE)
    ws.check("a.scr", timeout=PATIENCE)


@scenario(Script(faults=[Fault(DEFINITION, "crash", run=1)]))
def crash_once(ws: Any, folder: Path) -> None:
    quietly(lambda: ws.definition("a.scr", 2, 2, timeout=PATIENCE))
    ws.reload()
    quietly(lambda: ws.definition("a.scr", 2, 2, timeout=PATIENCE))


@scenario(Script(faults=[Fault(DEFINITION, "hang")]))
def timeouts(ws: Any, folder: Path) -> None:
    ws.hover("a.scr", 2, 2)
    quietly(lambda: ws.definition("a.scr", 2, 2, timeout=0.3))
    ws.hover("a.scr", 2, 2)


@scenario(Script(faults=[Fault(DEFINITION, "hang")]))
def cancels(ws: Any, folder: Path) -> None:
    ws.hover("a.scr", 2, 2)
    cancel = lspkit.CancelToken()
    threading.Timer(0.3, cancel.set).start()
    quietly(lambda: ws.definition("a.scr", 2, 2, cancel=cancel))


@scenario(Script(say=progress("load")))
def loads_its_project(ws: Any, folder: Path) -> None:
    ws.definition("a.scr", 2, 2)
    ws.check("a.scr", timeout=PATIENCE)


@scenario()
def submitted(ws: Any, folder: Path) -> None:
    ws.hover("a.scr", 2, 2)
    for _ in range(3):
        ws.submit(ws.definition, "a.scr", 2, 2).result(PATIENCE)


@scenario()
def file_is_gone_and_back(ws: Any, folder: Path) -> None:
    ws.check("a.scr", timeout=PATIENCE)
    (folder / "a.scr").unlink()
    quietly(lambda: ws.check("a.scr", timeout=PATIENCE))
    edit(folder, SOURCE)
    ws.check("a.scr", timeout=PATIENCE)


@scenario()
def byte_order_mark(ws: Any, folder: Path) -> None:
    edit(folder, "\ufeff" + SOURCE)
    ws.definition("a.scr", 2, 2)
    ws.write("a.scr", SOURCE, timeout=PATIENCE)


def run_all(out: Path) -> None:
    """Run all scenarios with the lspkit that is imported, and write what was sent."""
    sent = {name: run_one(*parts) for name, parts in SCENARIOS.items()}
    out.write_text(json.dumps(sent), encoding="utf-8")


def run_one(scripts: list[Script], work: Work) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "root")
        folder.mkdir()
        edit(folder, SOURCE)
        argvs = [script.command(Path(place, str(at))) for at, script in enumerate(scripts)]
        servers = {
            f"scripted{at}": {"command": argv, "extensions": [".scr"]}
            for at, argv in enumerate(argvs)
        }
        with lspkit.Workspace(folder, config={"lsp": servers}, trusted=True) as ws:
            work(ws, folder)
        return [[brief(message) for message in Log.of(argv).messages()] for argv in argvs]


def brief(message: dict[str, Any]) -> str:
    """A message without what differs by chance: the method, the file, the version."""
    params = message.get("params")
    document = params.get("textDocument", {}) if isinstance(params, dict) else {}
    words = [str(message.get("method")), Path(str(document.get("uri", ""))).name]
    if "version" in document:
        words.append(f"v{document['version']}")
    if message.get("method") == "workspace/didChangeWatchedFiles" and isinstance(params, dict):
        words += sorted(f"{Path(one['uri']).name}:{one['type']}" for one in params["changes"])
    return " ".join(filter(None, words))


def main(other: str) -> int:
    """Compare; returns how many scenarios differ."""
    here = str(Path(__file__).resolve().parents[1])
    runs: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as place:
        for root in (other, here, other, here):
            out = Path(place, "out.json")
            environ = {**os.environ, "PYTHONPATH": root}
            command = [sys.executable, __file__, "--write", str(out)]
            subprocess.run(command, env=environ, cwd=place, check=True)
            runs.setdefault(root, []).append(json.loads(out.read_text(encoding="utf-8")))
    different = 0
    for name in SCENARIOS:
        before, after = ([run[name] for run in runs[root]] for root in (other, here))
        if any(run in before for run in after):
            continue
        if before[0] != before[1] or after[0] != after[1]:
            print(f"{name}: by chance")
        different += 1
        print(f"== {name}")
        for label, logs in (("before", before[0]), ("after", after[0])):
            print(f"  {label}: {json.dumps(logs)}")
    print(f"{len(SCENARIOS)} scenarios, {different} differ")
    return different


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        run_all(Path(sys.argv[2]))
    else:
        sys.exit(bool(main(sys.argv[1])))
