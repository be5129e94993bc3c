"""Folders that are not watched: tools keep many files there that no server reads.

The name alone decides where it is used for nothing else. Some folders of tools hold sources as
well, and some names are also used for folders of sources: these are checked more closely, since an
unseen change of a file makes a result wrong.
"""

from __future__ import annotations

import os

#: Never watched, unless a server registers for them by name.
EXCLUDED = frozenset(
    {
        *(".git", ".hg", ".svn", ".jj", ".bzr"),
        *("node_modules", "bower_components", ".yarn", ".pnpm-store"),
        *(".venv", "venv", ".tox", ".nox", ".eggs", ".direnv"),
        *("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".cache"),
        *(".ipynb_checkpoints", ".turbo", ".parcel-cache"),
        *(".gradle", ".terraform", ".dart_tool", ".stack-work", ".zig-cache"),
    }
)

#: Where frameworks put generated types and settings that scripts of the project use.
_GENERATED = frozenset({".next", ".nuxt", ".svelte-kit"})
#: Build output beside these, there or one folder deeper, as in `.next/dev/server`.
_BUILT = frozenset(
    {"analyze", "build", "cache", "diagnostics", "dist", "output", "server", "standalone", "static"}
)

#: The output folder of several build tools; a package may have this name, too.
_TARGET = "target"
#: It is a tool's folder if one of these lies beside it and it is no package; cargo leaves a marker
#: file in its own.
_BUILD_FILES = ("pom.xml", "build.sbt", "build.properties", "project.clj")
_MARK, _PACKAGE = "CACHEDIR.TAG", "__init__.py"


def is_excluded(folder: str) -> bool:
    """Whether a folder is excluded."""
    above, name = os.path.split(folder)
    if name in EXCLUDED:
        return True
    if name in _BUILT:
        outer, around = os.path.split(above)
        return around in _GENERATED or os.path.basename(outer) in _GENERATED
    if name != _TARGET or os.path.exists(os.path.join(folder, _PACKAGE)):
        return False
    places = [os.path.join(above, one) for one in _BUILD_FILES]
    return any(map(os.path.exists, [*places, os.path.join(folder, _MARK)]))
