"""Real files: located, read once, and read again when they have changed."""

from __future__ import annotations

import os
import threading
import time

import pytest

import lspkit
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime import files as files_module
from lspkit.runtime.files import TICK_NS, Content, Files
from lspkit.workspace_boundary import boundary_of


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def files(work) -> Files:
    return Files(boundary_of(str(work), exclude=("**/node_modules/**",)))


def read(files: Files, given: str = "a.py") -> Content:
    return files.read(files.locate(given))


def text(files: Files, given: str = "a.py") -> str:
    return read(files, given).text.value


def refused(files: Files, given: str, code: str) -> lspkit.PathError:
    with pytest.raises(lspkit.PathError) as caught:
        text(files, given)
    assert caught.value.code == code
    return caught.value


def write_aged(path, content: str) -> None:
    """A file that was last written long enough ago for its stamp to be trusted."""
    path.write_text(content, encoding="utf-8")
    deadline = time.monotonic() + 10
    while time.time_ns() - path.stat().st_ctime_ns <= 2 * TICK_NS:
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


def young(path, content: str) -> None:
    """A file whose stamp cannot be trusted: one of the future is like one of this moment."""
    path.write_text(content, encoding="utf-8")
    ahead = time.time_ns() + 3600 * 10**9
    os.utime(path, ns=(ahead, ahead))


# Reading


def test_a_file_that_has_not_changed_is_read_once(work, files):
    write_aged(work / "a.py", "one")
    first = read(files)
    assert first.stamp == files.locate("a.py").stamp
    assert read(files) is first


def test_a_change_is_seen(work, files):
    write_aged(work / "a.py", "one")
    assert text(files) == "one"
    (work / "a.py").write_text("three", encoding="utf-8")
    assert text(files) == "three"


def test_a_change_that_keeps_size_and_mtime_is_seen(work, files):
    path = work / "a.py"
    write_aged(path, "one")
    assert text(files) == "one"
    before = path.stat()
    path.write_text("two", encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert text(files) == "two"


def test_a_file_that_is_put_in_its_place_is_seen(work, files):
    path, beside = work / "a.py", work / "new.py"
    write_aged(path, "one")
    assert text(files) == "one"
    before = path.stat()
    beside.write_text("two", encoding="utf-8")
    os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
    beside.replace(path)
    assert text(files) == "two"


def test_a_second_write_in_the_same_moment_is_seen(work, files):
    path = work / "a.py"
    for number in range(200):
        path.write_text(f"{number:03}", encoding="utf-8")
        assert text(files) == f"{number:03}"


def test_the_stamp_of_a_file_that_was_just_written_is_not_trusted(work, files):
    young(work / "a.py", "one")
    content = read(files)
    assert content.stamp != files.locate("a.py").stamp
    assert read(files) is not content


def test_a_young_file_is_read_once_for_a_call(work, files):
    young(work / "a.py", "one")
    since = time.monotonic()
    content = files.read(files.locate("a.py", since=since))
    assert files.read(files.locate("a.py", since=since)) is content


def test_a_young_file_that_was_read_before_the_call_is_read_again(work, files):
    young(work / "a.py", "one")
    content = read(files)
    again = files.read(files.locate("a.py", since=time.monotonic()))
    assert again is not content


def test_a_young_file_that_has_changed_during_the_call_is_read_again(work, files):
    young(work / "a.py", "one")
    since = time.monotonic()
    files.read(files.locate("a.py", since=since))
    young(work / "a.py", "three")
    assert files.read(files.locate("a.py", since=since)).text.value == "three"


def test_a_file_that_is_read_again_with_the_same_text_keeps_what_is_known_of_it(work, files):
    young(work / "a.py", "one")
    assert read(files).text is read(files).text


def test_an_aged_stamp_is_trusted_until_the_file_changes(work, files):
    write_aged(work / "a.py", "one")
    content = read(files)
    assert content.stamp == files.locate("a.py").stamp
    (work / "a.py").write_text("two", encoding="utf-8")
    assert content.stamp != files.locate("a.py").stamp


def test_a_young_stamp_is_not_trusted_after_its_text_was_dropped(work, files, monkeypatch):
    monkeypatch.setattr(files_module, "KEEP_CHARACTERS", 1)
    young(work / "a.py", "one")
    content = read(files)
    (work / "b.py").write_text("two", encoding="utf-8")
    read(files, "b.py")
    assert content.stamp != files.locate("a.py").stamp


def test_texts_are_dropped_when_there_are_too_many(work, files, monkeypatch):
    monkeypatch.setattr(files_module, "KEEP_CHARACTERS", 8)
    for name in ("a.py", "b.py", "c.py"):
        write_aged(work / name, "four")
    first, second = read(files, "a.py"), read(files, "b.py")
    assert read(files, "a.py") is first
    read(files, "c.py")
    assert read(files, "c.py") is read(files, "c.py")
    assert read(files, "a.py") is not first or read(files, "b.py") is not second


# What is text


def test_a_byte_order_mark_is_kept_out(work, files):
    (work / "a.py").write_bytes(b"\xef\xbb\xbfone")
    assert text(files) == "one"


def test_line_ends_stay_as_they_are(work, files):
    (work / "a.py").write_bytes(b"a\r\nb\rc\n")
    assert text(files) == "a\r\nb\rc\n"


def test_an_empty_file_is_a_text(work, files):
    (work / "a.py").touch()
    assert text(files) == ""


@pytest.mark.parametrize(
    "data", [b"a\0b", b"x" * 8191 + b"\0", b"\xff\xfea\0", b"caf\xe9", b"\xed\xa0\x80", b"\xc0\x80"]
)
def test_what_is_no_utf8_text_is_binary(work, files, data):
    (work / "a.py").write_bytes(data)
    assert "a.py" in str(refused(files, "a.py", "EBINARY"))


def test_the_error_about_a_binary_file_has_its_path_as_given_and_as_resolved(work, files):
    (work / "a.py").write_bytes(b"\0")
    (work / "link.py").symlink_to("a.py")
    for _ in range(2):
        error = refused(files, "link.py", "EBINARY")
        assert str(error).startswith("link.py is not text")
        assert (error.path, error.resolved) == ("link.py", str(work / "a.py"))
        assert error.boundary == str(work)


def test_a_nul_byte_far_behind_does_not_make_a_file_binary(work, files):
    (work / "a.py").write_bytes(b"x" * 8192 + b"\0")
    assert len(text(files)) == 8193


def test_a_binary_file_that_becomes_text_is_read(work, files):
    (work / "a.py").write_bytes(b"\0")
    refused(files, "a.py", "EBINARY")
    (work / "a.py").write_bytes(b"x")
    assert text(files) == "x"


# Where files are


def test_a_file_knows_its_uri_and_real_path(work, files):
    (work / "a b.py").touch()
    (work / "link.py").symlink_to("a b.py")
    file = files.locate("link.py")
    assert file.path == str(work / "a b.py")
    assert file.uri == path_to_uri(str(work / "a b.py"))


@pytest.mark.parametrize("before", [False, True], ids=["first", "after-use"])
def test_a_deleted_file_is_missing(work, files, before):
    (work / "a.py").write_text("one", encoding="utf-8")
    if before:
        assert text(files) == "one"
    (work / "a.py").unlink()
    refused(files, "a.py", "ENOENT")
    assert files.locate("a.py", may_be_missing=True).stamp is None


def test_a_file_that_goes_between_locate_and_read_is_missing(work, files):
    (work / "a.py").touch()
    file = files.locate("a.py")
    (work / "a.py").unlink()
    with pytest.raises(lspkit.PathError) as caught:
        files.read(file)
    assert caught.value.code == "ENOENT"


def test_a_fifo_in_the_place_of_a_file_is_refused_and_not_waited_for(work, files):
    path = work / "a.py"
    path.touch()
    assert text(files) == ""
    number = path.stat().st_ino
    path.unlink()
    for attempt in range(500):
        os.mkfifo(work / f"pipe{attempt}")
        if (work / f"pipe{attempt}").stat().st_ino == number:
            (work / f"pipe{attempt}").rename(path)
            break
    else:
        pytest.skip("this file system does not use inode numbers again")
    seen: list[str] = []
    reader = threading.Thread(target=lambda: seen.append(outcome(files, "a.py")))
    reader.start()
    reader.join(1.0)
    if reader.is_alive():
        os.close(os.open(path, os.O_WRONLY))  # lets the reader go
        reader.join()
        pytest.fail("the reader waited for a writer")
    assert seen == ["ENOENT"]


def outcome(files: Files, given: str) -> str:
    try:
        return text(files, given)
    except lspkit.PathError as problem:
        return problem.code


@pytest.mark.parametrize("given", ["", ".", "a\0.py", "none.py", "../x.py", "x" * 5000])
def test_a_refusal_is_the_same_the_second_time(files, given):
    codes = set()
    for _ in range(2):
        with pytest.raises(lspkit.PathError) as caught:
            files.locate(given)
        codes.add(caught.value.code)
    assert len(codes) == 1


def test_a_link_out_of_the_workspace_is_refused(work, files):
    (work.parent / "secret.py").write_text("secret", encoding="utf-8")
    (work / "a.py").symlink_to("../secret.py")
    refused(files, "a.py", "EOUTSIDE")


def test_a_link_that_is_swapped_after_its_first_use_is_refused(work, files):
    (work / "inside.py").write_text("fine", encoding="utf-8")
    (work.parent / "secret.py").write_text("secret", encoding="utf-8")
    link = work / "a.py"
    link.symlink_to("inside.py")
    assert text(files) == "fine"
    link.unlink()
    link.symlink_to("../secret.py")
    refused(files, "a.py", "EOUTSIDE")


def test_a_folder_that_is_swapped_for_a_link_after_its_first_use_is_refused(work, files):
    (work / "sub").mkdir()
    (work / "sub" / "a.py").write_text("fine", encoding="utf-8")
    (work.parent / "out").mkdir()
    (work.parent / "out" / "a.py").write_text("secret", encoding="utf-8")
    assert text(files, "sub/a.py") == "fine"
    (work / "sub").rename(work / "old")
    (work / "sub").symlink_to("../out")
    refused(files, "sub/a.py", "EOUTSIDE")


def test_a_file_that_is_moved_out_and_linked_to_after_its_first_use_is_refused(work, files):
    path, outside = work / "a.py", work.parent / "a.py"
    path.write_text("fine", encoding="utf-8")
    assert text(files) == "fine"
    path.rename(outside)
    path.symlink_to(outside)
    refused(files, "a.py", "EOUTSIDE")


def test_a_file_that_is_moved_within_the_workspace_has_its_new_path(work, files):
    (work / "one").mkdir()
    (work / "one" / "a.py").touch()
    (work / "link").symlink_to("one")
    assert files.locate("link/a.py").path == str(work / "one" / "a.py")
    (work / "one").rename(work / "two")
    (work / "link").unlink()
    (work / "link").symlink_to("two")
    assert files.locate("link/a.py").path == str(work / "two" / "a.py")


def test_an_at_sign_is_dropped_until_a_file_has_that_very_name(work, files):
    (work / "a.py").write_text("plain", encoding="utf-8")
    assert text(files, "@a.py") == "plain"
    (work / "@a.py").write_text("at", encoding="utf-8")
    assert text(files, "@a.py") == "at"
    (work / "@a.py").unlink()
    assert text(files, "@a.py") == "plain"


def test_files_of_the_git_work_tree_around_the_root_are_read(work):
    (work.parent / ".git").mkdir()
    (work.parent / "b.py").write_text("beside", encoding="utf-8")
    assert text(Files(boundary_of(str(work))), "../b.py") == "beside"


def test_many_threads_read_the_same_text(work, files):
    (work / "a.py").write_text("one" * 1000, encoding="utf-8")
    seen: list[str] = []
    threads = [threading.Thread(target=lambda: seen.append(text(files))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["one" * 1000] * 16
