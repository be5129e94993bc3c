"""Where something is: definition, declaration, type, implementation, uses; and what it is."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import lspkit.types as types
from lspkit.operations.effects import Effect, Reply
from lspkit.operations.position_translation import in_order, translator
from lspkit.operations.reply_parsing import readable
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import ask_at
from lspkit.protocol.results import read_hover
from lspkit.protocol.wire.raw_items import read_places

Locations = Generator[Effect, Any, list[types.Location]]


class DefinitionRequest(PositionRequest[list[types.Location]], frozen=True, kw_only=True):
    """Where is this defined?"""


class DeclarationRequest(PositionRequest[list[types.Location]], frozen=True, kw_only=True):
    """Where is this declared?"""


class TypeDefinitionRequest(PositionRequest[list[types.Location]], frozen=True, kw_only=True):
    """Where is the type of this defined?"""


class ImplementationRequest(PositionRequest[list[types.Location]], frozen=True, kw_only=True):
    """Where is this implemented?"""


class ReferencesRequest(PositionRequest[list[types.Location]], frozen=True, kw_only=True):
    """Where is this used?"""

    include_declaration: bool = True


class HoverRequest(PositionRequest[types.Hover | None], frozen=True, kw_only=True):
    """What is this?"""


def _locations(replies: list[Reply]) -> Locations:
    found: list[types.Location] = []
    for reply, places in (yield from readable(replies, read_places)):
        if places:
            translate = yield from translator(reply, (uri for uri, _ in places))
            found += [translate.location(uri, range) for uri, range in places]
    return in_order(found)


@operation("definition", DefinitionRequest, list[types.Location])
def definition(request: DefinitionRequest) -> Locations:
    """All places that define the symbol."""
    return (yield from _locations((yield from ask_at(request, "textDocument/definition"))))


@operation("declaration", DeclarationRequest, list[types.Location])
def declaration(request: DeclarationRequest) -> Locations:
    """All places that declare the symbol."""
    return (yield from _locations((yield from ask_at(request, "textDocument/declaration"))))


@operation("type_definition", TypeDefinitionRequest, list[types.Location])
def type_definition(request: TypeDefinitionRequest) -> Locations:
    """All places that define the symbol's type."""
    return (yield from _locations((yield from ask_at(request, "textDocument/typeDefinition"))))


@operation("implementation", ImplementationRequest, list[types.Location])
def implementation(request: ImplementationRequest) -> Locations:
    """All places that implement the symbol."""
    return (yield from _locations((yield from ask_at(request, "textDocument/implementation"))))


@operation("references", ReferencesRequest, list[types.Location])
def references(request: ReferencesRequest) -> Locations:
    """All places that use the symbol."""
    context = {"includeDeclaration": request.include_declaration}
    replies = yield from ask_at(request, "textDocument/references", context=context)
    return (yield from _locations(replies))


@operation("hover", HoverRequest, types.Hover | None)
def hover(request: HoverRequest) -> Generator[Effect, Any, types.Hover | None]:
    """What the servers tell, one after the other; the range of the first that gives one."""
    replies = yield from ask_at(request, "textDocument/hover")
    texts: list[str] = []
    range = None
    for reply, hovers in (yield from readable(replies, read_hover, says=lambda one: one.texts)):
        for told in hovers:
            texts += [text for text in told.texts if text not in texts]
            if told.texts and told.range is not None and range is None:
                translate = yield from translator(reply, ())
                range = translate.range(reply.view.text, told.range)
    return types.Hover(texts, range) if texts else None
