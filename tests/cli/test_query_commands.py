"""The commands that ask about code, as processes, with real servers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import real_servers
from tests.cli.running import on_terminal
from tests.cli.shop import PRICES, SHOP, configured, write_shop
from tests.real.projects import PROJECTS, Files, Spot
from tests.real.running import command as server_command
from tests.real.running import environment as server_environment

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_shop(tmp_path)


DEFINITION = "prices.py:4:5: def price_of(item: str) -> int:\n"
USES = (
    "shop.py:1:20: from prices import price_of\n"
    "shop.py:8:20: return sum(price_of(item) for item in self.items)\n"
)


# Positions


@pytest.mark.parametrize(
    "words",
    [
        ["shop.py:8:20"],
        ["./shop.py:8:20:"],
        ["shop.py:8", "--symbol", "price_of"],
        ["prices.py", "--symbol", "price_of"],
        ["--symbol", "price_of", "prices.py", "--root", "."],
    ],
    ids=" ".join,
)
def test_a_position_is_given_by_numbers_or_by_name(with_ty, shop, words):
    done = with_ty("definition", *words, cwd=shop)
    assert (done.returncode, done.stdout, done.stderr) == (0, DEFINITION, "")


def test_from_elsewhere_the_paths_are_absolute(with_ty, shop):
    done = with_ty("definition", f"{shop}/shop.py:8:20", cwd="/")
    assert (done.returncode, done.stdout) == (0, f"{shop}/{DEFINITION}")


def test_a_root_is_the_workspace_wherever_one_stands(with_ty, shop):
    (shop / "sub").mkdir()
    done = with_ty("definition", "--root", "..", "../shop.py:8:20", cwd=shop / "sub")
    assert (done.returncode, done.stdout) == (0, f"{shop}/{DEFINITION}")


def test_a_name_with_colons_is_a_name(with_ty, shop):
    (shop / "a:1.py").write_text("def pour() -> None: ...\n", encoding="utf-8")
    done = with_ty("references", "a:1.py:1:5", cwd=shop)
    assert (done.returncode, done.stdout) == (0, "a:1.py:1:5: def pour() -> None: ...\n")


# Commands


def test_references_come_with_and_without_the_declaration(with_ty, shop):
    at = ("prices.py", "--symbol", "price_of")
    assert with_ty("references", *at, cwd=shop).stdout == DEFINITION + USES
    assert with_ty("references", *at, "--no-declaration", cwd=shop).stdout == USES


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["definition", "price_of"], DEFINITION),
        (["references", "price_of", "--no-declaration"], USES),
        (["hover", "price_of"], "```python\ndef price_of(item: str) -> int\n```\n"),
        (["implementation", "Basket"], "shop.py:4:7: class Basket:\n"),
        (["calls", "--out", "Basket.total"], "prices.py:4:5: function price_of (called at 8:20)\n"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_a_symbol_is_found_by_its_name_alone(with_ty, shop, words, output):
    done = with_ty(*words, cwd=shop)
    assert (done.returncode, done.stderr) == (0, "")
    assert output in done.stdout


def test_a_name_that_nothing_has_is_a_mistake_in_the_call(with_ty, shop):
    done = with_ty("references", "nothing", cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"lspkit: no file of {shop} defines nothing\n"


def test_hover_is_the_text_of_the_server(with_ty, shop):
    done = with_ty("hover", "shop.py:8:20", cwd=shop)
    assert done.stdout == "```python\ndef price_of(item: str) -> int\n```\n"


def test_an_implementation_is_a_location(with_ty, shop):
    done = with_ty("implementation", "shop.py:4:7", cwd=shop)
    assert (done.returncode, done.stdout) == (0, "shop.py:4:7: class Basket:\n")


def test_the_outline_is_a_tree(with_ty, shop):
    done = with_ty("symbols", "shop.py", cwd=shop)
    assert done.stdout == (
        "class Basket shop.py:4:7\n  field items shop.py:5:5\n  method total shop.py:7:9\n"
    )


@pytest.mark.parametrize("words", [["--query"], ["-q"], ["prices.py", "-q"]], ids=" ".join)
def test_symbols_of_the_workspace_are_found_by_name(with_ty, shop, words):
    done = with_ty("symbols", *words, "price_of", cwd=shop)
    assert (done.returncode, done.stdout) == (0, "prices.py:4:5: function price_of\n")


@pytest.mark.parametrize("words", [[], ["--in"]], ids=["", "--in"])
def test_callers_are_shown_with_their_calls(with_ty, shop, words):
    done = with_ty("calls", "prices.py:4:5", *words, cwd=shop)
    assert done.stdout == (
        "shop.py:7:9: method total\n"
        "  shop.py:8:20: return sum(price_of(item) for item in self.items)\n"
    )


def test_callees_are_shown_with_where_they_are_called(with_ty, shop):
    done = with_ty("calls", "--out", "shop.py", "--symbol", "Basket.total", cwd=shop)
    assert "prices.py:4:5: function price_of (called at 8:20)\n" in done.stdout


def test_nothing_found_is_status_1_and_a_line_beside_the_result(with_ty, shop):
    done = with_ty("calls", "shop.py", "--symbol", "total", cwd=shop)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "lspkit: no caller was found\n"


# Rename


def test_a_rename_is_shown_and_not_written(with_ty, shop):
    done = with_ty("rename", "prices.py:4:5", "cost_of", cwd=shop)
    assert done.returncode == 0
    assert done.stdout.startswith("--- prices.py\n+++ prices.py\n@@ ")
    assert "\n-from prices import price_of\n+from prices import cost_of\n" in done.stdout
    assert (shop / "prices.py").read_text(encoding="utf-8") == PRICES


def test_a_rename_is_written_with_apply(with_ty, shop):
    words = ("prices.py", "--symbol", "price_of", "cost_of", "--apply")
    done = with_ty("rename", *words, cwd=shop)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("changed prices.py\nchanged shop.py\n")
    for name, text in (("prices.py", PRICES), ("shop.py", SHOP)):
        written = (shop / name).read_text(encoding="utf-8")
        assert written == text.replace("price_of", "cost_of")


def test_a_rename_that_introduces_errors_is_undone(with_ty, shop):
    done = with_ty("rename", "prices.py:4:5", "PRICES", "--apply", cwd=shop)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("lspkit: the edit was undone, since it introduces errors: ")
    assert (shop / "prices.py").read_text(encoding="utf-8") == PRICES
    assert (shop / "shop.py").read_text(encoding="utf-8") == SHOP


# Other servers

GO = Files(
    language="go",
    files={
        "go.mod": "module example.org/shop\n\ngo 1.20\n",
        "far.go": "package main\n\nfunc distance() int {\n\treturn 41\n}\n",
        "main.go": "package main\n\nfunc main() {\n\tprintln(distance())\n}\n",
    },
)
#: The project of each server, its main file, and in it a name that another file defines.
SERVERS = {
    "typescript": (PROJECTS["typescript"], Spot("main.ts", "distance + "), "far.ts"),
    "clangd": (PROJECTS["clangd"], Spot("main.cpp", "distance(1)"), "far.h"),
    "gopls": (GO, Spot("main.go", "distance()"), "far.go"),
}


@pytest.mark.parametrize("server", SERVERS)
def test_other_languages_are_asked_in_the_same_way(bare, tmp_path, server):
    real_servers.require(server)
    project, spot, far = SERVERS[server]
    folder = tmp_path / "project"
    folder.mkdir()
    project.write(folder)
    line, column = project.place(spot)
    argv = server_command(server) if server in PROJECTS else real_servers.command(server)
    variables = configured(
        folder, server, command=argv, env=server_environment(folder, server), disabled=False
    )

    at = f"{spot.file}:{line}:{column}"
    done = bare("definition", at, cwd=folder, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{far}:")
    assert "distance" in done.stdout
    assert "distance" in bare("hover", at, cwd=folder, **variables).stdout
    used = bare("references", at, cwd=folder, **variables).stdout
    assert f"{spot.file}:{line}:{column}: " in used
    outline = bare("symbols", far, cwd=folder, **variables).stdout
    assert f" distance {far}:" in outline


# Colours


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": ""}], ids=["", "NO_COLOR is empty"])
def test_a_terminal_has_colours(with_ty, shop, variables):
    seen = see(with_ty, shop, TERM="xterm", **variables)
    assert "\x1b[35mprices.py\x1b[0m:\x1b[32m4:5\x1b[0m: def price_of" in seen


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_has_none_if_they_are_refused(with_ty, shop, variables):
    assert see(with_ty, shop, **{"TERM": "xterm", **variables}) == DEFINITION.replace("\n", "\r\n")


def see(with_ty, shop, **variables: str) -> str:
    pytest.importorskip("pty")
    environment = {**with_ty.environment, "TMPDIR": os.environ["TMPDIR"], **variables}
    words = with_ty.command("definition", "shop.py:8:20")
    status, seen = on_terminal(words, shop, environment)
    assert status == 0
    return seen
