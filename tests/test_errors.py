"""Every error: its code, its facts, and that it survives a trip."""

from __future__ import annotations

import copy
import json
import pickle
import re
from typing import Any

import pytest

import lspkit
from lspkit import errors
from lspkit.errors import LspkitError, PathError, RequestTimeoutError, error_from_dict


def every(base: type[LspkitError] = LspkitError) -> list[type[LspkitError]]:
    kinds = [child for child in base.__subclasses__() if child.__module__ == "lspkit.errors"]
    return [base, *(kind for child in kinds for kind in every(child))]


#: code: its class, and a value for each field that the class has.
FACTS: dict[str, tuple[type[LspkitError], dict[str, Any]]] = {
    "ELSPKIT": (LspkitError, {}),
    "ECONFIG": (
        errors.ConfigError,
        {
            "file": "/p/lsp.json",
            "line": 3,
            "place": "lsp.a",
            "expected": "x",
            "faults": ({"line": 3, "place": "lsp.a", "expected": "x", "found": "y"},),
        },
    ),
    "EINCOMPLETE": (errors.IncompleteEditError, {"reasons": ("index loading: it reads",)}),
    **{
        code: (PathError, {"path": "../x", "resolved": "/x", "boundary": "/root"})
        for code in errors.PathError.codes
    },
    "EPOSITION": (errors.PositionError, {"bounds": "1-9", "candidates": ("a", "b")}),
    "ENOSERVER": (errors.NoServerError, {"extension": ".xyz"}),
    "EUNAVAILABLE": (
        errors.ServerUnavailableError,
        {"server": "s", "looked_for": "s in PATH", "install": "pip install s", "rule": "stale"},
    ),
    "EBROKEN": (
        errors.ServerBrokenError,
        {"server": "s", "exit_status": -9, "attempts": 3, "retry_in": 1.5, "stderr": "boom\n"},
    ),
    "ETIMEDOUT": (
        RequestTimeoutError,
        {
            "server": "s",
            "state": "starting",
            "progress": ("Indexing 5 %",),
            "in_flight": ("textDocument/hover",),
            "stderr": "",
        },
    ),
    "ELSP": (
        errors.RequestFailedError,
        {
            "server": "s",
            "server_code": -32603,
            "server_message": "oops",
            "introduced": ({"path": "a.py", "line": 3, "column": 1, "message": "oops"},),
        },
    ),
    "EUNSUPPORTED": (errors.UnsupportedError, {"operation": "rename", "servers": ("s", "t")}),
    "ECANCELLED": (errors.CancelledError, {}),
    "ECLOSED": (errors.WorkspaceClosedError, {}),
    "EPROTOCOL": (errors.ProtocolError, {}),
    "EFRAMING": (errors.FramingError, {}),
}

codes = pytest.mark.parametrize("code", [*FACTS])


def build(code: str) -> LspkitError:
    kind, fields = FACTS[code]
    return kind("what happened, and what to do", code=code, **fields)


def assert_same(one: LspkitError, other: LspkitError) -> None:
    assert type(one) is type(other)
    assert (one.code, one.message, str(one)) == (other.code, other.message, str(other))
    assert one.to_dict() == other.to_dict()
    for name, value in FACTS[one.code][1].items():
        assert getattr(one, name) == getattr(other, name) == value
        assert type(getattr(one, name)) is type(getattr(other, name))


def test_every_error_is_in_the_table() -> None:
    assert {kind for kind, _ in FACTS.values()} == set(every())


def test_no_code_stands_for_two_errors() -> None:
    given = [code for kind in every() for code in {kind.code, *kind.codes}]
    assert sorted(given) == sorted(FACTS)


@codes
def test_every_field_of_an_error_is_in_the_table(code: str) -> None:
    kind, fields = FACTS[code]
    declared = {name for name in kind.__annotations__ if name not in ("code", "codes")}
    assert declared == set(fields)


@codes
def test_an_error_shows_its_message_and_carries_its_facts(code: str) -> None:
    error = build(code)
    assert isinstance(error, LspkitError)
    assert str(error) == "what happened, and what to do"
    assert error.code == code
    assert error.to_dict() == {"code": code, "message": error.message, **FACTS[code][1]}


@codes
def test_an_error_survives_pickling(code: str) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert_same(pickle.loads(pickle.dumps(build(code), protocol)), build(code))


@codes
def test_an_error_survives_copying(code: str) -> None:
    assert_same(copy.copy(build(code)), build(code))
    assert_same(copy.deepcopy(build(code)), build(code))


@codes
def test_an_error_survives_a_trip_as_json(code: str) -> None:
    sent = json.dumps(build(code).to_dict())
    assert_same(error_from_dict(json.loads(sent)), build(code))


@codes
def test_facts_that_are_not_given_have_a_default(code: str) -> None:
    kind, fields = FACTS[code]
    error = kind("what happened")
    for name in fields:
        assert getattr(error, name) in (None, "", 0, ())
    assert error.to_dict() == {"code": kind.code, "message": "what happened"}
    assert pickle.loads(pickle.dumps(error)).to_dict() == error.to_dict()


def test_a_timeout_is_a_timeout_to_everybody() -> None:
    with pytest.raises(TimeoutError, match="too slow"):
        raise RequestTimeoutError("too slow", server="s")


def test_an_unknown_field_or_code_is_a_fault_of_the_caller() -> None:
    with pytest.raises(TypeError, match="no field 'colour'"):
        LspkitError("x", colour="red")
    with pytest.raises(TypeError, match="no code 'EBROKEN'"):
        PathError("x", code="EBROKEN")


def test_a_code_of_one_error_does_not_stick_to_its_class() -> None:
    assert PathError("x", code="EOUTSIDE").code == "EOUTSIDE"
    assert PathError("x").code == "ENOENT"


def test_an_error_of_an_unknown_code_is_still_an_error() -> None:
    error = error_from_dict({"code": "EFUTURE", "message": "new kind", "fact": 1})
    assert type(error) is LspkitError
    assert error.message == "new kind"


def test_the_errors_for_callers_are_names_of_the_package() -> None:
    inner = {"ProtocolError", "FramingError"}
    for kind in every():
        if kind.__name__ not in inner:
            assert getattr(lspkit, kind.__name__) is kind


def test_never_again_is_still_never_again_as_json():
    broken = errors.ServerBrokenError("it is broken", retry_in=float("inf"))
    told = json.loads(json.dumps(broken.to_dict(), allow_nan=False))
    assert error_from_dict(told).retry_in == float("inf")


def test_an_error_of_a_newer_version_keeps_its_code():
    newer = error_from_dict({"code": "ENEWER", "message": "what is new", "detail": [1]})
    assert (type(newer), newer.code, newer.message) == (LspkitError, "ENEWER", "what is new")
    known = error_from_dict({"code": "ELSP", "message": "m", "server": "s", "unheard_of": 1})
    assert (type(known), known.fields) == (errors.RequestFailedError, {"server": "s"})


def test_ipython_is_shown_the_caller_s_line_and_the_message() -> None:
    def fails() -> None:
        raise errors.PathError("no\x1bfile", path="x")

    try:
        fails()
    except errors.PathError as problem:
        problem.add_note("a note")
        shown = problem._render_traceback_()
    assert re.fullmatch(rf"{re.escape(__file__)}:\d+: fails\(\)", shown[0])
    assert shown[2:] == ["PathError: no\\x1bfile", "a note"]
    assert errors.LspkitError("never raised")._render_traceback_() == ["LspkitError: never raised"]
