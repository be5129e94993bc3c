"""What holds for every entry of trusted folders, and for every configuration of a project."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lspkit.config.trust.key_gate import blocked_content, digest, remove_blocked
from lspkit.config.trust.root_pattern import compile_pattern
from lspkit.errors import ConfigError

NAMES = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=5).map(lambda names: "/" + "/".join(names))


@given(PATHS, PATHS)
def test_a_plain_entry_trusts_itself_and_below_and_nothing_beside(path: str, more: str) -> None:
    pattern = compile_pattern(path)
    assert pattern.trusts(path)
    assert pattern.trusts(path + more)
    assert not pattern.trusts(path + more[1:])
    assert not pattern.trusts(more) or f"{more}/".startswith(f"{path}/")
    assert compile_pattern(path + "/**").trusts(path)


@given(st.text('ab/*?[]{}()!^-,\\.|+@~"é\0', max_size=40), PATHS)
def test_an_entry_is_read_or_refused(entry: str, path: str) -> None:
    try:
        pattern = compile_pattern("/" + entry, home=lambda name: "/home")
    except ConfigError:
        return
    assert pattern.trusts(path) in (True, False)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(entry: str) -> None:
    try:
        pattern = compile_pattern(entry)
    except ConfigError:
        return
    assert pattern.trusts("/") in (True, False)


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
