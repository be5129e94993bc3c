"""What is to be proven, and what came of it."""

from __future__ import annotations

import time

import msgspec

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.diagnostics.store import disclaimer, is_only_disclaimer
from lspkit.operations.effects import Examined
from lspkit.protocol.open_documents import View
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.files import File
from lspkit.runtime.server.server import Server


class CheckSubject(msgspec.Struct, frozen=True):
    """What is to be proven: by whom, about which text, within which time."""

    server: Server
    file: File
    #: None for the text on disk.
    text: str | None
    call: CallContext
    began: float
    #: The document that the call itself is about, where this is another one.
    own: str = ""

    @property
    def uri(self) -> str:
        """Of the document."""
        return self.file.uri

    def doubt(self, lists: list[bytes]) -> str:
        """Why findings like these prove nothing; empty if they do."""
        disclaimers = self.server.choice.definition.caveats.disclaimers
        return self.server.record.doubt(self.uri) or disclaimer(lists, disclaimers)

    def doubted(self, rule: ProofRule, view: View, lists: list[bytes], doubt: str) -> Examined:
        """What it has found counts; that it has found no more proves nothing.

        That it has not looked is no finding, also where it calls it an error.
        """
        if is_only_disclaimer(lists, self.server.choice.definition.caveats.disclaimers):
            return self.failed(rule, doubt)
        return self.found(rule, view, lists, "quiet", doubt)

    def failed(self, rule: ProofRule, reason: str, *, late: bool = False) -> Examined:
        """Nothing is known."""
        took = time.monotonic() - self.began
        return Examined(self.server.id, None, (), "none", took, late, reason, rule.source)

    def found(
        self, rule: ProofRule, view: View, lists: list[bytes], how: str, reason: str = ""
    ) -> Examined:
        """These are the findings."""
        took = time.monotonic() - self.began
        return Examined(self.server.id, view, tuple(lists), how, took, False, reason, rule.source)
