"""Contestant: the raw loop. `python -P floor.py FOLDER COMMAND…`"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from blocks import serve_blocks
from raw import RawServer


def main() -> None:
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    main_file = folder / "main.py"
    server = RawServer(command, folder)
    server.initialize(folder)
    server.open(main_file)
    document = {"textDocument": {"uri": main_file.as_uri()}}
    place = document | {"position": {"line": 2, "character": 4}}
    references = place | {"context": {"includeDeclaration": True}}
    serve_blocks(
        {
            "definition": lambda: server.request("textDocument/definition", place),
            "hover": lambda: server.request("textDocument/hover", place),
            "references": lambda: server.request("textDocument/references", references),
            "symbols": lambda: server.request("textDocument/documentSymbol", document),
        }
    )
    server.close()


main()
