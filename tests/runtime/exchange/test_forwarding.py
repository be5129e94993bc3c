"""Questions that one server has for another: carried there and back, and always answered."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.runtime.freshness import background_calls
from lspkit.testing import Diagnostics, Fault, Log, Say, Script, progress
from tests.scripted import comes_true

ASKS, ANSWERS, COMMAND = "tsserver/request", "tsserver/response", "workspace/executeCommand"
SYMBOLS = "textDocument/documentSymbol"
BODY = {"configFileName": "tsconfig.json"}
TEXT = "def greet\n"


@pytest.fixture
def file(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A file of the two servers, and the package that the second one loads a part of."""
    package = tmp_path_factory.mktemp("package")
    (package / "package.json").write_text('{"name": "@vue/language-server"}', encoding="utf-8")
    plugin = package / "node_modules" / "@vue" / "typescript-plugin"
    plugin.mkdir(parents=True)
    (plugin / "package.json").write_text("{}", encoding="utf-8")
    program = package / "vue-language-server"
    program.write_text("", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{package}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "a.vue").write_text(TEXT, encoding="utf-8")
    return tmp_path / "a.vue"


def asking(*questions: Any, **more: Any) -> Script:
    """A server that asks this, and then answers what it was asked itself."""
    note = {"method": ASKS, "params": list(questions)}
    say = Say(SYMBOLS, notification=note, times=0, **more)
    return Script(say=[say], diagnostics=Diagnostics(how="pull"))


def answering(*faults: Fault, **more: Any) -> Script:
    """A server that knows the answer, unless something goes wrong."""
    return Script(
        faults=faults,
        say=progress("load", when="textDocument/didOpen"),
        capabilities={"executeCommandProvider": {"commands": ["typescript.tsserverRequest"]}},
        answers={COMMAND: {"success": True, "body": BODY}},
        **more,
    )


def opened(file: Path, vue: list[str], types: list[str] | None, **timing: int) -> lspkit.Workspace:
    second = {"disabled": True} if types is None else {"command": types}
    config = {"lsp": {"vue": {"command": vue}, "vue-typescript": second}, "timing": timing}
    return lspkit.Workspace(file.parent, config=config)


def question(file: Path, number: int = 7) -> list[Any]:
    return [number, "_vue:projectInfo", {"file": str(file)}]


def answers(argv: list[str], count: int = 1) -> list[Any]:
    """What the server has heard by then."""
    log = Log.of(argv)
    log.wait_for_message(ANSWERS, count=count)
    return [message["params"] for message in log.messages(ANSWERS)]


def refused(vue: list[str]) -> int:
    """How many questions were answered with null."""
    return sum(answer is None for [[_, answer]] in answers(vue))


def hung(types: list[str]) -> int:
    """How many questions are with the other server, which does not answer."""
    return len(Log.of(types).messages(COMMAND))


def times(argv: list[str], method: str) -> list[float]:
    """When a server got these messages."""
    return [one.time for one in Log.of(argv).entries() if (one.got or {}).get("method") == method]


def test_a_question_is_answered_by_the_other_server(file, scripted):
    vue, types = scripted(asking(question(file))), scripted(answering())
    with opened(file, vue, types) as ws:
        assert [one.name for one in ws.document_symbols("a.vue")] == ["greet"]
        assert answers(vue) == [[[7, BODY]]]
    [asked] = Log.of(types).messages(COMMAND)
    assert asked["params"] == {
        "command": "typescript.tsserverRequest",
        "arguments": ["_vue:projectInfo", {"file": str(file)}],
    }
    assert Log.of(vue).complaints() == Log.of(types).complaints() == []


def test_the_other_server_has_the_file_open_before_it_is_asked_about_it(file, scripted):
    other = file.with_name("b.vue")
    other.write_text(TEXT, encoding="utf-8")
    vue, types = scripted(asking([1, "_vue:getElementNames", [str(other)]])), scripted(answering())
    with opened(file, vue, types) as ws:
        ws.document_symbols("a.vue")
        assert answers(vue) == [[[1, BODY]]]
    messages = [entry.got for entry in Log.of(types).entries() if entry.got]
    at = next(at for at, one in enumerate(messages) if one.get("method") == COMMAND)
    shown = [one for one in messages[:at] if one.get("method") == "textDocument/didOpen"]
    assert other.as_uri() in [one["params"]["textDocument"]["uri"] for one in shown]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(COMMAND, "error", message="No Project."),
        Fault(COMMAND, "crash"),
        Fault(COMMAND, "result", result=42),
        Fault(COMMAND, "close-output"),
        Fault(COMMAND, "bad-json"),
        Fault("initialize", "error"),
        Fault("initialize", "crash"),
    ],
    ids=lambda fault: f"{fault.on} {fault.do}",
)
def test_where_the_other_server_fails_null_is_the_answer(file, scripted, fault):
    vue, types = scripted(asking(question(file))), scripted(answering(fault))
    with opened(file, vue, types, requestTimeoutMs=4000) as ws:
        assert [one.name for one in ws.document_symbols("a.vue")] == ["greet"]
        assert answers(vue) == [[[7, None]]]


def test_one_that_hangs_is_not_waited_for_longer_than_half_of_a_request(file, scripted):
    vue, types = scripted(asking(question(file))), scripted(answering(Fault(COMMAND, "hang")))
    with opened(file, vue, types, requestTimeoutMs=1000) as ws:
        ws.document_symbols("a.vue")
        assert answers(vue) == [[[7, None]]]
        Log.of(types).wait_for_message("$/cancelRequest")
        times = {one.got["method"]: one.time for one in Log.of(vue).entries() if one.got}
        assert 0.4 < times[ANSWERS] - times[SYMBOLS] < 0.9


def test_one_that_does_not_come_up_is_given_up(file, scripted):
    vue, types = scripted(asking(question(file))), scripted(answering(Fault("initialize", "hang")))
    with opened(file, vue, types, initializeTimeoutMs=500) as ws:
        assert [one.name for one in ws.document_symbols("a.vue")] == ["greet"]
        assert answers(vue) == [[[7, None]]]


@pytest.mark.parametrize("hangs", ["initialize", "load"])
def test_one_that_never_gets_ready_takes_half_of_a_callers_time_and_once(file, scripted, hangs):
    vue = scripted(asking(question(file)))
    types = scripted(
        answering(Fault("initialize", "hang"))
        if hangs == "initialize"
        else answering(Fault("$/progress", "hang", nth=2))
    )
    with opened(file, vue, types, requestTimeoutMs=60_000) as ws:
        for _ in range(2):
            assert [one.name for one in ws.document_symbols("a.vue", timeout=4)] == ["greet"]
    first, second = times(vue, SYMBOLS)
    assert second - first < 3  # the second half of the first call, and nothing of the second


def test_a_second_caller_waits_for_the_other_server_as_well(file, scripted):
    vue = scripted(asking(question(file)))
    types = scripted(answering(Fault("$/progress", "delay", nth=2, seconds=1.5)))
    with opened(file, vue, types) as ws, ThreadPoolExecutor(2) as callers:
        first = callers.submit(ws.document_symbols, "a.vue")
        Log.of(types).wait_for_message("textDocument/didOpen")
        callers.submit(ws.document_symbols, "a.vue").result(20)
        first.result(20)
    [shown] = times(types, "textDocument/didOpen")
    assert [at - shown > 1.0 for at in times(vue, SYMBOLS)] == [True, True]


def test_a_question_about_a_file_of_another_language_is_answered_with_null(file, scripted):
    other = file.with_name("b.ts")
    other.write_text("export {}\n", encoding="utf-8")
    vue, types = scripted(asking(question(other))), scripted(answering())
    with opened(file, vue, types) as ws:
        ws.document_symbols("a.vue")
        assert answers(vue) == [[[7, None]]]
    assert Log.of(types).messages(COMMAND) == []


def test_more_questions_than_can_be_under_way_are_answered_with_null(file, scripted, monkeypatch):
    monkeypatch.setattr(background_calls, "MOST_CALLS", 6)
    many = [question(file, number) for number in range(10)]
    vue, types = scripted(asking(*many)), scripted(answering(Fault(COMMAND, "hang", times=0)))
    with opened(file, vue, types, requestTimeoutMs=60_000) as ws:
        ws.document_symbols("a.vue")
        assert comes_true(lambda: refused(vue) and refused(vue) + hung(types) == 10)
        assert hung(types) <= 6


def test_a_question_that_no_thread_can_carry_is_answered_with_null(file, scripted, monkeypatch):
    vue, types = scripted(asking(question(file))), scripted(answering())
    with opened(file, vue, types) as ws:
        ws.document_symbols("a.vue")
        assert answers(vue) == [[[7, BODY]]]
        monkeypatch.setattr(ws._engine.threads, "do", lambda job, most=0: False)
        ws.document_symbols("a.vue")
        assert answers(vue, count=2) == [[[7, BODY]], [[7, None]]]
        monkeypatch.undo()


def test_where_there_is_no_other_server_null_is_the_answer(file, scripted):
    vue = scripted(asking(question(file)))
    with opened(file, vue, None) as ws:
        assert [one.name for one in ws.document_symbols("a.vue")] == ["greet"]
        assert answers(vue) == [[[7, None]]]


def test_what_cannot_be_understood_is_answered_as_far_as_it_has_a_number(file, scripted):
    outside = question(Path("/etc/passwd"), 4)
    strange = ["nonsense", [], [1], [2, "what"], [3, "what", [{"data": 1}]], outside]
    vue, types = scripted(asking(*strange, question(file, 5))), scripted(answering())
    with opened(file, vue, types) as ws:
        ws.document_symbols("a.vue")
        found = sorted(answers(vue, count=5))
    assert found == [[[1, None]], [[2, None]], [[3, None]], [[4, None]], [[5, BODY]]]
    assert len(Log.of(types).messages(COMMAND)) == 1


def test_a_file_that_is_not_on_disk_is_asked_about_and_not_opened(file, scripted):
    new = file.with_name("new.vue")
    vue, types = scripted(asking(question(new))), scripted(answering())
    with opened(file, vue, types) as ws:
        ws.document_symbols("a.vue")
        assert answers(vue) == [[[7, BODY]]]
    shown = Log.of(types).messages("textDocument/didOpen")
    assert [one["params"]["textDocument"]["uri"] for one in shown] == [file.as_uri()]


def test_many_questions_that_hang_hold_nobody_up(file, scripted):
    many = [question(file, number) for number in range(50)]
    vue, types = scripted(asking(*many)), scripted(answering(Fault(COMMAND, "hang", times=0)))
    with opened(file, vue, types, requestTimeoutMs=60_000) as ws:
        for _ in range(3):
            ws.document_symbols("a.vue", timeout=5)
        Log.of(types).wait_for_message(COMMAND, count=50)
        # They hang still; closing the workspace ends them all, and leaves nothing behind.
        assert Log.of(vue).messages(ANSWERS) == []


def test_the_text_that_a_caller_shows_is_left_as_it_is_while_he_waits(file, scripted):
    vue = scripted(asking(question(file), seconds=0.2))
    types = scripted(answering(Fault(SYMBOLS, "delay", nth=2, seconds=1.0)))
    with opened(file, vue, types) as ws:
        ws.document_symbols("a.vue")
        answers(vue)
        ws.document_symbols("a.vue", text="def other\n")
        answers(vue, count=2)
    told = [entry.got.get("method") for entry in Log.of(types).entries() if entry.got]
    wanted = ("textDocument/didChange", SYMBOLS, COMMAND)
    # The last change lets the server see the disk again.
    assert [one for one in told if one in wanted] == [
        *(SYMBOLS, COMMAND),
        *("textDocument/didChange", SYMBOLS, COMMAND),
        "textDocument/didChange",
    ]
