"""Entries of trusted folders: picomatch's own answers, what is refused, and how much work it is."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from lspkit.config.trust.root_pattern import Pattern, compile_pattern
from lspkit.config.trust.root_pattern_grammar import MAX_ENTRY, MAX_NESTING
from lspkit.errors import ConfigError

TRUTH: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "data" / "picomatch.json").read_text(encoding="utf-8")
)
PATHS: list[str] = TRUTH["paths"]


def posix(entry: str) -> Pattern:
    return compile_pattern(entry, home=lambda name: f"/home/{name[1:] or 'u'}", windows=False)


def windows(entry: str) -> Pattern:
    return compile_pattern(entry, home=lambda name: "C:\\Users\\u", windows=True)


@pytest.mark.parametrize("case", TRUTH["accepted"], ids=lambda case: case["pattern"])
class TestTruth:
    def test_an_entry_matches_what_picomatch_matches(self, case: dict[str, Any]) -> None:
        pattern = posix(case["pattern"])
        assert [path for path in PATHS if pattern.matches(path)] == case["matches"]

    def test_it_trusts_the_same_and_a_path_also_what_lies_below(self, case: dict[str, Any]) -> None:
        pattern = posix(case["pattern"])
        below = tuple(f"{path.rstrip('/')}/" for path in case["matches"] if pattern.plain)
        expected = [path for path in PATHS if path in case["matches"] or path.startswith(below)]
        assert [path for path in PATHS if pattern.trusts(path)] == expected

    def test_a_slash_at_its_end_changes_nothing(self, case: dict[str, Any]) -> None:
        pattern = posix(case["pattern"] + "//")
        assert [path for path in PATHS if pattern.matches(path)] == case["matches"]


@pytest.mark.parametrize("entry", TRUTH["rejected"])
def test_what_the_truth_rejects_is_refused(entry: str) -> None:
    with pytest.raises(ConfigError):
        posix(entry)


@pytest.mark.parametrize(
    ("entry", "yes", "no"),
    [
        (
            "/code",
            ["/code", "/code/a", "/code/a/b", "/code/.a"],
            ["/", "/code2", "/cod", "/a/code"],
        ),
        ("/code/**", ["/code", "/code/a", "/code/a/b"], ["/code2", "/code2/a", "/"]),
        ("/code/*", ["/code/a", "/code/.a"], ["/code", "/code/a/b"]),
        ("/code/*/**", ["/code/a/b", "/code/a/b/c"], ["/code", "/code/a"]),
        ("/code/**/lib", ["/code/lib", "/code/a/lib", "/code/a/b/lib"], ["/code", "/code/a/lib/b"]),
        ("/**", ["/", "/a", "/a/b"], []),
        ("/**/lib", ["/a/lib", "/a/b/lib"], ["/", "/a"]),
        ("/code/**/**", ["/code", "/code/a"], ["/code2"]),
        ("/code/{a,b}/**", ["/code/a", "/code/b/c"], ["/code", "/code/c"]),
        ("/code/{a,b/c}/d", ["/code/a/d", "/code/b/c/d"], ["/code/b/d", "/code/a/d/e"]),
        ("/code/x{,y}", ["/code/x", "/code/xy"], ["/code/y", "/code/x/y"]),
        ("/code/{a,{b,c}d}", ["/code/a", "/code/bd", "/code/cd"], ["/code/b", "/code/ad"]),
        ("/code/{a,b/**}/c", ["/code/a/c", "/code/b/x/c"], ["/code/b/c", "/code/c"]),
        ("/code/{**/x,b}", ["/code/b", "/code/a/x"], ["/code/x", "/code", "/code/ax"]),
        ("/code/[ab]", ["/code/a", "/code/b", "/code/[ab]"], ["/code/c", "/code/ab"]),
        ("/code/[^a-c]x", ["/code/dx"], ["/code/ax", "/code/x", "/code//x"]),
        ("/code/[-_]x", ["/code/-x", "/code/_x"], ["/code/ax"]),
        (r"/code/[\]]", ["/code/]"], ["/code/a"]),
        (r"/code/\[ab\]", ["/code/[ab]", "/code/[ab]/c"], ["/code/a"]),
        (r"/code/a\{b", ["/code/a{b"], ["/code/ab"]),
        (r"/code/\(old\)", ["/code/(old)", "/code/(old)/a"], ["/code/old"]),
        (r"/code/[ab]\+", ["/code/a+"], ["/code/aa"]),
        (r"/code/a\\b", ["/code/a\\b"], ["/code/ab"]),
        ("/code/a b$^@=,;'é", ["/code/a b$^@=,;'é"], ["/code/a b"]),
        ("/code/hi!", ["/code/hi!"], []),
        ("~", ["/home/u", "/home/u/a"], ["/home", "/home/v"]),
        ("~/", ["/home/u"], ["/home"]),
        ("~/Code/*", ["/home/u/Code/a"], ["/home/u/Code"]),
        ("~v/x", ["/home/v/x/y"], ["/home/u/x"]),
        ("/", ["/", "/a", "/a/b"], []),
    ],
)
def test_an_entry_trusts(entry: str, yes: list[str], no: list[str]) -> None:
    pattern = posix(entry)
    assert [path for path in yes if not pattern.trusts(path)] == []
    assert [path for path in no if pattern.trusts(path)] == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("", "not absolute"),
        ("work", "not absolute"),
        ("./work", "not absolute"),
        ("**", "not absolute"),
        ("*/work", "not absolute"),
        ("{/a,/b}", "not absolute"),
        ("!/work", "no negation"),
        ("/code/!a", "no negation"),
        ("/code/{!a,b}", "no negation"),
        ("/code/../a", "made of dots"),
        ("/code/./a", "made of dots"),
        (r"/code/\.\.", "made of dots"),
        ("/code//a", "is empty"),
        ("/a/***", "**"),
        ("/a/**b", "**"),
        ("/a/b**", "**"),
        ("/a/**,b", "**"),
        ("/a,**", "**"),
        ("/a/x{**,b}", "**"),
        ("/a/{b,c/**}d", "**"),
        ("/a/x{**/b,c}", "slash before the brace"),
        ("/a/{b,{c,d/**}}", "choice inside a choice"),
        ("/a/{b/**/**,c}", "twice in a row"),
        ("/a/{**,b}", "is empty, or could be"),
        ("/a/{,b}", "is empty, or could be"),
        ("/a/**/{*,b}", "is empty, or could be"),
        ("/a/*{,b}", "is empty, or could be"),
        ("/a/@(b)", "escaped"),
        ("/a/!(b)", "negation"),
        ("/a/*(b)", "escaped"),
        ("/a/(b)", "escaped"),
        ("/a/b|c", "escaped"),
        ('/a/"b"', "escaped"),
        ("/a/b]", "escaped"),
        ("/a/b}", "escaped"),
        ("/a/[b", "not closed"),
        ("/a/[]", "not closed"),
        ("/a/[^]", "not closed"),
        ("/a/[]b]", "not closed"),
        ("/a/{b,c", "not closed"),
        ("/a/{b}", "two names"),
        ("/a/{}", "two names"),
        ("/a/{1..3}", "ranges"),
        ("/a/{x,a..c}", "ranges"),
        ("/a/[!b]", "[^a-c]"),
        ("/a/[:alpha:]", "[^a-c]"),
        ("/a/[[:alpha:]]", "cannot be in a class"),
        ("/a/[b/c]", "cannot be in a class"),
        (r"/a/[\w]", "cannot be in a class"),
        ("/a/[c-a]", "range"),
        ("/a/[+-9]", "range"),
        ("/a/[a-c-e]", "in a range"),
        ("/a/[a-c]+", "escaped"),
        ("/a/{b,c}+", "escaped"),
        ("/a/{+,b}c", "escaped"),
        (r"/a/\d", "special character"),
        (r"/a/b" + "\\", "special character"),
        (r"/a\/b", "special character"),
        (r"/a/\\\*", "too many"),
        ("/a\0b", "NUL"),
        ("~nobody-of-this-name", "no home"),
        ("/" + "a" * MAX_ENTRY, "characters"),
        ("/a/" + "{b," * (MAX_NESTING + 1) + "c" + "}" * (MAX_NESTING + 1), "deep"),
    ],
)
def test_what_could_be_misunderstood_is_refused(entry: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compile_pattern(entry, home=lambda name: name, windows=False)
    assert words in caught.value.message
    assert words in caught.value.expected


def test_the_home_folder_is_no_pattern() -> None:
    pattern = compile_pattern("~/x", home=lambda name: "/home/[ab]*", windows=False)
    assert pattern.trusts("/home/[ab]*/x")
    assert not pattern.trusts("/home/ac/x")


def test_a_home_at_the_root_is_the_root() -> None:
    assert compile_pattern("~/x", home=lambda name: "/", windows=False).trusts("/x/y")


def test_a_relative_home_is_refused() -> None:
    with pytest.raises(ConfigError, match="no home"):
        compile_pattern("~/x", home=lambda name: "home", windows=False)


class TestWindows:
    @pytest.mark.parametrize(
        ("entry", "yes", "no"),
        [
            (r"C:\Code", [r"c:\code", r"C:\CODE\a", "c:/code/b"], [r"C:\code2", r"D:\code"]),
            ("c:/Code/*", [r"C:\code\A"], [r"C:\code", r"C:\code\a\b"]),
            ("C:/code/[a-c]", [r"C:\code\B"], [r"C:\code\d"]),
            ("C:/code/[^a-c]", [r"C:\code\d"], []),
            (r"C:\ ".strip(), ["C:\\", r"c:\a"], ["D:\\"]),
            ("C:/**", ["C:\\", r"C:\a\b"], [r"D:\a"]),
            (r"\\machine\share\x", [r"\\MACHINE\share\x\y"], [r"\\other\share\x", r"C:\x"]),
            ("C:/a/[(]x[)]", [r"C:\a\(X)"], [r"C:\a\x"]),
            (r"~\x", [r"C:\Users\u\x"], [r"C:\Users\v\x"]),
        ],
    )
    def test_case_and_the_kind_of_slash_do_not_count(
        self, entry: str, yes: list[str], no: list[str]
    ) -> None:
        pattern = windows(entry)
        assert [path for path in yes if not pattern.trusts(path)] == []
        assert [path for path in no if pattern.trusts(path)] == []

    @pytest.mark.parametrize("entry", ["/code", r"\work", "C:work", "work", r"\\machine"])
    def test_what_depends_on_the_current_folder_is_refused(self, entry: str) -> None:
        with pytest.raises(ConfigError, match="not absolute"):
            windows(entry)

    def test_case_counts_elsewhere(self) -> None:
        assert not posix("/Code").trusts("/code")
        assert not posix("/Code/*").trusts("/code/a")


@pytest.mark.parametrize(
    ("entry", "path", "anchor"),
    [
        ("/code", "/code/a/b", "/code"),
        ("/code/**", "/code/a/b", "/code"),
        ("/code/*/lib", "/code/a/lib", "/code"),
        ("/code/a*", "/code/ab", "/code"),
        ("/code/{a,b/c}/d", "/code/b/c/d", "/code"),
        ("/*", "/a", "/"),
        ("/**", "/a/b", "/"),
        ("/", "/a", "/"),
    ],
)
def test_the_anchor_is_what_an_entry_names_for_sure(entry: str, path: str, anchor: str) -> None:
    assert posix(entry).anchor(path) == anchor


@pytest.mark.parametrize(
    "entry",
    [
        "/" + "*a" * 500,
        "/" + "/".join(["**", "a"] * 200),
        "/" + "{a,aa}" * 160,
        "/" + "{a,{b,{c,*}x}y}z" * 60,
        "/" + "?*" * 500,
    ],
)
def test_no_entry_makes_a_match_slow(entry: str) -> None:
    pattern = compile_pattern(entry, windows=False)
    path = "/" + "/".join(["a" * 60] * 60)
    before = time.thread_time()
    pattern.trusts(path)
    assert time.thread_time() - before < 10  # a second or so; a matcher that tries takes years
