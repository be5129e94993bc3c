"""Runs the calls of one MCP client in threads: what they share, their progress, their cancellation.

Everything that may wait runs in a thread of a pool, with a cancel token that is set when the client
cancels its request or is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, TextContent, Tool

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
from lspkit.agent.tools.tool_table import offered_tools, spec_of
from lspkit.errors import LspkitError, ServerUnavailableError
from lspkit.mcp.client_roots import ClientRoots
from lspkit.operations import FileServersRequest
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.servers.status import ServerState
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.visible_text import fold_lines, one_line
from lspkit.workspace import Workspace

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

    async def or_error(self, job: Callable[[], T], cancel: CancelToken | None = None) -> T:
        """Run a job; its error is one of the protocol, without a traceback."""
        try:
            return await self.in_thread(job, cancel)
        except LspkitError as problem:
            raise MCPError(INVALID_PARAMS, str(problem)) from None
