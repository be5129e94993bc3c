"""Which version of a document a push without a version is about.

Some servers publish findings without a version, and ask for the document's settings each time they
begin to check it. What was sent before the answer is read before the check; so the one push that
follows is about the last version that was sent, if no other check ran at the same time.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lspkit.limits import MOST_REPORTED_FILES
from lspkit.protocol.uris import normalize_uri

CONFIGURATION = "workspace/configuration"


class _Checks(msgspec.Struct):
    """The checks of one document."""

    #: The last version that was sent.
    version: int = 0
    #: How many checks have begun, how many had begun when that version was sent, and how many have
    #: ended.
    begun: int = 0
    begun_before: int = 0
    ended: int = 0
    #: Whether there was a push since the last check began.
    has_spoken: bool = False
    #: Whether two checks ran at the same time, one of which is still running. Which of them ends
    #: last is not known.
    overlap: bool = False
    #: Whether the document was ever closed. The server publishes an empty list then, which cannot
    #: be told from a push that ends a check.
    was_closed: bool = False


class CheckedVersions:
    """The documents of one server."""

    def __init__(self) -> None:
        self._documents: dict[str, _Checks] = {}
        #: Whether the server asks at all; some releases do not.
        self._asks = False

    def sent(self, method: str, params: Any) -> None:
        """A notification is sent."""
        if method not in (
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didClose",
        ):
            return
        document = params["textDocument"]
        checks = self._of(document["uri"])
        if method == "textDocument/didClose":
            checks.was_closed = True
        else:
            checks.version, checks.begun_before = document["version"], checks.begun

    def settings_requested(self, params: dict[str, Any]) -> None:
        """The server has asked for settings, and gets them now."""
        items = params.get("items")
        # Requests of several items have other purposes.
        if isinstance(items, list) and len(items) == 1 and isinstance(items[0], dict):
            uri = items[0].get("scopeUri")
            if isinstance(uri, str):
                checks = self._of(uri)
                checks.overlap |= checks.begun > checks.ended
                checks.begun += 1
                checks.has_spoken, self._asks = False, True

    def pushed(self, uri: str) -> int | None:
        """The version that a push is about; None if that is not known, or not the last one."""
        checks = self._of(uri)
        checks.has_spoken = True
        if checks.begun == checks.ended:
            return None
        checks.ended += 1
        if checks.begun > checks.ended:
            return None
        ran_alone, checks.overlap = not checks.overlap, False
        has_read_it = checks.begun > checks.begun_before
        return checks.version if ran_alone and has_read_it and not checks.was_closed else None

    def is_due(self, uri: str) -> bool:
        """Whether findings about the last version are still to come: silence proves nothing."""
        checks = self._documents.get(normalize_uri(uri))
        if checks is None or not self._asks:
            return False
        return checks.begun == checks.begun_before or not checks.has_spoken

    def _of(self, uri: str) -> _Checks:
        uri = normalize_uri(uri)
        checks = self._documents.get(uri)
        if checks is None:
            checks = _Checks()
            if len(self._documents) < MOST_REPORTED_FILES:
                self._documents[uri] = checks
        return checks
