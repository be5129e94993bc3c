"""typescript-7: ignores the next `didChange` after many changes of files without a request.

It happens from 1,000 changes on, in any number of notifications.
"""

from __future__ import annotations

from lspkit.servers.adapters.adapter import Adapter


class Typescript7(Adapter):
    """See above."""

    loses_edits_after = 500
