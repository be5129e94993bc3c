"""Opens the panel without a terminal, presses keys, and reads the screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from rich.cells import cell_len
from textual.pilot import Pilot

import lspkit
from lspkit.panel.panel_app import PanelApp
from lspkit.servers.status import WorkspaceStatus
from tests.panel.samples import NOW, ROOT, FixedEngine

PATIENCE = 20.0


class OpenPanel:
    """A panel that is shown, with what a test does to it."""

    def __init__(self, app: PanelApp, pilot: Pilot[None], engine: FixedEngine) -> None:
        self.app, self.pilot, self.engine = app, pilot, engine

    async def press(self, *keys: str) -> None:
        """Press keys one after another."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "\n".join(self.lines())
            await self.pilot.pause()
        await self.pilot.pause()

    def lines(self) -> list[str]:
        """The lines of the screen."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]

    def text(self) -> str:
        """The whole screen, without the space at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.lines())

    def fits(self) -> bool:
        """Whether the screen has exactly the size of the terminal."""
        width, height = self.app.size
        return [cell_len(line) for line in self.lines()] == [width] * height

    def selected(self) -> str:
        """The id of the selected server, as the cursor on the screen shows it."""
        marked = [line for line in self.lines() if "› " in line]
        return marked[0].split("› ")[1].split()[2] if marked else ""


@asynccontextmanager
async def panel_on(
    ws: lspkit.Workspace, engine: FixedEngine, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[OpenPanel]:
    """The panel of a workspace, after its first status."""
    app = PanelApp(ws, now=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        shown = OpenPanel(app, pilot, engine)
        await shown.until(lambda: "loading" not in shown.text())
        yield shown


@asynccontextmanager
async def panel(
    status: WorkspaceStatus, size: tuple[int, int] = (80, 24), **more: Any
) -> AsyncIterator[OpenPanel]:
    """A panel with this status."""
    engine = FixedEngine(status, **more)
    with lspkit.Workspace.on_engine(engine, ROOT) as ws:
        async with panel_on(ws, engine, size) as shown:
            yield shown


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run an asynchronous test in a loop of its own."""
    asyncio.run(test())
