"""The source files that hold a word, of all languages that may mean it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

import msgspec

from lspkit.errors import LspkitError
from lspkit.operations.checks.import_lines import import_word, imports
from lspkit.operations.host_results import Dependents
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import locate_to_read
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

    holders = find_words(
        context.files.boundary.root,
        words,
        is_searched,
        near=near,
        near_path=declared if os.path.isabs(declared) else own,
        until=until,
        is_cancelled=context.call.cancelled,
    )
    reason = holders.reason or behind_link(declared, context.files.boundary.root)
    return msgspec.structs.replace(holders, path=own, reason=reason)


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


# The files that import files which no longer exist
#
# No server can be asked about a file that is gone, so the texts of the files of the project are
# searched for the name of its module (`import_lines.py`). Only files of the same servers count.


def find_importers(context: Context, paths: Sequence[str], seconds: float | None) -> Dependents:
    """The files that import these, by their texts."""
    began = time.monotonic()
    until = context.call.deadline
    if seconds is not None:
        until = min(until, began + seconds)
    gone = [real for path in paths if (real := _located(context, path))]
    words = {import_word(path) for path in gone}
    servers = {key for path in gone for key in context.pool.expected(path)}
    ids = {server for server, _ in servers}
    extensions: dict[str, bool] = {}

    def is_searched(path: str) -> bool:
        extension = os.path.splitext(path)[1]
        if extension not in extensions:
            # Two files with the same extension may have different roots, but the same language.
            extensions[extension] = any(id in ids for id, _ in context.pool.expected(path))
        return extensions[extension]

    held = find_words(
        context.files.boundary.root,
        [*words] if servers else [],
        is_searched,
        near_path=gone[0] if gone else "",
        until=until,
        is_cancelled=context.call.cancelled,
    )
    lines = {
        path: tuple(word.line for word in words if imports(word))
        for path, words in held.files.items()
        if servers & context.pool.expected(path).keys()
    }
    return Dependents(
        "",
        {path: numbers for path, numbers in lines.items() if numbers},
        reason=held.reason,
        duration=time.monotonic() - began,
        age=max(map(_age, gone), default=0.0),
    )


def _located(context: Context, path: str) -> str:
    """The real path of a file that is gone; empty if it is there, or outside."""
    try:
        file = context.files.locate(path, may_be_missing=True)
    except LspkitError:
        return ""
    return file.path if file.stamp is None else ""


def _age(path: str) -> float:
    """Seconds since a file was removed, by the time of the folder that held it."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        return max(time.time() - os.stat(folder).st_mtime, 0.0)
    except OSError:
        return 0.0
