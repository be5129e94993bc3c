"""The files that import files which no longer exist.

No server can be asked about a file that is gone, so the texts of the project's files are searched
for the name of its module (`import_lines.py`). Only files of the same servers are concerned.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from lspkit.errors import LspkitError
from lspkit.operations.checks.import_lines import import_word, imports
from lspkit.operations.host_results import Dependents
from lspkit.runtime.exchange.context import Context
from lspkit.servers.project.word_search import find_words


def find_importers(context: Context, paths: Sequence[str], seconds: float | None) -> Dependents:
    """The files that import these, by their texts."""
    began = time.monotonic()
    until = context.call.deadline
    if seconds is not None:
        until = min(until, began + seconds)
    gone = [one for path in paths if (one := _located(context, path))]
    words = {import_word(path) for path in gone}
    servers = {key for path in gone for key in context.pool.expected(path)}
    ids = {server for server, _ in servers}
    extensions: dict[str, bool] = {}

    def is_searched(path: str) -> bool:
        extension = os.path.splitext(path)[1]
        if extension not in extensions:
            # Two files with the same extension may have different roots, but the same language.
            extensions[extension] = any(one in ids for one, _ in context.pool.expected(path))
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
        path: tuple(word.line for word in found if imports(word))
        for path, found in held.files.items()
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
