"""What the endpoints do. The names of the methods are in `routes.py`."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lspkit.conversations import ConversationStore, check_id
from lspkit.errors import (
    LspkitError,
    NoServerError,
    PathError,
    RequestTimeoutError,
    ServerUnavailableError,
    WorkspaceClosedError,
)
from lspkit.msgspec_types import convert
from lspkit.operations import DiagnosticsRequest, StatusRequest
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.servers.project.project_files import ENOUGH, walk
from lspkit.servers.status import WorkspaceStatus, snapshot
from lspkit.types import Diagnostic, to_plain
from lspkit.web.access import Access
from lspkit.web.body_types import (
    CheckedFile,
    CheckFile,
    ConversationCwd,
    ConversationLsp,
    Conversations,
    EventBody,
    ServiceBody,
    SetCwd,
    Status,
    WorkspaceBody,
    check_body,
    conversation_body,
    workspace_body,
)
from lspkit.web.event_feed import EventFeed
from lspkit.web.http_message import ProblemError, RequestHead, Response
from lspkit.web.routes import find_route, openapi_document
from lspkit.web.workspace_registry import WorkspaceRegistry
from lspkit.workspace import Workspace

T = TypeVar("T", bound=msgspec.Struct)

ASSETS = Path(__file__).parent / "assets"
#: Seconds for the check of a file.
CHECK_TIMEOUT = 30.0
#: Seconds for what takes no work of servers.
STATE_TIMEOUT = 5.0
#: Streams of events that are open at once.
MOST_STREAMS = 16
#: Conversations that are listed.
MOST_CONVERSATIONS = 1000


class Endpoints:
    """Answers requests."""

    def __init__(
        self, access: Access, workspaces: WorkspaceRegistry, conversations: ConversationStore
    ) -> None:
        self._access, self._workspaces = access, workspaces
        self._conversations = conversations
        #: Ends checks that are in progress.
        self.cancel = CancelToken()

    def admit(self, head: RequestHead) -> bool:
        """Raise a `ProblemError` for a head that is not accepted, before its body is read.

        Returns whether it has the token; otherwise it has a code, which is checked later.
        """
        self._access.check_sender(head)
        has_token = not self._opens_session(head)
        if has_token:
            self._access.check_token(head, sessions=head.method == "GET")
        find_route(head.method, head.segments)
        return has_token

    def answer(self, head: RequestHead, body: bytes) -> Response | EventFeed:
        """The response to a request that was admitted."""
        if self._opens_session(head):
            cookie = self._access.open_session(head.query["code"])
            return Response(303, "text/plain", b"", {"Location": "/", "Set-Cookie": cookie})
        route, in_path = find_route(head.method, head.segments)
        parameters: dict[str, Any] = {**in_path, **head.query}
        if unknown := head.query.keys() - route.query.keys():
            raise ProblemError("bad-request", f"there is no parameter {min(unknown)!r}")
        if route.body is not None:
            parameters["body"] = _decode(head, body, route.body)
        elif body:
            raise ProblemError("bad-request", "this request has no body")
        with _as_problems():
            result = getattr(self, route.operation)(**parameters)
        if isinstance(result, Response | EventFeed):
            return result
        # Not msgspec: it cannot encode paths that are not UTF-8.
        return Response(200, "application/json", json.dumps(to_plain(result)).encode())

    def _opens_session(self, head: RequestHead) -> bool:
        return head.method == "GET" and not head.segments and "code" in head.query

    # Conversations

    def list_conversations(self) -> Conversations:
        """`GET /conversations`."""
        cwds = self._conversations.cwds()
        listed = [
            ConversationCwd(conversation_id=id, cwd=cwd)
            for id, cwd in islice(cwds.items(), MOST_CONVERSATIONS)
        ]
        return Conversations(conversations=listed, omitted=len(cwds) - len(listed))

    def forget_conversation(self, id: str) -> ConversationCwd:
        """`DELETE /conversations/{id}`."""
        cwd = self._conversations.forget(_checked(id))
        if cwd is None:
            raise ProblemError("unknown-conversation", "this conversation has no folder")
        return ConversationCwd(conversation_id=id, cwd=cwd)

    def get_cwd(self, id: str) -> ConversationCwd:
        """`GET /conversations/{id}/cwd`."""
        return ConversationCwd(conversation_id=id, cwd=self._cwd(id))

    def set_cwd(self, id: str, body: SetCwd) -> ConversationCwd:
        """`PUT /conversations/{id}/cwd`."""
        if not Path(body.cwd).is_absolute():
            raise ProblemError("bad-folder", "the cwd is no absolute path")
        try:
            cwd = self._conversations.set_cwd(_checked(id), body.cwd)
        except PathError as problem:
            raise ProblemError("bad-folder", str(problem)) from None
        return ConversationCwd(conversation_id=id, cwd=str(cwd))

    def conversation_lsp(self, id: str) -> ConversationLsp:
        """`GET /conversations/{id}/lsp`."""
        cwd = self._cwd(id)
        with self._workspaces.workspace_of(cwd) as ws:
            return conversation_body(id, cwd, *_state_of(ws), _kinds_in(cwd))

    def check(self, id: str, body: CheckFile) -> CheckedFile:
        """`POST /conversations/{id}/check`."""
        cwd = self._cwd(id)
        with self._workspaces.workspace_of(cwd) as ws:
            try:
                # A path that is absolute stays as it is; the workspace has its boundary.
                path = Path(cwd, body.path)
                report = ws.check(path, timeout=CHECK_TIMEOUT, cancel=self.cancel)
            except (PathError, NoServerError, ValueError) as problem:
                raise ProblemError("bad-file", str(problem)) from None
            return check_body(report)

    def _cwd(self, id: str) -> str:
        try:
            cwd = self._conversations.get_cwd(_checked(id))
        except PathError as problem:
            raise ProblemError("folder-is-gone", str(problem)) from None
        if cwd is None:
            raise ProblemError("unknown-conversation", "this conversation has no folder yet")
        return str(cwd)

    # The service

    def status(self) -> Status:
        """`GET /status`."""
        bodies = [self._workspace_body(root) for root in self._workspaces.all_roots()]
        service = ServiceBody(**self._workspaces.own.describe())
        return Status(service=service, workspaces=[body for body in bodies if body is not None])

    def _workspace_body(self, root: str) -> WorkspaceBody | None:
        with self._workspaces.look_at(root) as ws:
            if ws is None:
                return None
            try:
                return workspace_body(root, *_state_of(ws))
            except (RequestTimeoutError, ServerUnavailableError, WorkspaceClosedError) as problem:
                # One service that hangs, or is just ending, does not hide the others.
                return workspace_body(root, snapshot((), time.time(), unavailable=str(problem)), {})

    def events(self, conversation: str | None = None) -> EventFeed:
        """`GET /events`."""
        cwd = None if conversation is None else self._cwd(conversation)

        def passes(event: EventBody) -> bool:
            return cwd in (None, event.workspace)

        feed = EventFeed(passes)
        try:
            self._workspaces.subscribe(feed, MOST_STREAMS)
        except ProblemError:
            feed.release()
            raise
        return feed

    def openapi(self) -> dict[str, Any]:
        """`GET /openapi.json`."""
        return openapi_document()

    # The page

    def page(self) -> Response:
        """`GET /`."""
        return _asset("status.html", "text/html; charset=utf-8")

    def style(self) -> Response:
        """`GET /status.css`."""
        return _asset("status.css", "text/css; charset=utf-8")

    def script(self) -> Response:
        """`GET /status.js`."""
        return _asset("status.js", "text/javascript; charset=utf-8")


def _state_of(ws: Workspace) -> tuple[WorkspaceStatus, dict[Path, list[Diagnostic]]]:
    """The state of the servers, and what is known of the files."""
    status = ws.run(StatusRequest(), timeout=STATE_TIMEOUT)
    return status, ws.run(DiagnosticsRequest(), timeout=STATE_TIMEOUT)


def _kinds_in(folder: str) -> set[str]:
    """The names and extensions of its files, as definitions of servers write them."""
    names = {os.path.basename(path) for path in islice(walk(folder), ENOUGH)}
    extensions = {os.path.splitext(name)[1] for name in names}
    return names | extensions | {name.partition(".")[0] + ".*" for name in names}


def _asset(name: str, content_type: str) -> Response:
    return Response(200, content_type, (ASSETS / name).read_bytes())


def _checked(id: str) -> str:
    try:
        check_id(id)
    except ValueError as problem:
        raise ProblemError("bad-request", str(problem)) from None
    return id


def _decode(head: RequestHead, body: bytes, kind: type[T]) -> T:
    """The body of a request."""
    given = head.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != "application/json":
        raise ProblemError("wrong-content-type", "the Content-Type must be application/json")
    try:
        # Not msgspec: it refuses lone surrogates, which are parts of paths that are not UTF-8.
        return convert(json.loads(body), kind)
    except (msgspec.ValidationError, ValueError, RecursionError) as problem:
        raise ProblemError("bad-json", f"the body cannot be used: {problem}") from None


@contextlib.contextmanager
def _as_problems() -> Iterator[None]:
    """Errors of lspkit, such as an invalid configuration, are problems of the service."""
    try:
        yield
    except LspkitError as problem:
        raise ProblemError("unusable", str(problem)) from None
