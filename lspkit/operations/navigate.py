"""Definition, references and hover."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import lspkit.types as types
from lspkit.operations.effects import Ask, Build, Effect, Reply
from lspkit.operations.places import in_order, to_wire, translator
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbols import position_of
from lspkit.protocol.shapes import read_hover, read_locations
from lspkit.protocol.text import Encoding, Text


class Definition(PositionRequest, frozen=True, kw_only=True):
    """Where is this defined?"""


class References(PositionRequest, frozen=True, kw_only=True):
    """Where is this used?"""

    include_declaration: bool = True


class Hover(PositionRequest, frozen=True, kw_only=True):
    """What is this?"""


def _params(line: int, column: int, **more: Any) -> Build:
    def build(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        position = to_wire(text, line, column, encoding)
        return {"textDocument": {"uri": uri}, "position": position, **more}

    return build


def _ask(request: PositionRequest, method: str, **more: Any) -> Generator[Effect, Any, list[Reply]]:
    line, column = yield from position_of(request)
    replies: list[Reply] = yield Ask(
        request.path, request.text, method, _params(line, column, **more)
    )
    return replies


def _locations(replies: list[Reply]) -> Generator[Effect, Any, list[types.Location]]:
    found: list[types.Location] = []
    for reply in replies:
        places = [item.place for item in read_locations(reply.result).items]
        named = [place for place in places if place is not None]
        if named:
            translate = yield from translator(reply, (uri for uri, _ in named))
            found += [translate.location(uri, range) for uri, range in named]
    return in_order(found)


@operation("definition", Definition, list[types.Location])
def definition(request: Definition) -> Generator[Effect, Any, list[types.Location]]:
    """All places that define the symbol."""
    replies = yield from _ask(request, "textDocument/definition")
    return (yield from _locations(replies))


@operation("references", References, list[types.Location])
def references(request: References) -> Generator[Effect, Any, list[types.Location]]:
    """All places that use the symbol."""
    context = {"includeDeclaration": request.include_declaration}
    replies = yield from _ask(request, "textDocument/references", context=context)
    return (yield from _locations(replies))


@operation("hover", Hover, types.Hover | None)
def hover(request: Hover) -> Generator[Effect, Any, types.Hover | None]:
    """What the servers tell, one after the other; the range of the first that gives one."""
    replies = yield from _ask(request, "textDocument/hover")
    texts: list[str] = []
    range = None
    for reply in replies:
        for told in read_hover(reply.result).items:
            texts += [text for text in told.texts if text not in texts]
            if told.range is not None and range is None:
                translate = yield from translator(reply, ())
                range = translate.range(reply.view.text, told.range)
    return types.Hover(texts, range) if texts else None
