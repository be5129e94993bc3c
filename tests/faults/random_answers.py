"""Every question to a server with random answers: only `LspkitError`s, and each in time.

    python -m tests.faults.random_answers ANSWERS [SEED]

asks until so many answers were taken, and prints what should not have happened.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lspkit
from lspkit.agent import Toolbox

SERVER = Path(__file__).with_name("random_server.py")
#: Seconds for a call; and how much later it may come back where other processes keep the machine.
LIMIT, SLACK = 5.0, 20.0
#: Questions to one process.
A_PROCESS = 250
TEXT = "def greet\n😀 greet ERROR\n"
PLACE = ("a.scr", 2, 4)

Ask = Callable[[lspkit.Workspace], Any]


@dataclass
class Tally:
    """What came of a run."""

    answers: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


def _asked(name: str) -> Ask:
    return lambda ws: getattr(ws, name)(*PLACE, timeout=LIMIT)


def _calls(name: str) -> Ask:
    def ask(ws: lspkit.Workspace) -> Any:
        return [
            str(getattr(ws, name)(item, timeout=LIMIT))
            for item in ws.prepare_call_hierarchy(*PLACE, timeout=LIMIT)[:1]
        ]

    return ask


def _rename(ws: lspkit.Workspace) -> Any:
    edit = ws.rename(*PLACE, "other", timeout=LIMIT)
    edit.diff()
    return ws.undo(ws.apply(edit, timeout=LIMIT))


def _actions(ws: lspkit.Workspace) -> Any:
    for action in ws.code_actions("a.scr", 2, 4, timeout=LIMIT)[:1]:
        ws.apply(action, timeout=LIMIT)


def _tool(name: str) -> Ask:
    def ask(ws: lspkit.Workspace) -> str:
        given = {"filePath": "a.scr", "line": 2, "character": 4, "query": "g", "newName": "x"}
        wanted = {"lsp_symbols": ("query",), "lsp_document_symbols": ("filePath",)}
        usual = ("filePath", "line", "character")
        fields = wanted.get(name, (*usual, "newName") if name == "lsp_rename" else usual)
        text = Toolbox(ws).execute(name, {one: given[one] for one in fields}, timeout=LIMIT)
        assert "itself failed" not in text, text
        return text

    return ask


QUESTIONS: dict[str, Ask] = {
    **{
        name: _asked(name)
        for name in (
            *("definition", "declaration", "type_definition", "implementation", "references"),
            *("hover", "signature_help", "prepare_call_hierarchy", "supertypes", "subtypes"),
        )
    },
    "incoming_calls": _calls("incoming_calls"),
    "outgoing_calls": _calls("outgoing_calls"),
    "document_symbols": lambda ws: ws.document_symbols("a.scr", timeout=LIMIT),
    "workspace_symbols": lambda ws: ws.workspace_symbols("g", timeout=LIMIT),
    "rename": _rename,
    "code_actions": _actions,
    "check": lambda ws: ws.check("a.scr", timeout=LIMIT),
    "check the project": lambda ws: ws.check("a.scr", scope="project", timeout=LIMIT),
    "diagnostics": lambda ws: ws.diagnostics(),
    "status": lambda ws: (ws.status(), ws.status_text()),
    "request": lambda ws: ws.request("a.scr", "x/any", {}, timeout=LIMIT),
    **{
        name: _tool(name)
        for name in (
            *("lsp_definition", "lsp_references", "lsp_hover", "lsp_symbols", "lsp_rename"),
            *("lsp_document_symbols", "lsp_incoming_calls", "lsp_call_hierarchy"),
        )
    },
}


def run(folder: Path, answers: int, seed: int) -> Tally:
    """Ask until so many questions were answered, each process for a part of them."""
    tally = Tally()
    dice = random.Random(seed)
    while tally.answers < answers:
        process = dice.randrange(10**9)
        most = min(A_PROCESS, answers - tally.answers)
        for name, problem in _asked_of_one(folder, process, most, dice, tally):
            tally.wrong.append(f"seed {seed}, process {process}, {name}: {problem}")
    return tally


def _asked_of_one(
    folder: Path, seed: int, most: int, dice: random.Random, tally: Tally
) -> Iterator[tuple[str, str]]:
    server = [sys.executable, str(SERVER), str(seed), str(folder)]
    config = {"lsp": {"random": {"command": server, "extensions": [".scr"]}}}
    with lspkit.Workspace(folder, config=config, trusted=True) as ws:
        for _ in range(most):
            for file in ("a.scr", "b.scr"):
                if not (folder / file).is_file() or (folder / file).read_text() != TEXT:
                    (folder / file).write_text(TEXT, encoding="utf-8")
            name, ask = dice.choice(list(QUESTIONS.items()))
            began = time.monotonic()
            tally.answers += 1
            try:
                str(ask(ws))
            except lspkit.LspkitError as problem:
                tally.refused += 1
                str(problem), problem.to_dict()
            except Exception:  # noqa: BLE001 - what may not happen, whatever it is
                yield name, traceback.format_exc()
            if time.monotonic() - began > 3 * LIMIT + SLACK:
                yield name, f"came back after {time.monotonic() - began:.1f} s"


def main(answers: int, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tally = run(Path(os.path.realpath(folder)), answers, seed)
    print("\n".join(tally.wrong))
    print(f"{tally.answers} answers, {tally.refused} refused, {len(tally.wrong)} wrong")
    return bool(tally.wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
