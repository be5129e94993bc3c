"""What an MCP client can ask about the resource `diagnostics://{path}`, and what it is told."""

from __future__ import annotations

import asyncio
import functools
import os
from typing import Any, TypeAlias

import mcp.types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from lspkit.mcp.call_runner import CallRunner
from lspkit.mcp.diagnostics_resource import (
    MIME_TYPE,
    TEMPLATE,
    Subscriptions,
    known_uris,
    path_of,
)
from lspkit.mcp.roots_request import RootsRequest
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.workspace import Workspace
from lspkit.workspace_boundary import absolute_path

Context: TypeAlias = ServerRequestContext[Any]


class ResourceHandlers:
    """The resource for one client of a workspace."""

    def __init__(self, ws: Workspace, calls: CallRunner, roots: RootsRequest) -> None:
        self._ws, self._calls, self._roots = ws, calls, roots
        self._subscriptions = Subscriptions(ws)
        #: Files whose findings may have changed, and the task that tells subscribers of them.
        self._reported: set[str] = set()
        self._announcing: asyncio.Task[None] | None = None
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        #: A client of the protocol before 2026, and the URIs that it has subscribed to.
        self._client: ServerSession | None = None
        self._subscribed: set[str] = set()

    # Reports of servers

    def on_report(self, event: WorkspaceEvent) -> None:
        """A server has reported the findings of a file, or events were dropped."""
        paths = self._subscriptions.paths() if event.kind == "dropped" else [event.path]
        wanted = {one for one in paths if self._subscriptions.has(one)}
        self._reported |= wanted
        if self._reported and (self._announcing is None or self._announcing.done()):
            self._announcing = asyncio.get_running_loop().create_task(self._announce())

    async def _announce(self) -> None:
        """Tell subscribers of the files whose findings have changed."""
        while self._reported:
            paths, self._reported = sorted(self._reported), set()
            look = functools.partial(self._subscriptions.changed, paths)
            for uri in await self._calls.in_thread(look):
                await self._bus.publish(ResourceUpdated(uri=uri))
                if self._client is not None:
                    await self._client.send_notification(_updated(uri))

    # Requests

    async def list_resources(self, ctx: Context, _: object) -> types.ListResourcesResult:
        """The files with known findings that the client may use."""
        await self._roots.wait(ctx)
        roots = self._calls.roots
        uris = await self._calls.or_error(lambda: known_uris(self._ws, roots))
        return types.ListResourcesResult(resources=[_resource(one) for one in uris])

    async def list_templates(self, _: Context, __: object) -> types.ListResourceTemplatesResult:
        """The form of the URIs."""
        template = types.ResourceTemplate(
            name="diagnostics",
            title="Diagnostics of a file",
            uri_template=TEMPLATE,
            description="Errors in a file, checked when it is read. The path is relative to the "
            "workspace. Subscribers are told when the findings change.",
            mime_type=MIME_TYPE,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The findings of a file, which is checked now."""
        cancel = CancelToken()
        path = await self._path_of(ctx, params.uri)
        job = functools.partial(self._check, path, cancel)
        result = await self._calls.run_with_progress(ctx, job, cancel)
        text = "".join(one.text for one in result.content if isinstance(one, types.TextContent))
        if result.is_error:
            raise MCPError(INVALID_PARAMS, text)
        contents = types.TextResourceContents(uri=params.uri, mime_type=MIME_TYPE, text=text)
        return types.ReadResourceResult(contents=[contents])

    def _check(self, path: str, cancel: CancelToken) -> types.CallToolResult:
        return self._calls.tool("lsp_diagnostics", {"filePath": path}, cancel)

    async def _path_of(self, ctx: Context, uri: str) -> str:
        """The path in a URI, if the client may use it."""
        await self._roots.wait(ctx)
        roots, root = self._calls.roots, str(self._ws.root)
        return await self._calls.or_error(lambda: roots.check_path(path_of(uri), root))

    async def subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """The subscription of an older client, which lasts until it is ended."""
        self._client = ctx.session
        if params.uri not in self._subscribed:
            await self._add_subscription(ctx, params.uri)
            self._subscribed.add(params.uri)
        return types.EmptyResult()

    async def _add_subscription(self, ctx: Context, uri: str) -> None:
        """Subscribe to a file, and have it checked: a server reports only files that it knows."""
        given = await self._path_of(ctx, uri)
        real = os.path.realpath(absolute_path(given, str(self._ws.root)))
        if await self._calls.or_error(lambda: self._subscriptions.add(uri, real)):
            cancel = CancelToken()

            def check() -> None:
                self._calls.watch()
                self._check(given, cancel)
                self._subscriptions.note(real)

            try:
                await self._calls.in_thread(check, cancel)
            except BaseException:
                self._subscriptions.remove(uri)
                raise

    async def unsubscribe(
        self, _: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """End such a subscription."""
        if params.uri in self._subscribed:
            self._subscribed.discard(params.uri)
            self._subscriptions.remove(params.uri)
        return types.EmptyResult()

    async def serve_listener(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """The subscriptions of newer clients, as long as their request lasts."""
        uris = list(params.notifications.resource_subscriptions or ())
        added: list[str] = []
        try:
            for uri in uris:
                await self._add_subscription(ctx, uri)
                added.append(uri)
            return await self._listen(ctx, params)
        finally:
            for uri in added:
                self._subscriptions.remove(uri)


def _resource(uri: str) -> types.Resource:
    return types.Resource(name=os.path.basename(path_of(uri)), uri=uri, mime_type=MIME_TYPE)


def _updated(uri: str) -> types.ResourceUpdatedNotification:
    params = types.ResourceUpdatedNotificationParams(uri=uri)
    return types.ResourceUpdatedNotification(params=params)
