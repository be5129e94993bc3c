"""Messages for the user of an MCP client: on standard error, and as log messages of the protocol.

A client of the protocol before 2026 gets the messages that were there before it connected. Later
ones have no log messages without a request that asks for them; they have standard error.
"""

from __future__ import annotations

import logging
import warnings
from typing import Any, get_args

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParams

from lspkit.version import VERSION

log = logging.getLogger("lspkit.mcp")

#: From the mildest to the gravest.
LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
#: Messages that wait for a client.
MOST_WAITING = 100


class ClientLog:
    """The messages to one client. Used on the event loop only."""

    def __init__(self) -> None:
        self._session: ServerSession | None = None
        self._waiting: list[tuple[LoggingLevel, str]] = []
        self.level: LoggingLevel = "info"

    async def connect(self, session: ServerSession) -> None:
        """The client is ready: send what has waited."""
        self._session = session
        waiting, self._waiting = self._waiting, []
        for level, text in waiting:
            await self._send(level, text)

    async def repeat(self, ctx: ServerRequestContext[Any]) -> None:
        """Send what waits to a client without a handshake, if its request asks for messages."""
        if self._session is None:
            for level, text in self._waiting:
                with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
                    sent = ctx.session.send_log_message(
                        level, text, "lspkit", related_request_id=ctx.request_id
                    )
                await sent

    async def say(self, level: LoggingLevel, text: str) -> None:
        """Log a message, and send it to the client."""
        log.log(logging.ERROR if level == "error" else logging.WARNING, "%s", text)
        if self._session is not None:
            await self._send(level, text)
        elif len(self._waiting) < MOST_WAITING:
            self._waiting.append((level, text))

    async def _send(self, level: LoggingLevel, text: str) -> None:
        if self._session is None or LEVELS.index(level) < LEVELS.index(self.level):
            return
        params = LoggingMessageNotificationParams(level=level, logger="lspkit", data=text)
        await self._session.send_notification(LoggingMessageNotification(params=params))


def describe(root: str) -> str:
    """The instructions for a model, with the folder that paths are relative to."""
    return (
        f"Code intelligence from real language servers (lspkit {VERSION}) for {root}. Paths are "
        "relative to that folder or absolute; lines and characters count from 1. After an edit, "
        "lsp_diagnostics with filePath says what is broken."
    )
