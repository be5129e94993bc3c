"""rust-analyzer: says by a notification of its own when it has loaded the project."""

from __future__ import annotations

from msgspec.structs import replace

from lspkit.protocol.initialize_params import InitializeOptions
from lspkit.servers.adapters.adapter import Adapter


class RustAnalyzer(Adapter):
    """See above."""

    def initialize(self, options: InitializeOptions) -> InitializeOptions:
        """It sends `experimental/serverStatus` only to clients that name it."""
        return replace(options, experimental={"serverStatusNotification": True})
