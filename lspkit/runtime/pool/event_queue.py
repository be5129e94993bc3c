"""What a server is to be told about files, in a queue of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lspkit.runtime.concurrency.ordered_delivery import Delivery, is_free
from lspkit.runtime.pool.file_event import ServerFileEvent
from lspkit.runtime.server.server import Server


class QueuedEvent(NamedTuple):
    """What is told to a server at once; `brief`: of files that were there, or away, for a moment.

    Without any news it is the order to read everything again, where something was missed.
    """

    news: list[ServerFileEvent]
    brief: bool = False


class EventQueue:
    """A server whose root is watched."""

    def __init__(self, server: Server, tell: Callable[[EventQueue, QueuedEvent], None]) -> None:
        self.server = server
        self.mail = Delivery[QueuedEvent](lambda letter: tell(self, letter))
        #: Whether it has to read everything again before it is asked anything. Set by who delivers.
        self.is_behind = False
        #: Whether somebody is about to deliver what could not be at once.
        self.is_left = False

    def deliver(self, until: float) -> bool:
        """Tell it all that is queued; False if it cannot be told anything in time."""
        return not self.mail or (
            is_free(self.server.channel.lock, until) and self.mail.deliver(until)
        )
