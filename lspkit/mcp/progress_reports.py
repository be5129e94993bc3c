"""Progress notifications: what the servers do while a client waits for a call."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from mcp.server.context import ServerRequestContext

from lspkit.errors import LspkitError
from lspkit.operations import FileServersRequest
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.servers.status import ServerState
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.visible_text import fold_lines, one_line
from lspkit.workspace import Workspace

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
