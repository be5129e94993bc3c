"""Paths on the command line. A relative path is looked for in the current folder."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lspkit.cli.argument_types import UsageError
from lspkit.cli.arguments.project_root import contains_home, project_root
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import absolute_path, is_inside


def given_path(name: str) -> str:
    """The absolute path that a word means. A leading `@` is dropped unless such a file exists."""
    return os.path.normpath(absolute_path(name, os.getcwd()))


def workspace_of(paths: Sequence[str]) -> str:
    """The project around the current folder if it contains all paths, else that around the folder
    that contains all paths.

    Missing paths are ignored: a mistake must not make the workspace larger. For the same reason,
    paths that have nothing but the home folder or a folder above it in common are an error.
    """
    here = project_root(os.path.realpath(os.curdir))
    given = map(given_path, paths)
    real = [os.path.realpath(path) for path in given if os.path.exists(path)]
    if all(is_inside(path, here) for path in real):
        return here
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in real]
    common = os.path.commonpath(folders)
    if common not in folders and contains_home(common):
        what = f"only {one_line(common)} contains all of these paths"
        raise UsageError(f"{what}; if that is the workspace, name it with --root DIR")
    return project_root(common)
