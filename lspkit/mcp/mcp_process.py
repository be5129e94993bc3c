"""An MCP server in a process: its event loop in a thread, its descriptors, its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
from collections.abc import Callable, Iterator

import anyio

from lspkit.errors import LspkitError
from lspkit.mcp.mcp_session import McpSession
from lspkit.mcp.wire_streams import Descriptors, Wire
from lspkit.runtime.concurrency.threads import OwnThread
from lspkit.service.process_end import END_TIMEOUT, end_signals, killed_if_late
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.visible_text import one_line
from lspkit.workspace import Workspace

log = logging.getLogger("lspkit.mcp")

#: Seconds for the last messages to a client.
FLUSH_TIMEOUT = 2.0
#: Seconds after which a signal that was not noticed at once is.
SIGNAL_LOOK = 1.0

#: A workspace, or None with the reason why there is none.
Opened = tuple[Workspace | None, str]


class McpChannel:
    """Serves one client in a thread of its own, until its input ends or `close` is called."""

    def __init__(
        self,
        descriptors: Descriptors,
        ws: Workspace | None,
        reason: str = "",
        *,
        allow_apply: bool = False,
        refresh: Callable[[], object] = lambda: None,
        on_over: Callable[[], object] = lambda: None,
    ) -> None:
        self._descriptors, self._ws, self._reason = descriptors, ws, reason
        self._allow_apply, self._refresh, self._on_over = allow_apply, refresh, on_over
        self._loop: asyncio.AbstractEventLoop | None = None
        self._main: asyncio.Task[None] | None = None
        self._session: McpSession | None = None
        self._ended = False
        self._thread = OwnThread(self._run, "mcp")

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except asyncio.CancelledError:
            pass
        except Exception:
            log.exception("the MCP server has failed")
        finally:
            self._on_over()

    async def _serve(self) -> None:
        self._main, self._loop = asyncio.current_task(), asyncio.get_running_loop()
        if self._ended:
            return
        session = self._session = McpSession(
            self._ws, self._reason, allow_apply=self._allow_apply, refresh=self._refresh
        )
        await session.begin()
        wire = Wire(self._descriptors)
        try:
            wire.start()
            options = session.server.create_initialization_options()
            async with anyio.create_task_group() as group:
                group.start_soon(_write_until_closed, wire, group.cancel_scope)
                await session.server.run(wire.incoming, wire.outgoing, options)
                # A client that has closed the input need not read any more.
                group.cancel_scope.deadline = anyio.current_time() + FLUSH_TIMEOUT
        finally:
            wire.close()

    def close(self) -> None:
        """End the client's calls, and wait for the threads."""
        self._ended = True
        loop, main = self._loop, self._main
        if loop is not None and main is not None:
            with contextlib.suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(main.cancel)
        self._thread.over.wait(END_TIMEOUT)
        if self._session is not None:
            self._session.close()


async def _write_until_closed(wire: Wire, scope: anyio.CancelScope) -> None:
    try:
        await wire.write_all()
    except OSError as problem:
        log.warning("the client does not read: %s", problem.strerror)
        scope.cancel()


def take_standard_streams() -> Descriptors:
    """Descriptors of standard input and output, which are the wire from now on.

    What is printed goes to standard error, and nothing can be read from standard input.
    """
    wire = Descriptors(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    return wire


def serve_alone(
    descriptors: Descriptors, open_workspace: Callable[[], Workspace], *, allow_apply: bool
) -> None:
    """Serve one client until it closes the input, or a signal comes."""
    # A queue of this kind may be used in signal handlers. A text is the reason to end.
    moments: queue.SimpleQueue[str | Opened] = queue.SimpleQueue()
    with end_signals() as on_signal:
        on_signal(moments.put)
        # In a thread: it may wait for a service, and a signal must not.
        OwnThread(lambda: moments.put(_opened(open_workspace)), "mcp-open").start()
        opened = _next(moments)
        if isinstance(opened, str):
            return
        ws, reason = opened
        channel = McpChannel(
            descriptors,
            ws,
            reason,
            allow_apply=allow_apply,
            on_over=lambda: moments.put("the client is gone"),
        )
        try:
            channel.start()
            _next(moments)
        finally:
            with killed_if_late():
                channel.close()
                if ws is not None:
                    ws.close()


def _next(moments: queue.SimpleQueue[str | Opened]) -> str | Opened:
    """Wait for the next moment.

    Python does not notice a signal that comes just before a wait begins, until the wait ends.
    """
    while True:
        with contextlib.suppress(queue.Empty):
            return moments.get(timeout=SIGNAL_LOOK)


def _opened(open_workspace: Callable[[], Workspace]) -> Opened:
    try:
        return open_workspace(), ""
    except LspkitError as problem:
        return None, str(problem)
    except OSError as problem:
        return None, one_line(str(problem))
    except Exception as problem:
        log.exception("the workspace could not be opened")
        return None, f"lspkit itself failed ({type(problem).__name__}); see its log"


@contextlib.contextmanager
def serve_beside(
    descriptors: Descriptors, shared: SharedWorkspace, *, allow_apply: bool
) -> Iterator[None]:
    """Serve one client meanwhile, with the workspace of a service in this process."""
    channel = McpChannel(
        descriptors, shared.ws, allow_apply=allow_apply, refresh=shared.reload_if_changed
    )
    channel.start()
    try:
        yield
    finally:
        with killed_if_late():
            channel.close()
