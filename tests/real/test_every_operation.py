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
from tests.real.both import AT_PLACE, TIMEOUT, Both, both_on, in_order
from tests.real.editing import patched, preview_texts, raw_texts
from tests.real.projects import CONFUSED
from tests.real.reading import (
    plain_calls,
    plain_diagnostics,
    plain_found_symbols,
    plain_item,
    units,
)

pytestmark = pytest.mark.server

#: The file whose places lspkit adds to an answer. The server leaves them out without an index, and
#: the function is declared in it.
ADDED = {"clangd": "shapes.h"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of an operation runs for those that the server knows, or does not know."""
    server = getattr(metafunc.cls, "server", None)
    if server is None:
        return
    if "operation" in metafunc.fixturenames:
        metafunc.parametrize("operation", able(server))
    if "unknown" in metafunc.fixturenames:
        metafunc.parametrize("unknown", unable(server))
    if "of_calls" in metafunc.fixturenames:
        metafunc.parametrize("of_calls", ["incoming_calls", "outgoing_calls"])


@pytest.fixture(scope="class")
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    server = request.cls.server
    real_servers.require(server)
    with both_on(server, tmp_path_factory.mktemp(server)) as both:
        yield both


class EveryOperation:
    """What holds for all of them."""

    server: ClassVar[str]

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
        assert both.first
        assert both.first == both.ask_first()

    def test_an_answer_is_the_one_of_the_server(self, both: Both, operation: str) -> None:
        expected = both.expected(operation)
        assert bool(expected) is (operation not in ABILITIES[self.server].silent)

        answer = both.asked(operation)
        added = ADDED.get(self.server)
        if operation == "references":
            answer = [one for one in answer if Path(one[0]).name != added]
        if operation == "rename":
            answer = {path: text for path, text in answer.items() if Path(path).name != added}
        assert answer == expected

    def test_references_may_be_without_the_declaration(self, both: Both) -> None:
        spot = both.spot("references")
        confused = self.server in CONFUSED
        raw = both.raw_at(AT_PLACE["references"][1], spot, context={"includeDeclaration": confused})
        places = both.reader.locations(raw)
        if confused:
            declared = both.reader.locations(both.raw_at("textDocument/declaration", spot))
            places = [one for one in places if one not in declared]
        expected = [str(one[0]) for one in places]
        assert expected

        found = both.ws.references(
            spot.file, *both.sample.place(spot), include_declaration=False, timeout=TIMEOUT
        )

        assert [str(one.path) for one in found] == expected

    def test_symbols_of_the_workspace_are_found_without_a_file(self, both: Both) -> None:
        expected = both.expected("workspace_symbols")
        assert both.sample.query in [name for _, _, name, *_ in expected]

        found = both.ws.workspace_symbols(both.sample.query, timeout=TIMEOUT)

        assert plain_found_symbols(both.own(found)) == expected

    def test_a_rename_is_a_preview_and_its_diff_makes_the_texts_of_the_server(
        self, both: Both
    ) -> None:
        expected = both.expected("rename")
        before = {path: Path(path).read_text(encoding="utf-8") for path in expected}

        edit = both.ask("rename")

        added = {path for path in edit.files if path.name == ADDED.get(self.server)}
        assert [str(path) for path in edit.files if path not in added] == sorted(expected)
        assert bool(added) is (self.server in ADDED)
        assert edit.server == self.server
        for change in edit.changes:
            path = str(change.path)
            if change.path in added:
                continue
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
        raw = both.raw.ask_at("textDocument/rename", place.path, line, character, newName="gauge")

        edit = both.ws.rename(place.path, at.line, column, "gauge", timeout=TIMEOUT)

        texts = preview_texts(edit)
        added = ADDED.get(self.server)
        assert {
            path: text for path, text in texts.items() if Path(path).name != added
        } == raw_texts(both.reader, raw)
        assert {str(both.path(one)) for one in (both.sample.main, both.sample.library)} <= set(
            texts
        )
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
        assert {one.server for one in report.servers} == {self.server}
        errors = "error" in {severity for _, _, severity, _ in expected}
        assert report.verdict.dirty is errors

    def test_what_a_check_has_found_is_known_afterwards(self, both: Both) -> None:
        main = both.path(both.sample.main)
        report = both.ws.check(main, timeout=TIMEOUT)

        of_file = both.ws.diagnostics(main)
        of_all = both.ws.diagnostics()

        assert of_file == {main: report.diagnostics}
        assert of_all[main] == report.diagnostics

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


class Calls(EveryOperation):
    """For servers that know who calls whom."""

    def test_an_item_that_is_handed_back_answers_as_its_place_does(
        self, both: Both, of_calls: str
    ) -> None:
        spot, raw = both.spot(of_calls), both.raw_item(of_calls)

        (item,) = both.ws.prepare_call_hierarchy(
            spot.file, *both.sample.place(spot), timeout=TIMEOUT
        )
        found = getattr(both.ws, of_calls)(item, timeout=TIMEOUT)

        assert json.loads(item.raw) == raw
        assert plain_calls(found) == both.expected(of_calls)

    def test_the_calls_of_a_call_can_be_followed(self, both: Both) -> None:
        first, callee = both.raw_item("outgoing_calls"), "measure"
        outgoing = both.raw.request("callHierarchy/outgoingCalls", {"item": first})
        (raw,) = (one["to"] for one in outgoing if one["to"]["name"].startswith(callee))
        expected = both.reader.calls(
            both.raw.request("callHierarchy/incomingCalls", {"item": raw}), raw
        )
        assert len(expected) >= 2

        (call,) = (one for one in both.ask("outgoing_calls") if one.item.name.startswith(callee))
        found = both.ws.incoming_calls(call.item, timeout=TIMEOUT)

        assert plain_calls(found) == expected


class Types(EveryOperation):
    """For servers that know what derives from what."""

    def test_a_type_that_is_handed_back_answers_as_the_server_does(self, both: Both) -> None:
        (raw,) = both.raw.request("typeHierarchy/subtypes", {"item": both.raw_item("subtypes")})
        expected = both.reader.items(both.raw.request("typeHierarchy/supertypes", {"item": raw}))
        assert expected

        (item,) = both.ask("subtypes")
        found = both.ws.supertypes(item, timeout=TIMEOUT)

        assert json.loads(item.raw) == raw
        assert [plain_item(one) for one in found] == expected


class Refusals(EveryOperation):
    """For servers that do not know everything."""

    def test_what_a_server_does_not_know_is_refused_and_nothing_is_sent(
        self, both: Both, unknown: str
    ) -> None:
        before = both.methods_sent()

        with pytest.raises(lspkit.UnsupportedError) as refused:
            both.ask(unknown)

        assert refused.value.servers == (self.server,)
        sent = both.methods_sent()[len(before) :]
        # What happens to files is told whoever asks what; a server may write some itself.
        untold = ("lspkit-test", "workspace/didChangeWatchedFiles")
        assert [one for one in sent if not any(name in one for name in untold)] == []


def _without_marks(offer: Any) -> Any:
    """An offer without the numbers that a server gives it, and the findings it is for.

    Also without versions: a document that lspkit has made a server look at again has a newer one.
    """
    if isinstance(offer, dict):
        marks = ("data", "diagnostics", "version")
        return {key: _without_marks(value) for key, value in offer.items() if key not in marks}
    return [_without_marks(one) for one in offer] if isinstance(offer, list) else offer


class TestPyright(Calls, Refusals):
    server = "pyright"


class TestBasedpyright(Calls, Refusals):
    server = "basedpyright"


class TestTy(Calls, Types):
    server = "ty"


class TestTypescript(Calls, Refusals):
    server = "typescript"


class TestTypescript7(Calls, Refusals):
    server = "typescript-7"


class TestClangd(Calls, Types):
    server = "clangd"


class TestGopls(Calls, Refusals):
    server = "gopls"


class TestRustAnalyzer(Calls, Refusals):
    server = "rust-analyzer"


class TestJdtls(Calls, Types, Refusals):
    server = "jdtls"


class TestBash(Refusals):
    server = "bash"


CLASSES = [one for name, one in globals().items() if name.startswith("Test")]


def test_no_server_of_the_table_is_left_out() -> None:
    assert {one.server for one in CLASSES} == set(ABILITIES)


@pytest.mark.parametrize("of_server", CLASSES)
def test_a_server_is_held_to_all_that_it_knows_and_does_not_know(of_server: type[Any]) -> None:
    server = of_server.server
    assert issubclass(of_server, Calls) is ("incoming_calls" in able(server))
    assert issubclass(of_server, Types) is ("subtypes" in able(server))
    assert issubclass(of_server, Refusals) is bool(unable(server))
