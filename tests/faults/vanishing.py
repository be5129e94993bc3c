"""A host whose files vanish between being found and being read. Run by test_environment.py.

    python vanishing.py FOLDER VICTIM SERVER_ARGV…

Python tells an audit hook of each file just before it opens it; the hook removes the victim at that
moment. Prints a line of JSON for each question: what was said while the file vanished, and what is
said once it is back. A hook stays for good, so this is a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lspkit
from tests.faults.operations import show

QUESTIONS: dict[str, Callable[[lspkit.Workspace], Any]] = {
    "definition": lambda ws: ws.definition("a.scr", 2, 4, timeout=10),
    "declaration": lambda ws: ws.declaration("a.scr", 2, 4, timeout=10),
    "symbols": lambda ws: ws.document_symbols("a.scr", timeout=10),
    "by name": lambda ws: ws.definition("a.scr", symbol="greet", timeout=10),
    "check": lambda ws: ws.check("a.scr", timeout=10),
    "request": lambda ws: ws.request("a.scr", "x/echo", timeout=10),
}


def said(question: Callable[[lspkit.Workspace], Any], ws: lspkit.Workspace) -> str:
    """The answer, or the code of the error."""
    try:
        return show(question(ws))
    except lspkit.LspkitError as problem:
        return problem.code


def main(folder: Path, victim: str, argv: list[str]) -> None:
    """See above."""
    armed = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal armed
        if armed and event == "open" and str(arguments[0]) == str(folder / victim):
            armed = False
            os.unlink(folder / victim)

    sys.addaudithook(hook)
    text = (folder / victim).read_bytes()
    config = {"lsp": {"scripted": {"command": argv, "extensions": [".scr"]}}}
    for name, question in QUESTIONS.items():
        with lspkit.Workspace(folder, config=config) as ws:
            armed = True
            vanished = said(question, ws)
            met, armed = not armed, False
            (folder / victim).write_bytes(text)
            print(json.dumps([name, met, vanished, said(question, ws)]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
