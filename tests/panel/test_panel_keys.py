"""The panel by its keys, at several sizes and with no, one and many servers."""

from __future__ import annotations

import pytest

pytest.importorskip("textual", reason="the extra is not installed: pip install 'lspkit[panel]'")

import lspkit
from lspkit.errors import ServerUnavailableError
from lspkit.operations import RestartServerRequest
from lspkit.operations.host_results import TrustNotice
from lspkit.servers.status import ServerState, WorkspaceStatus
from tests.panel.samples import ROOT, FixedEngine, broken, many, running, server, shop, taken
from tests.panel.screen import in_loop, panel, panel_on

SIZES = [(40, 12), (80, 24), (200, 50)]
each_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")

ALL_KEYS = (
    *("j", "enter", "down", "k", "up", "G", "enter", "g", "enter", "slash", *"ser", "enter"),
    *("escape", "question_mark", "j", "escape", "t", "escape", "s", "r", "ctrl+r"),
)


@pytest.mark.slow
@each_size
@pytest.mark.parametrize("number", [0, 1, 60])
def test_no_key_makes_a_line_wider_than_the_terminal(size, number):
    async def test() -> None:
        async with panel(many(number), size) as shown:
            assert shown.fits()
            for key in ALL_KEYS:
                await shown.press(key)
                assert shown.fits(), key
            for half in ((20, 6), (8, 4), size):
                await shown.pilot.resize_terminal(*half)
                await shown.pilot.pause()
                assert shown.fits()

    in_loop(test)


@each_size
def test_the_overlay_is_centred_with_a_margin(size):
    async def test() -> None:
        async with panel(many(60), size) as shown:
            region = shown.app._panel.region
            width, height = size
            assert region.width == min(82, int(width * 0.95))
            assert region.height <= height * 0.8
            assert abs(region.x - (width - region.right)) <= 1
            assert abs(region.y - (height - region.bottom)) <= 1
            assert min(region.x, region.y, width - region.right, height - region.bottom) >= 1

    in_loop(test)


def test_keys_move_the_selection():
    async def test() -> None:
        async with panel(shop()) as shown:
            assert shown.selected() == "gopls"
            for keys, id in (
                (["j"], "rust-analyzer"),
                (["down"], "basedpyright"),
                (["k"], "rust-analyzer"),
                (["up", "up", "up"], "gopls"),
                (["G"], "lua"),
                (["j"], "lua"),
                (["g"], "gopls"),
            ):
                await shown.press(*keys)
                assert shown.selected() == id

    in_loop(test)


@pytest.mark.slow
@each_size
def test_the_selected_row_is_always_visible(size):
    async def test() -> None:
        async with panel(many(60), size) as shown:
            for key in ("G", "g", *"jjjjjjjjjjjj", "G", "k"):
                await shown.press(key)
                assert shown.selected() != ""

    in_loop(test)


def test_enter_expands_and_folds():
    async def test() -> None:
        async with panel(shop()) as shown:
            await shown.press("enter")
            for words in (
                "error     gopls has ended",
                "next try  in 4 s",
                "panic: runtime",
                "trust",
            ):
                assert words in shown.text()
            await shown.press("enter")
            assert "panic: runtime" not in shown.text()

    in_loop(test)


def test_details_that_are_taller_than_the_list_are_scrolled_before_the_next_row():
    async def test() -> None:
        async with panel(shop(), (40, 12)) as shown:
            await shown.press("enter")
            assert shown.selected() == "gopls"
            assert "panic" not in shown.text()
            for _ in range(40):
                await shown.press("j")
                if "panic" in shown.text():
                    break
            assert "panic: runtime" in shown.text()
            while shown.selected() in ("", "gopls"):
                await shown.press("j")
            assert shown.selected() == "rust-analy…"
            await shown.press("k")
            assert shown.selected() == "gopls"

    in_loop(test)


def test_a_filter_acts_while_it_is_typed_and_escape_leaves_it():
    async def test() -> None:
        async with panel(shop()) as shown:
            await shown.press("slash", *"active")
            assert "gopls" not in shown.text()
            assert shown.selected() == "basedpyright"
            await shown.press("enter", "j")
            assert shown.selected() == "ruff"
            await shown.press("escape")
            assert "gopls" in shown.text()
            assert shown.selected() == "ruff"
            assert shown.app.is_running
            await shown.press("escape")
            await shown.until(lambda: not shown.app.is_running)

    in_loop(test)


def test_a_filter_that_is_given_up_leaves_the_selection_as_it_was():
    async def test() -> None:
        async with panel(shop()) as shown:
            await shown.press("j")
            before = shown.selected()
            for key in ("slash", *"active", "z", "escape"):
                await shown.press(key)
            assert shown.selected() == before != "basedpyright"

    in_loop(test)


def test_letters_in_a_filter_are_no_commands():
    async def test() -> None:
        async with panel(shop()) as shown:
            await shown.press("slash", *"qsrt?/")
            assert "qsrt?/" in shown.text()
            assert "no rows match filter" in shown.text()
            assert shown.app.is_running
            await shown.press("down", "enter", "enter", "s", "escape")
            assert shown.selected() == "gopls"
            assert not [one for one in shown.engine.requests if type(one) is RestartServerRequest]

    in_loop(test)


@pytest.mark.parametrize("key", ["q", "ctrl+c", "escape"])
def test_these_keys_quit(key):
    async def test() -> None:
        async with panel(shop()) as shown:
            await shown.press(key)
            await shown.until(lambda: not shown.app.is_running)

    in_loop(test)


@each_size
def test_help_names_every_key(size):
    async def test() -> None:
        async with panel(shop(), size) as shown:
            await shown.press("question_mark")
            assert "↑ ↓  j k" in shown.text()
            await shown.press("q")
            assert shown.app.is_running
            assert "↑ ↓  j k" not in shown.text()

    in_loop(test)


def test_s_restarts_the_selected_server():
    async def test() -> None:
        async with panel(shop()) as shown:
            await shown.press("j", "s")
            await shown.until(lambda: "rust-analyzer was restarted" in shown.text())
            assert RestartServerRequest(server="rust-analyzer") in shown.engine.requests
            await shown.press("j")
            assert "was restarted" not in shown.text()

    in_loop(test)


def test_one_that_does_not_run_is_not_restarted():
    async def test() -> None:
        async with panel(taken([server("bash")])) as shown:
            await shown.press("s")
            assert "bash does not run" in shown.text()

    in_loop(test)


def test_t_shows_what_trust_would_allow_and_changes_nothing():
    notice = TrustNotice(
        project=ROOT,
        text="",
        state="untrusted",
        why="nobody has trusted it",
        held_back=("lsp.ty.command", "node_modules/.bin/eslint"),
        remedy=f"lspkit trust add {ROOT} (in a terminal), or Workspace(..., trusted=True)",
    )

    async def test() -> None:
        async with panel(shop(), notice=notice) as shown:
            await shown.press("t")
            await shown.until(lambda: "lspkit trust add" in shown.text())
            assert "node_modules/.bin/eslint" in shown.text()
            assert "untrusted: nobody has trusted it" in shown.text()
            await shown.press("y", "escape")
            assert "lspkit trust add" not in shown.text()
            assert len({type(one) for one in shown.engine.requests}) == 2

    in_loop(test)


def test_a_trusted_project_has_no_question():
    async def test() -> None:
        async with panel(shop()) as shown:
            await shown.press("t")
            await shown.until(lambda: "Nothing is held back." in shown.text())
            assert "lspkit trust add" not in shown.text()

    in_loop(test)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (taken([]), "no servers configured"),
        (taken([], unavailable="LSP disabled by configuration"), "LSP disabled by configuration"),
        (
            taken([server("a", ServerState.DISABLED)], unavailable="no server"),
            "LSP unavailable: no",
        ),
    ],
)
def test_an_empty_panel_says_why(status: WorkspaceStatus, words: str):
    async def test() -> None:
        async with panel(status) as shown:
            assert words in shown.text()

    in_loop(test)


def test_without_a_status_it_says_why_and_r_tries_again():
    engine = FixedEngine(shop())
    engine.problem = ServerUnavailableError("the service has ended")

    async def test() -> None:
        with lspkit.Workspace.on_engine(engine, ROOT) as ws:
            async with panel_on(ws, engine) as shown:
                assert "✗ the service has ended" in shown.text()
                assert "the status cannot be read (r tries again)" in shown.text()
                engine.problem = None
                await shown.press("r")
                await shown.until(lambda: "gopls" in shown.text())
                assert "the service has ended" not in shown.text()

    in_loop(test)


def test_an_event_brings_a_new_status_and_the_selection_stays():
    async def test() -> None:
        async with panel(shop()) as shown:
            await shown.press("j", "j", "enter")
            rows = [broken("another", "ended"), *shop().rows]
            shown.engine.tell(taken(rows))
            await shown.until(lambda: "another" in shown.text())
            assert shown.selected() == "basedpyright"
            shown.engine.tell(taken([running("only")]))
            await shown.until(lambda: shown.selected() == "only")

    in_loop(test)


def test_when_the_service_ends_it_is_not_started_again():
    async def test() -> None:
        async with panel(shop()) as shown:
            before = shown.engine.taken()
            await shown.press("r")
            await shown.until(lambda: shown.engine.taken() > before)
            before = shown.engine.taken()
            shown.engine.streams[-1].close()
            await shown.until(lambda: "the service has ended" in shown.text())
            assert shown.engine.taken() == before
            assert "gopls" in shown.text()
            await shown.press("r")
            await shown.until(lambda: "the service has ended" not in shown.text())

    in_loop(test)


def test_it_ends_with_its_workspace():
    engine = FixedEngine(shop())

    async def test() -> None:
        ws = lspkit.Workspace.on_engine(engine, ROOT)
        async with panel_on(ws, engine) as shown:
            ws.close()
            await shown.until(lambda: not shown.app.is_running)

    in_loop(test)
