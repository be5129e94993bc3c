"""Asks a client for its roots. Only clients of the protocol before 2026 can be asked."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import mcp.types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from lspkit.errors import LspkitError
from lspkit.mcp.call_runner import CallRunner
from lspkit.mcp.client_log import ClientLog
from lspkit.mcp.client_roots import ClientRoots, client_roots
from lspkit.workspace import Workspace

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
                found = await ctx.session.send_request(
                    types.ListRootsRequest(),
                    types.ListRootsResult,
                    request_read_timeout_seconds=ROOTS_TIMEOUT,
                )
                uris = [str(one.uri) for one in found.roots]
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
