"""The folders of conversations: kept over restarts, shared by processes, never lost."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import lspkit
from lspkit import conversations
from lspkit.conversations import FILE, LONGEST_ID, ConversationStore


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder, which does not exist yet."""
    state = tmp_path / "state" / "lspkit"
    monkeypatch.setenv("LSPKIT_STATE", str(state))
    return state


def test_a_folder_is_stored_and_found_again(folder: Path, tmp_path: Path) -> None:
    assert conversations.get_cwd("a") is None
    assert not folder.exists()
    assert conversations.set_cwd("a", tmp_path) == tmp_path
    assert lspkit.conversations.get_cwd("a") == tmp_path
    assert conversations.get_cwd("b") is None
    with pytest.raises(lspkit.PathError, match="the conversation b has no folder yet"):
        conversations.resolve("b")


def test_a_turn_with_a_folder_stores_it_and_one_without_uses_it(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert conversations.resolve("a", tmp_path) == tmp_path
    assert conversations.resolve("a") == tmp_path
    assert conversations.resolve("a", other) == other
    assert conversations.resolve("a") == other


def test_the_real_path_is_kept(folder: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.mkdir()
    link.symlink_to(target)
    assert conversations.set_cwd("a", link) == target
    link.unlink()
    assert conversations.get_cwd("a") == target


def test_a_path_that_is_not_utf_8_is_kept(folder: Path, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    odd.mkdir()
    conversations.set_cwd("a", odd)
    assert conversations.get_cwd("a") == odd


@pytest.mark.parametrize("cwd", ["missing", "file", "a\0b"])
def test_what_is_no_folder_is_refused_and_changes_nothing(
    folder: Path, tmp_path: Path, cwd: str
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    conversations.set_cwd("a", tmp_path)
    with pytest.raises(lspkit.PathError):
        conversations.set_cwd("a", os.path.join(tmp_path, cwd))
    assert conversations.get_cwd("a") == tmp_path


def test_a_folder_that_is_gone_is_an_error_until_it_is_there_again(
    folder: Path, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    conversations.set_cwd("a", gone)
    gone.rmdir()
    for ask in (conversations.get_cwd, conversations.resolve):
        with pytest.raises(lspkit.PathError, match="gone, the folder of the conversation a,"):
            ask("a")
    gone.mkdir()
    assert conversations.get_cwd("a") == gone


@pytest.mark.parametrize("id", ["", "a\nb", "a\0", "\udc80", "x" * (LONGEST_ID + 1)])
def test_an_id_that_cannot_be_shown_is_refused(folder: Path, tmp_path: Path, id: str) -> None:
    with pytest.raises(ValueError, match="an id has 1 to 200 visible characters"):
        conversations.set_cwd(id, tmp_path)


@pytest.mark.parametrize("id", ["a/b", "../../etc", "'; DROP TABLE conversations; --", "日本 x"])
def test_an_id_is_only_a_key(folder: Path, tmp_path: Path, id: str) -> None:
    conversations.set_cwd(id, tmp_path)
    assert conversations.get_cwd(id) == tmp_path
    assert os.listdir(folder) == [FILE]


def test_only_the_user_can_access_the_file(folder: Path, tmp_path: Path) -> None:
    folder.parent.mkdir()
    before = os.umask(0)
    try:
        conversations.set_cwd("a", tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600


def test_a_file_that_others_can_read_is_closed_to_them(folder: Path, tmp_path: Path) -> None:
    conversations.set_cwd("a", tmp_path)
    (folder / FILE).chmod(0o644)
    conversations.get_cwd("a")
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600


def other_database(file: Path) -> None:
    with sqlite3.connect(file) as made:
        made.execute("CREATE TABLE conversations (id TEXT)")
    made.close()


def newer_store(file: Path) -> None:
    ConversationStore(str(file.parent)).set_cwd("a", file.parent)
    with sqlite3.connect(file) as made:
        made.execute("PRAGMA user_version = 2")
    made.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(b"not a database, but long enough to look like one" * 40),
        lambda file: file.write_bytes(b"SQLite format 3\0" + bytes(1000)),
        other_database,
        newer_store,
    ],
    ids=["text", "damaged", "another database", "a newer version"],
)
def test_a_file_that_cannot_be_used_is_an_error_and_stays_as_it_is(
    folder: Path, tmp_path: Path, spoil
) -> None:
    folder.mkdir(parents=True, mode=0o700)
    file = folder / FILE
    spoil(file)
    before = file.read_bytes()
    for use in (lambda: conversations.get_cwd("a"), lambda: conversations.set_cwd("a", tmp_path)):
        with pytest.raises(lspkit.ConfigError, match=r"cannot be used: .* rename it") as caught:
            use()
        assert caught.value.file == str(file)
    assert file.read_bytes() == before
    file.rename(folder / "old")
    conversations.set_cwd("a", tmp_path)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_file_is_an_error(folder: Path, tmp_path: Path, kind: str) -> None:
    folder.mkdir(parents=True, mode=0o700)
    file, target = folder / FILE, tmp_path / "target"
    {
        "link": lambda: file.symlink_to(target),
        "fifo": lambda: os.mkfifo(file),
        "folder": file.mkdir,
    }[kind]()
    with pytest.raises(lspkit.ConfigError):
        conversations.set_cwd("a", tmp_path)
    assert not target.exists()


def test_the_oldest_are_removed_when_there_are_too_many(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "MOST", 3)
    for id in "abca":
        conversations.set_cwd(id, tmp_path)
    conversations.set_cwd("d", tmp_path)
    assert [id for id in "abcd" if conversations.get_cwd(id) is None] == ["b"]


#: Sets many conversations, each of which others set as well.
WRITER = """
import sys
from lspkit import conversations
for number in range(40):
    conversations.set_cwd(f"own-{sys.argv[1]}-{number}", sys.argv[2])
    conversations.set_cwd(f"shared-{number}", sys.argv[2])
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(folder: Path, tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(number), str(tmp_path)])
        for number in range(4)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    for number in range(40):
        assert conversations.get_cwd(f"shared-{number}") == tmp_path
        for writer in range(4):
            assert conversations.get_cwd(f"own-{writer}-{number}") == tmp_path
