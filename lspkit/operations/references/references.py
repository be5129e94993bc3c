"""References to a symbol: those that the servers know, and those that only the text shows."""

from __future__ import annotations

import msgspec

from lspkit.answer import Answer
from lspkit.errors import CancelledError, LspkitError
from lspkit.operations.effects import Effects
from lspkit.operations.navigation import Locations, locations_of
from lspkit.operations.position_translation import sort_locations
from lspkit.operations.references.word_net import ask_meanings, cast_net, open_files
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import ask_at, position_of
from lspkit.protocol.methods import REFERENCES
from lspkit.types import Location


class ReferencesRequest(PositionRequest[Answer[Location]], frozen=True, kw_only=True):
    """Get the references to a symbol."""

    include_declaration: bool = True


@operation("references", ReferencesRequest, list[Location])
def references(request: ReferencesRequest) -> Locations:
    """All references to the symbol."""
    line, column = yield from position_of(request)
    places = yield from _known_references(request)
    net = yield from cast_net(
        request, line, column, places, wants_declarations=request.include_declaration
    )
    if net is None or not (net.words or net.reason):
        return places
    if net.words:
        yield from open_files(net)
        try:
            places = yield from _known_references(request)
        except CancelledError:
            raise
        except LspkitError:
            pass  # out of time, for example: the first answer counts
        net = net.without(places)
        if net.words and not request.include_declaration:
            # Words that the servers know and leave out are declarations, or count as such.
            every = msgspec.structs.replace(request, include_declaration=True)
            net = net.without((yield from _known_references(every)))
    findings = yield from ask_meanings(net)
    return Answer(
        sort_locations([*places, *findings.declared, *findings.places]),
        [*places.caveats, *findings.caveats(net.meaning.name)],
    )


def _known_references(request: ReferencesRequest) -> Effects[Answer[Location]]:
    """Those that the servers know."""
    wanted = request.include_declaration
    replies = yield from ask_at(
        request,
        REFERENCES,
        "project",
        omits_declarations=not wanted,
        context={"includeDeclaration": wanted},
    )
    return (yield from locations_of(replies))
