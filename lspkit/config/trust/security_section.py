"""Further checks of the `security` section of the user's own configuration.

An invalid pattern would silently exclude nothing, or trust nobody. So it is a fault, reported with
all other faults of the file. A project's file is not checked: the section has no effect there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lspkit.config.object_reader import Object
from lspkit.config.problems import Path, Problems
from lspkit.config.trust.decision import home_of
from lspkit.config.trust.root_pattern import compile_pattern
from lspkit.errors import ConfigError
from lspkit.protocol.watching.globs import pattern_mistake


def check_security(given: Object, environ: Mapping[str, str]) -> None:
    """Note a fault for each invalid pattern."""
    said = given.peek("security")
    if not isinstance(said, dict):
        return
    # Other faults of the section are noted when it is read.
    section = Object(said, (*given.path, "security"), Problems())
    for path, entry in _text_entries(section, "trustedProjectRoots"):
        if expected := _root_mistake(entry, environ):
            given.findings.refuse(path, expected)
    for path, pattern in _text_entries(section, "exclude"):
        if why := pattern_mistake(pattern):
            example = "a glob such as **/secret/**"
            given.findings.refuse(path, f"{example}; {pattern[:100]!r} is not valid: {why}")


def _text_entries(section: Object, name: str) -> Iterator[tuple[Path, str]]:
    entries, path = section.take(name) or (None, ())
    if isinstance(entries, list):
        for number, entry in enumerate(entries):
            if isinstance(entry, str):
                yield (*path, number), entry


def _root_mistake(entry: str, environ: Mapping[str, str]) -> str:
    """What is valid instead of the entry; empty if the entry is valid."""
    try:
        compile_pattern(entry, home=lambda name: home_of(name, environ))
    except ConfigError as problem:
        return problem.expected
    return ""
