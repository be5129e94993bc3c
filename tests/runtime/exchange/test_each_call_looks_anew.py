"""Whatever earlier calls have found, each call goes by what is there when it begins.

Each test asks several times first, so that all that is remembered of a file is remembered.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import OFFERED
from lspkit.runtime import files
from lspkit.runtime.files import TICK_NS, Stamp
from lspkit.servers.definition_parts import HARMLESS
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from tests.interrupting import each_interrupt
from tests.runtime.exchange.test_exclusive_calls import HOVER, order, slow, visited
from tests.runtime.server_log import CHANGE, CLOSE, OPEN, POKE, define
from tests.scripted import SOURCE, ask, comes_true, config_for, interrupted, workspace

RUNTIME = Path(lspkit.__file__).parent / "runtime"
DEFINITION, SYMBOLS = "textDocument/definition", "textDocument/documentSymbol"
#: Requests after which all is remembered.
SEVERAL = 3
#: Two texts of one size: the first is clean, and the second has an error.
GOOD, BAD = "def greet\n", "def ERROR\n"
SECRET = "def secret\n"
#: Texts in which the third unit of UTF-16 is another character.
WIDE, NARROW = "😀😀 aa\n", "aa aaaa\n"


def names(ws: lspkit.Workspace, path: str = "a.scr") -> list[str]:
    """What the server sees in its text of the file."""
    return [symbol.name for symbol in ws.document_symbols(path, timeout=20)]


def let_age(*paths: Path) -> None:
    """Until no file is so young that it is read again each time."""
    for path in paths:
        assert comes_true(lambda at=path: time.time_ns() - at.stat().st_ctime_ns > 2 * TICK_NS)


def names_often(ws: lspkit.Workspace, path: str) -> list[str]:
    return [names(ws, path) for _ in range(SEVERAL)][-1]


def shown_texts(log: Log) -> str:
    """All that the server was shown of documents."""
    return json.dumps([*log.messages(OPEN), *log.messages(CHANGE)])


# Where a path leads


def moved_folder(folder: Path, outside: Path) -> None:
    """The same file, with the same stamp; but it lies outside now."""
    folder.rename(outside / "moved")
    folder.symlink_to(outside / "moved")


def other_folder(folder: Path, outside: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(outside)


def moved_file(folder: Path, outside: Path) -> None:
    (folder / "b.scr").rename(outside / "moved.scr")
    (folder / "b.scr").symlink_to(outside / "moved.scr")


def other_file(folder: Path, outside: Path) -> None:
    (folder / "b.scr").unlink()
    (folder / "b.scr").symlink_to(outside / "b.scr")


def pipe(folder: Path, outside: Path) -> None:
    (folder / "b.scr").unlink()
    os.mkfifo(folder / "b.scr")


def folder_in_its_place(folder: Path, outside: Path) -> None:
    (folder / "b.scr").unlink()
    (folder / "b.scr").mkdir()


def nothing(folder: Path, outside: Path) -> None:
    (folder / "b.scr").unlink()


Swap = Callable[[Path, Path], None]
SWAPS: list[tuple[Swap, str]] = [
    (moved_folder, "EOUTSIDE"),
    (other_folder, "EOUTSIDE"),
    (moved_file, "EOUTSIDE"),
    (other_file, "EOUTSIDE"),
    (pipe, "ENOENT"),
    (folder_in_its_place, "ENOENT"),
    (nothing, "ENOENT"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a file, and one more that holds a file with another name and text."""
    for name, text in (
        ("work/a.scr", SOURCE),
        ("work/inner/deep/b.scr", GOOD),
        ("outside/b.scr", SECRET),
        ("outside/deep/b.scr", SECRET),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    let_age(tmp_path / "work/a.scr", tmp_path / "work/inner/deep/b.scr")
    return tmp_path / "work"


def swapped_folder(project: Path, swap: Swap) -> Path:
    """The folder that is replaced, or in which a file is."""
    is_whole = swap in (moved_folder, other_folder)
    return project / "inner" if is_whole else project / "inner" / "deep"


@pytest.mark.parametrize(("swap", "code"), SWAPS)
def test_what_leads_elsewhere_is_refused_by_the_next_call(project, scripted, swap, code):
    argv = scripted(Script())
    folder, path = swapped_folder(project, swap), "inner/deep/b.scr"
    with lspkit.Workspace(project, config=config_for(argv)) as ws:
        assert names_often(ws, path) == ["greet"]
        swap(folder, project.with_name("outside"))
        for question in (lambda: names(ws, path), lambda: ws.check(path, timeout=20)):
            with pytest.raises(lspkit.PathError) as caught:
                question()
            assert caught.value.code == code
        if folder.is_symlink():
            folder.unlink()
        else:
            shutil.rmtree(folder)
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("def again\n", encoding="utf-8")
        assert names_often(ws, path) == ["again"]
    assert "secret" not in shown_texts(Log.of(argv))


@pytest.mark.parametrize(("swap", "_"), [row for row in SWAPS if row[0] is not moved_folder])
def test_nor_is_the_server_shown_it_when_another_file_is_checked(project, scripted, swap, _):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with lspkit.Workspace(project, config=config_for(argv)) as ws:
        assert names_often(ws, "inner/deep/b.scr") == ["greet"]
        swap(swapped_folder(project, swap), project.with_name("outside"))
        assert ws.check("a.scr", timeout=20).verdict.clean
        log = Log.of(argv)
        [closed] = log.messages(CLOSE)
    assert closed["params"]["textDocument"]["uri"].endswith("/b.scr")
    assert "secret" not in shown_texts(log)


# What is in a file


def written(path: Path, text: str, stack: ExitStack) -> None:
    path.write_text(text, encoding="utf-8")


def written_over(path: Path, text: str, stack: ExitStack) -> None:
    """In place, so that the file never has another size."""
    with path.open("r+b") as file:
        file.write(text.encode())


def written_with_its_time(path: Path, text: str, stack: ExitStack) -> None:
    before = path.stat()
    written_over(path, text, stack)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def put_in_its_place(path: Path, text: str, stack: ExitStack) -> None:
    before, beside = path.stat(), path.with_name("beside")
    beside.write_text(text, encoding="utf-8")
    os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
    beside.replace(path)


def written_through_another_name(path: Path, text: str, stack: ExitStack) -> None:
    """Outside of the folders that are watched: nothing is reported."""
    other = path.parent.with_name("other.scr")
    if not other.exists():
        os.link(path, other)
    written_over(other, text, stack)


def written_to_mapped_memory(path: Path, text: str, stack: ExitStack) -> None:
    """The system reports nothing before the file is closed."""
    memory = mmap.mmap(stack.enter_context(path.open("r+b")).fileno(), 0)
    stack.enter_context(memory)
    memory[:] = text.encode()
    memory.flush()


WRITERS = [
    written,
    written_over,
    written_with_its_time,
    put_in_its_place,
    written_through_another_name,
    written_to_mapped_memory,
]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with something beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("write", WRITERS)
def test_what_is_written_before_a_call_is_what_it_is_about(folder, scripted, stack, write):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(folder, argv, text=GOOD) as ws:
        for text, name in ((BAD, "ERROR"), (GOOD, "greet")) * 3:
            let_age(folder / "a.scr")
            names_often(ws, "a.scr")
            write(folder / "a.scr", text, stack)
            assert names(ws) == [name]


@pytest.mark.parametrize("write", WRITERS)
def test_so_it_is_for_a_check(folder, scripted, stack, write):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(folder, argv, text=GOOD) as ws:
        for text in (BAD, GOOD) * 3:
            let_age(folder / "a.scr")
            for _ in range(SEVERAL):
                ws.check("a.scr", timeout=20)
            write(folder / "a.scr", text, stack)
            assert ws.check("a.scr", timeout=20).verdict.dirty is (text == BAD)


@pytest.mark.parametrize("write", WRITERS)
def test_where_an_answer_points_to_is_read_in_the_text_of_now(folder, scripted, stack, write):
    """The server has not opened that file: only lspkit reads it."""
    target = folder / "target.scr"
    ends = {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 4}}
    # Texts of one size, also where that is counted in bytes.
    wide, narrow = WIDE, NARROW.strip().ljust(len(WIDE.encode()) - 1) + "\n"
    target.write_text(narrow, encoding="utf-8")
    argv = scripted(Script(answers={DEFINITION: {"uri": target.as_uri(), "range": ends}}))
    with workspace(folder, argv) as ws:
        for text, start in ((wide, "1:2"), (narrow, "1:3")) * 3:
            let_age(target)
            for _ in range(SEVERAL):
                ask(ws)
            write(target, text, stack)
            assert [ask(ws), ask(ws)] == [start, start]


def test_what_is_written_in_one_tick_of_the_clock_is_seen_by_the_next_call(
    tmp_path, scripted, monkeypatch
):
    """Also where nothing tells one write from the other."""

    def coarse(status: os.stat_result) -> Stamp:
        return status.st_size, 0, 0, status.st_ino, status.st_dev

    monkeypatch.setattr(files, "TICK_NS", 10**12)
    monkeypatch.setattr(files, "stamp_of", coarse)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(tmp_path, argv, text=GOOD) as ws:
        assert names_often(ws, "a.scr") == ["greet"]
        for text, name in ((BAD, "ERROR"), (GOOD, "greet")) * 5:
            (tmp_path / "a.scr").write_text(text, encoding="utf-8")
            assert ws.check("a.scr", timeout=20).verdict.dirty is (text == BAD)
            (tmp_path / "a.scr").write_text(text.replace("def", "abc"), encoding="utf-8")
            assert names(ws) == []
            (tmp_path / "a.scr").write_text(text, encoding="utf-8")
            assert names(ws) == [name]


def test_each_question_of_a_call_is_about_the_file_as_it_is_then(folder, scripted, stack):
    """What is asked first takes a while; meanwhile the file is written, which is not reported."""
    argv = scripted(Script(faults=[Fault(SYMBOLS, "delay", seconds=0.5, nth=SEVERAL + 1)]))
    with workspace(folder, argv, text=GOOD) as ws:
        let_age(folder / "a.scr")
        assert names_often(ws, "a.scr") == ["greet"]
        place = ws.submit(ws.definition, "a.scr", symbol="greet", timeout=20)
        log = Log.of(argv)
        log.wait_for_message(SYMBOLS, count=SEVERAL + 1)
        written_to_mapped_memory(folder / "a.scr", BAD, stack)
        place.result(30)
        methods = [message["method"] for message in log.messages()]
    assert CHANGE in methods[: methods.index(DEFINITION)]


# Who is asked


def capability(verb: str, **entry: Any) -> dict[str, Any]:
    key = "registrations" if verb == "register" else "unregisterations"
    params = {key: [{"id": "late", "method": HOVER, **entry}]}
    return {"method": f"client/{verb}Capability", "params": params}


def test_what_a_server_registers_and_drops_counts_from_the_next_call_on(tmp_path, scripted):
    steps = [
        capability(verb, **more)
        for verb, more in (
            ("register", {"registerOptions": {"documentSelector": [{"pattern": "**/*.scr"}]}}),
            ("unregister", {}),
            ("register", {"registerOptions": {"documentSelector": [{"pattern": "**/*.other"}]}}),
            ("unregister", {}),
            ("register", {"registerOptions": {}}),
        )
    ]
    say = [
        Say(POKE, request=step, wait=True, nth=number) for number, step in enumerate(steps, start=1)
    ]
    script = Script(capabilities={"hoverProvider": None}, answers={POKE: None}, say=say)
    argv = scripted(script)

    def may_hover() -> bool:
        try:
            ws.hover("a.scr", 1, 5)
        except lspkit.UnsupportedError:
            return False
        return True

    with workspace(tmp_path, argv) as ws:
        assert names_often(ws, "a.scr") == ["greet"]
        seen = [may_hover()]
        for _ in steps:
            ws.request("a.scr", POKE)
            seen.append(may_hover())
            assert may_hover() is seen[-1]
    assert seen == [False, True, False, False, False, True]
    assert len(Log.of(argv).messages(HOVER)) == 2 * seen.count(True)


def git_folder(folder: Path) -> None:
    (folder / ".git").mkdir()


def git_file(folder: Path) -> None:
    (folder / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")


@pytest.mark.parametrize("where", ["plain", "plain/deep"])
@pytest.mark.parametrize("begin", [git_folder, git_file])
def test_a_repository_that_appears_is_not_shown_to_the_server_around_it(
    tmp_path, scripted, monkeypatch, begin, where
):
    """Neither when it is asked about, nor because the server has it open."""
    monkeypatch.delenv("LSPKIT_TRUST")
    define(monkeypatch, OFFERED, trust=HARMLESS)
    path, argv = "plain/deep/b.scr", scripted(Script(diagnostics=Diagnostics(how="pull")))
    (tmp_path / ".git").mkdir()
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(GOOD, encoding="utf-8")
    trusting = {"security": {"trustedProjectRoots": [str(tmp_path)]}}
    with workspace(tmp_path, argv, **trusting) as ws:
        assert names_often(ws, path) == ["greet"]
        begin(tmp_path / where)
        (tmp_path / path).write_text(SECRET, encoding="utf-8")
        assert ws.check("a.scr", timeout=20).verdict.clean
        assert names(ws, path) == ["secret"]
        assert names(ws, "a.scr") == ["greet"]
    log = Log.of(argv)
    around, inside = log.pids()
    received = {
        pid: [entry.got or {} for entry in log.entries() if entry.pid == pid]
        for pid in (around, inside)
    }
    assert "secret" not in json.dumps(received[around])
    assert "secret" in json.dumps(received[inside])
    assert [message.get("method") for message in received[around]].count(CLOSE) == 1


def test_a_question_waits_for_a_guest_also_where_all_is_ready(tmp_path, scripted):
    (tmp_path / "b.scr").write_text("def other\n", encoding="utf-8")
    argv = scripted(slow())
    with workspace(tmp_path, argv) as ws:
        assert names_often(ws, "a.scr") == ["greet"]
        log = Log.of(argv)
        with visited(ws, log):
            assert ask(ws) == "1:5"
    assert order(log, DEFINITION) == ["didOpen", "hover", "didChange", "definition"]


# A call that ends early


def test_a_call_that_was_cancelled_before_it_began_is_not_answered(tmp_path, scripted):
    slow_answer = Fault(DEFINITION, "delay", seconds=0.2, nth=SEVERAL + 1, times=1)
    argv, cancel = scripted(Script(faults=[slow_answer])), lspkit.CancelToken()
    cancel.set()
    with workspace(tmp_path, argv) as ws:
        assert [ask(ws) for _ in range(SEVERAL)] == ["1:5"] * SEVERAL
        with pytest.raises(lspkit.CancelledError):
            ask(ws, cancel=cancel)
        assert ask(ws) == "1:5"


def test_an_interrupt_in_the_middle_of_a_request_takes_it_back(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(DEFINITION, "hang", nth=SEVERAL + 1, times=1)]))
    with workspace(tmp_path, argv) as ws:
        assert [ask(ws) for _ in range(SEVERAL)] == ["1:5"] * SEVERAL
        log = Log.of(argv)
        is_under_way = lambda: len(log.messages(DEFINITION)) > SEVERAL  # noqa: E731
        with pytest.raises(KeyboardInterrupt), interrupted(is_under_way):
            ask(ws, timeout=60)
        assert log.wait_for_message("$/cancelRequest")["params"] == {
            "id": log.messages(DEFINITION)[-1]["id"]
        }
        assert ask(ws) == "1:5"
    assert log.complaints() == []


def test_an_interrupt_at_any_place_leaves_nothing_of_its_call(tmp_path, scripted):
    """In the main thread, which hands the call to another one and waits for it."""
    argv = scripted(Script())
    places = [str(RUNTIME / name) for name in ("engine.py", "concurrency/", "exchange/context.py")]
    with workspace(tmp_path, argv) as ws:
        assert names_often(ws, "a.scr") == ["greet"]
        [server] = ws._engine.pool.servers()  # type: ignore[attr-defined]
        tried = 0
        for _ in each_interrupt(lambda: ask(ws), *places):
            tried += 1
            assert ask(ws, timeout=20) == "1:5"
            assert comes_true(lambda: not server.channel.users)
            assert comes_true(lambda: not server.channel.session.pending)
    assert tried > 10
    assert Log.of(argv).complaints() == []
    assert len(Log.of(argv).pids()) == 1
