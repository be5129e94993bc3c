"""References without declarations, from a server that omits others when asked for that.

It is asked for all references and for the declarations of the name, which are removed here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.operations.effects import Ask, Reply
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.wire.raw_items import read_location_ranges, read_raw_items
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File
from lspkit.runtime.server.server import Server

REFERENCES, DECLARATION = "textDocument/references", "textDocument/declaration"
#: How often both requests are sent, until they are about one text.
MOST_TRIES = 3

AskOne = Callable[[Context, Server, File, Ask, CallContext], Steps[Reply]]


def are_confused(server: Server, effect: Ask) -> bool:
    """Whether this is a request for references that the server answers wrongly."""
    confused = server.choice.definition.confuses_declarations
    return confused and effect.method == REFERENCES and not effect.ignore_capabilities


def ask_references(
    context: Context, ask_one: AskOne, server: Server, file: File, effect: Ask, call: CallContext
) -> Steps[Reply]:
    """Ask for all references, and remove the declarations if they are not wanted."""
    wants_declarations = False

    def every(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        nonlocal wants_declarations
        params: dict[str, Any] = effect.build(uri, text, encoding)
        wants_declarations = params["context"]["includeDeclaration"]
        return {**params, "context": {"includeDeclaration": True}}

    def place(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        params: dict[str, Any] = effect.build(uri, text, encoding)
        return {name: value for name, value in params.items() if name != "context"}

    with_declarations = msgspec.structs.replace(effect, build=every)
    declarations = msgspec.structs.replace(effect, method=DECLARATION, build=place)
    for _ in range(MOST_TRIES):
        reply = yield from ask_one(context, server, file, with_declarations, call)
        if wants_declarations:
            break
        declared = yield from ask_one(context, server, file, declarations, call)
        if declared.view.text.value == reply.view.text.value:
            return msgspec.structs.replace(reply, result=_without(reply.result, declared.result))
    return reply


def _without(references: bytes, declarations: bytes) -> bytes:
    """The references that are no declaration. Those that cannot be decoded stay."""
    declared, pieces = read_location_ranges(declarations).items, read_raw_items(references)
    if pieces.dropped:
        return references
    kept = []
    for piece in pieces.items:
        places = read_location_ranges(piece).items
        if not places or places[0] not in declared:
            kept.append(piece)
    return b"[" + b",".join(kept) + b"]"
