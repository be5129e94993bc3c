"""The rows of the fault matrix: everything that a server can do wrong, as data.

A row makes, for any operation, the orders of the scripted server, and says what may come of the
call that meets the fault. What is not said in a row holds for all of them: the other server of the
workspace answers as if nothing were, the next call is right, and nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lspkit.testing import Fault, Grandchild, Say
from tests.faults.operations import Operation

#: Answers that are allowed, beside the codes of errors.
RIGHT, MENDED, UNREAD = "right", "mended", "unread"
#: The codes of errors that servers are to blame for.
BROKEN, TIMED_OUT, REFUSED, UNAVAILABLE = "EBROKEN", "ETIMEDOUT", "ELSP", "EUNAVAILABLE"

#: Seconds. The first is for a call that should be over long before, the second for one that has to
#: run into its limit.
AMPLE, SHORT = 20.0, 0.4

#: Fields of a Script.
Orders = dict[str, Any]


@dataclass(frozen=True)
class Expected:
    """What may come of a call, and the time that it is given."""

    allowed: frozenset[str]
    timeout: float = AMPLE


@dataclass(frozen=True)
class Row:
    """One fault."""

    name: str
    #: What the server does, for people.
    does: str
    orders: Callable[[Operation], Orders]
    expected: Expected
    #: Where the answer is a notification of the server, if that makes a difference.
    pushed: Expected | None = None
    #: Where the answer is handed on unread, if that makes a difference.
    raw: Expected | None = None
    #: Whether the server fails while it starts, so that nothing may be asked before.
    cold: bool = False
    #: How many ask at the same time, each about a file of its own.
    callers: int = 1
    #: How many processes of the server there may be in the end.
    starts: tuple[int, ...] = (1,)
    #: Whether the server ends only after the call.
    ends_later: bool = False
    #: Whether the server ends by itself, asked or not.
    ends_unasked: bool = False
    #: What the user has to do before the next call.
    mended_by: Literal["", "reload"] = ""
    #: What the server's own time limits are, in milliseconds.
    timing: Mapping[str, int] = field(default_factory=dict)
    #: How many further calls may be lost before anybody can know.
    unnoticed: int = 0
    #: Seconds for the next call.
    next_timeout: float = AMPLE
    #: The fault has nothing to do with one operation: all are asked in one workspace.
    shared: bool = False

    def expected_of(self, operation: Operation) -> Expected:
        """What may come of this operation."""
        if operation.is_push and self.pushed is not None:
            return self.pushed
        if operation.is_raw and self.raw is not None:
            return self.raw
        return self.expected


def _may(*allowed: str, timeout: float = AMPLE) -> Expected:
    return Expected(frozenset(allowed), timeout)


def _answer(do: Any, *, times: int = 1, **options: Any) -> Callable[[Operation], Orders]:
    """A fault in the answer, the first time only."""

    def orders(operation: Operation) -> Orders:
        nth = operation.occurrence
        return {"faults": [Fault(operation.method, do, nth=nth, times=times, run=1, **options)]}

    return orders


def _start(on: str, do: Any, **options: Any) -> Callable[[Operation], Orders]:
    """A fault in the first start, whatever is asked."""
    return lambda _: {"faults": [Fault(on, do, run=1, **options)]}


def _always(**orders: Any) -> Callable[[Operation], Orders]:
    return lambda _: orders


def _questions(operation: Operation) -> Orders:
    """Questions that nobody knows, and answers that must be had before the server goes on."""
    methods = ("x/unknown", "workspace/x/unknown", "window/unknown")
    asked = [{"method": method, "params": {"a": [1]}} for method in methods]
    nth = operation.occurrence
    return {"say": [Say(operation.cause, request=one, wait=True, nth=nth) for one in asked]}


def _crash_leaving_the_output_open(operation: Operation) -> Orders:
    return {
        **_answer("crash")(operation),
        "grandchildren": [Grandchild("escaped", inherit=True, when=operation.cause)],
    }


def _grandchild(kind: Any, **options: Any) -> Callable[[Operation], Orders]:
    return _always(grandchildren=[Grandchild(kind, **options)])


FINE = _may(RIGHT)
LOST = _may(TIMED_OUT, timeout=SHORT)
#: Long enough for the request's own limit to be the one that ends it.
LATE = _may(TIMED_OUT, timeout=1.5)
GONE = _may(BROKEN)
#: For servers of which nothing will ever come: a request's own limit says so, not the caller's.
IMPATIENT = {"requestTimeoutMs": 400}

ROWS = (
    # It ends.
    Row(
        "crash before the answer", "exits instead of answering", _answer("crash"), GONE, starts=(2,)
    ),
    Row(
        "crash during the answer",
        "writes half of the answer and dies of SIGSEGV",
        _answer("crash", at="during", signal="SIGSEGV"),
        GONE,
        starts=(2,),
    ),
    Row(
        "crash after the answer",
        "answers and exits",
        _answer("crash", at="after"),
        FINE,
        # A push counts only when no other has followed for a moment.
        pushed=_may(RIGHT, BROKEN),
        starts=(2,),
        ends_later=True,
    ),
    Row(
        "crash, output held open",
        "exits instead of answering; a daemon of its own keeps its output open",
        _crash_leaving_the_output_open,
        GONE,
        starts=(2,),
    ),
    Row(
        "closed output",
        "closes its standard output instead of answering, and lives on",
        _answer("close-output"),
        GONE,
        starts=(2,),
    ),
    # It does not come up.
    Row(
        "crash before initialize",
        "is killed before it reads anything",
        _start("start", "crash", signal="SIGKILL"),
        GONE,
        cold=True,
        starts=(2,),
    ),
    Row(
        "crash during initialize",
        "writes half of the answer to `initialize` and exits",
        _start("initialize", "crash", at="during"),
        GONE,
        cold=True,
        starts=(2,),
    ),
    Row(
        "crash after initialize",
        "answers `initialize` and exits",
        _start("initialize", "crash", at="after"),
        GONE,
        cold=True,
        starts=(2,),
        ends_unasked=True,
    ),
    Row(
        "exit instead of initialize",
        "exits with a status at once, as a program does that is no server",
        _start("initialize", "crash", code=3),
        _may(UNAVAILABLE),
        cold=True,
        starts=(2,),
        mended_by="reload",
    ),
    Row(
        "hang in initialize",
        "never answers `initialize`",
        _start("initialize", "hang"),
        GONE,
        cold=True,
        starts=(2,),
        timing={"initializeTimeoutMs": 700},
    ),
    Row(
        "refused initialize",
        "answers `initialize` with an error",
        _start("initialize", "error"),
        _may(UNAVAILABLE),
        cold=True,
        starts=(2,),
        mended_by="reload",
    ),
    Row(
        "nonsense in initialize",
        "answers `initialize` with a number",
        _start("initialize", "result"),
        _may(UNAVAILABLE),
        cold=True,
        starts=(2,),
        mended_by="reload",
    ),
    # It is silent, or slow.
    Row("hang", "never answers this one request", _answer("hang"), LOST),
    Row(
        "never read",
        "reads nothing any more",
        _answer("stop-reading"),
        LATE,
        # It has read the request, so that only the next one shows that it reads no more.
        unnoticed=1,
        starts=(2,),
        timing=IMPATIENT,
        next_timeout=5,
    ),
    Row("drip", "writes the answer one byte at a time", _answer("drip"), FINE),
    # Its bytes make no sense.
    Row("garbage between frames", "writes a line of text first", _answer("garbage"), FINE),
    Row(
        "half a frame",
        "writes half of the answer; whatever it says next comes right behind",
        _answer("half-frame"),
        LATE,
        starts=(1, 2),
        timing=IMPATIENT,
        next_timeout=5,
    ),
    Row(
        "half a frame, then nothing",
        "writes half of the answer, and nothing ever again",
        _answer("half-frame", mute=True),
        LATE,
        starts=(2,),
        timing=IMPATIENT,
        next_timeout=5,
    ),
    Row(
        "huge length",
        "announces a body of a terabyte",
        _answer("huge-length"),
        GONE,
        starts=(2,),
    ),
    Row("extra header", "sends a header that nobody knows", _answer("header"), FINE),
    Row(
        "bad JSON",
        "leaves out the last byte of the answer",
        _answer("bad-json"),
        _may(REFUSED),
        pushed=LOST,
    ),
    Row(
        "bad UTF-8",
        "puts bytes that are no UTF-8 into every text",
        _answer("bad-utf8"),
        _may(REFUSED),
        pushed=LOST,
    ),
    Row(
        "lone surrogate",
        "puts half a surrogate pair into every text",
        _answer("lone-surrogate"),
        _may(MENDED, REFUSED),
    ),
    # Its messages make no sense.
    Row("answer twice", "sends the answer twice", _answer("twice"), FINE),
    Row(
        "out of order",
        "answers the second of two callers first",
        _answer("reverse", times=2),
        FINE,
        callers=2,
    ),
    Row("wrong id", "answers under an id of its own", _answer("wrong-id"), LOST, pushed=FINE),
    Row(
        "result of another type",
        "answers with the number 42",
        _answer("result"),
        _may(REFUSED),
        pushed=FINE,
        raw=_may(UNREAD),
    ),
    Row("LSP error", "answers with an error", _answer("error"), _may(REFUSED), pushed=FINE),
    Row(
        "ContentModified twice",
        "gives up two times because the text has changed",
        _answer("error", times=2, code="ContentModified"),
        FINE,
    ),
    Row(
        "ServerCancelled twice",
        "gives up two times for reasons of its own",
        _answer("error", times=2, code="ServerCancelled"),
        FINE,
    ),
    # It says too much.
    Row(
        "flood of diagnostics",
        "sends 2,000 reports without a version before the answer",
        _answer("flood", count=2000),
        FINE,
    ),
    Row("large stderr", "writes a megabyte to standard error", _answer("stderr"), FINE),
    Row("unknown requests", "asks what nobody knows, and waits for answers", _questions, FINE),
    # It does not end, or not alone.
    Row(
        "grandchild in its group",
        "has a child",
        _grandchild("group"),
        FINE,
        shared=True,
    ),
    Row(
        "grandchild in a session",
        "has a child in a session of its own",
        _grandchild("session"),
        FINE,
        shared=True,
    ),
    Row(
        "escaped grandchild",
        "has a daemon that ignores SIGTERM and has no environment",
        _grandchild("escaped"),
        FINE,
        shared=True,
    ),
    Row(
        "grandchild with its output",
        "has such a daemon, which keeps the server's output open",
        _grandchild("escaped", inherit=True),
        FINE,
        shared=True,
    ),
    Row("deaf to shutdown", "ignores `shutdown`", _always(ignore=["shutdown"]), FINE, shared=True),
    Row("deaf to exit", "ignores `exit`", _always(ignore=["exit"]), FINE, shared=True),
    Row(
        "deaf to the end of input",
        "ignores `exit` and the end of its input",
        _always(ignore=["exit", "eof"]),
        FINE,
        shared=True,
    ),
    Row(
        "deaf to everything",
        "ignores `shutdown`, `exit`, the end of its input and SIGTERM",
        _always(ignore=["shutdown", "exit", "eof", "SIGTERM"]),
        FINE,
        shared=True,
    ),
)
