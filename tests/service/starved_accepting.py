"""No descriptor for a connection, and what is logged about that."""

from __future__ import annotations

import logging
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Warnings(logging.Handler):
    """The warnings of a service."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []
        self.first = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        """Note a warning."""
        self.messages.append(record.getMessage())
        self.first.set()


@contextmanager
def no_descriptors() -> Iterator[Warnings]:
    """None can be opened meanwhile: those that are allowed are in use."""
    log, warnings = logging.getLogger("lspkit.service"), Warnings()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    log.addHandler(warnings)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        yield warnings
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        log.removeHandler(warnings)
