"""`connect`: a workspace whose servers run in the service."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

from lspkit.config.load import load
from lspkit.errors import ServerUnavailableError
from lspkit.operations.workspace_state import TrustNoticeRequest
from lspkit.runtime.engine_api import Limits
from lspkit.service.client import READY_TIMEOUT, Client
from lspkit.service.remote_engine import RemoteEngine
from lspkit.service.runtime_folder import ConfigLike
from lspkit.workspace import Workspace
from lspkit.workspace.setting_warning import warn_unused
from lspkit.workspace_boundary import boundary_of


class ServiceEnvironmentWarning(UserWarning):
    """`PATH` or `VIRTUAL_ENV` of this program are not those of the service that it uses."""


def connect(
    root: str | os.PathLike[str] = ".",
    *,
    config: ConfigLike = None,
    trusted: bool | None = None,
    restart: bool = False,
    ready_timeout: float = READY_TIMEOUT,
    environ: Mapping[str, str] = os.environ,
) -> Workspace:
    """A workspace whose servers run in a process of their own, shared by all programs.

        with lspkit.connect("path/to/project") as ws:
            ws.definition("src/app.py", 12, 8)

    The service is started if none runs for this folder, and ends after 15 minutes without a client.
    Methods, results and errors are those of `Workspace`; `close` ends the connection only. A
    `config` or `trusted` of its own has a service of its own. If the service ends, calls raise
    `ServerUnavailableError`; with `restart` the next call starts another one.
    """
    return connect_command(
        root,
        config=config,
        trusted=trusted,
        restart=restart,
        ready_timeout=ready_timeout,
        environ=environ,
        stacklevel=3,
    )


def connect_command(
    root: str | os.PathLike[str],
    *,
    config: ConfigLike = None,
    trusted: bool | None = None,
    restart: bool = False,
    ready_timeout: float = READY_TIMEOUT,
    environ: Mapping[str, str] = os.environ,
    stacklevel: int = 2,
) -> Workspace:
    """`connect` for a command, which imports only the operations that it uses."""
    boundary_of(os.fspath(root))  # raises if it is no folder
    client = Client(
        root,
        config=config,
        trusted=trusted,
        restart=restart,
        ready_timeout=ready_timeout,
        environ=environ,
    )
    try:
        client.start()
    except ServerUnavailableError:
        # An invalid configuration is an error of its own, as for a `Workspace`.
        load(os.path.abspath(root), config, trusted=trusted, environ=environ)
        raise
    if client.notice:
        warnings.warn(client.notice, ServiceEnvironmentWarning, stacklevel=stacklevel)
    engine = RemoteEngine(client, restart=restart)
    if config is not None:
        try:
            notice = engine.run(TrustNoticeRequest(), Limits())
            warn_unused(notice.warnings, stacklevel=stacklevel)
        except BaseException:
            engine.close()
            raise
    return Workspace.on_engine(engine, root, trusted=trusted, stacklevel=stacklevel)
