"""Folders that are not watched: what tools keep there, much of it, and read by no server.

A name alone decides where nobody else would use it. Some folders of tools hold sources as well, and
some have names that anybody may give to a folder of sources: these are looked at more closely,
since a file that changes unseen makes a verdict false.
"""

from __future__ import annotations

import os

#: Never watched, unless a server asks for them by name.
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

#: Where frameworks put types and settings that they generate, which scripts of the project go by.
_GENERATED = frozenset({".next", ".nuxt", ".svelte-kit"})
#: What they put beside these, there or one folder deeper, as in `.next/dev/server`.
_BUILT = frozenset(
    {"analyze", "build", "cache", "diagnostics", "dist", "output", "server", "standalone", "static"}
)

#: The folder of several build tools; but a package may be called so, too.
_TARGET = "target"
#: One of these lies beside it if it is a tool's, and no package's first file in it; cargo leaves a
#: mark in its own.
_BUILD_FILES = ("pom.xml", "build.sbt", "build.properties", "project.clj")
_MARK, _PACKAGE = "CACHEDIR.TAG", "__init__.py"


def is_excluded(folder: str) -> bool:
    """Whether a folder is one of those."""
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
