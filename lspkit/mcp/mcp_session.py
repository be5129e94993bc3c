"""One MCP client: what it can ask for, and what it is told.

The handlers run on the event loop. Everything that may wait runs in a thread of a pool, with a
cancel token that is set when the client cancels its request or is gone.
"""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anyio
import mcp.types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from lspkit.agent import Toolbox
from lspkit.errors import LspkitError, ServerUnavailableError
from lspkit.mcp.client_log import ClientLog, describe
from lspkit.mcp.client_roots import ClientRoots, client_roots
from lspkit.mcp.diagnostics_resource import (
    MIME_TYPE,
    TEMPLATE,
    Subscriptions,
    known_files,
    path_of,
    uri_of,
)
from lspkit.mcp.event_watch import EventWatch, busy_servers, progress_text
from lspkit.mcp.progress_reports import ProgressReports, wants_progress
from lspkit.mcp.tool_results import call_tool, failure, list_tools
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.version import VERSION
from lspkit.workspace import Workspace
from lspkit.workspace_boundary import boundary_of

T = TypeVar("T")
Context = ServerRequestContext[Any]

#: Threads for calls, which wait.
THREADS = 32
#: Seconds to wait for the roots of a client.
ROOTS_TIMEOUT = 5.0
#: JSON-RPC: the parameters cannot be used.
INVALID_PARAMS = types.INVALID_PARAMS


class McpSession:
    """The server of one client. `ws` is None if the workspace could not be opened."""

    def __init__(
        self,
        ws: Workspace | None,
        reason: str = "",
        *,
        allow_apply: bool = False,
        refresh: Callable[[], object] = lambda: None,
    ) -> None:
        self._ws, self._reason = ws, reason
        #: Reloads the configuration if it has changed; may raise an `LspkitError`.
        self._refresh = refresh
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(THREADS, "lspkit-mcp")
        self._log = ClientLog()
        self._progress = ProgressReports()
        self._roots = ClientRoots()
        self._roots_known = asyncio.Event()
        #: Files whose findings may have changed, and the task that tells subscribers of them.
        self._reported: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        #: A client of the protocol before 2026, and the URIs that it has subscribed to.
        self._client: ServerSession | None = None
        self._subscribed: set[str] = set()
        if ws is not None:
            self._toolbox = Toolbox(ws, allow_apply=allow_apply)
            self._subscriptions = Subscriptions(ws)
            self._watch = EventWatch(ws, self._take_event)
        self.server = self._build()

    def _build(self) -> Server[Any]:
        ws = self._ws
        about = describe(str(ws.root)) if ws else f"lspkit has no tools here: {self._reason}"
        server: Server[Any] = Server(
            "lspkit",
            version=VERSION,
            title="lspkit",
            instructions=about,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._serve_listener,
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

    # The life of a session

    async def begin(self) -> None:
        """Watch the workspace, or say why there is none."""
        if self._ws is None:
            await self._log.say("error", f"no tools are offered: {self._reason}")
        else:
            await self._in_thread(self._watch.ensure)

    def close(self) -> None:
        """End what runs in threads. The loop has ended, and with it all calls."""
        if self._ws is not None:
            self._watch.close()
        self._threads.shutdown(cancel_futures=True)

    async def _in_thread(self, job: Callable[[], T], cancel: CancelToken | None = None) -> T:
        """Run a job that may wait. It is cancelled if the task is."""
        try:
            return await asyncio.wrap_future(self._threads.submit(job))
        except asyncio.CancelledError:
            if cancel is not None:
                cancel.set()
            raise

    # Tools

    async def _list_tools(self, ctx: Context, _: object) -> types.ListToolsResult:
        await self._log.repeat(ctx)
        tools: list[types.Tool] = []
        if self._ws is not None:
            tools = await self._or_error(self._declare_tools)
        return types.ListToolsResult(tools=tools)

    def _declare_tools(self) -> list[types.Tool]:
        self._refresh()
        return list_tools(self._toolbox)

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        ws = self._ws
        if ws is None:
            return failure("", ServerUnavailableError(self._reason))
        await self._await_roots(ctx)
        cancel = CancelToken()
        job = functools.partial(
            call_tool,
            self._toolbox,
            ws,
            params.name,
            params.arguments or {},
            roots=self._roots,
            cancel=cancel,
            refresh=self._refresh,
        )
        return await self._run_with_progress(ctx, job, cancel)

    async def _run_with_progress(
        self, ctx: Context, job: Callable[[], T], cancel: CancelToken
    ) -> T:
        """Run a call, and tell the client meanwhile what the servers do, if it wants that."""

        def watched() -> T:
            self._watch.ensure()
            return job()

        if not wants_progress(ctx) or self._ws is None:
            return await self._in_thread(watched, cancel)
        with self._progress.call() as progress:
            progress.tell(await self._in_thread(self._busy_servers))
            async with anyio.create_task_group() as group:
                group.start_soon(progress.send, ctx)
                result = await self._in_thread(watched, cancel)
                group.cancel_scope.cancel()
        return result

    def _busy_servers(self) -> list[str]:
        try:
            return busy_servers(self._ws.status()) if self._ws is not None else []
        except LspkitError:  # the call says why
            return []

    async def _or_error(self, job: Callable[[], T], cancel: CancelToken | None = None) -> T:
        """Run a job; its error is one of the protocol, without a traceback."""
        try:
            return await self._in_thread(job, cancel)
        except LspkitError as problem:
            raise MCPError(INVALID_PARAMS, str(problem)) from None

    # Events

    def _take_event(self, event: WorkspaceEvent) -> None:
        """Called by the thread that reads the events."""
        self._loop.call_soon_threadsafe(self._on_event, event)

    def _on_event(self, event: WorkspaceEvent) -> None:
        if text := progress_text(event):
            self._progress.tell(text)
            return
        paths = self._subscriptions.paths() if event.kind == "dropped" else [event.path]
        wanted = {one for one in paths if self._subscriptions.has(one)}
        self._reported |= wanted
        if self._reported and not self._tasks:
            task = self._loop.create_task(self._announce())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _announce(self) -> None:
        """Tell subscribers of the files whose findings have changed."""
        while self._reported:
            paths, self._reported = sorted(self._reported), set()
            look = functools.partial(self._subscriptions.changed, paths)
            for uri in await self._in_thread(look):
                await self._bus.publish(ResourceUpdated(uri=uri))
                if self._client is not None:
                    await self._client.send_notification(_updated(uri))

    # Resources

    async def _list_resources(self, _: Context, __: object) -> types.ListResourcesResult:
        if self._ws is None:
            return types.ListResourcesResult(resources=[])
        ws = self._ws
        files = await self._or_error(lambda: known_files(ws))
        return types.ListResourcesResult(resources=[_resource(one, str(ws.root)) for one in files])

    async def _list_templates(self, _: Context, __: object) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="diagnostics",
            title="Diagnostics of a file",
            uri_template=TEMPLATE,
            description="Errors in a file, checked when it is read. The path is relative to the "
            "workspace. Subscribers are told when the findings change.",
            mime_type=MIME_TYPE,
        )
        offered = [template] if self._ws is not None else []
        return types.ListResourceTemplatesResult(resource_templates=offered)

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        cancel = CancelToken()
        path = await self._path_of(ctx, params.uri)
        job = functools.partial(self._check, path, cancel)
        result = await self._run_with_progress(ctx, job, cancel)
        text = "".join(one.text for one in result.content if isinstance(one, types.TextContent))
        if result.is_error:
            raise MCPError(INVALID_PARAMS, text)
        contents = types.TextResourceContents(uri=params.uri, mime_type=MIME_TYPE, text=text)
        return types.ReadResourceResult(contents=[contents])

    def _check(self, path: str, cancel: CancelToken) -> types.CallToolResult:
        if self._ws is None:
            return failure("", ServerUnavailableError(self._reason))
        return call_tool(
            self._toolbox,
            self._ws,
            "lsp_diagnostics",
            {"filePath": path},
            roots=self._roots,
            cancel=cancel,
            refresh=self._refresh,
        )

    async def _path_of(self, ctx: Context, uri: str) -> str:
        """The path in a URI, if the client may use it."""
        if self._ws is None:
            raise MCPError(INVALID_PARAMS, self._reason)
        await self._await_roots(ctx)
        root = str(self._ws.root)
        return await self._or_error(lambda: self._roots.check_path(path_of(uri), root))

    async def _subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        self._client = ctx.session
        if params.uri not in self._subscribed:
            await self._add_subscription(ctx, params.uri)
            self._subscribed.add(params.uri)
        return types.EmptyResult()

    async def _add_subscription(self, ctx: Context, uri: str) -> None:
        """Subscribe to a file, and have it checked: a server reports only files that it knows."""
        given = await self._path_of(ctx, uri)
        real = os.path.realpath(os.path.join(self._ws.root if self._ws else "", given))
        if await self._or_error(lambda: self._subscriptions.add(uri, real)):
            cancel = CancelToken()

            def check() -> None:
                self._watch.ensure()
                self._check(given, cancel)
                self._subscriptions.note(real)

            try:
                await self._in_thread(check, cancel)
            except BaseException:
                self._subscriptions.remove(uri)
                raise

    async def _unsubscribe(
        self, _: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        if params.uri in self._subscribed:
            self._subscribed.discard(params.uri)
            self._subscriptions.remove(params.uri)
        return types.EmptyResult()

    async def _serve_listener(
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

    # The client

    async def _set_log_level(
        self, _: Context, params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        self._log.level = params.level
        return types.EmptyResult()

    async def _on_initialized(self, ctx: Context, _: object) -> None:
        await self._log.connect(ctx.session)
        await self._on_roots(ctx, _)

    async def _on_roots(self, ctx: Context, _: object) -> None:
        """Ask the client for its roots."""
        ws = self._ws
        try:
            if ws is not None and _has_roots(ctx):
                found = await ctx.session.send_request(
                    types.ListRootsRequest(),
                    types.ListRootsResult,
                    request_read_timeout_seconds=ROOTS_TIMEOUT,
                )
                uris = [str(one.uri) for one in found.roots]
                self._roots = await self._in_thread(lambda: _usable_roots(ws, uris))
        except (MCPError, LspkitError, ValueError) as problem:
            await self._log.say("warning", f"the roots of the client are not known: {problem}")
        finally:
            self._roots_known.set()
        for uri in self._roots.ignored:
            text = f"the root {uri} of the client lies outside the workspace, and is ignored"
            await self._log.say("warning", text)

    async def _await_roots(self, ctx: Context) -> None:
        """Wait for the answer of a client that has roots: its first calls must keep to them."""
        if _has_roots(ctx) and ctx.session.can_send_request:
            with anyio.move_on_after(ROOTS_TIMEOUT):
                await self._roots_known.wait()


def _has_roots(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.roots is not None


def _usable_roots(ws: Workspace, uris: list[str]) -> ClientRoots:
    security = ws.config.security
    boundary = boundary_of(
        str(ws.root), exclude=security.exclude, allow_external=security.allow_external_paths
    )
    return client_roots(uris, boundary)


def _resource(path: str, root: str) -> types.Resource:
    uri = uri_of(path, root)
    return types.Resource(name=os.path.basename(path), uri=uri, mime_type=MIME_TYPE)


def _updated(uri: str) -> types.ResourceUpdatedNotification:
    params = types.ResourceUpdatedNotificationParams(uri=uri)
    return types.ResourceUpdatedNotification(params=params)
