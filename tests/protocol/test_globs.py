"""Globs: VS Code's own answers, the corners that have none, and how much work a match may be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lspkit.protocol.globs import MAX_NESTING, MAX_PATTERN, compile_glob, pattern_mistake

TRUTH: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "watch-globs.json").read_text(encoding="utf-8")
)


def matching(pattern: str, *paths: str) -> list[str]:
    matches = compile_glob(pattern)
    return [path for path in paths if matches(path)]


@pytest.mark.parametrize("case", TRUTH["cases"], ids=lambda case: case["pattern"])
class TestTruth:
    def test_the_answers_are_those_of_vs_code(self, case: dict[str, Any]) -> None:
        assert matching(case["pattern"], *TRUTH["paths"]) == case["matches"]

    def test_a_choice_of_one_is_what_stands_in_it(self, case: dict[str, Any]) -> None:
        # Common patterns have a short cut that this one does not take.
        assert matching("{" + case["pattern"] + "}", *TRUTH["paths"]) == case["matches"]


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", ".py"], ["a/b.py", "a.pyc", "/a.py"]),
        ("src/*", ["src/a", "src/.a"], ["src", "src/a/b", "srcx/a"]),
        ("src/**", ["src", "src/a", "src/a/b", "src/.a/b"], ["srcx", "srcx/a", "a/src"]),
        ("src/", ["src"], ["srcx"]),
        ("/code/**/*.py", ["/code/a.py", "/code/a/b.py"], ["code/a.py", "/codex/a.py"]),
        ("**/*.py", ["/code/a.py", "a.py"], ["a.py/b"]),
        ("**/a", ["a", "/a", "x/a", "/x/y/a"], ["xa", "a/x"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb", "a/b/x"]),
        ("a/**/**", ["a", "a/b", "a/b/c"], ["ab"]),
        ("**/**/**/a", ["a", "x/y/a"], ["xa"]),
        ("a**b", ["ab", "axb"], ["a/b", "ax/yb"]),
        ("**.py", ["a.py"], ["a/b.py"]),
        ("?", ["a", ".", "é", "🙂"], ["/", "", "ab"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "x", "/x"]),
        ("[!a-c]x", ["dx", ".x"], ["ax", "/x", "x"]),
        ("[^a-c]x", ["dx"], ["ax", "/x"]),
        ("a[!b]c", ["axc"], ["a/c", "abc"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[.-0]", [".", "0"], ["/"]),
        ("[*?{]", ["*", "?", "{"], ["a"]),
        ("{a,b}c", ["ac", "bc"], ["c", "abc"]),
        ("a{b,}", ["ab", "a"], ["b"]),
        ("a{,b}", ["ab", "a"], ["b"]),
        ("{a,{b,c/{d,e}}}/x", ["a/x", "b/x", "c/d/x", "c/e/x"], ["c/x", "d/x", "c/f/x"]),
        ("{src/,}a.py", ["src/a.py", "a.py"], ["srca.py"]),
        ("{**/a,b/**}", ["a", "x/a", "b", "b/x"], ["x/b"]),
        ("x/{**,y}", ["x/", "x/y", "x/a/b"], ["x", "y"]),
        ("a,b", ["a,b"], ["a", "b"]),
        ("a.b+(c)|$^", ["a.b+(c)|$^"], ["axb+(c)|$^"]),
        ("a\\b", ["a\\b"], ["ab", "a/b"]),
        (" a ", ["a"], [" a "]),
        ("é*", ["école"], ["ecole"]),
        ("*", ["a\nb"], ["a\n/b"]),
    ],
)
def test_a_pattern_matches_these_and_not_those(pattern: str, yes: list[str], no: list[str]) -> None:
    assert matching(pattern, *yes, *no) == yes


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [("a[b", "a[b"), ("a{b", "a{b"), ("a}b", "a}b"), ("[]", "[]"), ("]", "]")],
)
def test_a_bracket_without_its_partner_is_a_plain_character(pattern: str, literal: str) -> None:
    assert matching(pattern, literal, "a", "b", "ab") == [literal]


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "  ",
        "[z-a]",
        "**/{a,[z-a]}",
        "a" * (MAX_PATTERN + 1),
        "{" * (MAX_NESTING + 1) + "a" + "}" * (MAX_NESTING + 1),
    ],
)
def test_a_pattern_without_meaning_matches_nothing(pattern: str) -> None:
    assert matching(pattern, "", "a", "z", "a/b", "a" * (MAX_PATTERN + 1)) == []


def test_the_limits_themselves_are_allowed() -> None:
    assert matching("a" * MAX_PATTERN, "a" * MAX_PATTERN)
    assert matching("{" * MAX_NESTING + "a" + "}" * MAX_NESTING, "a")


def test_a_pattern_is_compiled_once() -> None:
    assert compile_glob("**/once*") is compile_glob("**/once*")


def test_more_characters_than_are_remembered_change_no_answer() -> None:
    matches = compile_glob("x[!a]*y")
    names = [
        f"x{chr(0x4E00 + number)}{chr(0x4E00 + number * 7 % 20000)}y" for number in range(15000)
    ]
    assert all(map(matches, names))
    assert not any(matches(name + "z") for name in names)


def test_no_pattern_makes_a_match_slow() -> None:
    # A matcher that tries one thing after another would not be done with any of these in a year,
    # so a limit of a minute cannot be met by chance or missed by a busy machine.
    script = """
from lspkit.protocol.globs import compile_glob
long = "a/" * 2000
assert compile_glob("**/" * 30 + "b")(long + "b")
for pattern, path in [
    ("**/**/**/**/b", long + "c"),
    ("**/a/" * 20 + "b", long + "c"),
    ("*a" * 30 + "b", "a" * 4000),
    ("{a,aa}" * 30 + "b", "a" * 4000),
    ("{*,**/*}" * 20 + "b", "a" * 4000),
    ("**/{**/{**/a,b},c}/**/d", long + "c"),
    ("*" * 4000 + "b", "a" * 4000),
    ("{*}" * 1300 + "b", "a" * 4000),
]:
    assert not compile_glob(pattern)(path), pattern
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("**/node_modules/**", ""),
        ("{a,{b,c}}/[]a-z]*/[!x]?", ""),
        ("[{]/[}]/[[]", ""),
        ("", "it is empty"),
        (" ", "it is empty"),
        ("[", "[ has no partner"),
        ("a]", "] has no partner"),
        ("**/{a,b", "{ has no partner"),
        ("a}", "} has no partner"),
        ("{[}]", "{ has no partner"),
        ("[b-a]", "it has a range that runs backwards"),
        ("{" * 40 + "a" + "}" * 40, "too many levels of choices"),
        ("a" * 5000, "more than 4096 characters"),
    ],
)
def test_what_nobody_means_is_a_mistake(pattern: str, why: str) -> None:
    told = pattern_mistake(pattern)
    assert why in told
    assert bool(told) == bool(why)
