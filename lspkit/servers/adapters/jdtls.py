"""jdtls: after `didSave` it reads the disk, which may be newer than the document."""

from __future__ import annotations

from msgspec.structs import replace

from lspkit.protocol.open_documents import SyncOptions
from lspkit.servers.adapters.adapter import Adapter


class Jdtls(Adapter):
    """See above."""

    def sync_options(self, options: SyncOptions) -> SyncOptions:
        """No `didSave`, and the whole text with every change."""
        return replace(options, change=min(options.change, 1), save=False)
