"""Globs against a matcher that is too slow to use but too simple to be wrong."""

from __future__ import annotations

import fnmatch
import re

from hypothesis import given
from hypothesis import strategies as st

from lspkit.protocol.globs import compile_glob

NAMES = st.text("ab.", min_size=1, max_size=3)
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
ITEMS = st.sampled_from(["a", "b", ".", "*", "?", "[ab]", "[!a]", "[a-b]", "ab"])
SEGMENTS = st.lists(ITEMS, min_size=1, max_size=3).map("".join).filter(lambda made: made != "**")
PATTERNS = st.lists(SEGMENTS | st.just("**"), min_size=1, max_size=5).map("/".join)


def matches_by_segment(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        # All that is left, or one segment less.
        return matches_by_segment(pattern[1:], path) or (
            bool(path) and matches_by_segment(pattern, path[1:])
        )
    if not path or not fnmatch.fnmatchcase(path[0], pattern[0]):
        return False
    return matches_by_segment(pattern[1:], path[1:])


@given(PATTERNS, PATHS)
def test_segments_match_one_by_one(pattern: str, path: str) -> None:
    expected = matches_by_segment(pattern.split("/"), path.split("/"))
    assert compile_glob(pattern)(path) == expected


@given(PATTERNS, PATTERNS, PATHS)
def test_a_choice_matches_what_either_side_matches(one: str, other: str, path: str) -> None:
    expected = compile_glob(one)(path) or compile_glob(other)(path)
    assert compile_glob(f"{{{one},{other}}}")(path) == expected
    assert compile_glob(f"{{{other},{{{one}}}}}")(path) == expected


@given(SEGMENTS, st.lists(NAMES, min_size=1, max_size=3), PATHS)
def test_choices_of_names_are_written_out(start: str, names: list[str], path: str) -> None:
    expected = any(compile_glob(f"**/{start}{name}")(path) for name in names)
    assert compile_glob(f"**/{start}{{{','.join(names)}}}")(path) == expected


@given(PATTERNS, PATHS)
def test_stars_in_front_make_a_pattern_match_anywhere(pattern: str, path: str) -> None:
    anywhere = compile_glob(f"**/{pattern}")
    if compile_glob(pattern)(path):
        assert anywhere(path)
        assert anywhere(f"x/y/{path}")
        assert anywhere(f"/x/y/{path}")


@given(st.text(st.characters(exclude_characters="*?[]{}/"), min_size=1))
def test_a_name_without_wildcards_matches_itself(name: str) -> None:
    name = name.strip() or "x"
    assert compile_glob(name)(name)
    assert compile_glob("**/" + name)("a/" + name)
    assert not compile_glob(name)(name + "x")


@given(st.text("ab*?[]{}!^-/,\\", max_size=40), PATHS)
def test_no_pattern_raises(pattern: str, path: str) -> None:
    assert compile_glob(pattern)(path) in (True, False)


@given(st.text("ab-]^!\\&~|", min_size=1, max_size=6), st.sampled_from("ab-]^!\\&~|c"))
def test_a_class_has_the_members_of_the_same_regular_expression(members: str, one: str) -> None:
    # The first place is special for these three, and a range may run backwards.
    body = "a" + members.replace("]", "").replace("-", "")
    assert compile_glob(f"[{body}]")(one) == bool(re.fullmatch(f"[{re.escape(body)}]", one))
    assert compile_glob(f"[!{body}]")(one) == bool(re.fullmatch(f"[^{re.escape(body)}]", one))
