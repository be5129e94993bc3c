"""jdtls: publishes for all open documents, some time after the last change.

Each run of that may be cancelled by a later change, and may follow one that has validated the
documents before the change. So a push counts after a run that began after a validation, if the
server had read the change before. It proves nothing even then: in a race of two files one push in
some hundred was stale.

After `didSave` it reads the disk, which may be newer than the document.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from lspkit.diagnostics.freshness_events import Began, Case, Judged, Pushed, Quiet
from lspkit.diagnostics.progress_proof import is_named
from lspkit.protocol.open_documents import SyncOptions
from lspkit.servers.adapters.adapter import Adapter

#: The title of the task that looks at changed documents.
_VALIDATION = "Validate documents"


class Jdtls(Adapter):
    """See above."""

    def sync_options(self, options: SyncOptions) -> SyncOptions:
        """No `didSave`, and the whole text with every change."""
        return replace(options, change=min(options.change, 1), save=False)

    def proof_by_progress(self, case: Case) -> Judged:
        """The push after a run, which merely counts."""
        answers = case.answers()
        if not answers:
            return case.wait("ordered")
        start = max(case.since, answers[0])
        begun = [event for event in case.events if isinstance(event, Began)]
        validated = (event.at for event in begun if event.title.startswith(_VALIDATION))
        first = next((max(start, at) for at in validated if at >= case.since), math.inf)
        runs = [event.at for event in begun if is_named(event, case.rule) and event.at >= first]
        for event in case.events if runs else ():
            if isinstance(event, Pushed) and event.uri == case.target.uri and event.at >= runs[0]:
                return Quiet(event.at)
        again = start + case.target.patience
        if runs or case.now < again:
            return case.wait() if runs else case.wait(until=again)
        return case.wait("touch")
