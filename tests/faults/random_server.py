"""A language server whose answers have the right outline and random contents. Run by itself.

    python random_server.py SEED FOLDER

Every answer follows from the seed and its number, so that a run can be had again. Most parts of
an answer are right; any of them may be of another type, missing, out of range, or hostile.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lspkit.testing.serving.wire import Input, Output, encode, frame

#: One part of an answer in so many is something else.
ODD = 12
NUMBERS = (0, 0, 1, 1, 2, 3, 7, -1, 2**31, 2**53, 2**64, 1.5, "1", None)
TEXTS = ("greet", "", "x" * 5000, "a\nb", "\x1b[2J", "\u202egnp", "\ud800", "\0", "<tag>&", "é😀")
CAPABILITIES = {
    "textDocumentSync": 2,
    **{
        f"{name}Provider": True
        for name in (
            *("definition", "declaration", "typeDefinition", "implementation", "references"),
            *("hover", "documentSymbol", "workspaceSymbol", "callHierarchy", "typeHierarchy"),
        )
    },
    "signatureHelpProvider": {},
    "renameProvider": {"prepareProvider": True},
    "codeActionProvider": {"resolveProvider": True},
    "diagnosticProvider": {"interFileDependencies": True, "workspaceDiagnostics": True},
    "executeCommandProvider": {"commands": ["do"]},
}


class Answers:
    """What is answered to each method."""

    def __init__(self, dice: random.Random, folder: str) -> None:
        self.dice = dice
        self.folder = folder

    # Parts

    def odd(self, value: Any) -> Any:
        return value if self.dice.randrange(ODD) else self.junk()

    def junk(self, depth: int = 0) -> Any:
        kind = self.dice.randrange(7 if depth < 3 else 5)
        if kind == 5:
            return [self.junk(depth + 1) for _ in range(self.dice.randrange(3))]
        if kind == 6:
            return {self.text(): self.junk(depth + 1) for _ in range(self.dice.randrange(3))}
        return (None, True, self.dice.choice(NUMBERS), self.text(), {})[kind]

    def text(self) -> str:
        return self.dice.choice(TEXTS)

    def uri(self) -> Any:
        here = f"file://{self.folder}"
        usual = [f"{here}/a.scr", f"{here}/b.scr"] * 4
        strange = [
            *("", "file://", "file:///", "file:///%ff", "file:///%00", "file://host/a.scr", "/a"),
            *("untitled:1", "a.scr", "file:a.scr", "http://[", "\ud800", "FILE:///a", "x" * 5000),
            *(here, f"{here}/", f"{here}/gone.scr", f"{here}/../b.scr", "file:///etc/passwd"),
        ]
        return self.odd(self.dice.choice([*usual, *strange]))

    def record(self, **fields: Any) -> Any:
        """An object; now and then without one of its fields."""
        if fields and not self.dice.randrange(ODD):
            del fields[self.dice.choice(list(fields))]
        return self.odd(fields)

    def several(self, make: Any, most: int = 4) -> Any:
        return self.odd([make() for _ in range(self.dice.randrange(most))])

    def position(self) -> Any:
        return self.record(line=self.dice.choice(NUMBERS), character=self.dice.choice(NUMBERS))

    def range(self) -> Any:
        return self.record(start=self.position(), end=self.position())

    def location(self) -> Any:
        if self.dice.randrange(3):
            return self.record(uri=self.uri(), range=self.range())
        return self.record(
            targetUri=self.uri(), targetRange=self.range(), targetSelectionRange=self.range()
        )

    def markup(self) -> Any:
        return self.dice.choice(
            [self.text(), self.record(kind="markdown", value=self.text()), self.junk()]
        )

    def symbol(self, depth: int = 0) -> Any:
        kind = self.odd(self.dice.randrange(28))
        if self.dice.randrange(2):
            return self.record(name=self.text(), kind=kind, location=self.location())
        made = {"name": self.text(), "kind": kind, "detail": self.odd("d")}
        children = self.several(lambda: self.symbol(depth + 1), 2) if depth < 3 else []
        place = {"range": self.range(), "selectionRange": self.range()}
        return self.record(**made, **place, children=children)

    def item(self) -> Any:
        return self.record(
            name=self.text(),
            kind=self.odd(12),
            uri=self.uri(),
            range=self.range(),
            selectionRange=self.range(),
            data=self.junk(),
        )

    def finding(self) -> Any:
        related = self.several(lambda: self.record(location=self.location(), message=self.text()))
        return self.record(
            range=self.range(),
            message=self.text(),
            severity=self.dice.choice(NUMBERS),
            code=self.junk(),
            relatedInformation=related,
            tags=self.several(lambda: 1),
        )

    def report(self) -> Any:
        return self.record(
            kind=self.dice.choice(["full", "full", "unchanged", "odd"]),
            items=self.several(self.finding),
            resultId=self.odd("r"),
            relatedDocuments={str(self.uri()): self.record(kind="full", items=[])},
        )

    def edit(self) -> Any:
        def text_edit() -> Any:
            return self.record(range=self.range(), newText=self.text())

        def change() -> Any:
            kind = self.dice.choice(["edit", "edit", "create", "rename", "delete", "odd"])
            if kind == "edit":
                document = self.record(uri=self.uri(), version=self.odd(None))
                return self.record(textDocument=document, edits=self.several(text_edit))
            return self.record(kind=kind, uri=self.uri(), oldUri=self.uri(), newUri=self.uri())

        if self.dice.randrange(2):
            return self.record(documentChanges=self.several(change))
        return self.record(changes={str(self.uri()): self.several(text_edit)})

    def action(self) -> Any:
        return self.record(
            title=self.text(),
            kind=self.odd("quickfix"),
            edit=self.edit(),
            command=self.odd({"title": "do", "command": "do"}),
            diagnostics=self.several(self.finding),
        )

    def signature(self) -> Any:
        parameter = self.record(label=self.dice.choice(["a", [0, 2], [5, 1], 7]))
        return self.record(label=self.text(), parameters=[parameter], documentation=self.markup())

    # Answers

    def to(self, method: str) -> Any:
        """The answer to a request."""
        word = method.rpartition("/")[2]
        if word in ("definition", "declaration", "typeDefinition", "implementation", "references"):
            return self.location() if not self.dice.randrange(4) else self.several(self.location)
        if word == "hover":
            contents = self.dice.choice([self.markup(), self.several(self.markup)])
            return self.record(contents=contents, range=self.range())
        if word in ("documentSymbol", "symbol"):
            return self.several(self.symbol)
        if word in ("prepareCallHierarchy", "prepareTypeHierarchy", "supertypes", "subtypes"):
            return self.several(self.item)
        if word in ("incomingCalls", "outgoingCalls"):
            end = "from" if word == "incomingCalls" else "to"
            ranges = self.several(self.range)
            return self.several(lambda: self.record(**{end: self.item(), "fromRanges": ranges}))
        if word == "signatureHelp":
            active = self.dice.choice(NUMBERS)
            return self.record(signatures=self.several(self.signature), activeSignature=active)
        if word == "rename":
            return self.edit()
        if word == "codeAction":
            return self.several(self.action)
        if word == "resolve":
            return self.action()
        if method == "textDocument/diagnostic":
            return self.report()
        if method == "workspace/diagnostic":
            return self.record(items=self.several(lambda: self.record(uri=self.uri(), kind="full")))
        if word == "prepareRename":
            return self.dice.choice([self.range(), self.junk(), {"defaultBehavior": True}])
        return self.junk()


def main(seed: str, folder: str) -> None:
    incoming, outgoing = Input(0), Output(1)
    number = 0
    while (messages := incoming.read()) is not None:
        for message in messages:
            if message.get("method") == "exit":
                return
            if "id" not in message or "method" not in message:
                continue
            number += 1
            dice = random.Random(f"{seed}/{number}")
            for reply in replies(message, Answers(dice, folder), dice):
                outgoing.write(frame(encode({"jsonrpc": "2.0", **reply})))


def replies(message: dict[str, Any], answers: Answers, dice: random.Random) -> Any:
    method, id = message["method"], message["id"]
    if method == "initialize":
        encoding = dice.choice(["utf-8", "utf-16", "utf-32"])
        capabilities = {**CAPABILITIES, "positionEncoding": encoding}
        yield {"id": id, "result": {"capabilities": capabilities}}
        return
    if method == "shutdown":
        yield {"id": id, "result": None}
        return
    if not dice.randrange(ODD):
        pushed = answers.record(uri=answers.uri(), diagnostics=answers.several(answers.finding))
        yield {"method": "textDocument/publishDiagnostics", "params": pushed}
    if not dice.randrange(ODD):
        yield {"id": id, "error": answers.record(code=answers.junk(), message=answers.text())}
    else:
        yield {"id": id, "result": answers.odd(answers.to(method))}


if __name__ == "__main__":
    os.umask(0o077)
    main(*sys.argv[1:])
