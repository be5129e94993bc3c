"""A scripted language server: a real process that does what a JSON file tells it to.

    python -m lspkit.testing.scripted_server SCRIPT.json
    python -I -S path/to/lspkit/testing/scripted_server.py SCRIPT.json   (starts quicker)

Without orders it is a small, correct server for a toy language: `def NAME` defines a symbol, the
whole word NAME anywhere is a reference, the words ERROR and WARN are diagnostics. The script
changes answers and adds faults, on any message and on its n-th occurrence:

    {"encoding": "utf-16",
     "capabilities": {"hoverProvider": null},
     "answers": {"textDocument/definition": []},
     "faults": [{"on": "textDocument/hover", "nth": 2, "do": "hang"}],
     "say": [{"when": "initialized", "request": {"method": "a/b", "params": {}}, "wait": true}],
     "diagnostics": {"how": "push", "version": true, "on": ["open", "change"]},
     "ignore": ["shutdown", "exit", "eof", "SIGTERM"],
     "grandchildren": ["group", {"kind": "escaped", "inherit": true}],
     "log": "FILE"}

docs/testing.md lists all keys and faults. `lspkit.testing.Script` writes such files from Python.
This file only finds the rest, which lies in serving/ and imports nothing but the standard library.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType


def _pretend_packages() -> None:
    """Makes `lspkit.testing.serving` importable without running what is in the packages above it.

    A plain file has no package, and the real ones would load the whole SDK.
    """
    here = os.path.dirname(os.path.abspath(__file__))  # pathlib would double the time to start
    for name, folder in (("lspkit", os.path.dirname(here)), ("lspkit.testing", here)):
        package = ModuleType(name)
        package.__path__ = [folder]
        sys.modules[name] = package


def main() -> int:
    if not __package__:
        _pretend_packages()
    status: int = importlib.import_module("lspkit.testing.serving.main").main(sys.argv)
    return status


if __name__ == "__main__":
    sys.exit(main())
