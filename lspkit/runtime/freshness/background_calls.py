"""Calls that servers cause, and no user. Each runs in a thread of its own.

A server says that its answers are out of date: it is asked again for all open documents. That keeps
`diagnostics()` correct, which sends no requests. It is done when the server has been idle for a
moment, one document after the other; requests of callers come first.

A server asks for something that another server of the same root answers (`Adapter.forwarded`). That
comes as a notification, and the server may do nothing else until it has the answer. So there always
is one: null if the other server is missing, refuses, ends, or takes too long.
"""

from __future__ import annotations

import functools
import logging
import os
import time

from lspkit.errors import LspkitError, RequestFailedError
from lspkit.protocol.capabilities import PULL_DIAGNOSTICS
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.threads import MOST_CALLS, ThreadCache
from lspkit.runtime.exchange.ask_server import wait_for_answer, wait_for_room, wait_until_up
from lspkit.runtime.exchange.context import Calls, Context
from lspkit.runtime.exchange.preparation import SHARE, companion_of
from lspkit.runtime.freshness.check_subject import CheckSubject
from lspkit.runtime.freshness.proof_by_request import prove
from lspkit.runtime.server.server import Server
from lspkit.servers.adapters.adapter import ForwardedRequest

log = logging.getLogger("lspkit.runtime")

#: Seconds that a server must have been idle before it is asked again.
PAUSE = 0.3
#: Seconds that one answer may take.
PATIENCE = 10.0


class BackgroundCalls:
    """Asks servers again, and forwards their requests."""

    def __init__(self, calls: Calls, threads: ThreadCache) -> None:
        self._calls = calls
        self._threads = threads
        #: When each server last said that its answers are out of date, by identity; an entry has a
        #: thread. The lock of the server guards its entry.
        self._wanted: dict[int, float] = {}

    def refresh(self, server: Server) -> None:
        """The server's answers are out of date."""
        with server.channel.lock:
            waiting = id(server) in self._wanted
            self._wanted[id(server)] = time.monotonic()
        if not waiting and not self._threads.do(functools.partial(self._ask_again, server)):
            self._wanted.pop(id(server), None)

    def _ask_again(self, server: Server) -> None:
        """Ask again for answers from before the server said so, when it has been idle."""
        while self._threads.pause(time.monotonic() + PAUSE):
            takes_calls = server.takes_calls
            with server.channel.lock:
                since = self._wanted[id(server)]
                idle_for = time.monotonic() - max(server.channel.last_used, since)
                is_due = idle_for >= PAUSE or not takes_calls
                if is_due:
                    del self._wanted[id(server)]
            if is_due:
                self._ask_about_old(server, since)
                return

    def _ask_about_old(self, server: Server, since: float) -> None:
        for uri in self._old(server, since):
            if server.channel.queue.taken():
                self.refresh(server)  # a check is under way: later
                return
            ask = functools.partial(_ask_about, server=server, uri=uri)
            try:
                if not self._calls.run(Call(PATIENCE), ask):
                    return
            except LspkitError as problem:
                log.debug("%s was not asked again about %s: %s", server.id, uri, problem)
                return

    def _old(self, server: Server, since: float) -> list[str]:
        with server.channel.lock:
            store = server.channel.observations.store
            open_now = {
                document.key.uri
                for document in server.channel.documents
                if document.stamp is not None
            }
            uris = [uri for uri in store.asked_about() if uri in open_now]
            return [uri for uri in uris if store.newest(uri) < since]

    def forward(self, server: Server, request: ForwardedRequest) -> None:
        """The server has sent a request. Called by its reader; does not wait."""
        if not self._threads.do(functools.partial(self._carry, server, request), MOST_CALLS):
            _answer(server, request, None)

    def _carry(self, server: Server, request: ForwardedRequest) -> None:
        result = None
        try:
            # So a caller whose request led to this one still gets an answer in time.
            call = Call(SHARE * self._calls.pool.request_timeout(server))
            result = self._calls.run(call, lambda context: _ask(context, server, request))
        except LspkitError as problem:
            log.debug("%s gets no answer to %s: %s", server.id, request.params, problem)
        except Exception:
            log.exception("a request of %s could not be forwarded", server.id)
        _answer(server, request, result)


def _ask_about(context: Context, server: Server, uri: str) -> bool:
    """Ask about one document; False if the server cannot be asked any more."""
    file = context.files.again(uri)
    if file is None or file.stamp is None or not server.takes_calls:
        return server.takes_calls
    subject = CheckSubject(server, file, None, context.call, time.monotonic())
    for rule in server.choice.definition.proofs:
        if rule.how in (None, "pull") and server.channel.session.supports(PULL_DIAGNOSTICS):
            prove(context, subject, rule)
    return True


def _ask(context: Context, server: Server, request: ForwardedRequest) -> bytes | None:
    """The answer of the other server; None if there is none."""
    if server.choice.definition.language_of(os.path.basename(request.path)) is None:
        return None  # no file of their language
    file = context.files.locate(request.path, may_be_missing=True)
    other = companion_of(context, server, file.path)
    if other is None:
        return None
    wait_until_up(context, other)
    # It answers only about open files. A file that is not on disk may be shown to it by a caller.
    if file.stamp is not None:
        other.channel.follow_disk(file, opens=True)
    wait_for_room(context, other, request.method, context.call.deadline)
    pending = other.channel.ask(request.method, request.params)
    answer = wait_for_answer(context, other, pending, context.call.deadline)
    if isinstance(answer, RequestFailedError):
        raise answer
    return answer.result


def _answer(server: Server, request: ForwardedRequest, result: bytes | None) -> None:
    if server.channel.connection is not None and not server.channel.connection.has_room():
        return  # it has stopped reading
    try:
        server.channel.say(*server.adapter.forwarded_answer(request, result))
    except LspkitError as problem:
        log.debug("%s is gone and wants no answer any more: %s", server.id, problem)
