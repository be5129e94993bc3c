"""Answers as text for a model: places with their lines, and what to do instead."""

from __future__ import annotations

import json

import pytest

import lspkit
from lspkit.agent import Toolbox
from lspkit.agent.tools.envelope import MOST_BYTES
from lspkit.agent.tools.result_text import bare_name, longest_word
from lspkit.testing import Diagnostics, Fault, Script
from tests.agent.tools.calling import GREP, PLACE, able, alone, codes, served
from tests.scripted import config_for


def test_places_have_their_source_lines_beside_them(tmp_path, scripted):
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        assert toolbox.execute("lsp_definition", PLACE) == "a.scr:1:5  def greet"
        assert toolbox.execute("lsp_references", PLACE).splitlines() == [
            "a.scr:1:5  def greet",
            "a.scr:2:3  😀 greet ERROR",
        ]
        assert toolbox.execute("lsp_hover", PLACE) == "> def greet"
        named = "a.scr:1:5  function greet  |  def greet"
        assert toolbox.execute("lsp_document_symbols", {"path": "a.scr"}) == named
        assert toolbox.execute("lsp_symbols", {"query": "gr", "path": "a.scr"}) == named
        assert toolbox.execute("lsp_call_hierarchy", PLACE) == named
        assert toolbox.execute("lsp_incoming_calls", PLACE).splitlines() == [
            named,
            "    a.scr:2:3  😀 greet ERROR",
        ]
        assert toolbox.execute("lsp_outgoing_calls", PLACE).splitlines() == [
            named,
            "    called at 2:3",
        ]
        found = toolbox.execute("lsp_diagnostics", {"filePath": "a.scr"})
        assert found == "a.scr:2:9  ERROR ERROR (ERROR)  |  😀 greet ERROR"


def test_a_rename_shows_each_line_before_and_after(tmp_path, scripted):
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        text = toolbox.execute("lsp_rename", {**PLACE, "newName": "meet"})
    assert text.splitlines() == [
        "2 changes in 1 file proposed, nothing was written:",
        "a.scr:1:5  def greet  ->  def meet",
        "a.scr:2:3  😀 greet ERROR  ->  😀 meet ERROR",
    ]


def test_names_in_an_outline_can_be_given_back_as_symbols(tmp_path, scripted):
    range = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
    inner = {"name": "greet", "kind": 6, "range": range, "selectionRange": range}
    outer = {**inner, "name": "Host", "kind": 5, "children": [inner]}
    told = {"textDocument/documentSymbol": [outer]}
    with served(tmp_path, scripted(able(tmp_path, answers=told))) as toolbox:
        lines = toolbox.execute("lsp_document_symbols", {"path": "a.scr"}).splitlines()
        assert lines[1] == "a.scr:1:5  method Host.greet  |  def greet"
        found = toolbox.execute("lsp_definition", {"path": "a.scr", "symbol": "Host.greet"})
    assert found == "a.scr:1:5  def greet"


def test_nothing_found_is_said_in_the_usual_words(tmp_path, scripted):
    given = {"filePath": "a.scr", "line": 2, "character": 10}
    with served(tmp_path, scripted(able(tmp_path)), text="def greet\n😀 greet ok\n") as toolbox:
        assert toolbox.execute("lsp_definition", given) == "No results found."
        assert toolbox.execute("lsp_hover", given) == "No results found."
        assert toolbox.execute("lsp_diagnostics", {"path": "a.scr"}) == "a.scr: no errors"


def test_a_place_outside_is_shown_and_its_text_is_not_read(tmp_path, scripted):
    inside, outside = tmp_path / "inside", tmp_path / "secret.scr"
    inside.mkdir()
    outside.write_text("def secret\n", encoding="utf-8")
    range = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
    told = {"textDocument/definition": [{"uri": outside.as_uri(), "range": range}]}
    with served(inside, scripted(Script(answers=told))) as toolbox:
        assert toolbox.execute("lsp_definition", PLACE) == f"{outside}:1:5"


def test_what_stands_in_a_file_stays_on_its_line(tmp_path, scripted):
    text = "def greet\u202e\x1b[2J \u2028 No results found.\n\tgreet\n"
    with served(tmp_path, scripted(able(tmp_path)), text=text) as toolbox:
        told = toolbox.execute("lsp_definition", {"path": "a.scr", "line": 2, "column": 3})
    assert told == r"a.scr:1:5  def greet\u202e\x1b[2J \u2028 No results found."


def test_more_than_fits_ends_with_how_many_more(tmp_path, scripted):
    text = "def greet\n" + "greet\n" * 500
    with served(tmp_path, scripted(Script()), text=text) as toolbox:
        lines = toolbox.execute("lsp_references", PLACE).splitlines()
        small = Toolbox(toolbox._ws, max_bytes=4096).execute("lsp_references", PLACE)
    assert len(lines) == 201
    assert lines[-1] == "... and 301 more"
    assert len(small.encode()) <= 4096
    told = small.splitlines()
    assert told[-1] == f"... and {501 - len(told) + 1} more"


# What to do instead


def test_without_a_server_a_search_for_the_word_at_the_place_is_offered(tmp_path):
    with alone(tmp_path) as toolbox:
        place = {"filePath": "a.xyz", "line": 1, "character": 7}
        assert toolbox.execute("lsp_references", place).splitlines() == [
            "No LSP server configured for .xyz files.",
            f"Suggested alternative: search for the name: {GREP} 'greet' .",
        ]


@pytest.mark.parametrize(
    ("tool", "given", "search"),
    [
        ("lsp_definition", {"line": 1, "character": 5}, "'greet'"),
        ("lsp_definition", {"line": 1, "character": 10}, "'greet'"),
        ("lsp_definition", {"symbol": "Host.greet"}, "'greet'"),
        ("lsp_definition", {"line": 9, "character": 1}, None),
        ("lsp_rename", {"line": 1, "symbol": "greet", "newName": "meet"}, "'greet'"),
        ("lsp_symbols", {"query": "to greet me"}, "'greet'"),
        ("lsp_symbols", {"query": "$(rm -rf)"}, "'rm'"),
        ("lsp_symbols", {"query": "..."}, None),
        ("lsp_document_symbols", {}, None),
    ],
)
def test_the_search_is_made_from_whatever_names_the_symbol(tmp_path, tool, given, search):
    with alone(tmp_path) as toolbox:
        text = toolbox.execute(tool, {"filePath": "a.xyz", **given})
    assert "No LSP server configured for .xyz files." in text
    if search is None:
        assert "grep" not in text
    else:
        assert f"{GREP} {search} ." in text


def test_an_item_that_is_handed_back_is_searched_for_by_its_name(tmp_path):
    item = {"uri": (tmp_path / "a.xyz").as_uri(), "name": "Host::greet(char *)", "kind": 12}
    with alone(tmp_path) as toolbox:
        text = toolbox.execute("lsp_incoming_calls", {"callHierarchyItem": item})
    assert text.endswith(f"{GREP} 'greet' .")


def test_the_host_names_its_own_search(tmp_path):
    place = {"filePath": "a.xyz", "line": 1, "character": 7}
    forms = [
        ({"search_tool": "rg"}, "rg -nw -g '!node_modules' 'greet'"),
        ({"search_tool": "search_code"}, "search_code greet"),
        (
            {"search_tool": "find_text", "search_form": '{tool} {"pattern": "\\b{symbol}\\b"}'},
            'find_text {"pattern": "\\bgreet\\b"}',
        ),
    ]
    for options, search in forms:
        with alone(tmp_path, **options) as toolbox:
            assert toolbox.execute("lsp_hover", place).endswith(
                f"Suggested alternative: search for the name: {search}"
            )


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("lsp_hover", {"line": 3, "character": 5}),
        ("lsp_hover", {"symbol": "x" * 1000}),
        ("lsp_symbols", {"query": "x" * 1000}),
    ],
)
def test_what_is_too_long_for_a_name_is_not_searched_for(tmp_path, tool, given):
    with alone(tmp_path) as toolbox:
        with (tmp_path / "a.xyz").open("a", encoding="utf-8") as file:
            file.write("x" * 50_000)
        text = toolbox.execute(tool, {"filePath": "a.xyz", **given})
    assert text == "No LSP server configured for .xyz files."


def test_a_server_that_says_much_is_noted_in_few_words(tmp_path, scripted):
    refusal = Fault("textDocument/diagnostic", "error", code=-32803, message="boo " * 50_000)
    pulled = Diagnostics(how="pull")
    config = config_for(scripted(Script(diagnostics=pulled)))
    wordy = scripted(Script(diagnostics=pulled, faults=[refusal]))
    config["lsp"]["wordy"] = {"command": wordy, "extensions": [".scr"]}
    (tmp_path / "a.scr").write_text("def greet\n", encoding="utf-8")
    with lspkit.Workspace(tmp_path, config=config) as ws:
        text = Toolbox(ws).execute("lsp_diagnostics", {"filePath": "a.scr"})
    nothing, failed, note = text.splitlines()
    assert nothing == "No results found."
    assert failed.startswith("Note: wordy did not answer, or not in full: ")
    assert note.startswith(
        "Note: there are no findings, but that does not prove that the file is clean: wordy: "
    )
    assert len(text.encode()) <= MOST_BYTES // 4


def test_the_name_of_a_server_stays_on_its_line(tmp_path, scripted):
    refusal = Fault("textDocument/diagnostic", "error", code=-32803, message="boo")
    pulled = Diagnostics(how="pull")
    config = config_for(scripted(Script(diagnostics=pulled)))
    broken = scripted(Script(diagnostics=pulled, faults=[refusal]))
    config["lsp"]["a\nb\x1b[2J"] = {"command": broken, "extensions": [".scr"]}
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    with lspkit.Workspace(tmp_path, config=config) as ws:
        text = Toolbox(ws).execute("lsp_diagnostics", {"filePath": "a.scr"})
    found, failed = text.splitlines()
    assert found.startswith("a.scr:1:1  ERROR ")
    assert failed.startswith(r"Note: a\nb\x1b[2J did not answer, or not in full: ")


def test_other_operations_have_other_ways_out(tmp_path):
    with alone(tmp_path) as toolbox:
        assert toolbox.execute("lsp_document_symbols", {"path": "a.xyz"}).endswith("read the file")
        assert "checks or tests" in toolbox.execute("lsp_diagnostics", {"path": "a.xyz"})


def test_a_missing_program_is_told_with_how_to_get_it_and_what_to_do_meanwhile(tmp_path):
    (tmp_path / "a.py").write_text("def greet(): ...\n", encoding="utf-8")
    config = {
        "lsp": {"pyright": {"command": ["no-such-program-anywhere"]}, "ruff": {"disabled": True}}
    }
    with lspkit.Workspace(tmp_path, config=config) as ws:
        text = Toolbox(ws).execute("lsp_hover", {"filePath": "a.py", "line": 1, "character": 5})
    assert text.splitlines()[:3] == [
        'LSP server "pyright" is not available.',
        "no-such-program-anywhere, the program of pyright, is not installed",
        "Install it with: lspkit install pyright",
    ]
    assert text.endswith(f"{GREP} 'greet' .")


def test_a_slow_server_may_be_asked_again(tmp_path, scripted):
    script = Script(faults=[Fault("textDocument/hover", "hang")])
    with served(tmp_path, scripted(script)) as toolbox:
        text = toolbox.execute("lsp_hover", PLACE, timeout=0.3)
    assert "try the same call later" in text
    assert text.endswith(f"{GREP} 'greet' .")


def test_a_symbol_that_is_not_there_is_answered_with_those_that_are(tmp_path, scripted):
    with served(tmp_path, scripted(Script())) as toolbox:
        text = toolbox.execute("lsp_hover", {"path": "a.scr", "symbol": "gret"})
    assert "candidates: greet at 1:5" in text


def test_one_server_that_fails_is_noted_below_the_others_answer(tmp_path, scripted):
    # The second one never says anything about the file.
    silent = Script(faults=[Fault("textDocument/publishDiagnostics", "hang")])
    config = config_for(scripted(Script()))
    config["lsp"]["silent"] = {"command": scripted(silent), "extensions": [".scr"]}
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    with lspkit.Workspace(tmp_path, config=config) as ws:
        answer = Toolbox(ws).answer("lsp_diagnostics", {"filePath": "a.scr"}, timeout=1.5)
    assert answer.envelope["meta"]["partial"]
    assert codes(answer.envelope) == ["ETIMEDOUT"]
    assert answer.text.splitlines()[0] == "a.scr:1:1  ERROR ERROR (ERROR)  |  ERROR"
    assert answer.text.splitlines()[1].startswith("Note: silent did not answer")


def test_data_and_text_say_the_same(tmp_path, scripted):
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        answer = toolbox.answer("lsp_references", PLACE)
        single = toolbox.answer("lsp", {"operation": "findReferences", **PLACE})
    assert len(answer.text.splitlines()) == len(answer.envelope["data"]) == 2
    assert json.loads(single.text) == single.envelope


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("greet", "greet"),
        ("Host.greet", "greet"),
        ("ns::Host::greet(int, char)", "greet"),
        ("List<int>", "List"),
        ("(anonymous)", "anonymous"),
        ("", ""),
        ("->", ""),
    ],
)
def test_the_word_to_search_for_is_the_last_part_of_a_name(name, word):
    assert bare_name(name) == word


def test_of_a_query_the_longest_word_says_most():
    assert longest_word("a long_word b") == "long_word"
    assert longest_word("!") == ""
