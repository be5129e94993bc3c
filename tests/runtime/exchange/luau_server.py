"""A stand-in for luau-lsp, run as a program: knows modules only from a source map.

    luau_server.py SCRIPT.json

It is the scripted server, with one difference: `NEED NAME` is an error unless `sourcemap.json` in
its working directory has a child of that name. As the real one it reads the map when it starts, and
again only when it is told that the map has changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lspkit.testing.serving.main import ScriptedServer, main

PULL = "textDocument/diagnostic"


class LuauServer(ScriptedServer):
    def __init__(self, script: dict[str, Any], run: int) -> None:
        super().__init__(script, run)
        self.modules: set[str] = set()
        self.read_map()

    def read_map(self) -> None:
        try:
            children = json.loads(Path("sourcemap.json").read_bytes())["children"]
        except OSError:
            children = []
        self.modules = {child["name"] for child in children}

    def note(self, method: str, params: dict[str, Any]) -> None:
        super().note(method, params)
        if method == "workspace/didChangeWatchedFiles":
            names = [one["uri"].rpartition("/")[2] for one in params["changes"]]
            if "sourcemap.json" in names:
                self.read_map()

    def result(self, method: str, params: dict[str, Any]) -> Any:
        if method != PULL:
            return super().result(method, params)
        document = self.documents[params["textDocument"]["uri"]]
        return document.report(params.get("previousResultId"), self.modules)


if __name__ == "__main__":
    sys.exit(main(sys.argv, LuauServer))
