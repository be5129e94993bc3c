"""`McpClient`: the official client, in a thread of its own, so that tests can call it."""

from __future__ import annotations

import os
import queue
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import anyio
import mcp.types as types
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import lspkit
from lspkit.mcp.mcp_process import McpChannel
from lspkit.mcp.wire_streams import Descriptors, Wire
from tests.service.site import Site

#: Seconds that a call may take on a busy machine.
PATIENCE = 60.0
#: The same in a configuration: also checks by tools wait for so long.
TIMING = dict.fromkeys(
    (
        *("initializeTimeoutMs", "requestTimeoutMs"),
        *("diagnosticsWaitTimeoutMs", "firstTouchTimeoutMs"),
    ),
    60_000,
)


class McpClient:
    """A connected client; `legacy` says whether it begins with a handshake."""

    def __init__(self, transport: Any, *, legacy: bool = True, roots: list[str] | None = None):
        self.logged: queue.Queue[tuple[str, str]] = queue.Queue()
        self.progress: queue.Queue[str] = queue.Queue()
        options: dict[str, Any] = {"mode": "legacy" if legacy else "auto"}
        if roots is not None:
            self.roots = roots
            options["list_roots_callback"] = self._list_roots
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        client = Client(
            transport,
            logging_callback=self._log,
            read_timeout_seconds=PATIENCE,
            log_level="info",
            **options,
        )
        self.client = self._stack.enter_context(self._portal.wrap_async_context_manager(client))

    def __enter__(self) -> McpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def _log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logged.put((params.level, str(params.data)))

    async def _list_roots(self, _: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=one) for one in self.roots])

    async def _on_progress(self, _: float, __: float | None, text: str | None) -> None:
        self.progress.put(text or "")

    # Calls

    def ask(self, method: str, *given: Any, **more: Any) -> Any:
        """Call a method of the client."""
        return self._portal.call(partial(getattr(self.client, method), *given, **more))

    def begin(self, name: str, arguments: dict[str, Any], *, progress: bool = False) -> Future[Any]:
        """Call a tool without waiting; cancelling the future cancels the call."""
        options = {"progress_callback": self._on_progress} if progress else {}
        job = partial(self.client.call_tool, name, arguments, **options)
        return self._portal.start_task_soon(job)

    def tool(self, name: str, **arguments: Any) -> types.CallToolResult:
        """Call a tool."""
        found: types.CallToolResult = self.ask("call_tool", name, arguments)
        return found

    def text(self, name: str, **arguments: Any) -> str:
        """Call a tool that has no error; its text."""
        result = self.tool(name, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content["ok"] is True
        return text_of(result)

    def error(self, name: str, **arguments: Any) -> str:
        """Call a tool that has an error; its text."""
        result = self.tool(name, **arguments)
        assert result.is_error
        assert result.structured_content["ok"] is False
        assert "Traceback" not in text_of(result)
        return text_of(result)

    def names(self) -> list[str]:
        """The names of the tools."""
        return [one.name for one in self.ask("list_tools").tools]


def text_of(result: types.CallToolResult) -> str:
    """The text of a result."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@contextmanager
def started(
    site: Site, *words: str, legacy: bool = True, folder: str = "", **environ: str
) -> Iterator[McpClient]:
    """A client of `lspkit mcp` in a process of its own, in the folder of a project or below it."""
    params = StdioServerParameters(
        command=sys.executable,
        args=["-m", "lspkit", "mcp", *words],
        env={**site.environ, **environ},
        cwd=str(site.project / folder),
    )
    with (
        (site.base / "stderr").open("w", encoding="utf-8") as errors,
        McpClient(stdio_client(params, errlog=errors), legacy=legacy) as client,
    ):
        yield client


@contextmanager
def served(
    ws: lspkit.Workspace | None,
    *,
    reason: str = "",
    allow_apply: bool = False,
    legacy: bool = True,
    roots: list[str] | None = None,
) -> Iterator[McpClient]:
    """A client of a server in this process, over two pipes."""
    there, here = os.pipe(), os.pipe()
    channel = McpChannel(Descriptors(there[0], here[1]), ws, reason, allow_apply=allow_apply)
    channel.start()
    try:
        with McpClient(_over(here[0], there[1]), legacy=legacy, roots=roots) as client:
            yield client
    finally:
        channel.close()


@asynccontextmanager
async def _over(input: int, output: int) -> AsyncIterator[Any]:
    """The client's end of two pipes."""
    wire = Wire(Descriptors(input, output))
    wire.start()
    async with anyio.create_task_group() as group:
        group.start_soon(wire.write_all)
        try:
            yield wire.incoming, wire.outgoing
        finally:
            wire.close()
            group.cancel_scope.cancel()
