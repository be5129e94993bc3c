"""rust-analyzer: loads the project and reads files in the background.

It says by a notification of its own when it has loaded the project. It answers requests from a
file's old text for a while after the file has changed on disk, but it can be asked for that text.
"""

from __future__ import annotations

from msgspec.structs import replace

from lspkit.protocol.initialize_params import InitializeOptions
from lspkit.protocol.methods import DOCUMENT_SYMBOLS
from lspkit.servers.adapters.adapter import Adapter


class RustAnalyzer(Adapter):
    """See above."""

    text_request = "rust-analyzer/viewFileText"

    def needs_project(self, method: str) -> bool:
        """It answers from the document alone, rightly also before the project is loaded."""
        return method != DOCUMENT_SYMBOLS

    def initialize(self, options: InitializeOptions) -> InitializeOptions:
        """It sends `experimental/serverStatus` only to clients that name it."""
        return replace(options, experimental={"serverStatusNotification": True})
