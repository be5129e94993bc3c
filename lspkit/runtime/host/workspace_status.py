"""The state of all servers of a workspace, for `status()` and `diagnostics()`. Does not wait."""

from __future__ import annotations

import os
import time

from lspkit.config.load import Loaded
from lspkit.config.model import DISABLED
from lspkit.errors import ServerUnavailableError
from lspkit.install.install_hint import Has, hint_for, managers_in
from lspkit.operations import host_results
from lspkit.operations.checks.findings import severity_from_number
from lspkit.operations.host_results import TrustNotice
from lspkit.protocol.wire.results import read_severities
from lspkit.runtime.files import Files
from lspkit.runtime.pool.pool import Pool
from lspkit.runtime.process.usage import usage
from lspkit.runtime.server.server import Server
from lspkit.servers import status
from lspkit.servers.restriction.held_back_servers import held_back, is_silent, notice, worded
from lspkit.servers.restriction.python_interpreter import interpreter_of
from lspkit.servers.selection.choose import Choice, begins_at, definitions, is_built_in, permitted
from lspkit.types import Severity


def known_reports(
    files: Files, pool: Pool, path: str | None
) -> list[host_results.KnownDiagnostics]:
    """The last reports about a file, or about all."""
    uri = None if path is None else files.locate(path, may_be_missing=True).uri
    reports, now = list[host_results.KnownDiagnostics](), time.monotonic()
    for server in pool.servers():
        pushes, encoding = server.record.known(), server.channel.session.encoding
        reports += [
            host_results.KnownDiagnostics(server.id, push.uri, push.items, encoding, now - push.at)
            for push in pushes
            if uri in (None, push.uri) and _is_shown(push.uri, files)
        ]
    return reports


def _is_shown(uri: str, files: Files) -> bool:
    """Whether findings about a file are shown: not if it may not be read, or does not exist."""
    path = files.place(uri).readable
    return path is not None and (path in files.overlays.paths() or os.path.isfile(path))


def find_servers(files: Files, pool: Pool, path: str | None) -> list[host_results.FileServer]:
    """The servers of a file, or all that run. Unlike the status it searches for no program."""
    if path is None:
        running = sorted(pool.servers(), key=lambda server: (server.id, server.root))
        return [_brief_state(server.id, server.root, server) for server in running]
    real = files.locate(path, may_be_missing=True).path
    return [_brief_state(id, root, server) for (id, root), server in pool.expected(real).items()]


def _brief_state(id: str, root: str, server: Server | None) -> host_results.FileServer:
    if server is None:
        return host_results.FileServer(id, root, status.ServerState.IDLE)
    work = server.channel.session.progress.busy_with()
    return host_results.FileServer(id, root, _state(server), tuple(what for what, _ in work))


def take_status(
    files: Files, pool: Pool, loaded: Loaded, root: str | None
) -> status.WorkspaceStatus:
    """The state of all servers."""
    config, workspace = pool.config, files.boundary.root
    held_back = _held_back(loaded)
    warnings = _warnings(pool, loaded, held_back)
    if not config.enabled:
        return status.snapshot((), time.time(), unavailable=DISABLED, warnings=warnings)
    folders = pool.folders()
    permit = pool.permits(workspace)
    at = begins_at(workspace, permit)
    running: dict[str, list[Server]] = {}
    for server in pool.servers():
        if root is None or server.root == root:
            running.setdefault(server.id, []).append(server)
    rows, has = [], managers_in(folders)
    for definition in definitions(config):
        own_config = config.server(definition.id, definition.aliases)
        choice = permitted(definition, own_config, workspace, workspace, folders, permit, at)
        rows.append(_row(choice, running.get(definition.id, []), pool, loaded, has))
    # One line has to suffice, and what is held back may be the whole reason.
    why = status.why_nothing_runs(rows)
    unavailable = f"{why}; {held_back}" if why and held_back else why
    return status.snapshot(rows, time.time(), unavailable=unavailable, warnings=warnings)


def take_warnings(pool: Pool, loaded: Loaded) -> tuple[str, ...]:
    """The warnings alone. Unlike the whole status it searches for no program."""
    return _warnings(pool, loaded, _held_back(loaded))


def _warnings(pool: Pool, loaded: Loaded, held_back: str) -> tuple[str, ...]:
    general = (*([held_back] if held_back else []), *(str(warning) for warning in loaded.warnings))
    if not pool.config.enabled:
        return general
    servers = pool.servers()
    of_sidecars = [warning for server in servers for warning in server.setup.sidecar_warnings]
    beyond = [warning for server in servers if (warning := _beyond(server))]
    return (*general, *pool.disk_events.warnings(), *of_sidecars, *beyond)


def _held_back(loaded: Loaded) -> str:
    return notice(loaded)


def take_trust_notice(loaded: Loaded) -> TrustNotice:
    """What may not run in an untrusted project."""
    decision = loaded.standing
    held = [] if is_silent(decision) else held_back(loaded)
    return TrustNotice(
        project=decision.candidate,
        text=worded(decision, held),
        warnings=loaded.warning_lines,
        state=decision.state,
        why=decision.why,
        held_back=tuple(held),
        remedy=decision.remedy,
    )


def _row(
    choice: Choice, servers: list[Server], pool: Pool, loaded: Loaded, has: Has
) -> status.ServerStatus:
    definition, config, argv = choice.definition, choice.config, choice.argv
    roots = tuple(sorted((_root(root, pool) for root in servers), key=lambda root: root.root))
    state, reason = status.ServerState.IDLE, ""
    if config.disabled:
        state = status.ServerState.DISABLED
    elif not argv and definition.launch.commands:
        state, reason = status.ServerState.UNAVAILABLE, status.NOT_FOUND
    elif choice.held_back:
        state, reason = status.ServerState.UNAVAILABLE, choice.why_not
    return status.ServerStatus(
        server=definition.id,
        state=status.worst((root.state for root in roots), state),
        languages=tuple(dict.fromkeys(definition.languages.values())),
        extensions=tuple(definition.languages),
        markers=definition.roots.markers,
        source=loaded.source(definition.id, built_in=is_built_in(definition.id)),
        command=argv,
        verified=definition.verified,
        roots=roots,
        diagnostics=_counted(servers),
        reason=reason,
        why="; ".join(dict.fromkeys(why for server in servers if (why := pool.slot(server).why))),
        install=hint_for(definition, has).command,
        trust=choice.trust,
        interpreter=interpreter_of(choice, loaded.environ) if argv else None,
    )


def _root(server: Server, pool: Pool) -> status.RootStatus:
    connection, end = server.channel.connection, server.end
    pid = connection.child.pid if connection is not None and end is None else None
    memory, cpu = usage(pid)
    record = pool.slot(server).record
    broken = None
    if end is not None:
        wait = max(0.0, record.retry_at - time.monotonic())
        broken = status.Broken(
            record.attempts, None if wait == float("inf") else wait, str(end.error)
        )
    flying = tuple(pending.method for pending in list(server.channel.session.pending.values()))
    seen = None if connection is None else time.monotonic() - connection.last_received
    work = server.channel.session.progress.busy_with()
    files = len({report.uri for report in server.record.known()})
    with server.channel.lock:
        requests, checks = server.metrics.taken(flying), server.metrics.checks(files)
    return status.RootStatus(
        root=server.root,
        state=_state(server),
        pid=pid,
        name=server.channel.session.server_name,
        busy_with=tuple(what for what, _ in work),
        busy_for=tuple(seconds for _, seconds in work),
        requests=requests,
        checks=checks,
        broken=broken,
        documents=len(server.channel.documents),
        memory_bytes=memory,
        cpu_seconds=cpu,
        last_seen=seen,
        stderr=connection.stderr_tail() if connection is not None else "",
        noise=connection.noise if connection is not None else 0,
        dropped=server.record.dropped(),
        sidecars=tuple(sidecar.status() for sidecar in server.setup.sidecars),
    )


def _beyond(server: Server) -> str:
    """What a server sent beyond the limits, as text; empty if nothing."""
    dropped = [f"{number} {what}" for what, number in server.record.dropped().items()]
    if not dropped:
        return ""
    return f"{server.id} sends more than lspkit takes: {', '.join(dropped)} were dropped"


def _state(server: Server) -> status.ServerState:
    if server.end is not None and isinstance(server.end.error, ServerUnavailableError):
        return status.ServerState.UNAVAILABLE
    return server.rights.shown


def _counted(servers: list[Server]) -> dict[str, int]:
    counts = {severity.value: 0 for severity in Severity} | {"total": 0}
    for server in servers:
        for push in server.record.known():
            for severity, number in read_severities(push.items).items():
                counts[severity_from_number(severity).value] += number
                counts["total"] += number
    return counts
