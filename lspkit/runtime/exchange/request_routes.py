"""Which server a request about a file goes to, where that is known from an earlier request.

A *route* is what was found out for one request: where the path leads, that the file has just this
server, that the server may see it and answers the method. It holds until something changes that it
depends on, and each of these changes can be seen without looking at everything again:

- the files and folders, by the number of their layout (`Notifier.layout`), after a look at what the
  system has reported up to now;
- the servers of the file, by its assignment in the pool, and the state of the server;
- the capabilities of the server, by the table of its answers;
- the boundary of the workspace, and overlays.

The file itself is looked at as well, since the system does not report every write, but not for each
of many requests in a row (`files.LOOK_LASTS`).
"""

from __future__ import annotations

import math
import os

import msgspec

from lspkit.errors import PathError
from lspkit.operations.effects import Ask, Span
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import CAUGHT_UP
from lspkit.runtime.files import File
from lspkit.runtime.pool.assignment_cache import Assignment
from lspkit.runtime.server.server import Server
from lspkit.servers.definition import Definition
from lspkit.workspace_boundary import Boundary

#: Most routes that are remembered.
MOST_ROUTES = 10_000


class Route(msgspec.Struct, frozen=True):
    """The only server of a file for a method, and what that depends on."""

    server: Server
    file: File
    assignment: Assignment
    boundary: Boundary
    #: 0 if the route is not remembered.
    layout: int
    #: What is known of the server's capabilities: another table after each change.
    answers: object


class Routes:
    """The routes of one workspace. For any thread."""

    def __init__(self, context: Context) -> None:
        self._files, self._pool = context
        #: By path as given, method and span.
        self._known: dict[tuple[str, str, Span], Route] = {}
        #: The turnover of the pool's assignments that they are of.
        self._turnover = 0

    def find(self, effect: Ask, call: CallContext) -> Route | None:
        """The route of a request that can be sent now and as it is; None if there is none.

        Everything that has changed on disk was told to the server. The call keeps the server.
        """
        pool, route = self._pool, self._known.get((effect.path, effect.method, effect.span))
        state = None if route is None else pool.disk_events.quiet_state()
        if route is None or state is None or state.layout != route.layout:
            return self._find_anew(effect, call)
        files, server, serving, file = self._files, route.server, route.assignment, route.file
        channel = server.channel
        call.use(channel)  # before the next look, as in `Pool.servers_for`
        if (
            pool.assignments.known.get(file.path) is not serving
            or pool.clock() >= serving.until
            or channel.failure is not None
            or server.closing
            or server.record.outdated
            or channel.queue.has_exclusive_calls
            or channel.session.capabilities.answers is not route.answers
            or files.boundary is not route.boundary
            or files.overlays.shown
            or file.path in files.libraries
            or is_confused(server, effect)
            or not (
                files.look_holds(file.path, file.stamp, state, call.began)
                or files.look_again(file.path, file.stamp, state)
            )
        ):
            return self._find_anew(effect, call)
        call.disk_state = state
        call.done.add(CAUGHT_UP)
        return route

    def _find_anew(self, effect: Ask, call: CallContext) -> Route | None:
        files, pool, disk = self._files, self._pool, self._pool.disk_events
        if not disk.is_watching or disk.reading() is not None:
            return None
        if not disk.catch_up(call.deadline):
            return None
        call.done.add(CAUGHT_UP)
        layout, boundary = disk.layout(), files.boundary
        try:
            file = files.locate(effect.path, since=call.began, layout=layout)
        except PathError:
            return None
        path = file.path
        # Before it is asked whether the server may see the file: a folder may be watched and
        # changed in between.
        is_covered = files.leads_there(effect.path, layout) and layout.covers(
            os.path.dirname(path), boundary.root
        )
        serving = pool.assignments.only_one(path, pool.clock())
        if serving is None or path in files.libraries:
            return None
        server = serving.servers[0]
        call.use(server.channel)  # before the next look, as in `Pool.servers_for`
        if pool.assignments.known.get(path) is not serving or not is_prepared(server, effect):
            return None
        capabilities = server.channel.session.capabilities
        answers = capabilities.answers
        if not capabilities.supports(effect.method, server.channel.key_of(file.uri)):
            return None
        if not disk.told(server, call.deadline):
            return None
        number = layout.number if is_covered else 0
        route = Route(server, file, serving, boundary, number, answers)
        if number:
            self._remember(effect, route)
        return route

    def _remember(self, effect: Ask, route: Route) -> None:
        turnover = self._pool.assignments.turnover
        if turnover != self._turnover or len(self._known) > MOST_ROUTES:
            self._known.clear()  # it would keep servers that have left
        self._turnover = turnover
        # Of the present call only: a later one must read a young file again.
        file = msgspec.structs.replace(route.file, since=math.inf)
        kept = msgspec.structs.replace(route, file=file)
        self._known[effect.path, effect.method, effect.span] = kept


def is_prepared(server: Server, effect: Ask) -> bool:
    """Whether the request can be sent now and as it is."""
    definition = server.choice.definition
    connection = server.channel.connection
    return (
        server.is_ready
        and connection is not None
        and connection.has_room()
        and server.record.loading.done
        and definition.forwards is None
        and not _needs_index(definition, effect.span)
        and not is_confused(server, effect)
        and not server.channel.queue.has_exclusive_calls
    )


def _needs_index(definition: Definition, span: Span) -> bool:
    """Whether the answer has to span what the server may not know yet."""
    rule = definition.index
    return rule is not None and (rule.definitions if span == "definitions" else span != "file")


def is_confused(server: Server, effect: Ask) -> bool:
    """Whether the server would omit references, since it is asked for them without declarations."""
    return effect.omits_declarations and server.choice.definition.confuses_declarations
