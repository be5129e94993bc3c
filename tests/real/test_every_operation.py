"""Every operation on every server that knows it, held against what the server itself answers.

One class per server, whose tests share one start of it under lspkit and one under the raw client.
Which operations a server knows is written down in `abilities.py`: the others have to be refused
before anything is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import lspkit
from tests import real_servers
from tests.real.abilities import ABILITIES, PROVIDERS, able, unable
from tests.real.both import AT_PLACE, PREPARED_BY, TIMEOUT, Both, both_on, in_order
from tests.real.editing import patched, preview_texts
from tests.real.reading import plain_calls, plain_diagnostics, plain_found_symbols, plain_item, units

pytestmark = pytest.mark.server


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of an operation runs for those that the server knows, or does not know."""
    server = getattr(metafunc.cls, "server", None)
    if server is None:
        return
    if "operation" in metafunc.fixturenames:
        metafunc.parametrize("operation", able(server))
    if "unknown" in metafunc.fixturenames:
        metafunc.parametrize("unknown", unable(server))
    if "of_item" in metafunc.fixturenames:
        metafunc.parametrize("of_item", [one for one in able(server) if one in PREPARED_BY])


class EveryOperation:
    """What holds for all of them."""

    server: ClassVar[str]

    @pytest.fixture(scope="class")
    def both(
        self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[Both]:
        server = request.cls.server
        real_servers.require(server)
        folder: Path = tmp_path_factory.mktemp(server)
        with both_on(server, folder) as both:
            yield both

    def test_the_table_has_what_the_server_says_it_can(self, both: Both) -> None:
        announced = {
            operation
            for operation, provider in PROVIDERS.items()
            if both.raw.capabilities.get(provider) not in (None, False)
        }

        assert announced == set(able(self.server))

    def test_the_places_asked_about_have_wide_characters_before_them(self, both: Both) -> None:
        for name, spot in both.sample.spots.items():
            before = both.sample.line_before(spot)
            assert units(before, "utf-16") > len(before), name

    def test_the_first_answer_is_right_although_the_server_had_to_start(self, both: Both) -> None:
        assert both.first == both.ask("definition")

    def test_an_answer_is_the_one_of_the_server(self, both: Both, operation: str) -> None:
        expected = both.expected(operation)
        assert bool(expected) is (operation not in ABILITIES[self.server].silent)

        assert both.asked(operation) == expected

    def test_what_a_server_does_not_know_is_refused_and_nothing_is_sent(
        self, both: Both, unknown: str
    ) -> None:
        before = both.methods_sent()

        with pytest.raises(lspkit.Unsupported) as refused:
            both.ask(unknown)

        assert refused.value.servers == (self.server,)
        own = [one for one in both.methods_sent()[len(before) :] if "lspkit-test" not in one]
        assert own == []

    def test_references_may_be_without_the_declaration(self, both: Both) -> None:
        spot = both.spot("references")
        context = {"includeDeclaration": False}
        raw = both.raw_at(AT_PLACE["references"][1], spot, context=context)
        expected = [str(one[0]) for one in both.reader.locations(raw)]
        assert expected

        found = both.ws.references(
            spot.file, *both.sample.place(spot), include_declaration=False, timeout=TIMEOUT
        )

        assert [str(one.path) for one in found] == expected

    def test_symbols_of_the_workspace_are_found_without_a_file(self, both: Both) -> None:
        expected = both.expected("workspace_symbols")
        assert "measure" in [name for _, _, name, *_ in expected]

        found = both.ws.workspace_symbols("measure", timeout=TIMEOUT)

        assert plain_found_symbols(found) == expected

    def test_an_item_that_is_handed_back_answers_as_its_place_does(
        self, both: Both, of_item: str
    ) -> None:
        raw = both.raw_item(of_item)
        calls = of_item.endswith("calls")
        kind = lspkit.CallItem if calls else lspkit.TypeItem
        if calls:
            spot = both.spot(of_item)
            (item,) = both.ws.prepare_call_hierarchy(
                spot.file, *both.sample.place(spot), timeout=TIMEOUT
            )
        else:  # the items below it are had from above: the way back leads to what was asked about
            other = {"supertypes": "subtypes", "subtypes": "supertypes"}[of_item]
            (above, *_) = both.ask(other)
            item = next(
                one
                for one in getattr(both.ws, of_item)(above, timeout=TIMEOUT)
                if one.name == raw["name"]
            )
        assert isinstance(item, kind)
        assert item.name == raw["name"]
        if calls:
            assert json.loads(item.raw) == raw

        found = getattr(both.ws, of_item)(item, timeout=TIMEOUT)

        plain = plain_calls(found) if calls else [plain_item(one) for one in found]
        assert plain == both.expected(of_item)

    def test_a_rename_is_a_preview_and_its_diff_makes_the_texts_of_the_server(
        self, both: Both
    ) -> None:
        expected = both.expected("rename")
        before = {path: Path(path).read_text(encoding="utf-8") for path in expected}

        edit = both.ask("rename")

        assert [str(path) for path in edit.files] == sorted(expected)
        assert edit.server == self.server
        for change in edit.changes:
            path = str(change.path)
            assert patched(before[path], change.diff()) == expected[path] != before[path]
            assert change.diff() in edit.diff()
        assert {path: Path(path).read_text(encoding="utf-8") for path in expected} == before

    def test_a_rename_at_the_definition_changes_both_files(self, both: Both) -> None:
        (place,) = both.ask("definition")
        at = place.range.start
        name = "measure"
        text = place.path.read_text(encoding="utf-8").split("\n")[at.line - 1]
        column = text.index(name) + 1
        line, character = both.reader.wire(place.path, at.line, column)
        raw = both.raw.ask_at(
            "textDocument/rename", place.path, line, character, newName="gauge"
        )

        edit = both.ws.rename(place.path, at.line, column, "gauge", timeout=TIMEOUT)

        from tests.real.editing import raw_texts

        texts = preview_texts(edit)
        assert texts == raw_texts(both.reader, raw)
        assert {str(both.path(one)) for one in (both.sample.main, both.sample.library)} <= set(texts)
        assert all("gauge" in one for one in texts.values())

    def test_an_offer_is_kept_as_the_server_gave_it(self, both: Both) -> None:
        expected = in_order(both.raw_actions())

        offers = both.ask("code_actions")

        assert [_without_marks(json.loads(one.raw)) for one in offers] == [
            _without_marks(one) for one in expected
        ]

    def test_offers_can_be_asked_for_by_kind(self, both: Both) -> None:
        expected = in_order(both.raw_actions(only=["quickfix"]))
        start, end = (both.sample.place(spot) for spot in both.sample.mistake)

        offers = both.ws.code_actions(
            both.sample.main,
            *start,
            end_line=end[0],
            end_column=end[1],
            only=["quickfix"],
            timeout=TIMEOUT,
        )

        assert [one.title for one in offers] == [one["title"] for one in expected]
        assert {one.kind for one in offers} <= {"quickfix"}

    def test_a_check_finds_what_the_server_finds(self, both: Both) -> None:
        expected = both.expected_findings()
        assert expected

        report = both.ws.check(both.sample.main, timeout=TIMEOUT)

        assert plain_diagnostics(report.diagnostics) == expected
        assert [one.server for one in report.servers] == [self.server]
        errors = "error" in {severity for _, _, severity, _ in expected}
        assert report.verdict.dirty is errors

    def test_what_a_check_has_found_is_known_afterwards(self, both: Both) -> None:
        main = both.path(both.sample.main)
        report = both.ws.check(main, timeout=TIMEOUT)

        of_file = both.ws.diagnostics(main)
        of_all = both.ws.diagnostics()

        assert of_file == {main: report.diagnostics}
        assert of_all[main] == report.diagnostics

    def test_a_text_that_is_synced_is_sent_at_once(self, both: Both) -> None:
        before = both.methods_sent()
        library = both.sample.library
        text = both.sample.files[library]

        both.ws.sync(library, text + "\n")
        both.ws.sync(library)

        own = [one for one in both.methods_sent()[len(before) :] if "lspkit-test" not in one]
        assert own == ["textDocument/didChange", "textDocument/didChange"]
        assert both.asked("references") == both.expected("references")

    def test_a_raw_request_has_the_raw_answer(self, both: Both) -> None:
        spot = both.spot("hover")
        path = both.path(spot.file)
        line, character = both.reader.wire(path, *both.sample.place(spot))
        params: dict[str, Any] = {
            "textDocument": {"uri": path.as_uri()},
            "position": {"line": line, "character": character},
        }
        expected = both.raw.request("textDocument/hover", params)
        assert expected

        assert both.ws.request(path, "textDocument/hover", params, timeout=TIMEOUT) == expected


def _without_marks(offer: Any) -> Any:
    """An offer without the numbers that a server gives its offers, and the findings it is for."""
    return {key: value for key, value in offer.items() if key not in ("data", "diagnostics")}


class TestPyright(EveryOperation):
    server = "pyright"


class TestBasedpyright(EveryOperation):
    server = "basedpyright"


class TestTy(EveryOperation):
    server = "ty"


class TestTypescript(EveryOperation):
    server = "typescript"


class TestTypescript7(EveryOperation):
    server = "typescript-7"


class TestClangd(EveryOperation):
    server = "clangd"


class TestGopls(EveryOperation):
    server = "gopls"


class TestRustAnalyzer(EveryOperation):
    server = "rust-analyzer"


class TestBash(EveryOperation):
    server = "bash"


def test_no_server_of_the_table_is_left_out() -> None:
    classes = EveryOperation.__subclasses__()

    assert {one.server for one in classes} == set(ABILITIES)
