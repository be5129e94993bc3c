"""What all clients of a service share: the workspace, the tools and hooks for models."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from lspkit.agent import EditHooks, Toolbox
from lspkit.errors import LspkitError
from lspkit.runtime.concurrency.text_turns import ClientTurns
from lspkit.runtime.engine import LocalEngine
from lspkit.service.runtime_folder import Bootstrap, config_sources, config_stamp
from lspkit.version import VERSION
from lspkit.workspace import Workspace
from lspkit.workspace.workspace import local_engine


class SharedWorkspace:
    """The workspace of a service."""

    def __init__(
        self,
        bootstrap: Bootstrap,
        on_end: Callable[[str], None],
        on_retire: Callable[[], None],
        *,
        first_epoch: int = 0,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.bootstrap = bootstrap
        self._sources = config_sources(bootstrap.workspace_root, bootstrap.config, environ)
        self._stamp = config_stamp(self._sources)
        #: Why the configuration as it is now cannot be used.
        self._invalid: LspkitError | None = None
        self.engine: LocalEngine = local_engine(
            bootstrap.workspace_root,
            bootstrap.config,
            bootstrap.trusted,
            first_epoch=first_epoch,
            environ=environ,
        )
        self.engine.turns = ClientTurns()
        self.ws = Workspace.on_engine(
            self.engine, bootstrap.workspace_root, trusted=bootstrap.trusted
        )
        #: The hooks after the tools of agents. They remember each one by its session, and what has
        #: changed on disk from now on.
        self.hooks = EditHooks(self.ws)
        #: The tools for a model. They remember items that a model can refer to.
        self.toolbox = Toolbox(self.ws)
        #: Ends the service, with the reason.
        self.end = on_end
        #: Ends the service when its last client has left.
        self.retire = on_retire
        #: The number of clients.
        self.client_count: Callable[[], int] = lambda: 0

    def in_thread(self, job: Callable[[], object]) -> bool:
        """Begin a job that may wait. False if too many calls are under way, or it is closed."""
        return self.engine.in_thread(job)

    def reload_if_changed(self) -> None:
        """Reload the configuration if its files have changed.

        Raises a `ConfigError`, on every call, as long as the user's file is invalid.
        """
        stamp = config_stamp(self._sources)
        if stamp != self._stamp:
            try:
                self.ws.reload()
            except LspkitError as problem:
                self._invalid = problem
            else:
                self._invalid = None
            self._stamp = stamp
        if self._invalid is not None:
            raise self._invalid.copy()

    def describe(self) -> dict[str, Any]:
        """The service itself, for `lsp/status`."""
        return {
            "version": VERSION,
            "pid": os.getpid(),
            "root": self.bootstrap.workspace_root,
            "clients": self.client_count(),
        }

    def close(self) -> None:
        """Stop all servers, and wait for calls in progress."""
        self.ws.close()
