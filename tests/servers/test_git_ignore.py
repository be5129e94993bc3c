"""What git ignores: the answers are git's own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lspkit.servers.project.project_files import walk
from lspkit.servers.project.skipped_files import GitIgnore

FILES = (
    *("a.py", "b.min.js", "keep.min.js", "#odd.py", "!bang.py", "x y.py", "a{b}.py", "ab.py"),
    *(
        "build/x.py",
        "build/keep.py",
        "src/build/x.py",
        "src/a.py",
        "src/gen/a.py",
        "src/gen/own.py",
    ),
    *("src/deep/er/a.py", "doc/a.py", "doc/frotz/a.py", "logs/a.log", "logs/important.log"),
    *("foo/keep.py", "foo/other.py", "foo/bar/keep.py", "sub/one/two/t.py", "sub/two/t.py"),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def kept_by_git(tree: Path) -> list[str]:
    said = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=tree,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        check=True,
    )
    return sorted(filter(None, os.fsdecode(said.stdout).split("\0")))


def kept_by_us(tree: Path) -> list[str]:
    ignored = GitIgnore(str(tree))
    found = walk(str(tree), None, lambda path, folder: ignored.ignores(path, is_folder=folder))
    return sorted(os.path.relpath(path, tree) for path in found)


@pytest.mark.parametrize(
    "rules",
    [
        {"": "*.min.js\n!keep.min.js\n"},
        {"": "!keep.min.js\n*.min.js\n"},
        {"": "/a.py\n"},
        {"": "src/a.py\n"},
        {"": "gen/\n", "src": "!gen/\n"},
        {"": "gen/\n!own.py\n"},
        {"src": "a.py\n!gen/a.py\n"},
        {"": "a.py\n", "src": "!a.py\n", "src/deep": "a.py\n"},
        {"": "logs/*\n!logs/important.log\n"},
        {"": "foo/**\n!foo/keep.py\n"},
        {"": "foo/*\n!foo/bar\n"},
        {"": "**/two/t.py\n"},
        {"": "sub/**/t.py\n"},
        {"": "doc/frotz\n"},
        {"": "frotz/\n"},
        {"": "\\#odd.py\n\\!bang.py\n# comment\n"},
        {"": "a{b}.py\n"},
        {"": "[ab].py\n"},
        {"": "[!b]*.min.js\n[^k]eep.min.js\n"},
        {"": "?b.py\n"},
        {"": "x y.py  \n"},
        {"": "*\n!*/\n!*.py\n"},
        {"": "/*\n!/src\n"},
        {"": "\n!\n/\n"},
    ],
    ids=lambda rules: repr(rules)[:40],
)
def test_the_rules_are_read_as_git_reads_them(tree: Path, rules: dict[str, str]) -> None:
    for folder, text in rules.items():
        (tree / folder / ".gitignore").write_text(text, encoding="utf-8")
    # Folders called so are left out in any case.
    expected = [one for one in kept_by_git(tree) if "build/" not in one]
    assert kept_by_us(tree) == expected


def test_rules_that_are_not_shared_count_as_well(tree: Path) -> None:
    (tree / ".git" / "info" / "exclude").write_text("a.py\n", encoding="utf-8")
    (tree / "doc" / ".gitignore").write_text("!a.py\n", encoding="utf-8")
    assert kept_by_us(tree) == [one for one in kept_by_git(tree) if "build/" not in one]
    assert "a.py" not in kept_by_us(tree)
    assert "doc/a.py" in kept_by_us(tree)


def test_a_repository_in_another_one_has_its_own_rules(tree: Path) -> None:
    (tree / ".gitignore").write_text("a.py\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(tree / "src")], check=True)
    assert "src/a.py" in kept_by_us(tree)
    assert "doc/a.py" not in kept_by_us(tree)


def test_a_folder_that_is_named_is_walked_although_it_is_ignored(tree: Path) -> None:
    (tree / ".gitignore").write_text("foo/\n", encoding="utf-8")
    (tree / "foo" / ".gitignore").write_text("other.py\n", encoding="utf-8")
    assert kept_by_us(tree / "foo") == [".gitignore", "bar/keep.py", "keep.py"]


def test_a_pattern_that_is_made_to_be_slow_is_not(tree: Path) -> None:
    """A library that makes a regular expression of it takes hours; the test has a time limit."""
    name = "a" * 200 + ".py"
    (tree / name).touch()
    (tree / ".gitignore").write_text("*a" * 30 + "*b\n", encoding="utf-8")
    assert name in kept_by_us(tree)


@pytest.mark.parametrize("name", ["env", "my environment", "py311"])
def test_an_environment_is_passed_over_by_whatever_name(tree: Path, name: str) -> None:
    (tree / "src" / name / "lib").mkdir(parents=True)
    (tree / "src" / name / "lib" / "x.py").touch()
    assert f"src/{name}/lib/x.py" in kept_by_us(tree)
    (tree / "src" / name / "pyvenv.cfg").touch()
    assert f"src/{name}/lib/x.py" not in kept_by_us(tree)
