"""The queue of file events of one server."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lspkit.runtime.concurrency.ordered_delivery import Delivery, is_free
from lspkit.runtime.pool.file_event import ServerFileEvent
from lspkit.runtime.server.server import Server


class QueuedEvent(NamedTuple):
    """Events that are sent to a server together; `brief`: files existed or were gone for a moment.

    Without events it is the order to read everything again, if something was missed.
    """

    events: list[ServerFileEvent]
    brief: bool = False


class EventQueue:
    """A server whose root is watched, and its queue."""

    def __init__(self, server: Server, tell: Callable[[EventQueue, QueuedEvent], None]) -> None:
        self.server = server
        self.mail = Delivery[QueuedEvent](lambda queued: tell(self, queued))
        #: Whether it has to read everything again before its next request. Set during delivery.
        self.is_behind = False
        #: Whether a delivery by another thread is planned.
        self.is_left = False

    def deliver(self, until: float) -> bool:
        """Deliver all queued events; False if that is not possible in time."""
        return not self.mail or (
            is_free(self.server.channel.lock, until) and self.mail.deliver(until)
        )
