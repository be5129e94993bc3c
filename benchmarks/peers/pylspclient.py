"""Contestant: pylspclient. `python -P pylspclient.py FOLDER COMMAND…`

It has no class for a server process and no document sync: the process is started here and the
file is opened once. It needs a thread that drains standard error.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))

import pylspclient
from blocks import serve_blocks
from pylspclient.lsp_pydantic_strcuts import (
    LanguageIdentifier,
    Position,
    ReferenceContext,
    TextDocumentIdentifier,
    TextDocumentItem,
)


def main() -> None:
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    main_file = folder / "main.py"
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    errors: Any = process.stderr
    threading.Thread(target=errors.read, daemon=True).start()
    endpoint = pylspclient.LspEndpoint(
        pylspclient.JsonRpcEndpoint(process.stdin, process.stdout),
        method_callbacks={"workspace/configuration": lambda params: [None] * len(params["items"])},
        timeout=30,
    )
    client = pylspclient.LspClient(endpoint)
    root = folder.as_uri()
    client.initialize(None, None, root, None, {}, "off", [{"name": folder.name, "uri": root}])
    client.initialized()
    uri = main_file.as_uri()
    client.didOpen(
        TextDocumentItem(
            uri=uri, languageId=LanguageIdentifier.PYTHON, version=1, text=main_file.read_text()
        )
    )
    document, place = TextDocumentIdentifier(uri=uri), Position(line=2, character=4)
    around = ReferenceContext(includeDeclaration=True)
    hover = {"textDocument": {"uri": uri}, "position": {"line": 2, "character": 4}}

    def references() -> Any:
        return endpoint.call_method(
            "textDocument/references",
            textDocument=document.dict(),
            position=place.dict(),
            context=around.dict(),
        )

    serve_blocks(
        {
            "definition": lambda: client.definition(document, place),
            "hover": lambda: endpoint.call_method("textDocument/hover", **hover),
            "references": references,
            "symbols": lambda: client.documentSymbol(document),
        },
        version=importlib.metadata.version("pylspclient"),
    )
    client.shutdown()
    client.exit()
    process.wait(10)


main()
