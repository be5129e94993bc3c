"""The hooks of an adapter, each with a default that suits an ordinary server.

An adapter has no state: one object serves all processes of a server, in all workspaces and threads.
What depends on a process is an argument, or in what a hook returns.
"""

from __future__ import annotations

from collections.abc import Sequence

from lspkit.protocol.initialize_params import InitializeOptions
from lspkit.servers.definition import Definition


class Adapter:
    """What lspkit does for an ordinary server. Each server with an oddity has a class of its own.

    Hooks are called in the thread of a call, without a lock, unless they say otherwise. None of
    them waits for the server.
    """

    # The start of a process

    def complete(self, definition: Definition, folders: Sequence[str]) -> Definition | str:
        """The definition with what it needs from these folders of programs; or why that is missing.

        Called when a server is chosen, also one that does not start then.
        """
        return definition

    def environment(self, scratch: str) -> dict[str, str]:
        """Environment variables. `scratch` is the process's own folder for temporary files."""
        return {}

    def initialize(self, options: InitializeOptions) -> InitializeOptions:
        """What `initialize` says, and how the session treats the server."""
        return options

    def is_false_start(self, ran_for: float) -> bool:
        """Whether another process is started at once for one that ended by itself before any use.

        `ran_for` is in seconds. Called by the thread that notices the end, under the pool's lock.
        """
        return False
