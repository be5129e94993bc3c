"""Definitions, declarations, types, implementations; hover and signature help."""

from __future__ import annotations

import lspkit.types as types
from lspkit.answer import Answer
from lspkit.operations.effect_results import Reply
from lspkit.operations.effects import Effects, Span
from lspkit.operations.position_translation import (
    Translator,
    needed_places,
    sort_locations,
    translate_locations,
)
from lspkit.operations.reply_parsing import answer_from, decode_replies, decode_whole
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import ask_at, ask_at_place
from lspkit.protocol.text import Text
from lspkit.protocol.wire.raw_items import read_location_ranges
from lspkit.protocol.wire.results import WireMarkup, WireSignature, read_hover, read_signature_help

Locations = Effects[Answer[types.Location]]


class DefinitionRequest(PositionRequest[Answer[types.Location]], frozen=True, kw_only=True):
    """Get the definitions of a symbol."""


class DeclarationRequest(PositionRequest[Answer[types.Location]], frozen=True, kw_only=True):
    """Get the declarations of a symbol."""


class TypeDefinitionRequest(PositionRequest[Answer[types.Location]], frozen=True, kw_only=True):
    """Get the definitions of a symbol's type."""


class ImplementationRequest(PositionRequest[Answer[types.Location]], frozen=True, kw_only=True):
    """Get the implementations of a symbol."""


class HoverRequest(PositionRequest[types.Hover | None], frozen=True, kw_only=True):
    """Get the description of a symbol."""


class SignatureHelpRequest(PositionRequest[types.SignatureHelp | None], frozen=True, kw_only=True):
    """Get the signatures of the function at a position."""


def locations_of(replies: list[Reply]) -> Locations:
    """The locations in the answers of all servers, each once, in order."""
    found: list[types.Location] = []
    read = decode_whole(replies, read_location_ranges)
    if read is None:
        read = yield from decode_replies(replies, read_location_ranges)
    for reply, places in read:
        if places:
            files = yield needed_places(reply, dict(places))  # each URI once
            found += translate_locations(reply, files, places)
    return answer_from(read, sort_locations(found))


def _lookup(
    name: str,
    request: type[PositionRequest[Answer[types.Location]]],
    method: str,
    span: Span = "definitions",
) -> None:
    """Add an operation that asks all servers for locations."""

    @operation(name, request, list[types.Location])
    def look_up(request: PositionRequest[Answer[types.Location]]) -> Locations:
        if request.symbol is None:  # as nearly always: without a generator in between
            return (yield from locations_of((yield ask_at_place(request, method, span))))
        return (yield from locations_of((yield from ask_at(request, method, span))))


_lookup("definition", DefinitionRequest, "textDocument/definition")
_lookup("declaration", DeclarationRequest, "textDocument/declaration")
_lookup("type_definition", TypeDefinitionRequest, "textDocument/typeDefinition")
_lookup("implementation", ImplementationRequest, "textDocument/implementation", "project")


@operation("hover", HoverRequest, types.Hover | None)
def hover(request: HoverRequest) -> Effects[types.Hover | None]:
    """The texts of all servers, and the first range."""
    replies = yield from ask_at(request, "textDocument/hover")
    texts: list[str] = []
    range = None
    for reply, hovers in (
        yield from decode_replies(replies, read_hover, says=lambda one: one.texts)
    ):
        for told in hovers:
            said = told.texts
            texts += [text for text in said if text not in texts]
            if said and told.range is not None and range is None:
                range = Translator(reply.view.encoding, {}).range(reply.view.text, told.range)
    return types.Hover(texts, range) if texts else None


@operation("signature_help", SignatureHelpRequest, types.SignatureHelp | None)
def signature_help(request: SignatureHelpRequest) -> Effects[types.SignatureHelp | None]:
    """The first answer that has a signature."""
    replies = yield from ask_at(request, "textDocument/signatureHelp")
    read = decode_replies(replies, read_signature_help, says=lambda one: one.signatures)
    for _, all_told in (yield from read):
        for told in all_told:
            signatures = tuple(_signature(one) for one in told.signatures or ())
            if not signatures:
                continue
            active = min(max(told.active_signature or 0, 0), len(signatures) - 1)
            own = (told.signatures or [])[active].active_parameter
            return types.SignatureHelp(
                signatures, active, told.active_parameter if own is None else own
            )
    return None


def _words(markup: WireMarkup | str | None) -> str:
    if markup is None:
        return ""
    return markup if isinstance(markup, str) else markup.text


def _signature(wire: WireSignature) -> types.Signature:
    parameters = []
    for one in wire.parameters or ():
        label = one.label
        if not isinstance(label, str):
            # Offsets into the label count UTF-16 units, whatever the positions count.
            start, end = (Text(wire.label).column(0, units, "utf-16") for units in label)
            label = wire.label[start:end]
        parameters.append(types.Parameter(label, _words(one.documentation)))
    return types.Signature(wire.label, _words(wire.documentation), tuple(parameters))
