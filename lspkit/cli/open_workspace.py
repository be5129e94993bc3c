"""Opens the workspace of a command: in the service, or in this process."""

from __future__ import annotations

import warnings

from lspkit.cli.check.time_limit import TimeLimit
from lspkit.cli.output import print_message, print_warnings
from lspkit.errors import RequestTimeoutError, ServerUnavailableError
from lspkit.operations.workspace_state import TrustNoticeRequest
from lspkit.service.client import READY_TIMEOUT
from lspkit.service.remote_workspace import connect_command
from lspkit.workspace import Workspace

#: Seconds for a running service to answer, also if there is no time left.
LEAST = 0.25


def open_workspace(root: str, *, service: bool, limit: TimeLimit | None = None) -> Workspace:
    """The workspace at a folder, to be used in a `with` statement.

    First come the warnings about its configuration, and the question or notice about trust. If
    there can be no service here, one line says so, and the servers run in this process. If there is
    none before the deadline of the limit, there is no time for that either: this raises a
    `RequestTimeoutError`. The limit is extended by the time that the user takes for an answer.
    """
    limit = limit or TimeLimit.none()
    why = ""
    if service:
        try:
            return _connect(root, limit)
        except ServerUnavailableError as problem:
            why = str(problem)
    if limit.is_over:
        raise RequestTimeoutError(why or "the timeout expired before the servers could be started")
    ws = Workspace(root)
    if why:
        print_message(f"no service is used, the servers run in this process: {why}")
    return _introduced(ws, root, limit)


def _ready_timeout(left: float) -> float:
    """The seconds for the service to be ready, if these are left for all."""
    return min(READY_TIMEOUT, max(LEAST, left))


def _connect(root: str, limit: TimeLimit) -> Workspace:
    """A workspace in the service, which is started if necessary."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ws = connect_command(root, restart=True, ready_timeout=_ready_timeout(limit.left))
    for warning in caught:
        print_message(str(warning.message))
    return _introduced(ws, root, limit)


def _introduced(ws: Workspace, root: str, limit: TimeLimit) -> Workspace:
    """The workspace, after what users must know about it."""
    try:
        notice = ws.run(TrustNoticeRequest())
        print_warnings(notice.warnings)
        if notice.text:
            from lspkit.cli.trust_command import offer_trust  # here: it imports what servers need

            with limit.suspended():
                was_asked = offer_trust(root, notice)
            if was_asked:
                ws.reload()
    except BaseException:
        ws.close()
        raise
    return ws
