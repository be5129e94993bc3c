"""Configurations and values of all kinds, for the tests that merge and read them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

#: Few, so that what is merged meets.
NAMES = st.sampled_from(["a", "b"])
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2)
JSON = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)
_INNER = st.dictionaries(NAMES, st.integers(0, 2) | st.just([]), max_size=2)
OBJECTS = st.dictionaries(
    NAMES, st.integers(0, 2) | st.lists(SCALARS, max_size=2) | _INNER | SCALARS, max_size=2
)

WORDS = st.text("xy-", min_size=1, max_size=3)
MILLISECONDS = st.integers(1, 10**6)
SERVERS = st.fixed_dictionaries(
    {},
    optional={
        "command": st.lists(WORDS, min_size=1, max_size=3),
        "extensions": st.lists(WORDS.map(".".__add__), max_size=2),
        "env": st.dictionaries(WORDS, WORDS, max_size=2),
        "initialization": OBJECTS | SCALARS.filter(lambda one: one is not None),
        "settings": OBJECTS,
        "languageIds": st.dictionaries(WORDS, WORDS, max_size=2),
        "timing": st.fixed_dictionaries({}, optional={"requestTimeoutMs": MILLISECONDS}),
        "disabled": st.booleans(),
    },
)
#: Configurations in the one form.
LAYERS = st.fixed_dictionaries(
    {},
    optional={
        "lsp": st.just(False) | st.dictionaries(NAMES, SERVERS, max_size=3),
        "navigationTools": st.booleans(),
        "permissions": st.dictionaries(
            NAMES, st.sampled_from(["allow", "ask", "deny"]), max_size=2
        ),
        "timing": st.fixed_dictionaries(
            {}, optional={"requestTimeoutMs": MILLISECONDS, "debounceMs": MILLISECONDS}
        ),
        "diagnostics": st.fixed_dictionaries(
            {}, optional={"severity": st.sampled_from(["error", "hint"])}
        ),
        "security": st.fixed_dictionaries(
            {}, optional={"exclude": st.lists(WORDS), "allowExternalPaths": st.booleans()}
        ),
    },
)


#: Configurations that switch something on or off.
SWITCHES = st.fixed_dictionaries(
    {},
    optional={
        "lsp": st.just(False)
        | st.dictionaries(
            NAMES, st.fixed_dictionaries({}, optional={"disabled": st.booleans()}), max_size=2
        )
    },
)


def shuffled(value: Any, draw: Any) -> Any:
    """The same with its keys in another order, at every depth."""
    if isinstance(value, list):
        return [shuffled(one, draw) for one in value]
    if not isinstance(value, dict):
        return value
    keys = draw(st.permutations(list(value)))
    return {key: shuffled(value[key], draw) for key in keys}
