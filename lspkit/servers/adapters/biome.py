"""biome: a small process that connects to one in the background, which does the work.

It starts that one if it finds none, and looks for it by files in the user's cache folder. The one
of another client ends with that client. So each process has a cache folder of its own.

The background process ends with its last client. Sometimes that happens between the first probe and
the connection: in 3 of 120 starts on a busy machine biome ended at once.
"""

from __future__ import annotations

from lspkit.servers.adapters.adapter import Adapter

#: Seconds after its start in which biome has connected.
CONNECTS_WITHIN = 5.0


class Biome(Adapter):
    """See above."""

    def environment(self, scratch: str) -> dict[str, str]:
        """A cache folder of its own."""
        return {"XDG_CACHE_HOME": scratch}

    def is_false_start(self, ran_for: float) -> bool:
        """It has not reached its background process."""
        return ran_for < CONNECTS_WITHIN
