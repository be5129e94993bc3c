"""Waiting until a server knows its whole project, and what its answer may lack if it does not.

A request whose answer spans files (references, a rename, symbols of the workspace) is answered from
an index that the server builds in the background, or from the projects that it has loaded. The
adapter says how to notice (`BackgroundIndex`). A wait ends in any case: then the answer has a
caveat.
"""

from __future__ import annotations

import os
import time
from typing import Any

import msgspec

from lspkit.errors import LspkitError, RequestFailedError, RequestTimeoutError
from lspkit.protocol.uris import uri_to_path
from lspkit.protocol.wire.messages import decode_any
from lspkit.runtime.exchange.ask_server import request_server
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File
from lspkit.runtime.process.usage import is_idle
from lspkit.runtime.server.server import Server
from lspkit.servers.adapters.adapter import BackgroundIndex
from lspkit.servers.definition_parts import ProjectQuery
from lspkit.servers.project.project_files import project_samples
from lspkit.types import Caveat, display_path

Caveats = list[Caveat]

#: The part of the time left of a call that it may wait for an index.
SHARE = 0.8
#: Seconds that a call without a timeout waits for an index if it must not be incomplete.
PATIENCE = 60.0
#: Seconds after the first document in which the work that builds an index begins.
BEGINS_WITHIN = 3.0
#: Seconds between two looks at a process, and how often it has to be idle.
LOOK_EVERY = 0.05
IDLE_LOOKS = 3
#: Most changed files that are opened for one question.
MOST_OPENED = 50
#: Most projects that are loaded for one question.
MOST_PROJECTS = 20
#: What is in the place of a configuration if there is none.
_NO_CONFIG = "/dev/null"


def wait_for_index(
    context: Context, server: Server, file: File | None, *, patient: bool = False
) -> Caveats:
    """Wait until the server knows the project; returns why its answer may be incomplete.

    `patient` is for answers that are useless if they are incomplete: they wait for longer.
    """
    query, index = server.choice.definition.project, server.adapter.index
    if query is None and index is None:
        return []
    if file is not None and file.stamp is not None and not len(server.channel.documents):
        server.channel.sync(file, None)
    with server.channel.lock:
        server.index.wanted(time.monotonic())
    until = _deadline(context, server, patient=patient)
    caveats: list[Caveat] = []
    if query is not None:
        caveats += _wait_for_projects(context, server, query, file, until)
    if index is not None and index.title:
        caveats += _wait_for_build(context, server, index, file, until)
    elif index is not None:
        caveats += _wait_for_rest(context, server, until)
    return caveats


def _deadline(context: Context, server: Server, *, patient: bool) -> float:
    """Until when a call waits for the index.

    A call without a timeout waits for an index only in the first seconds of its making: the index
    of a large project takes minutes, and each call would wait in vain.
    """
    now = time.monotonic()
    if context.call.deadline != float("inf"):
        return now + SHARE * (context.call.deadline - now)
    if patient:
        return now + PATIENCE
    with server.channel.lock:
        since = server.index.began_at or server.index.wanted(now)
    return since + context.pool.request_timeout(server)


# An index that is built in the background


def _wait_for_build(
    context: Context, server: Server, index: BackgroundIndex, file: File | None, until: float
) -> Caveats:
    begin_by = server.index.wanted(time.monotonic()) + BEGINS_WITHIN
    place = os.path.join(server.root, "") if file is None else file.path
    if index.needs and not _is_above(place, index.needs):
        begin_by = 0.0
    while server.end is None:
        activity = server.activity.next()
        if server.index.is_building:
            latest = until
        elif server.index.was_begun:
            return _open_changed(context, server, until)
        else:
            latest = min(until, begin_by)
        if time.monotonic() >= latest:
            break
        context.call.wait(activity, latest)
    if server.index.is_building:
        return [_loading(server)]
    return [Caveat("no project index", index.without, server.id)]


def _open_changed(context: Context, server: Server, until: float) -> Caveats:
    """Open files that have changed on disk: the server takes open files into its index."""
    with server.channel.lock:
        paths, left = server.index.take_changed(MOST_OPENED)
    opened: list[str] = []
    for path in paths:
        try:
            file = context.files.locate(path)
            # A text that a caller shows is in the index, too.
            server.channel.follow_disk(file, opens=True)
        except LspkitError:
            continue  # it was deleted, or may not be shown to the server
        opened.append(file.uri)
    while server.end is None:
        activity = server.activity.next()
        opened = [uri for uri in opened if not server.record.is_done_with(uri)]
        if not opened or time.monotonic() >= until:
            break
        context.call.wait(activity, until)
    if not opened and not left:
        return []
    with server.channel.lock:
        server.index.changed(filter(None, map(uri_to_path, opened)))
    message = f"{server.id} has not read {left + len(opened)} files that have changed"
    return [Caveat("index loading", message, server.id)]


def _loading(server: Server) -> Caveat:
    doing = ", ".join(text for text, _ in server.channel.session.progress.busy_with())
    detail = f" ({doing})" if doing else ""
    message = f"{server.id} still reads the project{detail}: ask again later, or give a timeout"
    return Caveat("index loading", message, server.id)


def _is_above(path: str, names: tuple[str, ...]) -> bool:
    """Whether a file of one of these names is in the folder of a file, or above."""
    folder = os.path.dirname(path)
    while True:
        if any(os.path.isfile(os.path.join(folder, name)) for name in names):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above


def _wait_for_rest(context: Context, server: Server, until: float) -> Caveats:
    """Wait until the process is idle for the first time."""
    idle = 0
    while not server.index.rested and server.end is None:
        connection = server.channel.connection
        if connection is None:
            return []
        idle = idle + 1 if is_idle(connection.child.pid) else 0
        if idle >= IDLE_LOOKS:
            server.index.rested = True
        elif time.monotonic() >= until:
            return [_loading(server)]
        else:
            context.call.pause(min(until, time.monotonic() + LOOK_EVERY))
    return []


# Projects that are loaded one by one


def _wait_for_projects(
    context: Context, server: Server, query: ProjectQuery, file: File | None, until: float
) -> Caveats:
    """Have the server load its projects, and tell whether the file belongs to one."""
    caveats: list[Caveat] = []
    if file is not None and file.stamp is not None:
        server.channel.sync(file, None)
        own = config_of(context, server, query, file, until)
        if own == "":
            names = " or ".join(query.configs)
            message = (
                f"{display_path_of(file)} belongs to no project of {server.id} (no {names} "
                "includes it): only open files and what they import are known"
            )
            caveats.append(Caveat("outside the project", message, server.id))
        if own:
            server.index.documents.setdefault(os.path.realpath(own), file.path)
    if not server.index.projects_loaded:
        _load_projects(context, server, query, until)
    if file is None and not server.index.projects_found:
        names = " or ".join(query.configs)
        message = f"there is no {names}: only open files and what they import are known"
        caveats.append(Caveat("no project index", message, server.id))
    if server.index.projects_left:
        left = server.index.projects_left
        message = f"{server.id} has not loaded {left} more projects of this folder"
        caveats.append(Caveat("index loading", message, server.id))
    return caveats


def display_path_of(file: File) -> str:
    """The file as the caller has written it."""
    return file.given or display_path(None, file.path)


def _load_projects(context: Context, server: Server, query: ProjectQuery, until: float) -> None:
    """Open a file of each project below the root of the server, once for each process."""
    definition = server.choice.definition
    samples = project_samples(server.root, query.configs, definition.language_of)
    loaded = server.index.documents
    left = 0
    for number, (config, candidates) in enumerate(sorted(samples.items())):
        if number >= MOST_PROJECTS or time.monotonic() >= until:
            left += os.path.realpath(config) not in loaded
            continue
        for path in candidates:
            if os.path.realpath(config) in loaded:
                break
            belongs_to = _show(context, server, query, path, until)
            if belongs_to:
                loaded.setdefault(os.path.realpath(belongs_to), path)
    # Those that are left are tried again by the next call, unless there are too many.
    server.index.projects_left, server.index.projects_found = left, len(samples)
    server.index.projects_loaded = not left or len(samples) > MOST_PROJECTS


def _show(
    context: Context, server: Server, query: ProjectQuery, path: str, until: float
) -> str | None:
    """Open a file; returns the configuration that includes it."""
    try:
        file = context.files.locate(path)
        server.channel.sync(file, None)
    except LspkitError:
        return None  # it is no text, or belongs to a repository that is not trusted
    return config_of(context, server, query, file, until)


def config_of(
    context: Context, server: Server, query: ProjectQuery, file: File, until: float | None = None
) -> str | None:
    """The configuration that includes a file; empty if there is none, None if not known."""
    try:
        reply = request_server(context, server, query.method, _fill(query.params, file), until)
        value: Any = decode_any(reply.result)
        for key in query.result:
            value = value[key]
    except (RequestFailedError, RequestTimeoutError, KeyError, TypeError, ValueError):
        return None
    if not isinstance(value, str):
        return None
    return "" if value.startswith(_NO_CONFIG) else value


def _fill(params: dict[str, Any], file: File) -> Any:
    """The params with the document in the place of the placeholders."""

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: fill(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [fill(item) for item in value]
        return (
            {"{path}": file.path, "{uri}": file.uri}.get(value, value)
            if isinstance(value, str)
            else value
        )

    return fill(msgspec.to_builtins(params))
