"""Which files have changed on disk since a mark, whoever changed them."""

from __future__ import annotations

from lspkit.testing import Diagnostics, Script, watchers
from tests.runtime.server_log import written_outside
from tests.scripted import workspace

SCR = Script(diagnostics=Diagnostics(how="pull"), say=[watchers("**/*.scr")])


def test_the_files_that_have_changed_since_a_mark_are_told(tmp_path, scripted):
    (tmp_path / "old.scr").write_text("")
    (tmp_path / "gone.scr").write_text("")
    with workspace(tmp_path, scripted(SCR), text="fine\n") as ws:
        ws.check("a.scr")
        first = ws.changed_files()
        assert (first.files, first.complete) == ((), True)
        for name in ("old.scr", "new.scr", "notes.txt"):
            written_outside(tmp_path / name, "new\n")
        (tmp_path / "gone.scr").unlink()
        ws.write("own.scr", "fine\n")
        since = ws.changed_files(first.mark)
        names = [one.name for one in since.files]
        assert (names, since.complete) == (["new.scr", "old.scr", "own.scr"], True)
        assert ws.changed_files(since.mark).files == ()


def test_where_nothing_is_watched_more_may_have_changed(tmp_path, scripted):
    with workspace(tmp_path, scripted(SCR), text="fine\n") as ws:
        before = ws.changed_files()
        assert not before.complete
        ws.check("a.scr")
        assert not ws.changed_files(before.mark).complete
        assert ws.changed_files(ws.changed_files().mark).complete
