"""Positions on the command line: what `FILE:LINE:COL` means where names contain colons."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lspkit.cli.query_command import FilePosition, parse_position


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("a.py", FilePosition("a.py")),
        ("a.py:12", FilePosition("a.py", 12)),
        ("a.py:12:3", FilePosition("a.py", 12, 3)),
        ("src/a b.py:1:1", FilePosition("src/a b.py", 1, 1)),
        ("a.py:12:3:", FilePosition("a.py", 12, 3)),
        ("a.py:12:", FilePosition("a.py", 12)),
        ("a.py:0:0", FilePosition("a.py", 0, 0)),
        ("C:\\src\\a.py", FilePosition("C:\\src\\a.py")),
        ("C:\\src\\a.py:12", FilePosition("C:\\src\\a.py", 12)),
        ("C:\\src\\a.py:12:3", FilePosition("C:\\src\\a.py", 12, 3)),
        ("a:b.py:12:3", FilePosition("a:b.py", 12, 3)),
        ("a:1:2:3", FilePosition("a:1", 2, 3)),
        ("a.py:x:3", FilePosition("a.py:x", 3)),
        ("a.py:-1:3", FilePosition("a.py:-1", 3)),
        ("a.py:1.5", FilePosition("a.py:1.5")),
        ("a.py:²", FilePosition("a.py:²")),
        (":12", FilePosition(":12")),
        ("a\nb.py:12:3", FilePosition("a\nb.py", 12, 3)),
        (os.fsdecode(b"caf\xe9.py:12:3"), FilePosition(os.fsdecode(b"caf\xe9.py"), 12, 3)),
        (f"a.py:{'9' * 5000}", FilePosition(f"a.py:{'9' * 5000}")),
    ],
)
def test_numbers_at_the_end_are_the_position(word, meant):
    assert parse_position(word) == meant


def test_a_file_whose_name_ends_like_a_position_is_found(folder):
    (folder / "a:1").touch()
    assert parse_position("a:1") == FilePosition("a:1")
    assert parse_position("a:1:2") == FilePosition("a:1", 2)
    assert parse_position("a:1:2:3") == FilePosition("a:1", 2, 3)


def test_of_two_files_the_shorter_name_is_meant(folder):
    (folder / "a").touch()
    (folder / "a:1").touch()
    assert parse_position("a:1") == FilePosition("a", 1)
    assert parse_position("a:1:2") == FilePosition("a", 1, 2)
    assert parse_position("a:1:2:3") == FilePosition("a:1", 2, 3)


def test_a_link_that_leads_nowhere_is_a_file_too(folder):
    (folder / "a:1").symlink_to("none")
    assert parse_position("a:1") == FilePosition("a:1")
