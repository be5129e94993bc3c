"""References to a symbol: those that the servers know, and those that only the text shows."""

from __future__ import annotations

import msgspec

from lspkit.answer import Answer
from lspkit.errors import CancelledError, LspkitError
from lspkit.operations.host import Host
from lspkit.operations.navigation import locations_of
from lspkit.operations.position_translation import sort_locations
from lspkit.operations.references.word_net import ask_meanings, cast_net, open_files
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import ask_at, position_of
from lspkit.protocol.capabilities import REFERENCES
from lspkit.types import Location


class ReferencesRequest(PositionRequest[Answer[Location]], frozen=True, kw_only=True):
    """Get the references to a symbol."""

    include_declaration: bool = True


@operation("references", ReferencesRequest, list[Location])
def references(request: ReferencesRequest, host: Host) -> Answer[Location]:
    """All references to the symbol."""
    line, column = position_of(request, host)
    places = _known_references(request, host)
    net = cast_net(
        request, host, line, column, places, wants_declarations=request.include_declaration
    )
    if net is None or not (net.words or net.reason):
        return places
    if net.words:
        open_files(host, net)
        try:
            places = _known_references(request, host)
        except CancelledError:
            raise
        except LspkitError:
            pass  # out of time, for example: the first answer counts
        net = net.without(places)
        if net.words and not request.include_declaration:
            # Words that the servers know and leave out are declarations, or count as such.
            every = msgspec.structs.replace(request, include_declaration=True)
            net = net.without(_known_references(every, host))
    findings = ask_meanings(host, net)
    return Answer(
        sort_locations([*places, *findings.declared, *findings.places]),
        [*places.caveats, *findings.caveats(net.meaning.name)],
    )


def _known_references(request: ReferencesRequest, host: Host) -> Answer[Location]:
    """Those that the servers know."""
    wanted = request.include_declaration
    replies = ask_at(
        request,
        host,
        REFERENCES,
        "project",
        omits_declarations=not wanted,
        context={"includeDeclaration": wanted},
    )
    return locations_of(host, replies)
