"""A language server whose answers are ready before they are asked for.

    python canned.py FOLDER [ENCODING]

It exists to make the client's own cost visible: the answers are encoded once at the
start, and a request costs one `json.loads` and one `write`. Standard library only, one
thread. FOLDER is what `write_folder` made; locations point at its files. ENCODING is the
position encoding to announce; without it none is named, which means UTF-16, as most
servers do.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

#: Source files of the folder, beside `main.py`.
FILE_COUNT = 10
#: Lines in each of them.
LINE_COUNT = 120
#: Locations in an answer to `references`, and symbols in one to `documentSymbol`.
MANY = 50


def write_folder(folder: Path) -> Path:
    """Make the project that the answers talk about; returns its `main.py`.

    One file in ten holds characters outside ASCII, since converting columns is part of a
    client's work.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILE_COUNT):
        word = "größe😀" if number == 0 else "size"
        lines = [f"value_{line} = 'module {number} {word}'" for line in range(LINE_COUNT)]
        (folder / f"module_{number}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    main = folder / "main.py"
    lines = ["from module_0 import value_1", ""]
    lines += [f"def function_{number}(argument):\n    return argument" for number in range(MANY)]
    main.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return main


def _range(line: int, start: int, end: int, last: int | None = None) -> dict[str, Any]:
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line if last is None else last, "character": end},
    }


def answers(folder: Path, encoding: str | None) -> dict[str, Any]:
    """Method to result. Everything that is not named here is answered with null."""
    files = [(folder / f"module_{number}.py").as_uri() for number in range(FILE_COUNT)]
    capabilities: dict[str, Any] = {
        "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
        "definitionProvider": True,
        "hoverProvider": True,
        "referencesProvider": True,
        "documentSymbolProvider": True,
    }
    if encoding is not None:
        capabilities["positionEncoding"] = encoding
    hover = "```python\n(function) def function_1(argument: int) -> int\n```\nReturns what it got."
    return {
        "initialize": {
            "capabilities": capabilities,
            "serverInfo": {"name": "canned", "version": "1"},
        },
        "textDocument/definition": [{"uri": files[1], "range": _range(3, 0, 7)}],
        "textDocument/hover": {
            "contents": {"kind": "markdown", "value": hover},
            "range": _range(2, 4, 14),
        },
        "textDocument/references": [
            {"uri": files[number % FILE_COUNT], "range": _range(number, 0, 7)}
            for number in range(MANY)
        ],
        "textDocument/documentSymbol": [
            {
                "name": f"function_{number}",
                "kind": 12,
                "range": _range(2 + 2 * number, 0, 19, 3 + 2 * number),
                "selectionRange": _range(2 + 2 * number, 4, 14),
            }
            for number in range(MANY)
        ],
    }


def _read(stream: BinaryIO) -> bytes | None:
    """The next body; None at the end of the input."""
    length = 0
    while True:
        line = stream.readline()
        if not line:
            return None
        if line == b"\r\n":
            return stream.read(length)
        if line[:15].lower() == b"content-length:":
            length = int(line[15:])


def serve(folder: Path, encoding: str | None) -> None:
    """Answer until `exit` or the end of the input."""
    ready = {
        method: json.dumps(result, separators=(",", ":")).encode()
        for method, result in answers(folder, encoding).items()
    }
    stream = sys.stdin.buffer
    while (body := _read(stream)) is not None:
        message = json.loads(body)
        method = message.get("method")
        if method == "exit":
            return
        if method is None or "id" not in message:
            continue
        identifier = json.dumps(message["id"]).encode()
        result = ready.get(method, b"null")
        answer = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (identifier, result)
        data = b"Content-Length: %d\r\n\r\n%b" % (len(answer), answer)
        while data:
            data = data[os.write(1, data) :]


if __name__ == "__main__":
    serve(Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else None)
