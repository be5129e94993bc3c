"""In a real kernel: what results look like, the magic, interrupts, restarts and violent ends."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.servers.built_in import BUILT_IN
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.scripted import SOURCE, comes_true, config_for, lives

pytest.importorskip("ipykernel", reason="ipykernel is not installed: make test installs it")

from tests.notebook.kernels import Kernel, kernel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("project")
    (made / "a.scr").write_text(SOURCE, encoding="utf-8")
    (made / "b.scr").write_text("ok\n", encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def shared(folder: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel with a workspace on a server that works, and that has started."""
    script = Script(diagnostics=Diagnostics(how="pull"))
    argv = script.command(tmp_path_factory.mktemp("scripted"))
    with kernel(folder, home) as one:
        assert one.run(f"{opening(argv)}\nws.check_all(['a.scr'])\n%load_ext lspkit").error == ""
        yield one


def opening(argv: list[str]) -> str:
    """A cell that opens a workspace, whose server is also asked about Python."""
    config = config_for(argv)
    config["lsp"]["scripted"]["extensions"].append(".py")
    others = [one.id for one in BUILT_IN if "python" in one.languages.values()]
    config["lsp"] |= {one: {"disabled": True} for one in others}
    written = json.dumps(config).replace("true", "True")
    return f"import lspkit\nws = lspkit.Workspace('.', config={written}, trusted=True)"


def test_locations_are_a_table_with_source_lines(shared):
    shown = shared.run("ws.references('a.scr', symbol='greet')")
    assert shown.text == "place source a.scr:1:5 def greet a.scr:2:3 😀 greet ok"
    assert "Location" in shown.result["text/plain"]


def test_only_lines_of_regular_files_in_the_workspace_are_shown(shared, folder):
    outside = folder.parent / "outside.scr"
    outside.write_text("secret\n", encoding="utf-8")
    (folder / "link.scr").symlink_to(outside)
    os.mkfifo(folder / "pipe.scr")
    shown = shared.run(
        "from pathlib import Path\n"
        "one = lspkit.Range(lspkit.Position(1, 1), lspkit.Position(1, 3))\n"
        f"names = ['a.scr', 'link.scr', 'pipe.scr', 'none.scr', {str(outside)!r}]\n"
        "[lspkit.Location(ws.root / name, one, '') for name in names]"
    )
    for name in ("link.scr", "pipe.scr"):
        (folder / name).unlink()
    assert shown.text.startswith("place source a.scr:1:1 def greet link.scr:1:1 pipe.scr:1:1 none")
    assert "secret" not in shown.html


def test_a_list_of_anything_else_is_left_as_it_is(shared):
    assert shared.run("[1, 'x', ws.root]").result.keys() == {"text/plain"}
    assert shared.run("[]").result == {"text/plain": "[]"}
    assert shared.run("{'a': [1]}").result.keys() == {"text/plain"}


def test_a_report_has_its_verdict_and_its_findings(shared):
    shown = shared.run("ws.check('a.scr', text='def x\\nERROR\\n')")
    assert shown.text.startswith("dirty a.scr")
    assert "error a.scr:2:1" in shown.text
    many = shared.run("ws.check_all(['a.scr'])")
    assert many.text.startswith("clean a.scr")


def test_a_hover_is_markdown(shared):
    shown = shared.run("ws.hover('a.scr', symbol='greet')")
    assert shown.result.keys() == {"text/plain", "text/markdown"}
    assert "greet" in shown.result["text/markdown"]


def test_status_is_a_table(shared):
    shown = shared.run("ws.status()")
    assert "state server languages processes findings active scripted" in shown.text


def test_an_edit_is_a_coloured_diff(shared):
    shown = shared.run("ws.rename('a.scr', 1, 5, new_name='hello')")
    assert "-def greet" in shown.text
    assert "+def hello" in shown.text
    assert "background:rgba(40,160,60,.18)" in shown.html


def test_an_error_shows_the_line_of_the_cell_and_the_message(shared):
    shown = shared.run("def ask():\n    return ws.hover('none.scr', 1, 1)\nask()")
    assert shown.error == "PathError"
    *lines, message = shown.traceback.splitlines()
    assert lines == ["line 3: ask()", "line 2: return ws.hover('none.scr', 1, 1)"]
    assert message.startswith("PathError: none.scr does not exist in ")


def test_a_mistyped_symbol_is_two_lines(shared):
    shown = shared.run("ws.references('a.scr', symbol='gret')")
    assert shown.error == "PositionError"
    line, message = shown.traceback.splitlines()
    assert line == "line 1: ws.references('a.scr', symbol='gret')"
    assert message.startswith("PositionError: a.scr defines no symbol gret; candidates: greet")


def test_large_values_are_short_also_as_plain_text(shared):
    for cell in ("ws.status()", "ws.rename('a.scr', 1, 5, new_name='hello')"):
        assert len(shared.run(cell).result["text/plain"]) <= 200
        printed = shared.run(f"print({cell})").printed
        assert len(printed.splitlines()) == 1
        assert len(printed) <= 300


def test_the_magic_checks_a_file(shared):
    assert shared.run("%lsp check a.scr").text.startswith("clean a.scr")
    assert shared.run("report = %lsp check a.scr\nprint(report)").printed == "a.scr: no errors\n"
    assert shared.run("%lsp check a.scr b.scr").text.startswith("verdict file findings clean a.scr")


def test_the_magic_finds_a_name_by_file_and_by_position(shared):
    by_name = shared.run("%lsp definition a.scr greet")
    by_position = shared.run("%lsp definition a.scr:2:4")
    by_word = shared.run("%lsp definition a.scr:2 greet")
    assert by_name.text == by_position.text == by_word.text == "place source a.scr:1:5 def greet"
    assert "greet" in shared.run("%lsp hover a.scr greet").result["text/markdown"]
    assert len(shared.run("%lsp references a.scr greet").html.split("<tr>")) == 4


def test_the_magic_lists_symbols_and_servers(shared):
    assert "greet 1:5" in shared.run("%lsp symbols a.scr").text
    assert "greet" in shared.run("%lsp symbols greet").text
    assert "active scripted" in shared.run("%lsp status").text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "one of check, hover"),
        ("bogus", "one of check, hover"),
        ("check", "%lsp check FILE"),
        ("status now", "%lsp status"),
        ("symbols", "%lsp symbols FILE"),
        ("hover", "%lsp hover NAME"),
        ("hover a b c", "%lsp hover NAME"),
        ("hover 1+1", "%lsp hover NAME"),
        ("hover 'a", "No closing quotation"),
        ("hover nothing_has_this_name", "no cell and no file of"),
    ],
)
def test_a_wrong_magic_is_told_in_one_line(shared, line, words):
    told = shared.run(f"%lsp {line}").printed.strip()
    assert told.startswith("UsageError: ")
    assert words in told
    assert "\n" not in told


def test_a_cell_is_checked_with_those_before_it_and_its_lines_are_its_own(shared):
    shared.run("def first(): pass  # ERROR, which was run")
    shared.run("!true ERROR\nx = !true\n%pwd")
    shown = shared.run("%%lsp\n\nfirst  # ERROR, which is shown")
    assert shown.text.count("error In[") == 1
    assert "]:3:10" in shown.text
    assert "first # ERROR, which is shown" in shown.text
    clean = shared.run("%%lsp\nx = 1\n%pwd ERROR")
    assert clean.text.startswith("clean In[")


def test_a_checked_cell_is_not_run(shared):
    shared.run("%%lsp\nnever = 1")
    assert shared.run("never").error == "NameError"


def test_a_name_of_a_cell_is_found_in_its_cell(shared):
    shared.run("#\ndef from_cell(): pass")
    shown = shared.run("%lsp definition from_cell")
    assert shown.text.startswith("place source In[")
    assert shown.text.endswith("]:2:5 def from_cell(): pass")


def test_a_cell_that_is_run_again_counts_as_it_was_last(shared):
    shared.run("def early(): pass", "one")
    assert shared.run("%%lsp\n# NEED early", "two").text.startswith("clean")
    shared.run("def late(): pass", "one")
    assert shared.run("%%lsp\n# NEED early", "two").text.startswith("dirty")
    assert shared.run("%%lsp\n# NEED late", "two").text.startswith("clean")
    # Also the cell that is checked counts as it is now.
    assert shared.run("%%lsp\n# NEED late", "one").text.startswith("dirty")


def test_a_cell_that_is_no_python_does_not_count(shared):
    assert shared.run("def broken(: pass").error == "SyntaxError"
    assert shared.run("def other(): pass").error == ""
    assert shared.run("%%lsp\n# NEED other").text.startswith("clean")
    assert shared.run("%%lsp\n# NEED broken").text.startswith("dirty")


def test_the_extension_can_be_loaded_twice_and_unloaded(shared):
    assert shared.run("%reload_ext lspkit").error == ""
    assert "clean" in shared.run("%lsp check a.scr").text
    assert "not found" in shared.run("%unload_ext lspkit\n%lsp status").printed
    assert "clean" in shared.run("%load_ext lspkit\n%lsp check a.scr").text


def test_an_interrupt_cancels_the_request_and_the_next_cell_works(folder, home, scripted):
    argv = scripted(Script(faults=[Fault("textDocument/definition", "hang", nth=1)]))
    with kernel(folder, home) as one:
        assert one.run(opening(argv)).error == ""
        cell = one.begin("ws.definition('a.scr', 2, 4)")
        assert comes_true(lambda: Log.of(argv).messages("textDocument/definition"))
        one.manager.interrupt_kernel()
        assert one.finish(cell).error == "KeyboardInterrupt"
        assert comes_true(lambda: Log.of(argv).messages("$/cancelRequest"))
        assert one.run("ws.definition('a.scr', 2, 4)").text == "place source a.scr:1:5 def greet"
        assert len(Log.of(argv).pids()) == 1
        (pid,) = Log.of(argv).pids()
        one.manager.restart_kernel(now=False)
        assert comes_true(lambda: not lives(pid))


def test_a_kernel_that_is_killed_leaves_no_server(folder, home, scripted):
    argv = scripted(Script(ignore=["shutdown", "exit", "eof", "SIGTERM"]))
    with kernel(folder, home) as one:
        assert one.run(f"{opening(argv)}\nws.check('a.scr')").error == ""
        (pid,) = Log.of(argv).pids()
        assert lives(pid)
        one.manager.signal_kernel(signal.SIGKILL)
        assert comes_true(lambda: not lives(pid))


def test_a_slow_start_is_shown_in_one_display(folder, home, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "delay", seconds=2.5)]))
    with kernel(folder, home) as one:
        shown = one.run(f"{opening(argv)}\nws.definition('a.scr', 2, 4)")
        assert len(shown.displays) == 1
        assert "scripted: starting, 1 s" in shown.displays[0]
        assert "scripted: ready after" in (shown.updates or [one.next_update()])[-1]


def test_the_workspace_of_the_magic_is_used_and_closed_however_many_others_there_were(folder, home):
    with kernel(folder, home) as one:
        opened = one.run(
            "import lspkit\n"
            "from lspkit.notebook.open_workspaces import MOST, last_open\n"
            "%load_ext lspkit\n"
            "%lsp status\n"
            "first = last_open()\n"
            "others = [lspkit.Workspace('.') for _ in range(MOST)]\n"
            "for other in others: other.close()\n"
            "%lsp status\n"
            "print(last_open() is first, first.closed)\n"
        )
        assert (opened.error, opened.printed) == ("", "True False\n")
        assert one.run("%unload_ext lspkit\nprint(first.closed)").printed == "True\n"
