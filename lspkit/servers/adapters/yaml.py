"""yaml: publishes without versions, but requests the settings of a document before each check.

So the version that its next push is about is mostly known (`protocol/checked_versions.py`).
"""

from __future__ import annotations

from msgspec.structs import replace

from lspkit.protocol.initialize_params import InitializeOptions
from lspkit.servers.adapters.adapter import Adapter


class Yaml(Adapter):
    """See above."""

    def initialize(self, options: InitializeOptions) -> InitializeOptions:
        """The session infers versions from its requests for settings."""
        return replace(options, asks_before_check=True)
