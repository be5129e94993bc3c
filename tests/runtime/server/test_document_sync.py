"""Documents as a server is told about them, by its own log."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.uris import path_to_uri
from lspkit.servers.definition_parts import DiskReactions
from lspkit.testing import Diagnostics, Log, Script, watchers
from tests.runtime.server_log import CHANGED, DELETED, heard, wait_until_heard, written_outside
from tests.scripted import SOURCE, ask, config_for, workspace

OPEN, CHANGE = "textDocument/didOpen", "textDocument/didChange"
SAVE, CLOSE = "textDocument/didSave", "textDocument/didClose"
PULL = Diagnostics(how="pull")
#: All that a script can say about how it finds out, with versions or without.
WAYS = {"push": Diagnostics(), "pull": PULL}


def told(log: Log) -> list[str]:
    """The notifications about documents, by their last word."""
    methods = [str(message.get("method")) for message in log.messages()]
    about = [method.removeprefix("textDocument/") for method in methods]
    return [method for method in about if method.startswith("did") and "/" not in method]


def changes(log: Log) -> list[Any]:
    return [one for message in log.messages(CHANGE) for one in message["params"]["contentChanges"]]


def at(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def test_a_document_is_opened_once(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        for _ in range(3):
            assert ask(ws) == "1:5"
            ws.hover("a.scr", 2, 4)
        log = Log.of(argv)
        assert told(log) == ["didOpen"]
        [opened] = log.messages(OPEN)
    assert opened["params"]["textDocument"] == {
        "uri": path_to_uri(str(tmp_path / "a.scr")),
        "languageId": "scr",
        "version": 1,
        "text": SOURCE,
    }
    assert log.complaints() == []


def test_many_first_callers_open_it_once(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(8) as callers:
        assert list(callers.map(lambda _: ask(ws), range(16))) == ["1:5"] * 16
        assert told(Log.of(argv)) == ["didOpen"]
    assert Log.of(argv).complaints() == []


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)])
def test_a_change_on_disk_is_sent_as_the_smallest_one_and_then_saved(
    tmp_path, scripted, encoding, column
):
    argv = scripted(Script(encoding=encoding))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        (tmp_path / "a.scr").write_text("def greet\n😀 meet ok\n", encoding="utf-8")
        assert ws.hover("a.scr", 2, 4) is None
        log = Log.of(argv)
        assert told(log) == ["didOpen", "didChange", "didSave"]
        assert changes(log) == [{"range": at(1, column, column + 2), "text": "m"}]
        assert log.messages(CHANGE)[0]["params"]["textDocument"]["version"] == 2
    assert log.complaints() == []


def test_a_server_that_wants_whole_texts_gets_them(tmp_path, scripted):
    sync = {"openClose": True, "change": 1}
    argv = scripted(Script(capabilities={"textDocumentSync": sync}))
    with workspace(tmp_path, argv) as ws:
        ask(ws)
        (tmp_path / "a.scr").write_text("def greet\ngreet\n", encoding="utf-8")
        ask(ws)
        assert changes(Log.of(argv)) == [{"text": "def greet\ngreet\n"}]
        assert told(Log.of(argv)) == ["didOpen", "didChange"]


def test_a_server_that_wants_the_text_with_a_save_gets_it(tmp_path, scripted):
    sync = {"openClose": True, "change": 2, "save": {"includeText": True}}
    argv = scripted(Script(capabilities={"textDocumentSync": sync}))
    with workspace(tmp_path, argv) as ws:
        ask(ws)
        (tmp_path / "a.scr").write_text(SOURCE + "more", encoding="utf-8")
        ask(ws)
        assert [one["params"]["text"] for one in Log.of(argv).messages(SAVE)] == [SOURCE + "more"]


def test_a_file_that_is_written_again_with_the_same_text_sends_nothing(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        ask(ws)
        for _ in range(3):
            # In place: a file that is emptied first has another text for a moment.
            with open(tmp_path / "a.scr", "r+", encoding="utf-8") as file:
                file.write(SOURCE)
            os.utime(tmp_path / "a.scr")
            ask(ws)
        assert told(Log.of(argv)) == ["didOpen"]


def test_an_edit_by_another_process_is_seen_by_the_next_question(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        assert ask(ws) == "1:5"
        code = "import sys; open(sys.argv[1], 'w').write('\\ndef greet\\nx greet\\n')"
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.scr")], check=True)
        assert [str(one.range.start) for one in ws.definition("a.scr", 3, 4)] == ["2:5"]


def test_before_a_check_all_open_documents_are_brought_up_to_date(tmp_path, scripted):
    argv = scripted(Script(diagnostics=PULL))
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("b.scr")
        (tmp_path / "b.scr").write_text("new\n", encoding="utf-8")
        ws.check("a.scr")
        assert [one["text"] for one in changes(Log.of(argv))] == ["new"]


def test_a_server_that_goes_by_the_text_is_told_of_closed_files_only(tmp_path, scripted, rules):
    rules(ProofRule(how="pull"), disk=DiskReactions(skips_open=True))
    opened, closed = tmp_path / "a.scr", tmp_path / "closed.scr"
    closed.write_text("fine\n", encoding="utf-8")
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), say=[watchers("**/*.scr")]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        log = Log.of(argv)
        for path in (opened, closed):
            written_outside(path, "ERROR\n")
        assert ws.check("a.scr").verdict.dirty
        wait_until_heard(log, "closed.scr", CHANGED)
        opened.unlink()
        wait_until_heard(log, "a.scr", DELETED)
        assert ("a.scr", CHANGED) not in heard(log)


def test_it_is_told_of_a_file_with_a_text_of_the_caller(tmp_path, scripted, rules):
    """When the text ends, it may read the file."""
    rules(ProofRule(how="pull"), disk=DiskReactions(skips_open=True))
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), say=[watchers("**/*.scr")]))
    with workspace(tmp_path, argv, text="fine\n") as ws, ws.overlay({"a.scr": "ERROR\n"}):
        assert ws.check("a.scr").verdict.dirty
        written_outside(tmp_path / "a.scr", "ERROR\n")
        wait_until_heard(Log.of(argv), "a.scr", CHANGED)


def test_a_text_is_for_one_call_and_then_the_disk_counts_again(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        found = ws.definition("a.scr", 2, 1, text="  def other\nother\n")
        assert [str(one.range.start) for one in found] == ["1:7"]
        assert ask(ws) == "1:5"
        log = Log.of(argv)
        assert told(log) == ["didOpen", "didChange", "didChange", "didSave"]
        versions = [one["params"]["textDocument"]["version"] for one in log.messages(CHANGE)]
        assert versions == [2, 3]
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == SOURCE
    assert log.complaints() == []


def test_a_text_that_equals_the_disk_sends_nothing(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        ask(ws)
        assert ask(ws, text=SOURCE) == "1:5"
        ask(ws)
        assert told(Log.of(argv)) == ["didOpen"]


def test_a_text_for_a_file_that_is_not_there_is_closed_again(tmp_path, scripted):
    argv = scripted(Script(diagnostics=PULL))
    with workspace(tmp_path, argv) as ws:
        assert ws.check("new.scr", text="ERROR\n").verdict.dirty
        Log.of(argv).wait_for_message(CLOSE)
        with pytest.raises(lspkit.PathError):
            ws.check("new.scr")
        assert told(Log.of(argv)) == ["didOpen", "didClose"]
    assert not (tmp_path / "new.scr").exists()


def test_a_document_that_was_closed_is_only_opened_again(tmp_path, scripted):
    argv = scripted(Script(diagnostics=PULL))
    with workspace(tmp_path, argv) as ws:
        for _ in range(2):
            ws.check("new.scr", text="ERROR\n")
        Log.of(argv).wait_for_message(OPEN, count=2)
    assert told(Log.of(argv)) == ["didOpen", "didClose"] * 2
    assert Log.of(argv).complaints() == []


def test_a_position_that_the_text_does_not_have_sends_nothing(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        with pytest.raises(lspkit.PositionError) as caught:
            ws.definition("a.scr", 99, 1)
        assert told(Log.of(argv)) == []
    assert caught.value.bounds == "line 1 to 3"


def test_a_byte_order_mark_does_not_reach_the_server(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "bom.scr").write_bytes(b"\xef\xbb\xbfdef greet\n")
    with workspace(tmp_path, argv) as ws:
        [found] = ws.document_symbols("bom.scr")
        assert Log.of(argv).messages(OPEN)[0]["params"]["textDocument"]["text"] == "def greet\n"
    assert str(found.selection.start) == "1:5"


def test_nor_does_that_of_a_text_of_a_caller(tmp_path, scripted):
    argv = scripted(Script())
    text = "\ufeffERROR\n"
    with workspace(tmp_path, argv, text="fine\n") as ws:
        reports = [ws.check("a.scr", text=text)]
        with ws.overlay({"a.scr": text}):
            reports.append(ws.check("a.scr"))
        (tmp_path / "a.scr").write_text(text, encoding="utf-8")
        reports.append(ws.check("a.scr"))
        ws.sync("b.scr", text="\ufeffdef greet\n")
        found = ws.definition("a.scr", 1, 1, text="\ufeffgreet\n")
    assert [str(one.range) for report in reports for one in report.diagnostics] == ["1:1-1:6"] * 3
    assert [str(one.range.start) for one in found] == ["1:5"]


@pytest.mark.parametrize(
    ("name", "code"), [("binary.scr", "EBINARY"), ("../out.scr", "EOUTSIDE"), ("sub.scr", "ENOENT")]
)
def test_a_file_that_may_not_be_touched_starts_nothing(tmp_path, scripted, name, code):
    folder = tmp_path / "work"
    (folder / "sub.scr").mkdir(parents=True)
    (folder / "binary.scr").write_bytes(b"\0")
    (tmp_path / "out.scr").write_text("", encoding="utf-8")
    argv = scripted(Script())
    with lspkit.Workspace(folder, config=config_for(argv)) as ws:
        with pytest.raises(lspkit.PathError) as caught:
            ws.document_symbols(name)
        assert Log.of(argv).messages(OPEN) == []
        if code == "EOUTSIDE":
            assert Log.of(argv).entries() == []
    assert caught.value.code == code


def test_a_binary_file_cannot_be_checked(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        (tmp_path / "binary.scr").write_bytes(b"\0")
        with pytest.raises(lspkit.PathError) as caught:
            ws.check("binary.scr", timeout=30)
    assert caught.value.code == "EBINARY"


@pytest.mark.parametrize("way", WAYS)
def test_two_checks_with_different_texts_each_get_their_own_answer(tmp_path, scripted, way):
    argv = scripted(Script(diagnostics=WAYS[way]))

    def check(number: int) -> tuple[int, list[str]]:
        report = ws.check("a.scr", text=f"ERROR {number}\n" if number % 2 else f"fine {number}\n")
        assert report.verdict.dirty if number % 2 else report.verdict.clean
        return number, [one.message for one in report.diagnostics]

    quick = {"timing": {"debounceMs": 10}}
    with workspace(tmp_path, argv, **quick) as ws, ThreadPoolExecutor(8) as callers:
        for number, messages in callers.map(check, range(16)):
            assert messages == ([f"ERROR {number}"] if number % 2 else [])
        assert ask(ws) == "1:5"
    assert Log.of(argv).complaints() == []


def test_a_question_with_a_text_does_not_answer_for_a_check(tmp_path, scripted):
    argv = scripted(Script())
    slow = {"timing": {"debounceMs": 1000}}
    with workspace(tmp_path, argv, **slow) as ws:
        waiting = ws.submit(ws.check, "a.scr", text="ERROR mine\n")
        Log.of(argv).wait_for_message(OPEN)
        ws.hover("a.scr", 1, 1, text="fine\n")
        report = waiting.result(30)
    assert not report.verdict.clean


def test_findings_stay_known_when_the_same_text_gets_another_version(tmp_path, scripted):
    """The server is made to look again, and has not answered yet."""
    argv = scripted(Script(diagnostics=Diagnostics(on=("open",))))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        assert ws.check("a.scr").verdict.value == "dirty"
        [server] = ws._engine.pool.servers()
        assert server.channel.touch(path_to_uri(str(tmp_path / "a.scr"))).version == 2
        [(path, findings)] = ws.diagnostics().items()
    assert (path.name, len(findings)) == ("a.scr", 1)
