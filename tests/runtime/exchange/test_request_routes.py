"""A route is used again as long as nothing has changed, and never longer."""

from __future__ import annotations

import gc
import mmap
import os
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.operations.effects import Ask, FindPlaces
from lspkit.operations.symbol_positions import params_at
from lspkit.protocol.capabilities import Registration
from lspkit.runtime import files
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.exchange.request_routes import Route, Routes
from lspkit.runtime.server.server import Server
from lspkit.testing import Script
from tests.runtime.watch.watching import needs_inotify
from tests.scripted import SOURCE, ask, comes_true, workspace

pytestmark = needs_inotify

#: The source one line further down, and with the same size.
LOWER = "\n" + SOURCE
SAME_SIZE = SOURCE.replace("greet ok", "ok greet")
#: Texts in which the third unit of UTF-16 is another character.
WIDE, NARROW = "😀😀 aa\n", "aa aaaa\n"


@pytest.fixture
def found_anew(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths whose routes were found anew."""
    paths: list[str] = []
    find = Routes._find_anew

    def note(self: Routes, effect: Any, call: Any) -> Route | None:
        paths.append(effect.path)
        return find(self, effect, call)

    monkeypatch.setattr(Routes, "_find_anew", note)
    return paths


@pytest.fixture
def warm(scripted, tmp_path, found_anew) -> Iterator[lspkit.Workspace]:
    """A workspace in which the route of `a.scr` is known."""
    with workspace(tmp_path, scripted(Script())) as ws:
        assert is_soon_used_again(ws, found_anew)
        yield ws


def anew(ws: lspkit.Workspace, found_anew: list[str]) -> bool:
    """Whether the route of the next request is found anew."""
    found_anew.clear()
    assert ask(ws) == "1:5"
    return bool(found_anew)


def is_soon_used_again(ws: lspkit.Workspace, found_anew: list[str]) -> bool:
    """Whether the route is: the thread of the watcher may still be looking at the last change."""
    return any(not anew(ws, found_anew) for _ in range(2000))


def starts(ws: lspkit.Workspace, line: int, column: int) -> list[str]:
    return [str(one.range.start) for one in ws.definition("a.scr", line, column)]


def pointing_to(target: Path) -> Script:
    """Definitions are in the third and fourth unit of that file."""
    ends = {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 4}}
    return Script(answers={"textDocument/definition": {"uri": target.as_uri(), "range": ends}})


def server_of(ws: lspkit.Workspace) -> Server:
    return ws._engine.pool.servers()[0]  # type: ignore[attr-defined]


def shown(ws: lspkit.Workspace, path: Path) -> str:
    """The text that the server was shown last."""
    document = server_of(ws).channel.documents.get(path.as_uri())
    return "" if document is None else document.text.value


def test_a_route_is_used_again(warm, found_anew):
    # Not each time: every few seconds the servers of a file are looked up again.
    assert [anew(warm, found_anew) for _ in range(50)].count(False) > 25


def test_a_file_that_appears_has_the_route_found_anew(warm, tmp_path, found_anew):
    (tmp_path / "new").touch()
    assert anew(warm, found_anew)
    assert is_soon_used_again(warm, found_anew)


@pytest.mark.parametrize("text", [LOWER, SAME_SIZE], ids=["longer", "same size"])
@pytest.mark.parametrize("keeps_time", [False, True], ids=["", "same time"])
def test_what_is_written_in_between_is_seen_by_the_next_request(warm, tmp_path, text, keeps_time):
    path = tmp_path / "a.scr"
    for content in (text, SOURCE) * 20:
        before = path.stat()
        path.write_text(content, encoding="utf-8")
        if keeps_time:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        warm.definition("a.scr", 1, 1)
        assert shown(warm, path) == content


def test_another_content_of_the_target_is_seen_in_the_same_answer(scripted, tmp_path):
    target = tmp_path / "target.scr"
    with workspace(tmp_path, scripted(pointing_to(target))) as ws:
        for _ in range(20):
            target.write_text(WIDE, encoding="utf-8")
            assert starts(ws, 2, 4) == ["1:2"]
            assert starts(ws, 2, 4) == ["1:2"]
            target.write_text(NARROW, encoding="utf-8")
            assert starts(ws, 2, 4) == ["1:3"]


def test_what_another_call_was_told_of_is_seen_as_well(scripted, tmp_path, monkeypatch):
    """The system reports a write once, whoever asks."""
    monkeypatch.setattr(files, "LOOK_LASTS", 3600)
    target = tmp_path / "target.scr"
    target.write_text(NARROW, encoding="utf-8")
    with workspace(tmp_path, scripted(pointing_to(target))) as ws:
        disk = ws._engine.pool.disk_events  # type: ignore[attr-defined]
        for content, start in ((WIDE, "1:2"), (NARROW, "1:3")) * 5:
            assert any(starts(ws, 2, 4) and disk.quiet_state() for _ in range(2000))
            target.write_text(content, encoding="utf-8")
            limit = time.monotonic() + 20
            assert any(disk.catch_up(limit) and disk.quiet_state() for _ in range(2000))
            assert starts(ws, 2, 4) == [start]


def test_what_is_written_to_mapped_memory_is_seen_a_little_later(warm, tmp_path):
    """The system does not report it."""
    path = tmp_path / "a.scr"
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:] = SAME_SIZE.encode()

    def is_shown() -> bool:
        warm.definition("a.scr", 1, 1)
        return shown(warm, path) == SAME_SIZE

    assert comes_true(is_shown)


@pytest.mark.parametrize("before", [True, False], ids=["linked before", "linked after"])
def test_what_is_written_through_a_link_elsewhere_is_seen(scripted, tmp_path, monkeypatch, before):
    monkeypatch.setattr(files, "LOOK_LASTS", 3600)
    project, other = tmp_path / "project", tmp_path / "other.scr"
    project.mkdir()
    path = project / "a.scr"
    path.write_text(SOURCE, encoding="utf-8")
    if before:
        os.link(path, other)
    with workspace(project, scripted(Script())) as ws:
        for _ in range(5):
            assert ask(ws) == "1:5"
        if not before:
            os.link(path, other)
            (project / "new").touch()  # so that it is looked at again
        for content in (LOWER, SOURCE) * 5:
            other.write_text(content, encoding="utf-8")
            ws.definition("a.scr", 1, 1)
            assert shown(ws, path) == content


def test_a_young_document_is_read_again_by_each_call(warm, tmp_path):
    """Whatever is written to it in the same tick of the clock."""
    path = tmp_path / "a.scr"
    for content in (SAME_SIZE, SOURCE) * 30:
        found = path.stat()
        with path.open("r+b") as file:
            file.write(content.encode())
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        warm.definition("a.scr", 1, 1)
        assert shown(warm, path) == content


def test_each_ask_of_a_call_looks_at_the_disk_anew(warm, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LOOK_LASTS", 3600)
    engine = warm._engine  # type: ignore[attr-defined]
    target = tmp_path / "b.scr"
    target.write_text("old", encoding="utf-8")
    call = CallContext()
    call.blocks = True
    effect = Ask("a.scr", None, "textDocument/definition", params_at(2, 4), span="definitions")
    places = FindPlaces("scripted", (tmp_path / "a.scr").as_uri(), (target.as_uri(),), texts=True)

    def found() -> str:
        engine._handlers[Ask](effect, call)
        text: str = engine._handlers[FindPlaces](places, call)[target.as_uri()].text.value
        return text

    def is_looked_at() -> bool:
        """Whether the next look may be spared."""
        look = engine.files._looks.get(str(target)) if found() else None
        return look is not None and look[0] is call.disk_state

    for content in ("old", "new one", "old", "newer"):
        assert comes_true(is_looked_at)
        target.write_text(content, encoding="utf-8")
        assert found() == content
    call.end()


def test_routes_keep_no_server_that_has_left(warm, tmp_path, found_anew):
    """Not even those of files that nobody asks about any more."""
    (tmp_path / "b.scr").write_text("def other\n", encoding="utf-8")
    for _ in range(50):
        warm.definition("b.scr", 1, 1)
    left = weakref.ref(server_of(warm))
    engine = warm._engine  # type: ignore[attr-defined]
    engine.pool.retirement.stop([one for one in engine.pool.servers() if engine.pool.retire(one)])
    assert is_soon_used_again(warm, found_anew)
    assert comes_true(lambda: gc.collect() is not None and left() is None)


def test_a_file_is_not_looked_at_for_each_of_many_requests(warm, tmp_path, monkeypatch, found_anew):
    monkeypatch.setattr(files, "LOOK_LASTS", 3600)
    (tmp_path / "new").touch()
    assert is_soon_used_again(warm, found_anew)
    looked: list[object] = []
    look = os.stat

    def note(path: Any, *more: Any, **others: Any) -> os.stat_result:
        looked.append(path)
        return look(path, *more, **others)

    monkeypatch.setattr(os, "stat", note)
    for _ in range(100):
        looked.clear()
        if not anew(warm, found_anew) and str(tmp_path / "a.scr") not in looked:
            return
    pytest.fail("it is looked at each time")


@pytest.mark.parametrize("change", ["register", "overlay", "library", "reload", "retire"])
def test_what_a_route_depends_on_has_it_found_anew(warm, tmp_path, found_anew, change):
    engine = warm._engine  # type: ignore[attr-defined]
    path = str(tmp_path / "a.scr")
    ends: list[Callable[[], object]] = []
    if change == "register":
        server_of(warm).channel.session.capabilities.register(Registration("1", "x", {}))
    elif change == "overlay":
        number = engine.files.overlays.begin({str(tmp_path / "b.scr"): "def greet\n"})
        ends.append(lambda: engine.files.overlays.end(number))
    elif change == "library":
        engine.files.note_library(path, files.LibraryFile(path, "", "", "", ""))
        ends.append(engine.files.libraries.clear)
    elif change == "reload":
        warm.reload()
    else:
        engine.pool.retirement.stop(
            [one for one in engine.pool.servers() if engine.pool.retire(one)]
        )
    assert anew(warm, found_anew)
    for end in ends:
        end()
    assert is_soon_used_again(warm, found_anew)


def test_a_text_of_the_call_is_used_for_this_call_only(warm, found_anew):
    found = warm.definition("a.scr", 3, 4, text=LOWER)
    assert [str(one.range.start) for one in found] == ["2:5"]
    assert ask(warm) == "1:5"


def test_an_edit_of_the_workspace_itself_is_seen_by_the_next_request(warm, tmp_path):
    for _ in range(5):
        edit = warm.rename("a.scr", 1, 5, new_name="wave")
        warm.apply(edit)
        assert starts(warm, 2, 4) == ["1:5"]
        assert (tmp_path / "a.scr").read_text(encoding="utf-8").startswith("def wave")
        warm.apply(warm.rename("a.scr", 1, 5, new_name="greet"))
        assert starts(warm, 2, 4) == ["1:5"]


def test_a_path_outside_is_never_known(warm, tmp_path):
    for _ in range(2):
        with pytest.raises(lspkit.PathError):
            warm.definition(str(Path(tmp_path.anchor) / "elsewhere.scr"), 1, 1)
