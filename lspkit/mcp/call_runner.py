"""Runs the calls of one MCP client in threads: what they share, their progress, their cancellation.

Everything that may wait runs in a thread of a pool, with a cancel token that is set when the client
cancels its request or is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, Tool

from lspkit.agent import Toolbox
from lspkit.errors import LspkitError, ServerUnavailableError
from lspkit.mcp.client_roots import ClientRoots
from lspkit.mcp.progress_reports import CallProgress, wants_progress
from lspkit.mcp.tool_results import call_tool, failure, list_tools
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.workspace import Workspace

T = TypeVar("T")

#: How the user can allow a tool to write files.
APPLY_HINT = "the user can allow it by starting the server with: lspkit mcp --allow-apply"
#: Threads for calls, which wait.
THREADS = 32


class CallRunner:
    """The workspace for one client. `reason` says why there is none, and is empty if there is one.

    `refresh` reloads the configuration if it has changed, and may raise an `LspkitError`.
    """

    def __init__(
        self,
        ws: Workspace | None,
        reason: str,
        *,
        allow_apply: bool,
        refresh: Callable[[], object],
    ) -> None:
        self.ws, self.reason = ws, reason
        #: The folders that the client works in.
        self.roots = ClientRoots()
        self._refresh = refresh
        self._threads = ThreadPoolExecutor(THREADS, "lspkit-mcp")
        if ws is not None:
            self._toolbox = Toolbox(ws, allow_apply=allow_apply, apply_hint=APPLY_HINT)

    def close(self) -> None:
        """End what runs in threads. The loop has ended, and with it all calls."""
        self._threads.shutdown(cancel_futures=True)

    # In threads

    def tools(self) -> list[Tool]:
        """The tools that the configuration allows."""
        if self.ws is None:
            return []
        self._refresh()
        return list_tools(self._toolbox)

    def tool(self, name: str, arguments: Mapping[str, Any], cancel: CancelToken) -> CallToolResult:
        """Call a tool. Never raises."""
        if self.ws is None:
            return failure("", ServerUnavailableError(self.reason))
        return call_tool(
            self._toolbox,
            self.ws,
            name,
            arguments,
            roots=self.roots,
            cancel=cancel,
            refresh=self._refresh,
        )

    # On the event loop

    async def in_thread(self, job: Callable[[], T], cancel: CancelToken | None = None) -> T:
        """Run a job that may wait. It is cancelled if the task is."""
        try:
            return await asyncio.wrap_future(self._threads.submit(job))
        except asyncio.CancelledError:
            if cancel is not None:
                cancel.set()
            raise

    async def run_with_progress(
        self, ctx: ServerRequestContext[Any], job: Callable[[], T], cancel: CancelToken
    ) -> T:
        """Run a call, and tell the client meanwhile what the servers do, if it wants that."""
        ws = self.ws
        if ws is None or not wants_progress(ctx):
            return await self.in_thread(job, cancel)
        progress = CallProgress()

        def followed_job() -> T:
            with progress.follow(ws):
                return job()

        async with anyio.create_task_group() as group:
            group.start_soon(progress.send, ctx)
            result = await self.in_thread(followed_job, cancel)
            group.cancel_scope.cancel()
        return result

    async def or_error(self, job: Callable[[], T], cancel: CancelToken | None = None) -> T:
        """Run a job; its error is one of the protocol, without a traceback."""
        try:
            return await self.in_thread(job, cancel)
        except LspkitError as problem:
            raise MCPError(INVALID_PARAMS, str(problem)) from None
