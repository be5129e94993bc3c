"""Where the files of a work tree hold a name as a word."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lspkit.servers.project.word_search import (
    BESIDE,
    LARGEST,
    NO_TIME,
    TOO_LARGE,
    find_words,
    words_in,
)


@pytest.mark.parametrize(
    ("name", "text", "parts"),
    [
        ("a.py", 'it  # it\n\'it\' """\nit\n"""\nits.it', "code comment string string code"),
        ("a.py", "f'{it} it {it!r}' '{it}' rf\"{it}\"", "code string code string code"),
        ("a.ts", "it // it\n/* it\n it */ 'it' `${it} it`", "code comment*3 string code string"),
        ("a.rs", "fn f<'a>(it: &'a str) { \"it\" } // it", "code string comment"),
        ("a.c", "char c = '\\''; it = '\"'; /* it */", "code comment"),
        ("a.sh", 'it "$it" # it', "code code comment"),
        ("a.vue", '<!-- it --><a :x="it">', "comment code"),
        ("a.vue", '<a accept="image/*" href="https://x">{it}', "code"),
        ("a.js", "if (/^https?:\\/\\//.test(it)) it()", "code code"),
        ("a.tsx", "<p>It's {it}</p>", "code"),
        ("a.rb", '"#{it} it"', "code string"),
        ("a.kt", '"${it} it"', "code string"),
        ("a.cs", '$"{it} it" "{it}"', "code string string"),
        ("a.go", "`\\` + it", "code"),
        ("a.php", "#[At(it)]\n# it", "code comment"),
        ("a.py", "'abc \\\n it' + it", "string code"),
        ("a.unknown", "it # 'it'", "code code"),
        ("a.py", "'an open string\nit", "code"),
    ],
)
def test_words_in_comments_and_strings_are_no_code(name: str, text: str, parts: str) -> None:
    wanted = parts.replace("comment*3", "comment comment comment").split()
    assert [word.part for word in words_in(text, ["it"], name)] == wanted


def test_a_place_counts_characters_and_all_line_breaks() -> None:
    found = words_in("é\r🙂 it\r\nit = 1", ["it", "é"], "a.py")
    assert [(one.line, one.column, one.word) for one in found] == [
        (1, 1, "é"),
        (2, 3, "it"),
        (3, 1, "it"),
    ]
    assert (found[2].before, found[2].after) == ("", " = 1")


def test_a_part_of_a_word_is_not_the_word() -> None:
    assert words_in("item bit it2 _it", ["it"], "a.py") == ()


def tree(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return str(folder)


def names(folder: str, found: dict[str, object]) -> list[str]:
    return [path.removeprefix(f"{folder}/") for path in found]


def test_ignored_files_and_installed_packages_are_left_out(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            ".git/config": "",
            ".gitignore": "made/\n*.gen.py\n",
            "a.py": "it",
            "b.gen.py": "it",
            "made/c.py": "it",
            "node_modules/d.py": "it",
            "env/pyvenv.cfg": "",
            "env/e.py": "it",
            "f.md": "it",
        },
    )
    found = find_words(root, ["it"], lambda path: path.endswith(".py"))
    assert names(root, found.files) == ["a.py"]
    assert found.reason == ""


def test_files_that_hold_the_module_come_first_then_the_nearest(tmp_path: Path) -> None:
    texts = {"p/q/far.py": "it", "near.py": "it", "p/q/user.py": "from m import it"}
    root = tree(tmp_path, {**texts, "m.py": "it = 1  # m", "bin.py": "it\0"})
    found = find_words(root, ["it"], lambda _: True, near=["m"], near_path=f"{root}/m.py")
    assert names(root, found.files) == ["m.py", "p/q/user.py", "near.py", "p/q/far.py"]


def test_a_folder_of_a_work_tree_is_left_out_only_if_git_ignores_it(tmp_path: Path) -> None:
    files = {"tests/build/a.py": "it", "dist/b.py": "it", ".gitignore": "/dist/\n"}
    found = find_words(tree(tmp_path, files), ["it"], lambda path: path.endswith(".py"))
    assert names(str(tmp_path), found.files) == []
    root = tree(tmp_path, {".git/config": ""})
    found = find_words(root, ["it"], lambda path: path.endswith(".py"))
    assert names(root, found.files) == ["tests/build/a.py"]


def test_a_link_inside_the_tree_is_searched_by_its_own_path(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": "it"})
    (tmp_path / "b.py").symlink_to("a.py")
    assert names(root, find_words(root, ["it"], lambda _: True).files) == ["a.py"]


def test_a_huge_file_that_holds_the_word_is_named(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": "it\n" + "#" * LARGEST, "b.py": "#" * LARGEST * 2})
    found = find_words(root, ["it"], lambda _: True)
    assert (found.files, found.reason) == ({}, TOO_LARGE)


def test_a_long_line_is_not_kept_with_each_of_its_words(tmp_path: Path) -> None:
    found = words_in("it; " * 1_000 + "x" * 1_000_000, ["it"], "a.js")
    assert len(found) == 1_000
    assert max(len(word.before) + len(word.after) for word in found) <= 2 * BESIDE


def test_a_search_without_time_says_so(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": "it"})
    found = find_words(root, ["it"], lambda _: True, until=time.monotonic() - 1)
    assert (found.files, found.reason) == ({}, NO_TIME)


def test_code_leaves_out_files_with_the_word_in_comments_alone(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": "# it", "b.py": "it  # it"})
    found = find_words(root, ["it"], lambda _: True)
    assert names(root, found.files) == ["a.py", "b.py"]
    assert [len(words) for words in found.code.values()] == [1]
