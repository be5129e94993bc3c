"""Progress notifications for calls in progress: what servers do while a client waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from mcp.server.context import ServerRequestContext

#: Texts that wait to be sent for one call; more are dropped.
LONGEST_QUEUE = 100


class CallProgress:
    """The texts for one call that are not sent yet."""

    def __init__(self) -> None:
        self._texts: asyncio.Queue[str] = asyncio.Queue(LONGEST_QUEUE)

    def tell(self, texts: Iterable[str]) -> None:
        """Add texts, as long as there is room."""
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


class ProgressReports:
    """The calls whose clients want progress notifications. Used on the event loop only."""

    def __init__(self) -> None:
        self._calls: set[CallProgress] = set()

    @contextlib.contextmanager
    def call(self) -> Iterator[CallProgress]:
        """A call in progress, which is told what happens from now on."""
        made = CallProgress()
        self._calls.add(made)
        try:
            yield made
        finally:
            self._calls.discard(made)

    def tell(self, text: str) -> None:
        """Tell all calls in progress."""
        for call in self._calls:
            call.tell([text])


def wants_progress(ctx: ServerRequestContext[Any]) -> bool:
    """Whether the client has sent a token for progress notifications."""
    meta = (ctx.params or {}).get("_meta")
    return isinstance(meta, dict) and meta.get("progressToken") is not None
