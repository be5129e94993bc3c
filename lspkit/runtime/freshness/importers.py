"""The effect `FindImporters`: the files that import files which no longer exist.

No server can be asked about a file that is gone, so the texts of the project's files are searched
for the name of its module (`import_lines.py`). Only files of the same servers are concerned.
"""

from __future__ import annotations

import itertools
import os
import time

from lspkit.errors import CancelledError, LspkitError
from lspkit.operations.checks.import_lines import import_lines, import_word
from lspkit.operations.effect_results import Dependents
from lspkit.operations.effects import FindImporters
from lspkit.protocol.uris import path_to_uri
from lspkit.regular_files import open_regular
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.exchange.context import Context
from lspkit.servers.project.project_files import ENOUGH, walk

#: Bytes of the largest file that is searched.
LARGEST = 2**20
#: Why there may be more files.
NO_TIME = "there was no time to search all files for imports"
TOO_MANY = "there are too many files to search all of them for imports"


def find_importers(context: Context, effect: FindImporters, call: CallContext) -> Dependents:
    """Perform `FindImporters`."""
    began = time.monotonic()
    until = call.deadline if effect.seconds is None else min(call.deadline, began + effect.seconds)
    gone = [one for path in effect.paths if (one := _located(context, path))]
    words = {import_word(path) for path in gone}
    servers = {key for path in gone for key in context.pool.expected(path)}
    extensions: dict[str, bool] = {}
    lines: dict[str, tuple[int, ...]] = {}
    reason = ""
    found = walk(context.files.boundary.root) if servers else iter(())
    for number, path in enumerate(itertools.islice(found, ENOUGH + 1)):
        if call.cancelled():
            raise CancelledError("the call was cancelled")
        if number >= ENOUGH or time.monotonic() > until:
            reason = TOO_MANY if number >= ENOUGH else NO_TIME
            break
        extension = os.path.splitext(path)[1]
        if extension not in extensions:
            # Two files with the same extension may have different roots, but the same language.
            ids = {server for server, _ in context.pool.expected(path)}
            extensions[extension] = bool(ids & {server for server, _ in servers})
        if extensions[extension] and (at := import_lines(_text(context, path), words)):
            lines[path] = at
    ordered = sorted(lines, key=lambda path: (_distance(path, gone), path))
    concerned = [path for path in ordered if servers & context.pool.expected(path).keys()]
    return Dependents(
        "",
        {path: lines[path] for path in concerned},
        reason=reason,
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


def _text(context: Context, path: str) -> str:
    readable = context.files.place(path_to_uri(path)).readable
    if readable is None:
        return ""
    try:
        if os.path.getsize(readable) > LARGEST:
            return ""
        with open(readable, "rb", opener=open_regular) as stream:
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _distance(path: str, gone: list[str]) -> int:
    """How many folders lie between a file and the nearest of those that are gone."""

    def folders(other: str) -> int:
        here, there = os.path.dirname(path), os.path.dirname(other)
        common = os.path.commonpath([here, there])
        return here.count(os.sep) + there.count(os.sep) - 2 * common.count(os.sep)

    return min(map(folders, gone), default=0)
