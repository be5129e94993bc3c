"""Results as servers really send them: forgiven where that is safe, dropped and counted else."""

from __future__ import annotations

import json

import pytest

from lspkit.limits import MOST_FINDINGS
from lspkit.protocol.wire.results import (
    NOWHERE,
    SYMBOL_KINDS,
    Read,
    WireDiagnostic,
    WireLocation,
    WirePosition,
    WireRange,
    read_diagnostics,
    read_edit,
    read_hover,
    read_locations,
    read_report,
    read_symbols,
)


def wire(start: float = 1, end: float = 2) -> dict[str, object]:
    return {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 5}}


def span(start: int = 1, end: int = 2) -> WireRange:
    return WireRange(WirePosition(start, 0), WirePosition(end, 5))


LOCATION = {"uri": "file:///a", "range": wire()}
LINK = {"targetUri": "file:///b", "targetRange": wire(0, 9), "targetSelectionRange": wire(3, 3)}


def raw(value: object) -> bytes:
    return json.dumps(value).encode()


def places(value: object) -> list[tuple[str, WireRange] | None]:
    return [one.place for one in read_locations(raw(value)).items]


def diagnostic(**fields: object) -> dict[str, object]:
    return {"range": wire(), "message": "m", **fields}


def only(read: Read[WireDiagnostic]) -> WireDiagnostic:
    [item] = read.items
    assert read.dropped == 0
    return item


class TestLocations:
    def test_null_is_an_empty_list(self) -> None:
        assert read_locations(b"null") == Read([])

    def test_one_location_is_a_list_of_one(self) -> None:
        assert places(LOCATION) == [("file:///a", span())]

    def test_a_link_means_the_name_of_its_target(self) -> None:
        assert places([LINK]) == [("file:///b", span(3, 3))]
        assert places(LINK) == [("file:///b", span(3, 3))]

    def test_a_link_without_a_selection_means_its_target(self) -> None:
        link = {key: value for key, value in LINK.items() if key != "targetSelectionRange"}
        assert places([link]) == [("file:///b", span(0, 9))]

    def test_locations_and_links_may_be_mixed(self) -> None:
        assert [place and place[0] for place in places([LOCATION, LINK])] == [
            "file:///a",
            "file:///b",
        ]

    def test_a_location_without_a_range_is_the_start_of_its_file(self) -> None:
        assert places([{"uri": "file:///a"}]) == [("file:///a", NOWHERE)]

    def test_an_object_without_a_uri_is_no_place(self) -> None:
        assert places([{}]) == [None]

    def test_unknown_fields_are_read_over(self) -> None:
        assert places([{**LOCATION, "extra": {"a": [1]}}]) == [("file:///a", span())]

    @pytest.mark.parametrize(
        "bad", [None, 3, "file:///a", [], {"uri": 3}, {"uri": "x", "range": 1}]
    )
    def test_a_bad_item_is_dropped_and_counted_and_its_neighbours_kept(self, bad: object) -> None:
        read = read_locations(raw([LOCATION, bad, LINK]))
        assert [one.place for one in read.items] == [
            ("file:///a", span()),
            ("file:///b", span(3, 3)),
        ]
        assert read.dropped == 1

    @pytest.mark.parametrize("bad", [b"3", b'"text"', b"true", b"[", b""])
    def test_what_is_no_list_at_all_is_one_bad_item(self, bad: bytes) -> None:
        assert read_locations(bad) == Read([], 1)

    def test_a_float_without_a_fraction_is_an_integer(self) -> None:
        assert places([{"uri": "file:///a", "range": wire(3.0, 4.0)}]) == [
            ("file:///a", span(3, 4))
        ]

    def test_a_float_with_a_fraction_is_a_bad_item(self) -> None:
        assert read_locations(raw([{"uri": "a", "range": wire(3.5)}, LOCATION])).dropped == 1

    def test_half_a_surrogate_pair_is_replaced_and_loses_nothing(self) -> None:
        [found] = read_locations(rb'[{"uri":"file:///\ud83d"}]').items
        assert found == WireLocation(uri="file:///\ufffd")


class TestHover:
    @pytest.mark.parametrize(
        ("contents", "texts"),
        [
            ("plain", ["plain"]),
            ({"kind": "markdown", "value": "**a**"}, ["**a**"]),
            ({"kind": "plaintext", "value": "a"}, ["a"]),
            ({"kind": "unheard-of", "value": "a"}, ["a"]),
            ({"language": "python", "value": "x: int"}, ["```python\nx: int\n```"]),
            (["a", {"language": "c", "value": "b"}, "c"], ["a", "```c\nb\n```", "c"]),
            *(
                (nothing, [])
                for nothing in ("", [], None, [""], "  \n", {"kind": "x", "value": ""})
            ),
        ],
    )
    def test_every_generation_is_read(self, contents: object, texts: list[str]) -> None:
        read = read_hover(raw({"contents": contents, "range": wire()}))
        [hover] = read.items
        assert (hover.texts, hover.range) == (texts, span())

    def test_null_is_no_hover(self) -> None:
        assert read_hover(b"null") == Read([])

    def test_a_hover_without_contents_or_range_is_empty(self) -> None:
        [hover] = read_hover(b"{}").items
        assert (hover.texts, hover.range) == ([], None)

    def test_an_object_that_is_something_else_is_dropped_and_counted(self) -> None:
        assert read_hover(raw({"status": "busy"})) == Read([], 1)
        assert read_edit(raw({"status": "busy"})) == Read([], 1)

    def test_a_hover_of_another_kind_is_dropped_and_counted(self) -> None:
        assert read_hover(raw({"contents": 3})) == Read([], 1)

    def test_a_bad_section_leaves_the_others(self) -> None:
        [hover] = read_hover(
            raw({"contents": ["kept", None, {"language": "c", "value": "x"}]})
        ).items
        assert hover.texts == ["kept", "```c\nx\n```"]

    def test_half_a_surrogate_pair_is_replaced(self) -> None:
        [hover] = read_hover(rb'{"contents":"\ud83d!"}').items
        assert hover.texts == ["\ufffd!"]


class TestSymbols:
    def test_a_tree_keeps_its_children(self) -> None:
        child = {"name": "f", "kind": 6, "range": wire(2, 2), "selectionRange": wire(2, 2)}
        tree = {
            "name": "C",
            "kind": 5,
            "range": wire(),
            "selectionRange": wire(),
            "children": [child],
        }
        [symbol] = read_symbols(raw([tree])).items
        assert (symbol.name, symbol.kind, symbol.range) == ("C", 5, span())
        assert [(one.name, one.range) for one in symbol.children or []] == [("f", span(2, 2))]

    def test_a_flat_symbol_has_a_location_and_a_container(self) -> None:
        flat = {"name": "f", "kind": 12, "location": LOCATION, "containerName": "C"}
        [symbol] = read_symbols(raw([flat])).items
        assert symbol.location is not None
        assert (symbol.location.place, symbol.container_name) == (("file:///a", span()), "C")

    def test_a_workspace_symbol_may_have_a_uri_and_no_range(self) -> None:
        [symbol] = read_symbols(raw([{"name": "f", "location": {"uri": "file:///a"}}])).items
        assert symbol.location is not None
        assert symbol.location.place == ("file:///a", NOWHERE)

    def test_an_unknown_kind_is_kept(self) -> None:
        [symbol] = read_symbols(raw([{"name": "f", "kind": 99}])).items
        assert symbol.kind == 99
        assert 99 not in SYMBOL_KINDS

    @pytest.mark.parametrize("children", [None, []])
    def test_children_may_be_null_or_empty(self, children: object) -> None:
        [symbol] = read_symbols(raw([{"name": "f", "children": children}])).items
        assert not symbol.children

    def test_a_symbol_without_a_name_is_dropped_and_counted(self) -> None:
        read = read_symbols(raw([{"kind": 5}, {"name": "kept"}]))
        assert ([one.name for one in read.items], read.dropped) == (["kept"], 1)

    def test_a_bad_child_takes_neither_its_parent_nor_its_siblings_along(self) -> None:
        tree = {"name": "C", "children": [{"name": "a"}, {"kind": 3}, {"name": "b"}]}
        read = read_symbols(raw([tree]))
        [symbol] = read.items
        assert [one.name for one in symbol.children or []] == ["a", "b"]
        assert read.dropped == 1

    def test_the_kinds_have_the_words_of_the_protocol(self) -> None:
        assert (len(SYMBOL_KINDS), SYMBOL_KINDS[1]) == (26, "file")
        assert (SYMBOL_KINDS[5], SYMBOL_KINDS[12], SYMBOL_KINDS[26]) == (
            *("class", "function", "type-parameter"),
        )


class TestDiagnostics:
    def test_all_fields_are_read(self) -> None:
        related = [{"location": LOCATION, "message": "see"}]
        found = only(
            read_diagnostics(
                raw(
                    [
                        diagnostic(
                            severity=2,
                            code="E1",
                            source="tool",
                            tags=[1],
                            codeDescription={"href": "https://example.invalid"},
                            relatedInformation=related,
                            data={"any": "thing"},
                        )
                    ]
                )
            )
        )
        assert (found.range, found.text, found.severity) == (span(), "m", 2)
        assert (found.code, found.source, found.tags) == ("E1", "tool", [1])
        assert found.code_description is not None
        assert found.code_description.href == "https://example.invalid"
        assert [one.message for one in found.related_information or []] == ["see"]

    @pytest.mark.parametrize("code", ["E1", "007", "1e3", "null", "true", 7, 7.5, None])
    def test_a_code_stays_what_it_was(self, code: object) -> None:
        assert only(read_diagnostics(raw([diagnostic(code=code)]))).code == code
        # Also beside an item that makes the whole list be read one by one.
        [found] = read_diagnostics(raw([diagnostic(code=code), {}])).items
        assert (found.code, type(found.code)) == (code, type(code))

    def test_unknown_severities_and_tags_are_kept(self) -> None:
        found = only(read_diagnostics(raw([diagnostic(severity=9, tags=[1, 77])])))
        assert (found.severity, found.tags) == (9, [1, 77])

    def test_a_float_without_a_fraction_is_an_integer(self) -> None:
        found = only(read_diagnostics(raw([diagnostic(severity=1.0, range=wire(3.0, 4))])))
        assert (found.severity, found.range) == (1, span(3, 4))

    def test_null_is_as_good_as_missing(self) -> None:
        names = ("severity", "code", "source", "tags", "codeDescription", "relatedInformation")
        found = only(read_diagnostics(raw([diagnostic(**dict.fromkeys(names))])))
        assert found == only(read_diagnostics(raw([diagnostic()])))

    def test_a_message_may_be_markup(self) -> None:
        message = {"kind": "markdown", "value": "**m**"}
        assert only(read_diagnostics(raw([diagnostic(message=message)]))).text == "**m**"

    def test_null_is_an_empty_list(self) -> None:
        assert read_diagnostics(b"null") == Read([])

    def test_a_finding_without_a_range_is_dropped_and_counted(self) -> None:
        read = read_diagnostics(raw([diagnostic(), {"message": "nowhere"}, diagnostic(), 3]))
        assert (len(read.items), read.dropped) == (2, 2)

    def test_a_bad_related_place_does_not_cost_the_finding(self) -> None:
        related = [{"location": None, "message": "x"}, {"location": LOCATION, "message": "kept"}]
        read = read_diagnostics(raw([diagnostic(relatedInformation=related)]))
        [found] = read.items
        assert [one.message for one in found.related_information or []] == ["kept"]

    def test_half_a_surrogate_pair_is_replaced_and_loses_no_finding(self) -> None:
        items = [diagnostic(message="cut \ud83d"), diagnostic(code="007")]
        read = read_diagnostics(raw(items))
        assert [(one.text, one.code) for one in read.items] == [("cut \ufffd", None), ("m", "007")]
        assert read.dropped == 0


class TestReports:
    def test_a_full_report_has_raw_items(self) -> None:
        report = read_report(raw({"kind": "full", "items": [diagnostic()], "resultId": "r"}))
        assert (report.kind, report.result_id) == ("full", "r")
        assert len(read_diagnostics(bytes(report.items)).items) == 1

    def test_an_unchanged_report_has_no_items(self) -> None:
        report = read_report(raw({"kind": "unchanged", "resultId": "r"}))
        assert (report.kind, read_diagnostics(bytes(report.items))) == ("unchanged", Read([]))

    @pytest.mark.parametrize("value", [None, {}, {"kind": "full", "items": None}])
    def test_null_and_an_empty_object_are_a_report_without_findings(self, value: object) -> None:
        report = read_report(raw(value))
        assert (report.kind, read_diagnostics(bytes(report.items))) == ("full", Read([]))

    @pytest.mark.parametrize(
        "value", [42, "busy", [], {"status": "busy"}, {"kind": "busy"}, {"kind": 1}]
    )
    def test_what_is_no_report_is_none(self, value: object) -> None:
        assert read_report(raw(value)) is None

    def test_related_documents_are_raw_reports(self) -> None:
        related = {"file:///b": {"kind": "full", "items": [diagnostic()]}}
        report = read_report(raw({"kind": "full", "items": [], "relatedDocuments": related}))
        assert report.related_documents is not None
        inner = read_report(bytes(report.related_documents["file:///b"]))
        assert len(read_diagnostics(bytes(inner.items)).items) == 1

    def test_half_a_surrogate_pair_is_replaced(self) -> None:
        assert read_report(rb'{"kind":"full","resultId":"\ud83d"}').result_id == "\ufffd"


class TestLongLists:
    @pytest.mark.parametrize("bad", [0, 3], ids=["all valid", "some invalid"])
    def test_what_is_beyond_the_limit_is_dropped_and_counted_with_what_is_invalid(
        self, bad: int
    ) -> None:
        items = [42] * bad + [diagnostic()] * (MOST_FINDINGS - bad + 5)
        read = read_diagnostics(raw(items))
        assert (len(read.items), read.dropped) == (MOST_FINDINGS - bad, bad + 5)
