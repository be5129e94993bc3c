"""clangd: checks a document again only if it is changed, saved, or rebuilt by force.

It takes no notice of files that change on disk. Only a forced rebuild looks again for a missing
header, or checks an unchanged text. A changed text makes it compare the files that the document
includes, by size and by modification time in whole seconds.

It publishes at once only if the change asks for it; otherwise it waits for the end of typing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lspkit.servers.adapters.adapter import Adapter


class Clangd(Adapter):
    """See above."""

    change_params: Mapping[str, Any] = {"wantDiagnostics": True}
    touch_params: Mapping[str, Any] = {"forceRebuild": True}
    compares_seconds = True
