"""The interface between a workspace and the engine that carries out its requests.

A workspace builds requests and passes them to an engine, with the limits of the caller. The local
engine is in `engine.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from lspkit.operations import Request
from lspkit.runtime.concurrency.call import AnswerLog, CancelLike

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


class Limits(msgspec.Struct, frozen=True):
    """What the caller of one operation allows."""

    timeout: float | None = None
    cancel: CancelLike | None = None
    #: Is told who has answered. What travels to a service leaves it behind.
    answer_log: AnswerLog | None = None


class Engine(Protocol):
    """What carries requests out: here, or (later) behind a socket."""

    def run(self, request: Request[T], limits: Limits) -> T:
        """Do it, and return its result."""
        ...

    def submit(self, request: Request[T], limits: Limits) -> Future[T]:
        """Do it without a thread that waits."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Submitting:
    """An engine whose answers are futures: it turns any method of a workspace into its `submit`."""

    def __init__(self, engine: Engine) -> None:
        self.run: Any = engine.submit
        self.submit = engine.submit
        self.close = engine.close
