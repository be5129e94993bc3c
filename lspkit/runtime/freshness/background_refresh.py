"""Asks a server again for all open documents when it says that its answers are out of date.

That keeps `diagnostics()` correct, which sends no requests. It runs in the background, when the
server has been idle for a moment, one document after the other; requests of callers come first.
"""

from __future__ import annotations

import functools
import logging
import time

from lspkit.errors import LspkitError
from lspkit.protocol.capabilities import PULL_DIAGNOSTICS
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.exchange.calls import Calls
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.freshness.check_subject import CheckSubject
from lspkit.runtime.freshness.proof_by_request import prove
from lspkit.runtime.server.server import Server

log = logging.getLogger("lspkit.runtime")

#: Seconds that a server must have been idle.
PAUSE = 0.3
#: Seconds that one answer may take.
PATIENCE = 10.0


class BackgroundRefresh:
    """The servers that have to be asked again."""

    def __init__(self, calls: Calls, threads: ThreadCache) -> None:
        self._calls = calls
        self._threads = threads
        #: When each server last said so, by identity; an entry has a thread. The lock of the server
        #: guards its entry.
        self._wanted: dict[int, float] = {}

    def want(self, server: Server) -> None:
        """The server's answers are out of date."""
        with server.channel.lock:
            waiting = id(server) in self._wanted
            self._wanted[id(server)] = time.monotonic()
        if not waiting and not self._threads.do(functools.partial(self._refresh, server)):
            self._wanted.pop(id(server), None)

    def _refresh(self, server: Server) -> None:
        """Ask again for answers from before the server said so."""
        while self._threads.pause(time.monotonic() + PAUSE):
            takes_calls = server.takes_calls
            with server.channel.lock:
                since = self._wanted[id(server)]
                idle_for = time.monotonic() - max(server.channel.last_used, since)
                is_due = idle_for >= PAUSE or not takes_calls
                if is_due:
                    del self._wanted[id(server)]
            if is_due:
                self._refresh_old(server, since)
                return

    def _refresh_old(self, server: Server, since: float) -> None:
        for uri in self._old(server, since):
            if server.channel.queue.taken():
                self.want(server)  # a check is under way: later
                return
            ask = functools.partial(_ask_again, server=server, uri=uri)
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


def _ask_again(context: Context, server: Server, uri: str) -> bool:
    """Ask about one document; False if the server cannot be asked any more."""
    file = context.files.again(uri)
    if file is None or file.stamp is None or not server.takes_calls:
        return server.takes_calls
    subject = CheckSubject(server, file, None, context.call, time.monotonic())
    for rule in server.choice.definition.proofs:
        if rule.how in (None, "pull") and server.channel.session.supports(PULL_DIAGNOSTICS):
            prove(context, subject, rule)
    return True
