"""Files of one kind have the same servers."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from lspkit.config import Config
from lspkit.servers.selection.choose import Kinds, definitions

DEFINITIONS = definitions(Config())
KNOWN = sorted({name for one in DEFINITIONS for name in one.languages})
STEMS = st.sampled_from(["", "a", "B.c", *{one.removesuffix(".*") for one in KNOWN}])
ENDINGS = st.sampled_from(["", ".", ".PY", ".unheard-of", *KNOWN, *(one.upper() for one in KNOWN)])
NAMES = st.tuples(STEMS, ENDINGS).map("".join).filter(bool)


@given(NAMES, NAMES)
@example(".PY", "a.PY")
@example("Dockerfile.py", "a.py")
def test_names_of_one_kind_are_in_the_same_languages(one: str, other: str) -> None:
    kinds = Kinds(Config())
    if kinds.kind_of(f"/folder/{one}") == kinds.kind_of(f"/folder/{other}"):
        for definition in DEFINITIONS:
            assert definition.language_of(one) == definition.language_of(other)


@given(STEMS, STEMS)
def test_what_ends_the_same_way_is_of_one_kind(one: str, other: str) -> None:
    kinds = Kinds(Config())
    names = [f"x{stem}.py" for stem in (one, other)]
    assert len({kinds.kind_of(f"/folder/{name}") for name in names}) == 1
    assert kinds.kind_of("/folder/x.py") != kinds.kind_of("/other/x.py")
