"""What is to be proven, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec

from lspkit.diagnostics.proof import ProofRule
from lspkit.diagnostics.store import is_empty
from lspkit.operations import Examined
from lspkit.protocol.documents import View
from lspkit.protocol.shapes import read_diagnostics
from lspkit.runtime.files import File
from lspkit.runtime.server import Server
from lspkit.runtime.waiting import Call

#: The severity of what is no fault, such as an import that nobody uses.
HINT = 4


class Subject(msgspec.Struct, frozen=True):
    """What is to be proven: by whom, about which text, within which time."""

    server: Server
    file: File
    #: None for the text on disk.
    text: str | None
    call: Call
    began: float

    @property
    def uri(self) -> str:
        """Of the document."""
        return self.file.uri

    def until(self, request_timeout: float) -> float:
        """A caller who sets no limit does not wait for ever for an answer."""
        if self.call.deadline != float("inf"):
            return self.call.deadline
        return time.monotonic() + request_timeout

    def doubt(self, lists: Iterable[bytes]) -> str:
        """Why findings like these are worth nothing; empty if they are worth something."""
        doubt = self.server.doubt(self.uri)
        return "" if doubt and any(map(_finds_fault, lists)) else doubt

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


def _finds_fault(items: bytes) -> bool:
    """Whether a list says more than hints, which some give about a file that they do not check."""
    if is_empty(items):
        return False
    return any(one.severity != HINT for one in read_diagnostics(items).items)
