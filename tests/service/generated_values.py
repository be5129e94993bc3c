"""Strategies of hypothesis that are derived from types, for values that are sent to the service.

There is no list of types here: a type is read with `msgspec.inspect`. Every text may have lone
surrogates (parts of file names that are not UTF-8), NUL, and what looks like an escape of these.
"""

from __future__ import annotations

import contextlib
import functools
import re
import typing
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import reject
from hypothesis import strategies as st
from msgspec import inspect as mi

from lspkit.errors import LspkitError

#: Whole numbers that JSON carries with msgspec.
SMALLEST, LARGEST = -(2**63), 2**63 - 1

#: Texts that JSON cannot carry as they are, and texts that look like escapes of these.
DIFFICULT = (
    *("", "\0", "\0dc80", "\0\0dc80", "\udc80", "\udc80\0dc80", "\ud83d\ude00", "\ud83d"),
    *("😀", "\\u0000", "\\udc80", "a\0", "inf", "null", "src/caf\udce9.py", "\r\n\x1b\x7f\u2028"),
)
#: Mostly chosen from few, which takes a tenth of the time of generating each.
TEXTS = st.sampled_from(DIFFICULT) | st.text(st.characters(exclude_categories=[]), max_size=6)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(SMALLEST, LARGEST) | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type."""
    return _strategy(mi.type_info(kind))


def errors_of(kind: type[LspkitError]) -> st.SearchStrategy[LspkitError]:
    """Errors of a class, with some of its fields or all."""
    hints = typing.get_type_hints(kind)
    names = [name for name in hints if name not in ("code", "codes")]
    fields = {name: values_of(hints[name]) for name in names}
    if "retry_in" in fields:
        fields["retry_in"] |= st.just(float("inf"))
    codes = st.sampled_from(kind.codes or (kind.code,))
    return st.builds(
        lambda message, code, fields: kind(message, code=code, **fields),
        TEXTS,
        codes,
        st.fixed_dictionaries(fields) | st.fixed_dictionaries({}, optional=fields),
    )


def _strategy(info: mi.Type) -> st.SearchStrategy[Any]:
    return _STRATEGIES[type(info)](info)


def _integers(info: mi.IntType) -> st.SearchStrategy[int]:
    least = SMALLEST if info.ge is None else info.ge
    most = LARGEST if info.le is None else info.le
    # Numbers from 1 more often: lines and columns are.
    return st.integers(max(1, least), min(2**31, most)) | st.integers(least, most)


def _floats(info: mi.FloatType) -> st.SearchStrategy[float]:
    return st.floats(info.ge, info.le, allow_nan=False, allow_infinity=False)


def _texts(info: mi.StrType) -> st.SearchStrategy[str]:
    if info.pattern is None:
        return TEXTS
    pattern = info.pattern
    matching = st.builds(str.__add__, st.from_regex(pattern), st.sampled_from(["", "\udc80"]))
    return matching.filter(lambda one: re.search(pattern, one) is not None)


def _lists(info: mi.ListType | mi.VarTupleType) -> st.SearchStrategy[Any]:
    most = 2 if info.max_length is None else info.max_length
    least = info.min_length or 0
    made = st.lists(_strategy(info.item_type), min_size=least, max_size=max(least, most))
    return made.map(tuple) if isinstance(info, mi.VarTupleType) else made


@functools.cache
def _struct(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Values of a struct. It may contain itself, so its fields are read when one is drawn."""
    return st.deferred(lambda: _built(kind))


def _built(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    info = mi.type_info(kind)
    assert isinstance(info, mi.StructType)
    required = {one.name: _strategy(one.type) for one in info.fields if one.required}
    optional = {one.name: _strategy(one.type) for one in info.fields if not one.required}

    @st.composite
    def build(draw: st.DrawFn) -> Any:
        fields = draw(st.fixed_dictionaries(required, optional=optional))
        try:
            return kind(**fields)
        except LspkitError:  # there is no such request: for example a line without a column
            fields = {name: fields[name] for name in required}
        for name, strategy in optional.items():
            fields[name] = draw(strategy)
            with contextlib.suppress(LspkitError):
                return kind(**fields)
        return reject()

    return build()


_STRATEGIES: dict[type[mi.Type], typing.Callable[[Any], st.SearchStrategy[Any]]] = {
    mi.AnyType: lambda _: JSON_VALUES,
    mi.NoneType: lambda _: st.none(),
    mi.BoolType: lambda _: st.booleans(),
    mi.IntType: _integers,
    mi.FloatType: _floats,
    mi.StrType: _texts,
    mi.BytesType: lambda _: st.binary(max_size=64),
    mi.EnumType: lambda info: st.sampled_from(list(info.cls)),
    mi.LiteralType: lambda info: st.sampled_from(info.values),
    mi.CustomType: lambda info: {Path: TEXTS.map(Path)}[info.cls],
    mi.ListType: _lists,
    mi.VarTupleType: _lists,
    mi.TupleType: lambda info: st.tuples(*map(_strategy, info.item_types)),
    mi.DictType: lambda info: st.dictionaries(
        _strategy(info.key_type), _strategy(info.value_type), max_size=2
    ),
    # None last: hypothesis tries the first first, and few requests have no position.
    mi.UnionType: lambda info: st.one_of(
        *map(_strategy, sorted(info.types, key=lambda one: isinstance(one, mi.NoneType)))
    ),
    mi.StructType: lambda info: _struct(info.cls),
    mi.Metadata: lambda info: _strategy(info.type),
}
