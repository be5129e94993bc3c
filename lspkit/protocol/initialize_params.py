"""What is settled before a conversation begins."""

from __future__ import annotations

from typing import Any

import msgspec

from lspkit.protocol.text import Encoding


class InitializeOptions(msgspec.Struct, frozen=True):
    """What a session tells its server at the start, and answers with later."""

    root_uri: str
    root_name: str
    process_id: int | None = None
    client_version: str = ""
    initialization: Any = None
    settings: dict[str, Any] = {}
    #: Capabilities that only this server knows.
    experimental: dict[str, Any] = {}
    #: Units of columns that are offered, the preferred one first. UTF-16 is always possible.
    encodings: tuple[Encoding, ...] = ("utf-32", "utf-8", "utf-16")
