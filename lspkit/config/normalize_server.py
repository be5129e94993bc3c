"""What a file says about one server, from any of its spellings to the one form."""

from __future__ import annotations

from typing import Any

from lspkit.config.key_aliases import EXTENSIONS, INSIDE_SERVER, PASSED_OVER, TIMES
from lspkit.config.merge import merged
from lspkit.config.model import Command, Extension, ServerConfig, ServerTimingConfig, Word
from lspkit.config.object_reader import Object, in_order_of, members_of, opened
from lspkit.config.problems import Path, Problems
from lspkit.config.type_check import REFUSED

#: What the entry of a server has to be.
AN_ENTRY = "an object that says something about a server"


def entry(value: Any, path: Path, findings: Problems, *, foreign: bool) -> dict[str, Any]:
    """The one form of an entry; `foreign` if its file is that of another tool."""
    given = opened(value, path, findings, AN_ENTRY)
    if given is None:
        return {}
    others = {**_renamed(given), **_extensions(given)}
    command, disabled = _command(given), _disabled(given)
    _transport(given)
    own = given.fields(ServerConfig, leave_out=("command", "disabled"))
    said: dict[str, Any] = merged(others, own)
    if command is not None:
        said["command"] = command
    if disabled is not None:
        said["disabled"] = disabled
    given.end(members_of(ServerConfig), PASSED_OVER if foreign else ())
    return in_order_of(ServerConfig, said)


def _renamed(given: Object) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, stands_for in INSIDE_SERVER:
        if (value := given.read(name, members_of(ServerConfig)[stands_for])) is not REFUSED:
            said[stands_for] = value
    times: dict[str, Any] = {}
    for name, stands_for in TIMES.items():
        if (value := given.read(name, members_of(ServerTimingConfig)[stands_for])) is not REFUSED:
            times[stands_for] = value
    return {**said, "timing": times} if times else said


def _command(given: Object) -> list[str] | None:
    """A list of words; or one word, with its `args` beside it."""
    taken, args = given.take("command"), given.take("args")
    if taken is None or taken[0] is None:
        if args is not None:
            given.findings.warn(args[1], "it is ignored: there is no command beside it")
        return None
    single = isinstance(taken[0], str)
    words = given.check(taken, Word if single else Command)
    more = [] if args is None else given.check(args, list[Word])
    if words is REFUSED or more is REFUSED:
        return None
    return [*([words] if single else words), *more]


def _disabled(given: Object) -> bool | None:
    """None if nothing is said. Of `disabled` and `enabled` the one that says no counts."""
    disabled = given.read("disabled", bool | None)
    enabled = given.read("enabled", bool | None)
    if disabled is REFUSED and enabled is REFUSED:
        return None
    return disabled is True or enabled is False


def _extensions(given: Object) -> dict[str, Any]:
    """Extensions in the words of other tools, where an object also names the languages."""
    extensions: dict[str, None] = {}
    languages: dict[str, str] = {}
    for name in EXTENSIONS:
        if (taken := given.take(name)) is None:
            continue
        kind = dict[Extension, str] if isinstance(taken[0], dict) else list[Extension]
        value = given.check(taken, kind)
        if value is not REFUSED:
            extensions |= dict.fromkeys(value)
            languages |= value if isinstance(value, dict) else {}
    language = given.read("languageId", str)
    if language is not REFUSED:
        languages = dict.fromkeys([*extensions, *_own_extensions(given)], language) | languages
    said: dict[str, Any] = {}
    if extensions:
        said["extensions"] = sorted(extensions)
    return {**said, "languageIds": languages} if languages else said


def _own_extensions(given: Object) -> list[str]:
    own = given.peek("extensions")
    return [one for one in own if isinstance(one, str)] if isinstance(own, list) else []


def _transport(given: Object) -> None:
    taken = given.take("transport")
    if taken is not None and taken[0] != "stdio":
        given.findings.warn(taken[1], "it is ignored: servers are spoken to on standard streams")
