"""Whether the configuration of a workspace has changed on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from lspkit.config.config_files import PROJECT_FILES, global_files, user_home
from lspkit.config.trust.trust_store import FILE as TRUST_FILE
from lspkit.config.trust.trust_store import state_folder

#: Device, inode, size and times of each file; None for one that is missing.
ConfigStamp = tuple[tuple[int, ...] | None, ...]


def config_sources(root: str, given: object, environ: Mapping[str, str]) -> list[str]:
    """The files that the configuration of a workspace may be read from."""
    trust = os.path.join(state_folder(environ), TRUST_FILE)
    if given is not None:
        return [trust, given] if isinstance(given, str) else [trust]
    project = [os.path.join(root, *kind.name.split("/")) for kind in PROJECT_FILES]
    return [trust, *global_files(environ, user_home(environ)), *project]


def config_stamp(files: Sequence[str]) -> ConfigStamp:
    """The state of these files. It takes some microseconds for each."""
    return tuple(map(_stamp, files))


def _stamp(file: str) -> tuple[int, ...] | None:
    # Most are missing. To ask for one with `stat` takes three times as long: it raises.
    if not os.access(file, os.F_OK):
        return None
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
