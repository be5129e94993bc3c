"""Answers to the requests of a server. Each is answered exactly once, immediately.

Several servers hang, and some exit, when a request is not answered or refused. `REPLIES` is the
complete table; other methods are refused as unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.limits import LONGEST_SECTION, MOST_SECTIONS
from lspkit.protocol import events
from lspkit.protocol.capabilities import Capabilities, InitializeOptions, Registration, look_up
from lspkit.protocol.wire.messages import INVALID_PARAMS, METHOD_NOT_FOUND, encode


class ClientReply(msgspec.Struct, frozen=True):
    """A result, or an error as (code, text); and an event for the driver."""

    result: Any = None
    error: tuple[int, str] | None = None
    event: events.Event | None = None


#: Arguments: params of the request, options of the session, capabilities of the server (which
#: registrations change).
Answerer = Callable[[dict[str, Any], InitializeOptions, Capabilities], ClientReply]


def reply_to(
    method: str, params: dict[str, Any], opening: InitializeOptions, capabilities: Capabilities
) -> ClientReply:
    """The answer to a server's request."""
    known = REPLIES.get(method)
    if known is not None:
        return known(params, opening, capabilities)
    if method.endswith("/refresh"):
        return ClientReply(event=events.RefreshAsked(method))
    return ClientReply(error=(METHOD_NOT_FOUND, f"lspkit does not know {method}"))


def _configuration(
    params: dict[str, Any], opening: InitializeOptions, _: Capabilities
) -> ClientReply:
    items = params.get("items")
    if not isinstance(items, list):
        return ClientReply(error=(INVALID_PARAMS, "items: a list was expected"))
    known = [_setting(item, opening.settings) for item in items[:MOST_SECTIONS]]
    return ClientReply([*known, *([None] * (len(items) - len(known)))])


def _setting(item: Any, settings: dict[str, Any]) -> Any:
    section = item.get("section") if isinstance(item, dict) else None
    if not section:
        return settings or None
    if len(str(section)) > LONGEST_SECTION:
        return None
    return look_up(settings, str(section))


def _register(
    params: dict[str, Any], _: InitializeOptions, capabilities: Capabilities
) -> ClientReply:
    entries = params.get("registrations") or []
    if not isinstance(entries, list):
        return ClientReply(error=(INVALID_PARAMS, "registrations: a list was expected"))
    taken: list[Registration] = []
    for entry in entries:
        if not isinstance(entry, dict) or not {"id", "method"} <= entry.keys():
            return ClientReply(error=(INVALID_PARAMS, "a registration needs an id and a method"))
        options = entry.get("registerOptions")
        options = options if isinstance(options, dict) else {}
        taken.append(Registration(str(entry["id"]), str(entry["method"]), options))
    kept = [registration for registration in taken if capabilities.register(registration)]
    return ClientReply(event=events.Registered(tuple(kept), dropped=len(taken) - len(kept)))


def _unregister(
    params: dict[str, Any], _: InitializeOptions, capabilities: Capabilities
) -> ClientReply:
    # The protocol itself misspells the key, and servers send either.
    entries = params.get("unregisterations") or params.get("unregistrations") or []
    if not isinstance(entries, list):
        return ClientReply(error=(INVALID_PARAMS, "unregisterations: a list was expected"))
    dropped = [
        capabilities.unregister(str(entry.get("id")))
        for entry in entries
        if isinstance(entry, dict)
    ]
    return ClientReply(
        event=events.Unregistered(
            tuple(registration for registration in dropped if registration is not None)
        )
    )


def _workspace_folders(_: Any, opening: InitializeOptions, __: Any) -> ClientReply:
    return ClientReply([{"uri": opening.root_uri, "name": opening.root_name}])


def _answer_with(result: Any) -> Answerer:
    return lambda _, __, ___: ClientReply(result)


def _answer_and_notify(method: str) -> Answerer:
    """An empty answer, and an event."""
    return lambda params, _, __: ClientReply({}, event=events.Notified(method, encode(params)))


_NO_EDIT = "lspkit applies edits only while a command runs that a caller has requested"

#: The answer by method.
REPLIES: dict[str, Answerer] = {
    "workspace/configuration": _configuration,
    "client/registerCapability": _register,
    "client/unregisterCapability": _unregister,
    "window/workDoneProgress/create": _answer_with(None),
    "workspace/workspaceFolders": _workspace_folders,
    "workspace/applyEdit": _answer_with({"applied": False, "failureReason": _NO_EDIT}),
    "window/showMessageRequest": _answer_with(None),
    "window/showDocument": _answer_with({"success": False}),
    # typescript-language-server asks the user for the name of an extracted symbol.
    "_typescript.rename": _answer_with(None),
    # Own requests of the eslint server; it throws when they are refused.
    "eslint/openDoc": _answer_with({}),
    **{
        method: _answer_and_notify(method)
        for method in ("eslint/noConfig", "eslint/noLibrary", "eslint/probeFailed")
    },
}
