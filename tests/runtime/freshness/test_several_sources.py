"""What sources of one server are worth together."""

from __future__ import annotations

from typing import Any

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.operations.host_results import Examined
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.runtime.freshness.check_file import of_one_text
from lspkit.testing import Diagnostics, Fault, Log, Say, Script, watchers
from tests.runtime.server_log import (
    POKE,
    PULL,
    asked,
    finding,
    full,
    heard,
    messages_of,
    published,
    starting,
    written_outside,
)
from tests.scripted import workspace

TEXT = Text("x")
RUN, SYMBOLS = "scripted/run", "textDocument/documentSymbol"
#: Work that runs programs, and a source that reads what they write.
SOURCES = (
    ProofRule(how="pull"),
    ProofRule(
        how="progress",
        source="build",
        token="build",
        ask=SYMBOLS,
        sees="disk",
    ),
)


def examined(source: str, version: int | None) -> Examined:
    view = None if version is None else View("file:///a", TEXT, version, "utf-16")
    return Examined("server", view, (b"[1]",), "pull", 0.1, source=source)


def test_sources_that_have_looked_at_one_text_all_count():
    both = [examined("native", 3), examined("cargo", 3)]
    assert of_one_text(both) == both


def test_of_sources_that_have_looked_at_two_texts_only_the_newer_counts():
    older, newer = of_one_text([examined("native", 3), examined("cargo", 4)])
    assert newer == examined("cargo", 4)
    assert (older.how, older.lists, older.view) == ("none", (), None)
    assert "changed" in older.reason
    assert older.source == "native"


def test_a_source_that_has_not_looked_takes_nothing_from_the_others():
    both = [examined("native", 3), examined("cargo", None)]
    assert of_one_text(both) == both


# Work that writes what another source reads


def work(kind: str) -> dict[str, Any]:
    value = {"kind": kind, "title": "Building"}
    return {"method": "$/progress", "params": {"token": "build/1", "value": value}}


def building(*faults: Fault, say: tuple[Say, ...] = ()) -> Script:
    """A server that begins its work when it is told to, and ends it when it is poked."""
    return Script(
        diagnostics=Diagnostics(how="pull"),
        say=[
            watchers("**/made.scr"),
            Say(RUN, notification=work("begin"), times=0),
            *say,
            Say(POKE, notification=work("end"), times=0),
        ],
        answers={POKE: None},
        faults=faults,
    )


@pytest.mark.parametrize("identifier", [["types"], {"name": "types"}, 1, None])
def test_an_identifier_that_is_no_string_is_none(tmp_path, scripted, identifier):
    provider = {"identifier": identifier, "interFileDependencies": False}
    script = Script(
        diagnostics=Diagnostics(how="pull"), capabilities={"diagnosticProvider": provider}
    )
    argv = scripted(script)
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        [message] = Log.of(argv).messages(PULL)
    assert "identifier" not in message["params"]


def test_a_source_is_asked_again_after_work_that_wrote_what_it_reads(tmp_path, scripted, rules):
    rules(*SOURCES, adapter=starting(RUN))
    argv = scripted(building(Fault(PULL, "result", nth=1, result=full(finding("old")))))
    (tmp_path / "made.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        checked = ws.submit(ws.check, "a.scr", timeout=30)
        log.wait_for_message(RUN)
        written_outside(tmp_path / "made.scr", "new\n")
        ws.request("a.scr", POKE)
        report = checked.result(30)
        assert [name for name, _ in heard(log)][-1] == "made.scr"
        assert asked(log) == ["a.scr"] * 2
    assert (report.verdict.value, messages_of(report)) == ("clean", [])
    assert [one.how for one in report.servers] == ["pull", "progress"]


def test_a_source_is_not_asked_again_after_work_that_wrote_nothing_it_reads(
    tmp_path, scripted, rules
):
    rules(*SOURCES, adapter=starting(RUN))
    argv = scripted(building())
    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        checked = ws.submit(ws.check, "a.scr", timeout=30)
        log.wait_for_message(RUN)
        written_outside(tmp_path / "made.object", "new\n")
        ws.request("a.scr", POKE)
        assert checked.result(30).verdict.clean
        assert asked(log) == ["a.scr"]


def test_a_source_that_is_not_asked_again_in_time_is_unknown(tmp_path, scripted, rules):
    """What it found before does not count, and what the work has found does."""
    rules(*SOURCES, adapter=starting(RUN))
    built = Say(POKE, notification=published(tmp_path / "a.scr", finding("built")))
    old = Fault(PULL, "result", nth=1, result=full(finding("old")))
    argv = scripted(building(old, Fault(PULL, "hang", nth=2), say=(built,)))
    (tmp_path / "made.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        checked = ws.submit(ws.check, "a.scr", timeout=5)
        log.wait_for_message(RUN)
        written_outside(tmp_path / "made.scr", "new\n")
        ws.request("a.scr", POKE)
        report = checked.result(30)
    assert messages_of(report) == ["built"]
    assert [(one.how, one.timed_out) for one in report.servers] == [
        ("none", True),
        ("progress", False),
    ]
