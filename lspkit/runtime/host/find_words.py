"""The source files that hold a word, of all languages that may mean it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

import msgspec

from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.library_files import locate_to_read
from lspkit.servers.definition import Definition
from lspkit.servers.project.project_files import PASSED_OVER
from lspkit.servers.project.word_search import WordFiles, find_words
from lspkit.servers.selection.choose import definitions
from lspkit.workspace_boundary import is_inside

#: Families whose files name the symbols of each other.
RELATED = (
    frozenset({"typescript", "vue", "vue-typescript", "svelte"}),
    frozenset({"java", "kotlin"}),
)


def find_word_files(
    context: Context,
    path: str,
    declared: str,
    words: Sequence[str],
    near: Sequence[str],
    seconds: float | None,
) -> WordFiles:
    """The source files that hold one of the words, as `Host.find_words`."""
    until = context.call.deadline
    if seconds is not None:
        until = min(until, time.monotonic() + seconds)
    config = context.pool.config
    known = [
        definition
        for definition in definitions(config)
        if definition.role == "types"
        and not config.server(definition.id, definition.aliases).disabled
    ]
    families = related_families(families_of(declared, known))
    own = locate_to_read(context, path).path
    #: Whether files of an extension, or of a name without one, are searched.
    kinds: dict[str, bool] = {}

    def is_searched(path: str) -> bool:
        name = os.path.basename(path)
        kind = os.path.splitext(name)[1] or name
        if kind not in kinds:
            kinds[kind] = not families.isdisjoint(families_of(path, known))
        return kinds[kind]

    found = find_words(
        context.files.boundary.root,
        words,
        is_searched,
        near=near,
        near_path=declared if os.path.isabs(declared) else own,
        until=until,
        is_cancelled=context.call.cancelled,
    )
    reason = found.reason or behind_link(declared, context.files.boundary.root)
    return msgspec.structs.replace(found, path=own, reason=reason)


def behind_link(path: str, root: str) -> str:
    """Why files are missing in a search if this file lies behind a link out of the workspace."""
    if not is_inside(path, root) or is_inside(os.path.realpath(path), root):
        return ""
    relative = os.path.relpath(path, root)
    if not PASSED_OVER.isdisjoint(relative.split(os.sep)):
        return ""  # of a library
    return f"{relative} lies behind a link out of the workspace, and no files there were searched"


def families_of(path: str, known: Iterable[Definition]) -> set[str]:
    """The families of those definitions that know files of this name."""
    name = os.path.basename(path)
    return {definition.family for definition in known if definition.language_of(name) is not None}


def related_families(families: set[str]) -> set[str]:
    """These families, and those whose files may name their symbols."""
    return families.union(*(group for group in RELATED if not group.isdisjoint(families)))
