"""How the function at a place is called."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from lspkit.operations.effects import Effect
from lspkit.operations.reply_parsing import readable
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import ask_at
from lspkit.protocol.results import WireMarkup, WireSignature, read_signature_help
from lspkit.protocol.text import Text
from lspkit.types import Parameter, Signature, SignatureHelp


class SignatureHelpRequest(PositionRequest[SignatureHelp | None], frozen=True, kw_only=True):
    """How is this called?"""


@operation("signature_help", SignatureHelpRequest, SignatureHelp | None)
def signature_help(request: SignatureHelpRequest) -> Generator[Effect, Any, SignatureHelp | None]:
    """The first answer that has a signature."""
    replies = yield from ask_at(request, "textDocument/signatureHelp")
    read = readable(replies, read_signature_help, says=lambda one: one.signatures)
    for _, all_told in (yield from read):
        for told in all_told:
            signatures = tuple(_signature(one) for one in told.signatures or ())
            if not signatures:
                continue
            active = min(max(told.active_signature or 0, 0), len(signatures) - 1)
            own = (told.signatures or [])[active].active_parameter
            return SignatureHelp(signatures, active, told.active_parameter if own is None else own)
    return None


def _words(markup: WireMarkup | str | None) -> str:
    if markup is None:
        return ""
    return markup if isinstance(markup, str) else markup.text


def _signature(wire: WireSignature) -> Signature:
    parameters = []
    for one in wire.parameters or ():
        label = one.label
        if not isinstance(label, str):
            # Offsets into the label count UTF-16 units, whatever the positions count.
            start, end = (Text(wire.label).column(0, units, "utf-16") for units in label)
            label = wire.label[start:end]
        parameters.append(Parameter(label, _words(one.documentation)))
    return Signature(wire.label, _words(wire.documentation), tuple(parameters))
