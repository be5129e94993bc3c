"""Code actions: what servers offer to do about a range, and the edit or command of one action."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from lspkit.answer import Answer
from lspkit.edit_types import CodeAction, WorkspaceEdit
from lspkit.errors import PositionError, RequestFailedError
from lspkit.operations.host import Host, Question
from lspkit.operations.host_results import Reply
from lspkit.operations.position_translation import to_wire
from lspkit.operations.reply_parsing import answer_from, decode_replies, undecodable_error
from lspkit.operations.request import FileRequest, PositionRequest, check_number, operation
from lspkit.operations.symbol_positions import position_of
from lspkit.operations.workspace_edit import translate_edit
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.wire.results import (
    WireAction,
    WireCommand,
    read_action,
    read_actions,
    read_command,
    read_raw_items,
)

#: The kind of actions that are about a whole file.
SOURCE = "source"


class CodeActionsRequest(PositionRequest[Answer[CodeAction]], frozen=True, kw_only=True):
    """Get the code actions at a position or in a range."""

    end_line: int | None = None
    end_column: int | None = None
    #: Kinds to request, such as `quickfix`; empty: all.
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.is_about_file:
            FileRequest.__post_init__(self)
        else:
            super().__post_init__()
        check_number("end_line", self.end_line)
        check_number("end_column", self.end_column)

    @property
    def is_about_file(self) -> bool:
        """Whether it has no position, and requests only actions that need none."""
        given = (self.line, self.column, self.symbol, self.end_line, self.end_column)
        whole = all(kind == SOURCE or kind.startswith(SOURCE + ".") for kind in self.only)
        return bool(self.only) and whole and all(value is None for value in given)


@operation("code_actions", CodeActionsRequest, list[CodeAction])
def code_actions(request: CodeActionsRequest, host: Host) -> Answer[CodeAction]:
    """The code actions of all servers, preferred ones first."""
    if request.is_about_file:
        text = host.read_text(request.path, request.text)
        line, column = 1, 1
        end = (text.line_count, len(text.line(text.line_count - 1)) + 1)
    else:
        line, column = position_of(request, host)
        end = (request.end_line or line, request.end_column or column)
    if end < (line, column):
        raise PositionError(
            f"the range ends at {end[0]}:{end[1]}, before it starts at {line}:{column}",
            bounds=f"{line}:{column} or later",
        )
    reports = host.known_diagnostics(request.path)
    # Here, and not when the params are built: the server's lock is held then.
    known: dict[str, list[msgspec.Raw]] = {}
    for report in reports:
        pieces = read_raw_items(report.items).items
        here = [msgspec.Raw(piece) for piece in pieces if _touches(piece, line - 1, end[0] - 1)]
        known.setdefault(report.uri, []).extend(here)
    all_actions: list[CodeAction] = []
    replies = host.ask(
        Question(
            request.path,
            request.text,
            "textDocument/codeAction",
            _action_params((line, column), end, known, request.only),
            may_be_library=False,
        )
    )
    decoded = decode_replies(host, replies, read_actions)
    for reply, actions in decoded:
        for raw, wire in actions:
            if not _is_wanted(wire.kind or "", request.only):
                continue
            all_actions.append(_action(host, raw, wire, reply, request.path))
    all_actions.sort(key=lambda action: (not action.preferred, bool(action.disabled)))
    return answer_from(decoded, all_actions)


def _is_wanted(kind: str, only: tuple[str, ...]) -> bool:
    """Whether a kind was requested: some servers send actions of all kinds."""
    return not only or any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in only)


def _action_params(
    start: tuple[int, int],
    end: tuple[int, int],
    known: dict[str, list[msgspec.Raw]],
    only: tuple[str, ...],
) -> Any:
    def build(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        first, last = to_wire(text, *start, encoding), to_wire(text, *end, encoding)
        context: dict[str, Any] = {"diagnostics": known.get(uri, []), "triggerKind": 1}
        if only:
            context["only"] = list(only)
        range = {"start": first, "end": last}
        return {"textDocument": {"uri": uri}, "range": range, "context": context}

    return build


def _touches(raw: bytes, first: int, last: int) -> bool:
    """Whether a finding is on one of these lines, counted from 0."""
    try:
        range = msgspec.json.decode(raw)["range"]
        return bool(range["start"]["line"] <= last and first <= range["end"]["line"])
    except (KeyError, TypeError, ValueError):
        return False


def _action(host: Host, raw: bytes, wire: WireAction, reply: Reply, via: str) -> CodeAction:
    edit, unusable = None, ""
    try:
        if wire.edit is not None:
            edit = translate_edit(host, wire.edit, reply)
    except RequestFailedError as problem:
        unusable = problem.message
    return CodeAction(
        title=wire.title,
        kind=wire.kind or "",
        preferred=bool(wire.is_preferred),
        disabled=(wire.disabled or {}).get("reason", "") or unusable,
        edit=edit,
        server=reply.server,
        via=via,
        raw=raw.decode(),
        sha256=text_digest(reply.view.text),
    )


def text_digest(text: Text) -> str:
    """The SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.value.encode(errors="surrogatepass")).hexdigest()


def resolve_action(host: Host, action: CodeAction) -> WorkspaceEdit | WireCommand:
    """The edit of an action, which the server may have to resolve first.

    If there is none, the command that the server has to execute.
    """
    if action.disabled:
        message = f"{action.title!r} cannot be applied now: {action.disabled}"
        raise RequestFailedError(message, server=action.server)
    command = read_command(action.raw.encode())
    # An empty edit beside a command is ignored.
    if action.edit is not None and (action.edit.changes or command is None):
        return action.edit
    if command is not None and command.bare:
        return command
    try:
        replies = host.ask(
            Question(
                action.via,
                None,
                "codeAction/resolve",
                lambda *_: msgspec.Raw(action.raw.encode()),
                server=action.server,
                ignore_capabilities=True,
            )
        )
    except RequestFailedError:
        if command is None:
            raise
        replies = []  # the command is known already
    for reply in replies:
        command = command or read_command(reply.result)
        read = read_action(reply.result)
        if read.dropped:
            raise undecodable_error(reply)
        for wire in read.items:
            if wire.edit is not None:
                edit = translate_edit(host, wire.edit, reply)
                if edit.changes or command is None:
                    return edit
    if command is None:
        message = f"{action.title!r} has neither an edit nor a command"
        raise RequestFailedError(message, server=action.server)
    return command
