"""rust-analyzer: loads the project and reads files in the background.

It says by a notification of its own when it has loaded the project. It answers requests from a
file's old text for a while after the file has changed on disk, but it can be asked for that text.

Its second source of findings is `cargo check`. It cancels that when another file is saved, and
reports an end then, too. So lspkit alone starts it, one run at a time: each end is a real one, and
a request after the end shows that the findings have been sent. Cargo runs build scripts, and the
other findings depend on the sources that they write.
"""

from __future__ import annotations

from msgspec.structs import replace

from lspkit.diagnostics import freshness_events as events
from lspkit.diagnostics.freshness_events import Case, Judged
from lspkit.diagnostics.progress_proof import may_start, runs_of
from lspkit.protocol.initialize_params import InitializeOptions
from lspkit.protocol.methods import DOCUMENT_SYMBOLS
from lspkit.servers.adapters.adapter import Adapter


class RustAnalyzer(Adapter):
    """See above."""

    text_request = "rust-analyzer/viewFileText"
    start_work = "rust-analyzer/runFlycheck"
    stop_work = "rust-analyzer/cancelFlycheck"

    def needs_project(self, method: str) -> bool:
        """It answers from the document alone, rightly also before the project is loaded."""
        return method != DOCUMENT_SYMBOLS

    def initialize(self, options: InitializeOptions) -> InitializeOptions:
        """It sends `experimental/serverStatus` only to clients that name it."""
        return replace(options, experimental={"serverStatusNotification": True})

    def proof_by_progress(self, case: Case) -> Judged:
        """A run that was started after the text was on disk, ended, and had its findings sent."""
        rule = case.rule
        ready = next(event.at for event in case.events if isinstance(event, events.Ready))
        since = max(case.since, ready)
        runs = runs_of(rule, case.events)
        for run in runs:
            if run.asked < since or run.ended is None or run.stopped:
                continue
            answered = (item for item in case.events if isinstance(item, events.RequestAnswered))
            for event in answered:
                if event.tag == rule.ask and event.at >= run.ended:
                    return events.Proven("progress", event.at)
            return case.wait("ordered")  # its findings may not have been sent yet
        if may_start(rule, case.events, case.now):
            return case.wait("start")
        last = runs[-1]
        if last.began is None:
            return case.wait(until=last.asked + events.PATIENCE)
        return case.wait("stop" if self.stop_work and last.asked < since else "")
