"""Files that a `.gitignore` names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lspkit.servers.project.skipped_files import ignoring, is_ignored, read_rules


@pytest.mark.parametrize(
    ("text", "path", "ignored"),
    [
        ("a.js", "a.js", True),
        ("a.js", "deep/down/a.js", True),
        ("/a.js", "a.js", True),
        ("/a.js", "deep/a.js", False),
        ("deep/a.js", "deep/a.js", True),
        ("deep/a.js", "further/deep/a.js", False),
        ("**/deep/a.js", "further/deep/a.js", True),
        ("gen/", "gen/a.js", True),
        ("gen/", "gen", False),
        ("gen/**", "gen/deep/a.js", True),
        ("*.min.js", "lib/a.min.js", True),
        ("*.min.js\n!own.min.js", "own.min.js", False),
        ("!own.min.js\n*.min.js", "own.min.js", True),
        ("# a.js", "a.js", False),
        ("\\#a.js", "#a.js", True),
        ("a{b}.js", "a{b}.js", True),
        ("a.js  ", "a.js", True),
        ("", "a.js", False),
        ("!\n/", "a.js", False),
    ],
)
def test_patterns_are_read_as_git_reads_them(text: str, path: str, ignored: bool) -> None:
    assert is_ignored(path, read_rules(text)) is ignored


def test_only_files_from_the_root_down_to_the_path_count(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("a.js\n")
    assert ignoring(str(root / "a.js"), (".gitignore",), str(root)) == ""
    (root / "src" / ".gitignore").write_text("a.js\n")
    assert ignoring(str(root / "a.js"), (".gitignore",), str(root)) == ""
    assert ignoring(str(root / "src" / "a.js"), (".gitignore",), str(root)) == ".gitignore"


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file, path = tmp_path / ".gitignore", str(tmp_path / "a.js")
    file.write_text("a.js\n")
    assert ignoring(path, (".gitignore",), str(tmp_path)) == ".gitignore"
    file.write_text("b.js\n")
    os.utime(file, ns=(1, 1))
    assert ignoring(path, (".gitignore",), str(tmp_path)) == ""
