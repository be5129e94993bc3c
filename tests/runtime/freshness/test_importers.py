"""The files that import a file which is gone: they are found by their text."""

from __future__ import annotations

import os
import threading

import pytest

import lspkit
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.host.find_words import find_importers
from lspkit.testing import Diagnostics, Script
from tests.scripted import workspace

SCRIPT = Script(diagnostics=Diagnostics(how="pull"))


@pytest.mark.parametrize("is_written", [False, True])
def test_a_fifo_in_the_project_does_not_hold_up_the_search(tmp_path, scripted, is_written):
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    (tmp_path / "c.scr").write_text("import b\nERROR\n", encoding="utf-8")
    pipe = tmp_path / "pipe.scr"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR) if is_written else None
    with workspace(tmp_path, scripted(SCRIPT), text="fine\n") as ws:
        deleted = ws.submit(ws.delete, "b.scr", check="project")
        try:
            change = deleted.result(20)
        finally:
            # Lets the reader go if it waits.
            os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK) if writer is None else writer)
    by_file = change.report.other_files.diagnostics
    assert {path: [one.message for one in findings] for path, findings in by_file.items()} == {
        tmp_path / "c.scr": ["ERROR"]
    }


def test_a_cancelled_search_ends_with_the_next_file(tmp_path, scripted):
    cancel = threading.Event()
    with workspace(tmp_path, scripted(SCRIPT), text="import b\n") as ws:
        engine = ws._engine
        context = Context(engine.files, engine.pool, engine.threads, Call(None, cancel))
        assert find_importers(context, ["b.scr"], None).lines
        cancel.set()
        with pytest.raises(lspkit.CancelledError):
            find_importers(context, ["b.scr"], None)
