"""The options of a session."""

from __future__ import annotations

from typing import Any

import msgspec

from lspkit.protocol.text import Encoding


class InitializeOptions(msgspec.Struct, frozen=True):
    """What a session sends with `initialize`, and uses in later answers."""

    root_uri: str
    root_name: str
    process_id: int | None = None
    client_version: str = ""
    initialization: Any = None
    settings: dict[str, Any] = {}
    #: Experimental capabilities for this server.
    experimental: dict[str, Any] = {}
    #: Whether the server asks for a document's settings each time it begins to check it.
    asks_before_check: bool = False
    #: The offered position encodings, the preferred one first. UTF-16 is always supported.
    encodings: tuple[Encoding, ...] = ("utf-32", "utf-8", "utf-16")
