"""Calls that raise an error, to be compared between a workspace in this process and the service."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import lspkit
from lspkit import errors
from lspkit.diagnostics.report import Change
from lspkit.edit_types import WorkspaceEdit
from lspkit.types import Caveat
from tests.service.compared_outcomes import Case, Scene
from tests.service.result_cases import LONG, A, call, log_of, submitted


def refused_after_checking(scene: Scene) -> Any:
    edit = scene.ws.rename(A, 2, 4, "ERROR", timeout=LONG)
    return scene.ws.apply(edit, check="project")


def undone_twice(scene: Scene) -> Any:
    applied = scene.ws.apply(scene.ws.rename(A, 2, 4, "meet", timeout=LONG))
    scene.ws.undo(applied)
    return scene.ws.undo(applied)


def cancelled(make: Callable[[], Any], *, submitted: bool = False) -> Case:
    """A call that is cancelled when the server has its request."""

    def case(scene: Scene) -> Any:
        cancel = make()
        log = log_of(scene)
        seen = len(log.messages("x/hang"))

        def cancel_when_sent() -> None:
            log.wait_for_message("x/hang", seen + 1)
            cancel.set()

        thread = threading.Thread(target=cancel_when_sent)
        thread.start()
        try:
            if submitted:
                return scene.ws.submit(scene.ws.request, A, "x/hang", cancel=cancel).result(LONG)
            return scene.ws.request(A, "x/hang", cancel=cancel)
        finally:
            thread.join()

    return case


def already_set(make: Callable[[], Any]) -> Case:
    def case(scene: Scene) -> Any:
        cancel = make()
        cancel.set()
        return scene.ws.definition(A, 2, 4, cancel=cancel)

    return case


#: By the class and the code of the error.
FAILURES: dict[str, tuple[type[Exception], str, Case]] = {
    "missing file": (errors.PathError, "ENOENT", call("check", "missing.scr")),
    "outside": (errors.PathError, "EOUTSIDE", call("definition", "../other.scr", 1, 1)),
    "excluded": (errors.PathError, "EEXCLUDED", call("hover", "node_modules/x.scr", 1, 1)),
    "binary": (errors.PathError, "EBINARY", call("document_symbols", "binary.scr")),
    "column out of range": (errors.PositionError, "EPOSITION", call("hover", A, 1, 99)),
    "line out of range": (errors.PositionError, "EPOSITION", call("hover", A, 99, 1)),
    "huge line": (errors.PositionError, "EPOSITION", call("hover", A, 2**70, 1)),
    "line 0": (errors.PositionError, "EPOSITION", call("hover", A, 0, 1)),
    "no position": (errors.PositionError, "EPOSITION", call("hover", A)),
    "unknown symbol": (errors.PositionError, "EPOSITION", call("hover", A, symbol="gret")),
    "no server": (errors.NoServerError, "ENOSERVER", call("hover", "x.none", 1, 1)),
    "unavailable": (errors.ServerUnavailableError, "EUNAVAILABLE", call("hover", "x.gone", 1, 1)),
    "unavailable, with the command to install it": (
        errors.ServerUnavailableError,
        "EUNAVAILABLE",
        call("hover", "x.go", 1, 1),
    ),
    "broken": (errors.ServerBrokenError, "EBROKEN", call("hover", "x.brk", 1, 1)),
    "broken again": (errors.ServerBrokenError, "EBROKEN", call("hover", "x.brk", 1, 1)),
    "unsupported": (errors.UnsupportedError, "EUNSUPPORTED", call("hover", "x.lim", 1, 1)),
    "answered with an error": (errors.RequestFailedError, "ELSP", call("request", A, "x/fail")),
    "timeout": (
        errors.RequestTimeoutError,
        "ETIMEDOUT",
        call("request", A, "x/hang", timeout=0.3),
    ),
    "timeout of 0": (
        errors.RequestTimeoutError,
        "ETIMEDOUT",
        call("request", A, "x/hang", timeout=0),  # no answer comes just then
    ),
    "cancelled before": (errors.CancelledError, "ECANCELLED", already_set(lspkit.CancelToken)),
    "cancelled before by an event": (
        errors.CancelledError,
        "ECANCELLED",
        already_set(threading.Event),
    ),
    "cancelled": (errors.CancelledError, "ECANCELLED", cancelled(lspkit.CancelToken)),
    "cancelled by an event": (errors.CancelledError, "ECANCELLED", cancelled(threading.Event)),
    "submitted and cancelled": (
        errors.CancelledError,
        "ECANCELLED",
        cancelled(lspkit.CancelToken, submitted=True),
    ),
    "submitted and cancelled by an event": (
        errors.CancelledError,
        "ECANCELLED",
        cancelled(threading.Event, submitted=True),
    ),
    "edit that introduces errors": (errors.RequestFailedError, "ELSP", refused_after_checking),
    "undo of what is undone": (errors.PathError, "ECHANGED", undone_twice),
    "move of a missing file": (errors.PathError, "ENOENT", call("move", "none.scr", "new.scr")),
    "write outside": (errors.PathError, "EOUTSIDE", call("write", "/etc/lspkit.scr", "x")),
    "submitted, missing file": (errors.PathError, "ENOENT", submitted("check", "missing.scr")),
    "text as bytes": (TypeError, "", call("check", A, b"x")),
    "written bytes": (TypeError, "", call("write", A, b"x")),
    "path as a number": (TypeError, "", call("check", 5)),
    "one path instead of many": (TypeError, "", call("check_all", A)),
    "scope": (ValueError, "", call("check", A, scope="everything")),
    "severity": (ValueError, "", call("check", A, severity="fatal")),
    "timeout as a text": (TypeError, "", call("hover", A, 2, 4, timeout="soon")),
    "cancel as a number": (TypeError, "", call("hover", A, 2, 4, cancel=3)),
    "unknown option": (TypeError, "", call("hover", A, 2, 4, colour="red")),
    "name as a number": (TypeError, "", call("rename", A, 2, 4, 5)),
    "parameters that are not JSON": (TypeError, "", call("request", A, "x/echo", object())),
    "epoch as a text": (TypeError, "", call("wait_for_change", "1")),
    "mark as a text": (TypeError, "", call("changed_files", "1")),
    "edit as a text": (TypeError, "", call("apply", "1")),
    "undo of nothing": (TypeError, "", call("undo", None)),
    "undo of an edit": (TypeError, "", lambda s: s.ws.undo(s.ws.rename(A, 2, 4, "meet"))),
    "apply of what is applied": (
        TypeError,
        "",
        lambda s: s.ws.apply(Change(WorkspaceEdit())),  # type: ignore[arg-type]
    ),
    "place with a line": (TypeError, "", lambda s: s.ws.hover(s.kept["items"][0], 1, 1)),
    "edit that may be incomplete": (
        errors.IncompleteEditError,
        "EINCOMPLETE",
        lambda s: s.ws.apply(WorkspaceEdit(caveats=(Caveat("index loading", "it reads"),))),
    ),
    "submitted, text as bytes": (TypeError, "", submitted("check", A, b"x")),
    "submitted function": (TypeError, "", call("submit", print)),
    "overlay of bytes": (TypeError, "", lambda s: s.ws.overlay({A: b"x"}).__enter__()),
}


def closed(case: Case) -> Case:
    def run(scene: Scene) -> Any:
        scene.ws.close()
        return case(scene)

    return run


CLOSED = {
    "closed": closed(call("hover", A, 2, 4)),
    "closed, status": closed(call("status")),
    "closed, submitted": closed(submitted("hover", A, 2, 4)),
}
