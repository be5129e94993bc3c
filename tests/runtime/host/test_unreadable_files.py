"""Files that cannot be read, or are gone, when they are to be written."""

from __future__ import annotations

from typing import Any

import pytest

import lspkit
from lspkit.runtime.host import change_disk
from lspkit.testing import Script
from tests.edits.trees import without_privileges
from tests.scripted import workspace


def test_a_file_that_cannot_be_read_is_not_written_since_a_mark_would_be_lost(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="\ufefffine\n") as ws:
        (tmp_path / "a.scr").chmod(0o200)
        with pytest.raises(lspkit.PathError, match="cannot be read: Permission denied") as caught:
            without_privileges(lambda: ws.write("a.scr", "new\n"))
        assert (caught.value.code, caught.value.path) == ("ENOENT", str(tmp_path / "a.scr"))
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == "\ufefffine\n"


def test_a_file_that_is_deleted_just_before_it_is_written_is_made(tmp_path, scripted, monkeypatch):
    find = change_disk.locate

    def find_and_delete(*given: Any, **more: Any) -> Any:
        found = find(*given, **more)
        (tmp_path / "a.scr").unlink()
        return found

    monkeypatch.setattr(change_disk, "locate", find_and_delete)
    with workspace(tmp_path, scripted(Script())) as ws:
        assert ws.write("a.scr", "ERROR\n").verdict.dirty
    assert (tmp_path / "a.scr").read_bytes() == b"ERROR\n"
