"""Trusted folders against a matcher that is too slow to use but too simple to be wrong."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from lspkit.config.trust.key_gate import blocked_content, digest, remove_blocked
from lspkit.config.trust.root_pattern import compile_pattern
from lspkit.errors import ConfigError

NAMES = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=5).map(lambda names: "/" + "/".join(names))


def text_of(part: list[tuple[str, str]]) -> str:
    return "".join(item for item, _ in part)


#: An item as it is written, and its kind: a sign, or the letters of which it is one or is none.
LETTERS = st.sampled_from("ab").map(lambda one: (one, one))
ITEMS = LETTERS | st.sampled_from(
    [("?", "?"), ("*", "*"), ("[a-b]", "ab"), ("[^a]", "^a"), ("\\.", "."), ("{a,bb}", "{")]
)
PARTS = st.lists(ITEMS, min_size=1, max_size=3).filter(
    lambda part: "**" not in text_of(part) and text_of(part) not in (r"\.", r"\.\.")
)
STARS = [("**", "**")]
PATTERNS = st.lists(PARTS | st.just(STARS), min_size=1, max_size=4)


def written(pattern: list[list[tuple[str, str]]]) -> str:
    return "/" + "/".join(map(text_of, pattern))


def fits(part: list[tuple[str, str]], name: str) -> bool:
    """Whether a part of a pattern fits a name, by trying everything."""
    if not part:
        return not name
    (_, kind), rest = part[0], part[1:]
    if kind == "*":
        return any(fits(rest, name[start:]) for start in range(len(name) + 1))
    if kind == "{":
        return any(name.startswith(one) and fits(rest, name[len(one) :]) for one in ("a", "bb"))
    if not name:
        return False
    taken = kind == "?" or (name[0] not in kind[1:] if kind[0] == "^" else name[0] in kind)
    return taken and fits(rest, name[1:])


def naive(pattern: list[list[tuple[str, str]]], names: list[str], first: bool = True) -> bool:
    """The same for a whole path, with what is special about `**` at the start and at the end."""
    if not pattern:
        return not names
    if pattern[0] is not STARS:
        if not names or not fits(pattern[0], names[0]):
            return False
        rest = pattern[1:]
        if rest and all(part is STARS for part in rest):
            # The folder itself counts, unless its name ends in a star.
            return len(names) > 1 or pattern[0][-1][0] != "*"
        return naive(rest, names[1:], False)
    rest = pattern[1:]
    if not rest:
        return True
    if rest[0] is STARS:
        return naive(rest, names, first)
    least = 1 if first else 0
    return any(naive(rest, names[start:], False) for start in range(least, len(names) + 1))


@given(PATTERNS, PATHS)
def test_patterns_agree_with_trying_everything(
    pattern: list[list[tuple[str, str]]], path: str
) -> None:
    entry = written(pattern)
    assert compile_pattern(entry, windows=False).matches(path) == naive(
        pattern, path[1:].split("/")
    )


@given(PATHS, PATHS)
def test_a_plain_entry_trusts_itself_and_below_and_nothing_beside(path: str, more: str) -> None:
    pattern = compile_pattern(path, windows=False)
    assert pattern.trusts(path)
    assert pattern.trusts(path + more)
    assert not pattern.trusts(path + more[1:])
    assert not pattern.trusts(more) or f"{more}/".startswith(f"{path}/")
    assert compile_pattern(path + "/**", windows=False).trusts(path)


@given(PATTERNS, PATHS)
def test_an_entry_without_stars_keeps_to_its_number_of_parts(
    pattern: list[list[tuple[str, str]]], path: str
) -> None:
    if not any(part is STARS for part in pattern):
        matches = compile_pattern(written(pattern), windows=False).matches(path)
        assert not matches or path.count("/") == len(pattern)


@given(st.text('ab/*?[]{}()!^-,\\.|+@~"é\0', max_size=40), PATHS, st.booleans())
def test_an_entry_is_read_or_refused(entry: str, path: str, windows: bool) -> None:
    try:
        pattern = compile_pattern("/" + entry, home=lambda name: "/home", windows=windows)
    except ConfigError:
        return
    assert pattern.trusts(path) in (True, False)
    assert pattern.trusts(path) or not pattern.matches(path)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(entry: str) -> None:
    try:
        pattern = compile_pattern(entry)
    except ConfigError:
        return
    assert pattern.trusts("/") in (True, False)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1))
def test_every_name_can_be_written_with_escapes(name: str) -> None:
    if name in (".", "..") or "\\\\" in name or len(name) > 300:
        return
    special = set(string.punctuation) - {"/"}
    entry = "/code/" + "".join("\\" + one if one in special else one for one in name)
    if "\\\\\\" in entry:
        return
    assert compile_pattern(entry, windows=False).plain == "/code/" + name


#: Settings as a stranger may write them.
SPELLINGS = ["python", "pythonPath", "python.pythonPath", "PythonPath", "x", "python_path"]
KEYS = st.sampled_from(SPELLINGS)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
FIELDS = st.sampled_from(["command", "env", "watch", "settings", "initialization", "roots"])
SERVERS = st.dictionaries(
    st.sampled_from(["pyright", "unknown"]), st.dictionaries(FIELDS, VALUES, max_size=5), max_size=2
)
PROJECTS = st.fixed_dictionaries({"lsp": SERVERS}, optional={"timing": VALUES})
EXAMPLE_KEYS = {"pyright": ("python.pythonPath",)}


@given(PROJECTS)
def test_what_passes_the_gate_passes_it_again_unchanged(project: dict[str, object]) -> None:
    kept, blocked = remove_blocked(project, EXAMPLE_KEYS)
    assert remove_blocked(kept, EXAMPLE_KEYS) == (kept, [])
    assert bool(blocked) == bool(blocked_content(project, EXAMPLE_KEYS))
    assert digest(kept, EXAMPLE_KEYS) == digest({}, EXAMPLE_KEYS)


@given(PROJECTS)
def test_what_is_not_blocked_does_not_count_for_the_digest(project: dict[str, object]) -> None:
    content = blocked_content(project, EXAMPLE_KEYS)
    assert digest(content, EXAMPLE_KEYS) == digest(project, EXAMPLE_KEYS)


@given(PROJECTS)
def test_no_interpreter_gets_through(project: dict[str, object]) -> None:
    def look(value: object, path: str) -> None:
        assert "python.pythonpath" not in path.casefold().replace("_", "")
        if isinstance(value, dict):
            for key, inner in value.items():
                look(inner, f"{path}.{key}")
        elif isinstance(value, list):
            for inner in value:
                look(inner, path)

    for said in remove_blocked(project, EXAMPLE_KEYS)[0]["lsp"].values():
        look(said.get("settings"), "")
        look(said.get("initialization"), "")
