"""Performs `DoAll`: many requests, some of them at the same time, none begun after the deadline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lspkit.diagnostics.report import TOO_LATE
from lspkit.errors import CancelledError, LspkitError, RequestTimeoutError
from lspkit.operations.effects import DoAll
from lspkit.operations.request import Request
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.drive import together
from lspkit.runtime.concurrency.waiter import Steps

#: Carries out a request as a part of a call.
Begin = Callable[[Request[Any], CallContext], Steps[Any]]


def do_all(begin: Begin, effect: DoAll, call: CallContext) -> Steps[list[Any]]:
    """The results and errors of the requests, in order."""
    requests, results = effect.requests, list[Any]()
    call = call if effect.seconds is None else call.part(effect.seconds)
    call.is_batch = call.is_batch or (len(requests) > 1 and effect.at_once != 1)
    while len(results) < len(requests) and not call.is_over:
        some = requests[len(results) :][: effect.at_once or None]
        jobs = [_begin_in_time(begin, request, call) for request in some]
        results += yield from together(jobs, call)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, LspkitError):
            raise result
    left = len(requests) - len(results)
    return results + [_too_late(call)] * left if left else results


def _begin_in_time(begin: Begin, request: Request[Any], call: CallContext) -> Steps[Any]:
    """One of the requests, whose turn may come after the deadline."""
    if call.is_over:
        raise _too_late(call)
    return (yield from begin(request, call))


def _too_late(call: CallContext) -> LspkitError:
    """The error of a request that was not begun."""
    if call.cancelled():
        return CancelledError("the call was cancelled")
    return RequestTimeoutError(TOO_LATE)
