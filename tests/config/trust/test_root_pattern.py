"""Entries of trusted folders: what they trust, what is refused, and how much work it is."""

from __future__ import annotations

import time

import pytest

from lspkit.config.trust.root_pattern import Pattern, compile_pattern
from lspkit.errors import ConfigError
from lspkit.protocol.globs import MAX_PATTERN


def compiled(entry: str) -> Pattern:
    return compile_pattern(entry, home=lambda name: f"/home/{name[1:] or 'u'}")


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
        ("/code/*/**", ["/code/a/b", "/code/a/b/c"], ["/code", "/code2/a"]),
        ("/code/**/lib", ["/code/lib", "/code/a/lib", "/code/a/b/lib"], ["/code", "/code/a/lib/b"]),
        ("/**", ["/", "/a", "/a/b"], []),
        ("/**/lib", ["/a/lib", "/a/b/lib"], ["/", "/a"]),
        ("/**/*", ["/a", "/a/b"], ["/"]),
        ("/code/{a,b}/**", ["/code/a", "/code/b/c"], ["/code", "/code/c"]),
        ("/code/{a,b/c}/d", ["/code/a/d", "/code/b/c/d"], ["/code/b/d", "/code/a/d/e"]),
        ("/code/x{,y}", ["/code/x", "/code/xy"], ["/code/y", "/code/x/y"]),
        ("/code/[ab]", ["/code/a", "/code/b"], ["/code/c", "/code/ab", "/code/a/b"]),
        ("/code/[^a-c]x", ["/code/dx"], ["/code/ax", "/code/x", "/code//x"]),
        ("/code/[{]odd[}]*", ["/code/{odd}", "/code/{odd}2"], ["/code/odd"]),
        ("/code/(old)!", ["/code/(old)!", "/code/(old)!/a"], ["/code/old"]),
        (r"/code/a\b", [r"/code/a\b"], ["/code/ab"]),
        ("~", ["/home/u", "/home/u/a"], ["/home", "/home/v"]),
        ("~/", ["/home/u"], ["/home"]),
        ("~/Code/*", ["/home/u/Code/a"], ["/home/u/Code"]),
        ("~v/x", ["/home/v/x/y"], ["/home/u/x"]),
        ("/", ["/", "/a", "/a/b"], []),
    ],
)
def test_an_entry_trusts(entry: str, yes: list[str], no: list[str]) -> None:
    pattern = compiled(entry)
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
        ("!/work", "not absolute"),
        ("/code/../a", "made of dots"),
        ("/code/./a", "made of dots"),
        ("/code//a", "empty"),
        ("/a/***", "ambiguous"),
        ("/a/**b", "ambiguous"),
        ("/a/b**", "ambiguous"),
        ("/a/x{**,b}", "ambiguous"),
        ("/a/@(b*)", "ambiguous"),
        ("/a/!(b*)", "ambiguous"),
        ("/a/(b)*", "ambiguous"),
        ("/a/*b|c", "ambiguous"),
        ("/a/[b", "no partner"),
        ("/a/b]", "no partner"),
        ("/a/{b,c", "no partner"),
        ("/a/b}", "no partner"),
        ("/a/{b}", "ambiguous"),
        ("/a/{}", "ambiguous"),
        ("/a/{1..3}", "ambiguous"),
        ("/a/[!b]", "ambiguous"),
        ("/a/[c-a]", "backwards"),
        (r"/a/\*", "ambiguous"),
        (r"/a/\{odd\}", "ambiguous"),
        ("~nobody-of-this-name", "no home"),
        ("/*" + "a" * MAX_PATTERN, "characters"),
    ],
)
def test_what_could_be_misunderstood_is_refused(entry: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compile_pattern(entry, home=lambda name: name)
    assert words in caught.value.message
    assert words in caught.value.expected


def test_the_home_folder_is_no_pattern() -> None:
    pattern = compile_pattern("~/x", home=lambda name: "/home/[ab]*")
    assert pattern.trusts("/home/[ab]*/x")
    assert not pattern.trusts("/home/ac/x")


def test_a_home_at_the_root_is_the_root() -> None:
    assert compile_pattern("~/x", home=lambda name: "/").trusts("/x/y")


def test_a_relative_home_is_refused() -> None:
    with pytest.raises(ConfigError, match="no home"):
        compile_pattern("~/x", home=lambda name: "home")


@pytest.mark.parametrize(
    ("entry", "folder"),
    [
        ("/code/**", "/code"),
        ("/code/a/*/lib", "/code/a"),
        ("/code/{a,b/c}/d", "/code"),
        ("/*", "/"),
    ],
)
def test_the_folder_is_what_an_entry_names_for_sure(entry: str, folder: str) -> None:
    assert compiled(entry).folder == folder


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
    pattern = compile_pattern(entry)
    path = "/" + "/".join(["a" * 60] * 60)
    before = time.thread_time()
    pattern.trusts(path)
    assert time.thread_time() - before < 10  # a second or so; a matcher that tries takes years
