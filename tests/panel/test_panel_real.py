"""The panel on workspaces with real processes, in this process and in the service."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the extra is not installed: pip install 'lspkit[panel]'")

import lspkit
from lspkit.panel import panel_of
from lspkit.panel.panel_app import PanelApp
from lspkit.testing import Fault, Script
from tests.panel.samples import FixedEngine, taken
from tests.panel.screen import OpenPanel
from tests.real_servers import require
from tests.scripted import SOURCE, config_for
from tests.service.conftest import site as site

pytestmark = pytest.mark.slow

FAULT = Fault("textDocument/definition", "crash", run=1)


@pytest.mark.server
def test_a_broken_server_beside_a_real_one_is_restarted_by_a_key(tmp_path: Path, scripted):
    require("ty")
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "wrong.py").write_text('number: int = "one"\n', encoding="utf-8")
    config = config_for(scripted(Script(faults=[FAULT])))
    config["lsp"]["ty"] = {"disabled": False}
    with lspkit.Workspace(tmp_path, config={**config, "restart": {"policy": "never"}}) as ws:
        assert ws.check("wrong.py", timeout=60).verdict is lspkit.Verdict.DIRTY
        with pytest.raises(lspkit.ServerBrokenError):
            ws.definition("a.scr", 2, 4)
        first, *_ = panel_of(ws.status()).rows
        assert (first.server_id, first.broken is not None) == ("scripted", True)

        async def look() -> None:
            app = PanelApp(ws)
            async with app.run_test(size=(90, 40)) as pilot:
                shown = OpenPanel(app, pilot, FixedEngine(taken([])))
                await shown.until(lambda: "✗ broken      scripted" in shown.text())
                await shown.until(lambda: "● active      ty" in shown.text())
                assert "1E" in shown.text()
                await shown.press("enter")
                assert "not before a reload or a restart (s)" in shown.text()
                await shown.press("s")
                await shown.until(lambda: "● active      scripted" in shown.text())

        asyncio.run(look())
        assert ws.definition("a.scr", 2, 4)


def test_the_panel_of_a_service_follows_what_another_client_does(site):
    with site.connect() as ws, site.connect() as other:

        async def look() -> None:
            app = PanelApp(ws)
            async with app.run_test(size=(90, 40)) as pilot:
                shown = OpenPanel(app, pilot, FixedEngine(taken([])))
                await shown.until(lambda: "○ idle        scripted" in shown.text())
                await asyncio.to_thread(other.definition, "a.scr", 2, 4)
                await shown.until(lambda: "● active      scripted" in shown.text())
                await asyncio.to_thread(site.run, "stop", str(site.project))
                await shown.until(lambda: "the service has ended" in shown.text())
                await shown.press("q")

        asyncio.run(look())
