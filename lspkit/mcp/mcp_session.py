"""One MCP client: the server of the SDK with all handlers. They run on the event loop."""

from __future__ import annotations

import asyncio
import functools
import logging
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias, get_args

import anyio
import mcp.types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParams

from lspkit.errors import LspkitError
from lspkit.mcp.call_runner import CallRunner
from lspkit.mcp.client_roots import ClientRoots, client_roots
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.version import VERSION
from lspkit.workspace import Workspace

# Messages for the user of an MCP client: on standard error, and as log messages of the protocol.
#
# A client of the protocol before 2026 gets the messages that were there before it connected. Later
# ones have no log messages without a request that asks for them; they have standard error.

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


# Asks a client for its roots. Only clients of the protocol before 2026 can be asked.

#: Seconds to wait for the answer.
ROOTS_TIMEOUT = 5.0


class RootsRequest:
    """The request for the roots of one client. Used on the event loop only."""

    def __init__(self, calls: CallRunner, log: ClientLog) -> None:
        self._calls, self._log = calls, log
        self._answered = asyncio.Event()

    async def ask(self, ctx: ServerRequestContext[Any]) -> None:
        """Ask for the roots, and use them from now on."""
        ws = self._calls.ws
        try:
            if ws is not None and _has_roots(ctx):
                listed = await ctx.session.send_request(
                    types.ListRootsRequest(),
                    types.ListRootsResult,
                    request_read_timeout_seconds=ROOTS_TIMEOUT,
                )
                uris = [str(root.uri) for root in listed.roots]
                self._calls.roots = await self._calls.in_thread(lambda: _usable_roots(ws, uris))
        except (MCPError, LspkitError, ValueError) as problem:
            await self._log.say("warning", f"the roots of the client are not known: {problem}")
        finally:
            self._answered.set()
        for uri in self._calls.roots.ignored:
            text = f"the root {uri} of the client lies outside the workspace, and is ignored"
            await self._log.say("warning", text)

    async def wait(self, ctx: ServerRequestContext[Any]) -> None:
        """Wait for the answer of a client that has roots: its first calls must keep to them."""
        if _has_roots(ctx) and ctx.session.can_send_request:
            with anyio.move_on_after(ROOTS_TIMEOUT):
                await self._answered.wait()


def _has_roots(ctx: ServerRequestContext[Any]) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.roots is not None


def _usable_roots(ws: Workspace, uris: list[str]) -> ClientRoots:
    return client_roots(uris, ws.config.boundary(str(ws.root)))


Context: TypeAlias = ServerRequestContext[Any]


class McpSession:
    """The server for one client. `ws` is None if the workspace could not be opened.

    `refresh` reloads the configuration if it has changed, and may raise an `LspkitError`.
    """

    def __init__(
        self,
        ws: Workspace | None,
        reason: str = "",
        *,
        allow_apply: bool = False,
        refresh: Callable[[], object] = lambda: None,
    ) -> None:
        self._log = ClientLog()
        self._calls = CallRunner(ws, reason, allow_apply=allow_apply, refresh=refresh)
        self._roots = RootsRequest(self._calls, self._log)
        about = f"lspkit has no tools here: {reason}" if ws is None else describe(str(ws.root))
        self.server = self._build(about)

    def _build(self, about: str) -> Server[Any]:
        server: Server[Any] = Server(
            "lspkit",
            version=VERSION,
            title="lspkit",
            instructions=about,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        # Not by keywords, which warn that newer versions of the protocol do without these.
        server.add_request_handler(
            "logging/setLevel", types.SetLevelRequestParams, self._set_log_level
        )
        server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._on_initialized
        )
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._on_roots
        )
        return server

    async def begin(self) -> None:
        """Say why there is no workspace, if there is none."""
        if self._calls.ws is None:
            await self._log.say("error", f"no tools are offered: {self._calls.reason}")

    def close(self) -> None:
        """End what runs in threads, after the loop has ended."""
        self._calls.close()

    # Requests

    async def _list_tools(self, ctx: Context, _: object) -> types.ListToolsResult:
        await self._log.repeat(ctx)
        return types.ListToolsResult(tools=await self._calls.or_error(self._calls.tools))

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        await self._roots.wait(ctx)
        cancel = CancelToken()
        given = params.arguments or {}
        job = functools.partial(self._calls.tool, params.name, given, cancel)
        return await self._calls.run_with_progress(ctx, job, cancel)

    async def _set_log_level(
        self, _: Context, params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        self._log.level = params.level
        return types.EmptyResult()

    # Notifications

    async def _on_initialized(self, ctx: Context, _: object) -> None:
        await self._log.connect(ctx.session)
        await self._roots.ask(ctx)

    async def _on_roots(self, ctx: Context, _: object) -> None:
        await self._roots.ask(ctx)
