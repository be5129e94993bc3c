"""What servers are told of besides the files of their own root: folders."""

from __future__ import annotations

from tests.runtime.test_watched_files import SCR, happened, listening, watching
from tests.runtime.told import CREATED, DELETED, heard, outside, written_outside

# Folders


def test_folders_are_told_to_those_who_registered_for_them(tmp_path, scripted):
    with watching(tmp_path, scripted(listening("**"))) as (_, log):
        outside("paths[0].mkdir()", tmp_path / "package")
        written_outside(tmp_path / "package/b.scr", "new")
        assert set(happened(log, tmp_path)) >= {("package", CREATED), ("b.scr", CREATED)}
        outside("import shutil; shutil.rmtree(paths[0])", tmp_path / "package")
        log.wait_for(lambda _: ("package", DELETED) in heard(log))


def test_folders_are_not_told_to_those_who_only_want_files(tmp_path, scripted):
    with watching(tmp_path, scripted(SCR)) as (_, log):
        outside("paths[0].mkdir()", tmp_path / "package")
        written_outside(tmp_path / "package/b.scr", "new")
        assert happened(log, tmp_path) == [("b.scr", CREATED)]


def test_a_folder_that_a_write_has_made_is_told_before_the_next_question(tmp_path, scripted):
    with watching(tmp_path, scripted(listening("**"))) as (ws, log):
        ws.write("package/b.scr", "new")
        ws.document_symbols("a.scr")
        assert [one for one in heard(log) if not one[0].endswith(".sign")] == [
            ("package", CREATED),
            ("b.scr", CREATED),
        ]
