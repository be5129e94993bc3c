"""What one check has to prove, and its results."""

from __future__ import annotations

import time

import msgspec

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.diagnostics.store import disclaimer, is_only_disclaimer
from lspkit.operations.host_results import Examined
from lspkit.protocol.open_documents import View
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.files import File
from lspkit.runtime.server.server import Server


class CheckSubject(msgspec.Struct, frozen=True):
    """What has to be proven: server, text and time limit."""

    server: Server
    file: File
    #: None for the text on disk.
    text: str | None
    call: Call
    began: float
    #: The document of the call, if this is another one.
    own: str = ""

    @property
    def uri(self) -> str:
        """The URI of the document."""
        return self.file.uri

    @property
    def is_of_disk(self) -> bool:
        """Whether the findings are those of the files on disk, and not of a text of this call."""
        return self.text is None and not (self.own and self.server.channel.shows_unsaved(self.own))

    def doubt(self, lists: list[bytes]) -> str:
        """Why findings like these prove nothing; empty if they do."""
        disclaimers = self.server.choice.definition.caveats.disclaimers
        return self.server.record.doubt(self.uri) or disclaimer(lists, disclaimers)

    def doubted(self, rule: ProofRule, view: View, lists: list[bytes], doubt: str) -> Examined:
        """The findings count; that there are no more proves nothing.

        A disclaimer is no finding, even if the server reports it as an error.
        """
        if is_only_disclaimer(lists, self.server.choice.definition.caveats.disclaimers):
            return self.failed(rule, doubt)
        return self.known(rule, view, lists, "quiet", doubt)

    def failed(self, rule: ProofRule, reason: str, *, late: bool = False) -> Examined:
        """The findings are unknown."""
        return self.known(rule, None, [], "none", reason, late=late)

    def known(
        self,
        rule: ProofRule,
        view: View | None,
        lists: list[bytes],
        how: str,
        reason: str = "",
        *,
        late: bool = False,
    ) -> Examined:
        """The findings are known."""
        took = time.monotonic() - self.began
        return Examined(
            self.server.id,
            view,
            tuple(lists),
            how,
            took,
            late,
            reason,
            rule.source,
            interpreter=self.server.setup.interpreter,
        )
