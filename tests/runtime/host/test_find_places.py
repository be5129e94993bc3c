"""Where servers point to: shown wherever it is, read only where files may be touched."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.files import Files
from lspkit.workspace_boundary import boundary_of


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def files(work) -> Files:
    return Files(boundary_of(str(work), exclude=("**/node_modules/**",)))


def pointed_to(files: Files, path: Path) -> str | None:
    """The text of a file that a server names, None if it is not read."""
    place = files.place(path_to_uri(str(path)))
    assert place.path == path
    found = None if place.readable is None else files.text_at(place.readable)
    return None if found is None else found.value


def test_a_file_of_the_workspace_is_read(work, files):
    (work / "a.py").write_text("one", encoding="utf-8")
    assert pointed_to(files, work / "a.py") == "one"
    (work / "a.py").write_text("three", encoding="utf-8")
    assert pointed_to(files, work / "a.py") == "three"


def test_a_library_outside_is_shown_and_not_read(work, files):
    (work.parent / "lib.py").write_text("secret", encoding="utf-8")
    (work / "link.py").symlink_to("../lib.py")
    assert pointed_to(files, work.parent / "lib.py") is None
    assert pointed_to(files, work / "link.py") is None


def test_an_excluded_file_is_not_read(work, files):
    (work / "node_modules").mkdir()
    (work / "node_modules" / "a.js").write_text("x", encoding="utf-8")
    assert pointed_to(files, work / "node_modules" / "a.js") is None


def test_a_library_outside_is_read_where_that_is_allowed(work):
    (work.parent / "lib.py").write_text("text", encoding="utf-8")
    files = Files(boundary_of(str(work), allow_external=True))
    assert pointed_to(files, work.parent / "lib.py") == "text"


@pytest.mark.parametrize("uri", ["untitled:1", "jdt://x/y.class", "", "file://host/share/a.py"])
def test_a_uri_that_names_no_file_has_no_path(files, uri):
    for _ in range(2):
        assert (files.place(uri).path, files.place(uri).readable) == (None, None)


def test_what_cannot_be_read_has_no_text(work, files):
    (work / "binary").write_bytes(b"\0")
    for name in ("binary", "missing", "."):
        assert files.text_at(str(work / name)) is None


def test_a_uri_that_no_file_can_have_is_no_error(files):
    assert files.place("file:///code/a%00b.py").readable is None


def test_a_fifo_that_a_server_points_to_holds_nobody_up(work, files):
    pipe = work / "pipe.py"
    os.mkfifo(pipe)
    seen: list[object] = []
    reader = threading.Thread(target=lambda: seen.append(files.text_at(str(pipe))))
    reader.start()
    reader.join(1.0)
    came_back = not reader.is_alive()
    if not came_back:
        os.close(os.open(pipe, os.O_WRONLY))  # lets the reader go
        reader.join()
    assert came_back
    assert seen == [None]


def test_a_file_that_is_swapped_for_a_link_out_is_no_longer_read(work, files):
    (work.parent / "secret.py").write_text("secret", encoding="utf-8")
    path = work / "a.py"
    path.write_text("fine", encoding="utf-8")
    assert pointed_to(files, path) == "fine"
    path.unlink()
    path.symlink_to("../secret.py")
    assert pointed_to(files, path) is None
