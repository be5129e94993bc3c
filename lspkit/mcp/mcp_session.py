"""One MCP client: the server of the SDK with all handlers. They run on the event loop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import mcp.types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from lspkit.mcp.call_runner import CallRunner
from lspkit.mcp.client_log import ClientLog, describe
from lspkit.mcp.roots_request import RootsRequest
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.version import VERSION
from lspkit.workspace import Workspace

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
