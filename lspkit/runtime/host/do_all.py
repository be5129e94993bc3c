"""Carries out many requests, some of them at the same time, and none after the deadline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lspkit.diagnostics.report import TOO_LATE
from lspkit.errors import CancelledError, LspkitError, RequestTimeoutError
from lspkit.operations.request import Request
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.parallel import in_parallel
from lspkit.runtime.exchange.context import Context

#: Carries out a request as a part of a call.
Run = Callable[[Request[Any], Context], Any]


def do_all(context: Context, requests: Sequence[Request[Any]], run: Run, at_once: int) -> list[Any]:
    """The results and errors of the requests, in order."""
    call, results = context.call, list[Any]()
    while len(results) < len(requests) and not call.is_over:
        batch = requests[len(results) :][: at_once or None]
        jobs = [partial(_run_in_time, context, request, run) for request in batch]
        results += in_parallel(context.threads, jobs)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, LspkitError):
            raise result
    left = len(requests) - len(results)
    return results + [_too_late(call)] * left if left else results


def _run_in_time(context: Context, request: Request[Any], run: Run) -> Any:
    """The result of a request, whose turn may come after the deadline."""
    if context.call.is_over:
        raise _too_late(context.call)
    return run(request, context)


def _too_late(call: Call) -> LspkitError:
    """The error of a request that was not begun."""
    if call.cancelled():
        return CancelledError("the call was cancelled")
    return RequestTimeoutError(TOO_LATE)
