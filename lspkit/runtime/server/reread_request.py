"""The request by which a server is made to read all its files again."""

from __future__ import annotations

import msgspec

from lspkit.errors import LspkitError
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.server.server import Server


def request_reread(server: Server) -> None:
    """Have a server read everything again. No wait: it handles requests in order."""
    refresh = server.choice.definition.disk.refresh
    if refresh is None:
        return
    root = path_to_uri(server.root).encode()
    said = msgspec.json.decode(msgspec.json.encode(refresh.params).replace(b"{root}", root))
    try:
        if refresh.method == "workspace/executeCommand":
            server.channel.ask(refresh.method, said)
        else:
            server.channel.say(refresh.method, said)
    except LspkitError:
        return  # it has just ended
