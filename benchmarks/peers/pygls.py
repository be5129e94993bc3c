"""Contestant: the client of pygls, whose event loop runs in a thread: `python -P pygls.py FOLDER …`

A program without an event loop calls it so; each call waits for a future of that loop.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))

from blocks import serve_blocks
from lsprotocol import types
from pygls.lsp.client import LanguageClient


def main() -> None:
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    main_file = folder / "main.py"
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def wait(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(30)

    client = LanguageClient("benchmark", "1")

    @client.feature("workspace/configuration")
    def configuration(params: types.ConfigurationParams) -> list[None]:
        return [None] * len(params.items)

    wait(client.start_io(*command))
    root = folder.as_uri()
    params = types.InitializeParams(
        capabilities=types.ClientCapabilities(),
        root_uri=root,
        workspace_folders=[types.WorkspaceFolder(uri=root, name=folder.name)],
    )
    try:
        wait(client.initialize_async(params))
    except TimeoutError:
        # It drops a message that it cannot read, and goes on waiting.
        sys.exit("no answer to initialize that it can read")
    client.initialized(types.InitializedParams())
    uri = main_file.as_uri()
    item = types.TextDocumentItem(
        uri=uri, language_id="python", version=1, text=main_file.read_text()
    )
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    document = types.TextDocumentIdentifier(uri=uri)
    place = types.Position(line=2, character=4)
    definition = types.DefinitionParams(text_document=document, position=place)
    hover = types.HoverParams(text_document=document, position=place)
    references = types.ReferenceParams(
        text_document=document,
        position=place,
        context=types.ReferenceContext(include_declaration=True),
    )
    symbols = types.DocumentSymbolParams(text_document=document)
    serve_blocks(
        {
            "definition": lambda: wait(client.text_document_definition_async(definition)),
            "hover": lambda: wait(client.text_document_hover_async(hover)),
            "references": lambda: list(wait(client.text_document_references_async(references))),
            "symbols": lambda: wait(client.text_document_document_symbol_async(symbols)),
        },
        version=importlib.metadata.version("pygls"),
    )
    wait(client.shutdown_async(None))
    client.exit(None)
    wait(client.stop())


main()
