"""Whether the configuration of a workspace has changed on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping

from lspkit.config.config_files import PROJECT_FILES, global_file, user_home
from lspkit.config.trust.trust_store import FILE as TRUST_FILE
from lspkit.config.trust.trust_store import state_folder

#: Device, inode, size and times of each file; None for one that is missing.
ConfigStamp = tuple[tuple[int, ...] | None, ...]


def config_stamp(root: str, given: object, environ: Mapping[str, str]) -> ConfigStamp:
    """The state of the files that the configuration of a workspace is read from."""
    files = [os.path.join(state_folder(environ), TRUST_FILE)]
    if isinstance(given, str):
        files.append(given)
    elif given is None:
        files.append(global_file(environ, user_home(environ)))
        files += [os.path.join(root, *kind.name.split("/")) for kind in PROJECT_FILES]
    return tuple(map(_stamp, files))


def _stamp(file: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
