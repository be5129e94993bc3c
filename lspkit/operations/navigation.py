"""Definitions, declarations, types, implementations; hover and signature help."""

from __future__ import annotations

from lspkit.answer import Answer
from lspkit.operations.host import Host
from lspkit.operations.host_results import Reply
from lspkit.operations.position_translation import Translator, sort_locations, translate_locations
from lspkit.operations.reply_parsing import answer_from, decode_replies
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import ask_at
from lspkit.protocol.text import Text
from lspkit.protocol.wire.results import (
    WireMarkup,
    WireSignature,
    read_hover,
    read_location_ranges,
    read_signature_help,
)
from lspkit.types import Hover, Location, Parameter, Signature, SignatureHelp


class DefinitionRequest(PositionRequest[Answer[Location]], frozen=True, kw_only=True):
    """Get the definitions of a symbol."""


class DeclarationRequest(PositionRequest[Answer[Location]], frozen=True, kw_only=True):
    """Get the declarations of a symbol."""


class TypeDefinitionRequest(PositionRequest[Answer[Location]], frozen=True, kw_only=True):
    """Get the definitions of a symbol's type."""


class ImplementationRequest(PositionRequest[Answer[Location]], frozen=True, kw_only=True):
    """Get the implementations of a symbol."""


class HoverRequest(PositionRequest[Hover | None], frozen=True, kw_only=True):
    """Get the description of a symbol."""


class SignatureHelpRequest(PositionRequest[SignatureHelp | None], frozen=True, kw_only=True):
    """Get the signatures of the function at a position."""


def locations_of(host: Host, replies: list[Reply]) -> Answer[Location]:
    """The locations in the answers of all servers, each once, in order."""
    locations: list[Location] = []
    decoded = decode_replies(host, replies, read_location_ranges)
    for reply, places in decoded:
        if places:
            locations += translate_locations(host, reply, places)
    return answer_from(decoded, sort_locations(locations))


@operation("definition", DefinitionRequest, list[Location])
def definition(request: DefinitionRequest, host: Host) -> Answer[Location]:
    """The definitions that the servers know."""
    return locations_of(host, ask_at(request, host, "textDocument/definition", "definitions"))


@operation("declaration", DeclarationRequest, list[Location])
def declaration(request: DeclarationRequest, host: Host) -> Answer[Location]:
    """The declarations that the servers know."""
    return locations_of(host, ask_at(request, host, "textDocument/declaration", "definitions"))


@operation("type_definition", TypeDefinitionRequest, list[Location])
def type_definition(request: TypeDefinitionRequest, host: Host) -> Answer[Location]:
    """The definitions of the type that the servers know."""
    return locations_of(host, ask_at(request, host, "textDocument/typeDefinition", "definitions"))


@operation("implementation", ImplementationRequest, list[Location])
def implementation(request: ImplementationRequest, host: Host) -> Answer[Location]:
    """The implementations that the servers know."""
    return locations_of(host, ask_at(request, host, "textDocument/implementation", "project"))


@operation("hover", HoverRequest, Hover | None)
def hover(request: HoverRequest, host: Host) -> Hover | None:
    """The texts of all servers, and the first range."""
    replies = ask_at(request, host, "textDocument/hover")
    texts: list[str] = []
    range = None
    for reply, hovers in decode_replies(host, replies, read_hover, says=lambda wire: wire.texts):
        for wire in hovers:
            hover_texts = wire.texts
            texts += [text for text in hover_texts if text not in texts]
            if hover_texts and wire.range is not None and range is None:
                range = Translator(reply.view.encoding, {}).range(reply.view.text, wire.range)
    return Hover(texts, range) if texts else None


@operation("signature_help", SignatureHelpRequest, SignatureHelp | None)
def signature_help(request: SignatureHelpRequest, host: Host) -> SignatureHelp | None:
    """The first answer that has a signature."""
    replies = ask_at(request, host, "textDocument/signatureHelp")
    decoded = decode_replies(host, replies, read_signature_help, says=lambda wire: wire.signatures)
    for _, wires in decoded:
        for wire in wires:
            signatures = tuple(_signature(signature) for signature in wire.signatures or ())
            if not signatures:
                continue
            active = min(max(wire.active_signature or 0, 0), len(signatures) - 1)
            own = (wire.signatures or [])[active].active_parameter
            return SignatureHelp(signatures, active, wire.active_parameter if own is None else own)
    return None


def _words(markup: WireMarkup | str | None) -> str:
    if markup is None:
        return ""
    return markup if isinstance(markup, str) else markup.text


def _signature(wire: WireSignature) -> Signature:
    parameters = []
    for parameter in wire.parameters or ():
        label = parameter.label
        if not isinstance(label, str):
            # Offsets into the label count UTF-16 units, whatever the positions count.
            start, end = (Text(wire.label).column(0, units, "utf-16") for units in label)
            label = wire.label[start:end]
        parameters.append(Parameter(label, _words(parameter.documentation)))
    return Signature(wire.label, _words(wire.documentation), tuple(parameters))
