"""pyrefly: reads the files of the project in the background, and does not say when it is done."""

from __future__ import annotations

from lspkit.servers.adapters.adapter import Adapter, BackgroundIndex


class Pyrefly(Adapter):
    """See above."""

    index = BackgroundIndex()
