"""Which names a language allows. Pure.

Most servers rename a symbol to anything, also to a keyword or to a sentence.
"""

from __future__ import annotations

import keyword
import os

import msgspec

from lspkit.errors import PositionError


class NameRule(msgspec.Struct, frozen=True):
    """The names of one language."""

    language: str
    keywords: frozenset[str]
    #: Characters that a name may have besides letters, digits and `_`.
    more: str = ""
    #: What may stand before a name and is part of it.
    before: tuple[str, ...] = ()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_C = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while"
)
_CPP = (
    "alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const_cast consteval constexpr constinit decltype "
    "delete dynamic_cast explicit export false friend mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public reinterpret_cast requires "
    "static_assert static_cast template this thread_local throw true try typeid typename using "
    "virtual wchar_t xor xor_eq"
)
_GO = (
    "break case chan const continue default defer else fallthrough for func go goto if import "
    "interface map package range return select struct switch type var"
)
_JAVA = (
    "abstract assert boolean break byte case catch char class const continue default do double "
    "else enum extends false final finally float for goto if implements import instanceof int "
    "interface long native new null package private protected public return short static "
    "strictfp super switch synchronized this throw throws transient true try void volatile while _"
)
_RUST = (
    "as async await break const continue crate dyn else enum extern false fn for if impl in let "
    "loop match mod move mut pub ref return self Self static struct super trait true type unsafe "
    "use where while abstract become box do final macro override priv typeof unsized virtual yield"
)
_SCRIPT = (
    "await break case catch class const continue debugger default delete do else enum export "
    "extends false finally for function if import in instanceof new null return super switch this "
    "throw true try typeof var void while with yield let static implements interface package "
    "private protected public"
)

_SCRIPT_RULE = NameRule("JavaScript", _words(_SCRIPT), "$", ("#",))
_CPP_RULE = NameRule("C++", _words(f"{_C} {_CPP}") - {"restrict"}, "$", ("~",))
_PYTHON_RULE = NameRule("Python", frozenset(keyword.kwlist))

#: By the extension of the file. Other languages are not checked.
RULES = {
    **dict.fromkeys((".py", ".pyi"), _PYTHON_RULE),
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
        _SCRIPT_RULE,
    ),
    ".c": NameRule("C", _words(_C), "$"),
    # Headers may be of C, which has fewer keywords.
    ".h": NameRule("C", _words(_C), "$", ("~",)),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".cu"), _CPP_RULE),
    ".go": NameRule("Go", _words(_GO)),
    ".rs": NameRule("Rust", _words(_RUST), before=("r#", "'")),
    ".java": NameRule("Java", _words(_JAVA), "$"),
}


def check_new_name(path: str, name: str) -> None:
    """Raise a `PositionError` if the language of a file does not allow a name."""
    rule = RULES.get(os.path.splitext(path)[1].lower())
    if rule is None:
        return
    bare = next((name.removeprefix(one) for one in rule.before if name.startswith(one)), name)
    allowed = f"a name that {rule.language} allows"
    if name in rule.keywords:
        raise PositionError(f"{name} is a keyword of {rule.language}", bounds=allowed)
    if not bare.translate(dict.fromkeys(map(ord, rule.more), "_")).isidentifier():
        raise PositionError(f"{name!r:.80} is no identifier of {rule.language}", bounds=allowed)
