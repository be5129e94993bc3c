"""What every exchange with servers needs: the files and the servers of a workspace."""

from __future__ import annotations

from typing import NamedTuple

from lspkit.runtime.files import Files
from lspkit.runtime.pool.pool import Pool


class Context(NamedTuple):
    """The files and the servers of one workspace."""

    files: Files
    pool: Pool
