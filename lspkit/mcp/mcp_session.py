"""One MCP client: the server of the SDK with all handlers. They run on the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar, get_args

import anyio
import mcp.types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import (
    CallToolResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    TextContent,
    Tool,
)

from lspkit.agent import Toolbox
from lspkit.agent.tools.arguments import bad_input
from lspkit.agent.tools.envelope import (
    Envelope,
    TextBudget,
    ToolOutcome,
    error_text,
    make_envelope,
    to_json,
)
from lspkit.agent.tools.result_data import replace_surrogates
from lspkit.agent.tools.tool_table import FIELDS, offered_tools, spec_of
from lspkit.errors import LspkitError, PathError, ServerUnavailableError
from lspkit.operations import FileServersRequest
from lspkit.protocol.uris import uri_to_path
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.servers.status import ServerState, WorkspaceEvent
from lspkit.version import VERSION
from lspkit.visible_text import fold_lines, one_line
from lspkit.workspace import Workspace
from lspkit.workspace_boundary import Boundary, absolute_path, is_inside

# The roots of a client: the folders that it works in. They narrow the workspace, never widen it.
#
# A root inside the workspace is used. A root around the workspace allows all of it. Any other root
# is ignored; if all are, nothing is allowed.

#: Why no file may be used.
NO_ROOT = (
    "none of the roots of the client lies in this project, so no file of it may be used; name the "
    "folder of the client: lspkit mcp ROOT"
)
#: The names of the field that has a path.
PATH_FIELDS = (FIELDS["path"].name, *FIELDS["path"].aliases)


class ClientRoots(msgspec.Struct, frozen=True):
    """The folders of a client, as real paths."""

    #: None if the whole workspace is allowed.
    folders: tuple[str, ...] | None = None
    #: URIs of roots that cannot be used.
    ignored: tuple[str, ...] = ()

    def check_arguments(self, arguments: Mapping[str, Any], root: str) -> dict[str, Any]:
        """The arguments of a tool, with a path that the workspace can resolve.

        Raises a `PathError` if it is outside these folders, or there is none.
        """
        if self.folders == ():
            raise PathError(NO_ROOT, code="EOUTSIDE", path=root, boundary="")
        checked = dict(arguments)
        for name in PATH_FIELDS:
            if isinstance(given := checked.get(name), str) and given:
                checked[name] = self.check_path(given, root)
        return checked

    def check_path(self, given: str, root: str) -> str:
        """The path as the workspace can resolve it; a `PathError` if it is outside."""
        path, moved = absolute_path(given, root), None
        if not os.path.isabs(given) and not os.path.lexists(path):
            # Relative to the client's folder.
            places = (absolute_path(given, folder) for folder in self._folders_of_client(root))
            moved = next((place for place in places if os.path.lexists(place)), None)
        if self.folders is None:
            return moved or given
        path = moved or path
        self._refuse_outside(given, os.path.realpath(path))
        return path

    def check_absolute(self, path: str) -> None:
        """Raise a `PathError` if an absolute path is outside.

        If its name is a link, the folder that has the link must be inside, too: an edit may rename
        or delete the link itself.
        """
        path = absolute_path(path, os.sep)
        folder, name = os.path.split(path.rstrip(os.sep))
        self._refuse_outside(path, os.path.realpath(path))
        self._refuse_outside(path, os.path.join(os.path.realpath(folder), name))

    def _folders_of_client(self, root: str) -> tuple[str, ...]:
        return _folder_in(root) if self.folders is None else self.folders

    def _refuse_outside(self, given: str, real: str) -> None:
        if self.folders is not None and not any(is_inside(real, folder) for folder in self.folders):
            folders = ", ".join(self.folders)
            message = f"{given} lies outside the roots of the client: {folders or NO_ROOT}"
            raise PathError(message, code="EOUTSIDE", path=given, resolved=real, boundary=folders)


def _folder_in(root: str) -> tuple[str, ...]:
    """The current folder, which the client has chosen, if it is inside the workspace."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was deleted
        return ()
    return (here,) if is_inside(here, root) else ()


def client_roots(uris: Iterable[str], boundary: Boundary) -> ClientRoots:
    """The roots that lie in a workspace. A client that has none may use all of it."""
    folders: list[str] = []
    ignored: list[str] = []
    whole = False
    for uri in uris:
        path = uri_to_path(uri)
        real = os.path.realpath(path) if path and "\0" not in path else ""
        if real and is_inside(boundary.root, real):
            whole = True
        elif real and _may_access(real, boundary):
            folders.append(real)
        else:
            ignored.append(uri)
    used = tuple(dict.fromkeys(folders)) if (folders or ignored) and not whole else None
    return ClientRoots(used, tuple(ignored))


def _may_access(real: str, boundary: Boundary) -> bool:
    return boundary.allow_external or is_inside(real, boundary.outer)


# Runs the calls of one MCP client in threads: what they share, their progress, their cancellation.
#
# Everything that may wait runs in a thread of a pool, with a cancel token that is set when the
# client cancels its request or is gone.

log = logging.getLogger("lspkit.mcp")
T = TypeVar("T")

# Progress notifications: what the servers do while a client waits for a call.

#: Texts that wait to be sent for one call; more are dropped.
LONGEST_QUEUE = 100


class CallProgress:
    """The texts for one call that are not sent yet. Made on the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        #: Used on the event loop only.
        self._texts: asyncio.Queue[str] = asyncio.Queue(LONGEST_QUEUE)

    @contextlib.contextmanager
    def follow(self, ws: Workspace) -> Iterator[None]:
        """Add what the servers do meanwhile. Not for the event loop: it may wait for a service."""
        try:
            stream = ws.events()
        except LspkitError:  # the call says why
            yield
            return
        reader = OwnThread(lambda: self._read(stream), "mcp-events")
        try:
            reader.start()
            with contextlib.suppress(LspkitError):
                self._tell(busy_servers(ws))
            yield
        finally:
            stream.close()
            joined([reader])

    def _read(self, stream: EventStream[WorkspaceEvent]) -> None:
        for event in stream:
            self._tell(progress_texts(event))

    def _tell(self, texts: list[str]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._add, texts)

    def _add(self, texts: list[str]) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            for text in texts:
                self._texts.put_nowait(text)

    async def send(self, ctx: ServerRequestContext[Any]) -> None:
        """Send all texts, until this task is cancelled."""
        number = 0
        while True:
            text = await self._texts.get()
            number += 1
            await ctx.session.report_progress(number, None, text)


def wants_progress(ctx: ServerRequestContext[Any]) -> bool:
    """Whether the client has sent a token for progress notifications."""
    meta = (ctx.params or {}).get("_meta")
    return isinstance(meta, dict) and meta.get("progressToken") is not None


def progress_texts(event: WorkspaceEvent) -> list[str]:
    """What a user is told about an event while a call waits."""
    if event.kind == "state" and event.state is not None:
        return [one_line(f"{event.server}: {event.state.value}")]
    if event.kind == "progress":
        title = fold_lines(event.title) or "working"
        return [one_line(f"{event.server}: {title}{' is done' if event.done else ''}")]
    return []


def busy_servers(ws: Workspace) -> list[str]:
    """What servers are doing already when a call begins, each as a text for a user."""
    texts: list[str] = []
    for server in ws.run(FileServersRequest()):
        if server.state is ServerState.STARTING:
            texts.append(one_line(f"{server.server}: {server.state.value}"))
        titles = [fold_lines(title) for title in server.busy_with]
        texts += [one_line(f"{server.server}: {title}") for title in titles if title]
    return texts


# Calls

#: How the user can allow a tool to write files.
APPLY_HINT = "the user can allow it by starting the server with: lspkit mcp --allow-apply"
#: Threads for calls, which wait.
THREADS = 32


def _tool(declared: Mapping[str, Any]) -> Tool:
    # No tool reaches beyond the project: servers and files are on this machine.
    annotations = {**declared["annotations"], "openWorldHint": False}
    return Tool.model_validate({**declared, "annotations": annotations})


def _failure(operation: str, problem: LspkitError) -> CallToolResult:
    """The result of a call that was not carried out."""
    outcome = ToolOutcome(operation=operation, errors=[problem])
    return _result(make_envelope(outcome, 0, TextBudget()), error_text(problem))


def _result(envelope: Envelope, text: str) -> CallToolResult:
    # Paths that are not UTF-8 have surrogates, which the SDK cannot encode.
    return CallToolResult(
        content=[TextContent(type="text", text=replace_surrogates(text))],
        structured_content=json.loads(to_json(envelope)),
        is_error=not envelope["ok"],
    )


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
        return [_tool(row) for row in self._toolbox.schemas("mcp", "per-operation", output=True)]

    def tool(self, name: str, arguments: Mapping[str, Any], cancel: CancelToken) -> CallToolResult:
        """Call a tool. Never raises."""
        if self.ws is None:
            return _failure("", ServerUnavailableError(self.reason))
        row = spec_of(name)
        try:
            self._refresh()
            if row is None or row.mcp != name:
                names = ", ".join(row.mcp for row in offered_tools(self.ws.config))
                return _failure("", bad_input(f"there is no tool {name[:60]}: there are {names}"))
            roots = self.roots
            given = roots.check_arguments(arguments, str(self.ws.root))
            answer = self._toolbox.answer(
                name, given, cancel=cancel, check_path=roots.check_absolute
            )
        except LspkitError as problem:
            return _failure(row.operation if row else "", problem)
        except Exception as problem:
            log.exception("the tool %s failed inside lspkit", name)
            why = LspkitError(f"lspkit itself failed ({type(problem).__name__}); see its log")
            return _failure(row.operation if row else "", why)
        return _result(answer.envelope, answer.text)

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


# Messages for the user of an MCP client: on standard error, and as log messages of the protocol.
#
# A client of the protocol before 2026 gets the messages that were there before it connected. Later
# ones have no log messages without a request that asks for them; they have standard error.


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
        try:
            return types.ListToolsResult(tools=await self._calls.in_thread(self._calls.tools))
        except LspkitError as problem:  # of the configuration: an error without a traceback
            raise MCPError(types.INVALID_PARAMS, str(problem)) from None

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
