"""Findings of TypeScript's own server, in the words of the protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lspkit.diagnostics.tsserver import COMMANDS, items_of, request
from lspkit.protocol.wire.results import read_diagnostics


def said(text: str = "wrong", **more: Any) -> dict[str, Any]:
    """One finding, from line 3, offset 5, to line 4, offset 1."""
    place = {"start": {"line": 3, "offset": 5}, "end": {"line": 4, "offset": 1}}
    return {**place, "text": text, "category": "error", "code": 2304, **more}


def answer(*body: Any, **more: Any) -> bytes:
    return json.dumps({"success": True, "body": list(body), **more}).encode()


def items(raw: bytes) -> list[dict[str, Any]]:
    found = items_of(raw)
    assert found is not None
    return json.loads(found)


def test_a_finding_has_lines_and_columns_from_zero():
    assert items(answer(said())) == [
        {
            "range": {
                "start": {"line": 2, "character": 4},
                "end": {"line": 3, "character": 0},
            },
            "message": "wrong",
            "severity": 1,
            "source": "typescript",
            "code": 2304,
        }
    ]


@pytest.mark.parametrize(
    ("category", "severity"),
    [("error", 1), ("warning", 2), ("message", 3), ("suggestion", 4), ("", 1), ("unheard of", 1)],
)
def test_a_category_is_a_severity_and_an_unknown_one_is_an_error(category, severity):
    [found] = items(answer(said(category=category)))
    assert found["severity"] == severity


def test_a_finding_without_a_category_is_an_error():
    unnamed = said()
    del unnamed["category"]
    assert items(answer(unnamed))[0]["severity"] == 1


def test_a_source_of_its_own_is_kept():
    assert items(answer(said(source="eslint")))[0]["source"] == "eslint"


@pytest.mark.parametrize(
    ("marks", "tags"),
    [
        ({"reportsUnnecessary": True}, [1]),
        ({"reportsDeprecated": True}, [2]),
        ({"reportsUnnecessary": True, "reportsDeprecated": True}, [1, 2]),
    ],
    ids=str,
)
def test_marks_are_tags(marks, tags):
    assert items(answer(said(**marks)))[0]["tags"] == tags


def test_a_finding_without_code_or_marks_has_none():
    [found] = items(answer(said(code=None, reportsUnnecessary=False)))
    assert "code" not in found
    assert "tags" not in found


def test_related_places_are_kept_and_those_without_a_place_left_out():
    span = {**said(), "file": "/code/a b.ts"}
    related = [{"span": span, "message": "here"}, {"message": "nowhere"}]
    [found] = items(answer(said(relatedInformation=related)))
    [kept] = found["relatedInformation"]
    assert kept["message"] == "here"
    assert kept["location"]["uri"] == "file:///code/a%20b.ts"
    assert kept["location"]["range"]["start"] == {"line": 2, "character": 4}


@pytest.mark.parametrize("raw", [b'{"success": true}', b'{"success": true, "body": null}'])
def test_an_answer_without_a_body_has_no_findings(raw):
    assert items(raw) == []


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"success": false, "message": "No Project."}',
        b'{"success": 1, "body": []}',
        b'{"success": true, "body": 7}',
        b'{"success": true, "body": ["x"]}',
        b'{"success": true, "body": [{}]}',
        b'{"success": true, "body": [{"text": "x", "start": 1, "end": 2}]}',
        b'{"success": true, "body": [{"start": {"line": 1, "offset": 1}, "end": {"line": 1}}]}',
        b"{" * 100_000,
    ],
    ids=lambda raw: raw[:60].decode(),
)
def test_what_is_no_answer_is_not_taken_for_an_empty_one(raw):
    assert items_of(raw) is None


def test_what_comes_out_can_be_read_as_findings_of_the_protocol():
    found = items_of(answer(said("one"), said("two", category="suggestion")))
    read = read_diagnostics(found)
    assert ([one.text for one in read.items], read.dropped) == (["one", "two"], 0)


def test_a_request_names_the_command_and_the_file():
    assert request(COMMANDS[0], "/code/a.ts") == {
        "command": "typescript.tsserverRequest",
        "arguments": ["syntacticDiagnosticsSync", {"file": "/code/a.ts"}, {}],
    }
