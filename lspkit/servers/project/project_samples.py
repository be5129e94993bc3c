"""Files by which a server can be made to load the projects of a folder.

Some servers load a project only when one of its files is opened. Which files belong to a project is
known to the server alone, so there are several candidates for each, the likely ones first.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from lspkit.regular_files import open_regular
from lspkit.servers.project.project_files import ENOUGH, walk

#: Candidates for each project.
CANDIDATES = 6
#: Characters of a configuration that are searched for the names of folders.
LONGEST_CONFIG = 100_000


def project_samples(
    root: str, configs: tuple[str, ...], language: Callable[[str], str | None]
) -> dict[str, list[str]]:
    """For each configuration below a folder, the files that may belong to it.

    `language` tells the language of a file by its name; None for files of other servers.
    """
    found: dict[str, str] = {}
    sources: list[tuple[str, str]] = []
    for path in itertools.islice(walk(root), ENOUGH):
        folder, name = os.path.split(path)
        if name in configs:
            found.setdefault(folder, path)
        elif kind := language(name):
            sources.append((path, kind))
    groups: dict[str, dict[tuple[str, str], str]] = {folder: {} for folder in found}
    for path, kind in sources:
        folder = os.path.dirname(path)
        while folder not in found and len(folder) > len(root):
            folder = os.path.dirname(folder)
        if folder in found:
            part = os.path.relpath(path, folder).split(os.sep)[0]
            groups[folder].setdefault(
                (part if os.sep in path[len(folder) + 1 :] else "", kind), path
            )
    return {
        found[folder]: _likely_first(_text(found[folder]), group)
        for folder, group in groups.items()
        if group
    }


def _likely_first(config: str, group: dict[tuple[str, str], str]) -> list[str]:
    """One file for each folder and language. Typed languages, and named folders, come first."""

    def key(entry: tuple[tuple[str, str], str]) -> tuple[bool, bool, str]:
        (part, kind), path = entry
        return not (part and part in config), kind.startswith("javascript"), path

    return [path for _, path in sorted(group.items(), key=key)][:CANDIDATES]


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_regular) as stream:
            return stream.read(LONGEST_CONFIG)
    except OSError:
        return ""
