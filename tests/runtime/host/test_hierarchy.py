"""Hierarchies from a place: all that is there is asked about, and what comes is put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import lspkit
from lspkit.testing import Fault, Log, Script
from tests.scripted import config_for, workspace

TEXT = "one two\nthree four\nfive six\n"
PREPARE_CALLS, PREPARE_TYPES = (
    "textDocument/prepareCallHierarchy",
    "textDocument/prepareTypeHierarchy",
)
#: By the name of the operation: what it asks first, what then, and where its items are.
ASKED = {
    "incoming_calls": (PREPARE_CALLS, "callHierarchy/incomingCalls", "from"),
    "outgoing_calls": (PREPARE_CALLS, "callHierarchy/outgoingCalls", "to"),
    "supertypes": (PREPARE_TYPES, "typeHierarchy/supertypes", ""),
    "subtypes": (PREPARE_TYPES, "typeHierarchy/subtypes", ""),
}
EVERY = pytest.mark.parametrize("operation", ASKED)


def at(line: int, start: int, end: int) -> dict[str, Any]:
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": end},
    }


def item(folder: Path, name: str, line: int, file: str = "a.scr", **more: Any) -> dict[str, Any]:
    place = at(line, 0, 3)
    uri = (folder / file).as_uri()
    return {"name": name, "kind": 12, "uri": uri, "range": place, "selectionRange": place, **more}


def ends(operation: str, *items: dict[str, Any], use: int = 0) -> list[dict[str, Any]]:
    """What the operation is answered with: these items, or calls of them."""
    key = ASKED[operation][2]
    return [{key: one, "fromRanges": [at(0, use, use + 1)]} if key else one for one in items]


def script(operation: str, prepared: Any, *answers: Any) -> Script:
    """The first answer is for the first item, the second for the second."""
    prepare, method, _ = ASKED[operation]
    faults = [Fault(method, "result", result=one, nth=n) for n, one in enumerate(answers, 1)]
    return Script(answers={prepare: prepared, method: []}, faults=faults)


def ask(ws: lspkit.Workspace, operation: str, **more: Any) -> list[str]:
    """The names that come back, and where they are called."""
    found = getattr(ws, operation)("a.scr", 1, 1, **more)
    return [
        f"{one.item.name} {', '.join(str(each.start) for each in one.ranges)}"
        if isinstance(one, lspkit.Call)
        else one.name
        for one in found
    ]


def names(told: list[str]) -> list[str]:
    return [one.split()[0] for one in told]


@EVERY
@pytest.mark.parametrize("nothing", [None, []])
def test_where_nothing_is_there_is_nothing_to_say(tmp_path, scripted, operation, nothing):
    argv = scripted(script(operation, nothing))
    with workspace(tmp_path, argv, text=TEXT) as ws:
        assert ask(ws, operation) == []
        assert Log.of(argv).messages(ASKED[operation][1]) == []


@EVERY
def test_every_item_of_the_place_is_asked_about(tmp_path, scripted, operation):
    prepared = [item(tmp_path, "second", 1, data=[2]), item(tmp_path, "first", 0, data=[1])]
    answers = [
        ends(operation, item(tmp_path, "zulu", 2)),
        ends(operation, item(tmp_path, "alpha", 1)),
    ]
    argv = scripted(script(operation, prepared, *answers))
    with workspace(tmp_path, argv, text=TEXT) as ws:
        found = ask(ws, operation)
        asked = [one["params"]["item"] for one in Log.of(argv).messages(ASKED[operation][1])]
    assert names(found) == ["alpha", "zulu"]
    assert sorted(asked, key=lambda one: one["data"]) == prepared[::-1]


@EVERY
def test_what_two_items_have_in_common_comes_once(tmp_path, scripted, operation):
    prepared = [item(tmp_path, "first", 0), item(tmp_path, "second", 1)]
    both = item(tmp_path, "both", 2)
    answers = [ends(operation, both, use=5), ends(operation, both, use=2)]
    argv = scripted(script(operation, prepared, *answers))
    with workspace(tmp_path, argv, text=TEXT) as ws:
        found = ask(ws, operation)
    uses = " 1:3, 1:6" if ASKED[operation][2] else ""
    assert found == [f"both{uses}"]


@EVERY
def test_an_item_that_comes_twice_is_asked_about_once(tmp_path, scripted, operation):
    prepared = [item(tmp_path, "first", 0)] * 2
    argv = scripted(script(operation, prepared, ends(operation, item(tmp_path, "alpha", 1))))
    with workspace(tmp_path, argv, text=TEXT) as ws:
        assert names(ask(ws, operation)) == ["alpha"]
        assert len(Log.of(argv).messages(ASKED[operation][1])) == 1


def test_outgoing_calls_from_two_files_are_kept_apart(tmp_path, scripted):
    """Their ranges are in the files of the callers."""
    (tmp_path / "b.scr").write_text(TEXT, encoding="utf-8")
    prepared = [item(tmp_path, "here", 0), item(tmp_path, "there", 0, "b.scr")]
    both = item(tmp_path, "both", 2)
    answers = [ends("outgoing_calls", both, use=use) for use in (2, 2)]
    argv = scripted(script("outgoing_calls", prepared, *answers))
    with workspace(tmp_path, argv, text=TEXT) as ws:
        assert ask(ws, "outgoing_calls") == ["both 1:3", "both 1:3"]


# Two servers


def two(folder: Path, first: list[str], second: list[str]) -> lspkit.Workspace:
    (folder / "a.scr").write_text(TEXT, encoding="utf-8")
    config = config_for(first)
    config["lsp"]["second"] = {"command": second, "extensions": [".scr"]}
    return lspkit.Workspace(folder, config=config)


@EVERY
def test_each_server_is_asked_about_its_own_items(tmp_path, scripted, operation):
    argvs = []
    for number, names_found in enumerate((("both", "alpha"), ("both", "zulu"))):
        prepared = [item(tmp_path, "same", 0, data=number)]
        found = [item(tmp_path, name, line) for line, name in enumerate(names_found, 1)]
        argvs.append(scripted(script(operation, prepared, ends(operation, *found))))
    with two(tmp_path, *argvs) as ws:
        assert names(ask(ws, operation)) == ["both", "alpha", "zulu"]
    for number, argv in enumerate(argvs):
        [asked] = Log.of(argv).messages(ASKED[operation][1])
        assert asked["params"]["item"]["data"] == number


@EVERY
@pytest.mark.parametrize("fault", ["error", "result"])
def test_a_server_that_fails_leaves_what_the_other_says(tmp_path, scripted, operation, fault):
    prepare, method, _ = ASKED[operation]
    prepared = [item(tmp_path, "same", 0), item(tmp_path, "more", 1)]
    failing = Script(answers={prepare: prepared}, faults=[Fault(method, fault)])
    well = script(operation, prepared[:1], ends(operation, item(tmp_path, "alpha", 2)))
    with two(tmp_path, scripted(failing), scripted(well)) as ws:
        assert names(ask(ws, operation)) == ["alpha"]


@EVERY
def test_a_server_that_fails_for_one_item_has_not_answered(tmp_path, scripted, operation):
    prepare, method, _ = ASKED[operation]
    prepared = [item(tmp_path, "first", 0), item(tmp_path, "second", 1)]
    failing = Script(
        answers={prepare: prepared, method: []}, faults=[Fault(method, "error", nth=2)]
    )
    refused = pytest.raises(lspkit.RequestFailedError, match="scripted failure")
    with workspace(tmp_path, scripted(failing), text=TEXT) as ws, refused:
        ask(ws, operation)


@EVERY
def test_a_call_that_is_cancelled_is_cancelled_for_all_items(tmp_path, scripted, operation):
    prepare, method, _ = ASKED[operation]
    prepared = [item(tmp_path, "first", 0), item(tmp_path, "second", 1)]
    argv = scripted(Script(answers={prepare: prepared}, faults=[Fault(method, "hang")]))
    with workspace(tmp_path, argv, text=TEXT) as ws:
        cancel = lspkit.CancelToken()
        future = ws.submit(getattr(ws, operation), "a.scr", 1, 1, cancel=cancel)
        Log.of(argv).wait_for(lambda _: len(Log.of(argv).messages(method)) == 2)
        cancel.set()
        with pytest.raises(lspkit.CancelledError):
            future.result(20)


def test_the_same_function_of_two_servers_is_one_item(tmp_path, scripted):
    argvs = [
        scripted(script("incoming_calls", [item(tmp_path, "same", 0, data=number)]))
        for number in (1, 2)
    ]
    with two(tmp_path, *argvs) as ws:
        assert [one.name for one in ws.prepare_call_hierarchy("a.scr", 1, 1)] == ["same"]


def test_an_item_of_a_server_that_is_not_there_any_more_says_so(tmp_path, scripted):
    argv = scripted(script("incoming_calls", [item(tmp_path, "one", 0)], []))
    with workspace(tmp_path, argv, text=TEXT) as ws:
        [found] = ws.prepare_call_hierarchy("a.scr", 1, 1)
        old = msgspec.structs.replace(found, server="other")
        with pytest.raises(
            lspkit.UnsupportedError, match=r"other is no longer a server of .*a\.scr"
        ):
            ws.incoming_calls(old)
