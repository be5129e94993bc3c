"""The globs of `--include` and `--exclude`.

They go by the path relative to the current folder; one without a slash fits at any depth.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from lspkit.cli.argument_types import UsageError
from lspkit.protocol.watching.globs import compile_glob, pattern_mistake


class PathGlobs:
    """What `--include` and `--exclude` leave of the files."""

    def __init__(self, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self._include = [_compile(one, "--include") for one in include]
        self._exclude = [_compile(one, "--exclude") for one in exclude]

    def leaves_out(self, path: str, is_folder: bool) -> bool:
        """Whether a file is not wanted, or nothing in a folder."""
        if not self._include and not self._exclude:
            return False
        relative = os.path.relpath(path).replace(os.sep, "/")
        if any(fits(relative) for fits in self._exclude):
            return True
        return bool(self._include) and not is_folder and not any(f(relative) for f in self._include)


def _compile(pattern: str, option: str) -> Callable[[str], bool]:
    if mistake := pattern_mistake(pattern):
        raise UsageError(f"argument {option}: {pattern!r} is not a valid glob: {mistake}")
    pattern = pattern.strip().removeprefix("./").rstrip("/")
    return compile_glob(pattern if "/" in pattern else f"**/{pattern}")
