"""The table of endpoints, from which requests are routed and the OpenAPI document is made."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from lspkit.conversations import ID_PATTERN, LONGEST_ID
from lspkit.version import VERSION
from lspkit.web.body_types import (
    CheckedFile,
    CheckFile,
    ConversationCwd,
    ConversationLsp,
    Conversations,
    EventBody,
    Problem,
    SetCwd,
    Status,
)
from lspkit.web.http_message import PROBLEM_TYPE, ProblemError

#: Statuses of problems that any request can have.
ANY_PROBLEM = (400, 401, 403, 408, 500, 503)
_REFERENCE = "#/components/schemas/{name}"


class Route(msgspec.Struct, frozen=True):
    """One endpoint."""

    method: str
    #: With the names of parameters in braces.
    path: str
    #: The method of `Endpoints` that answers.
    operation: str
    summary: str
    result: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    #: The media type of a result that has no type here.
    content_type: str = "application/json"
    #: Names of parameters in the query, with their meanings.
    query: Mapping[str, str] = {}
    #: Statuses of problems besides those that any request can have.
    problems: tuple[int, ...] = ()

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the path."""
        return () if self.path == "/" else tuple(self.path[1:].split("/"))


_UNKNOWN = (404, 503)
ROUTES = (
    Route(
        "GET",
        "/conversations",
        "list_conversations",
        "The conversations and their folders",
        Conversations,
        problems=(503,),
    ),
    Route(
        "DELETE",
        "/conversations/{id}",
        "forget_conversation",
        "Remove a conversation; the answer is what was removed",
        ConversationCwd,
        problems=_UNKNOWN,
    ),
    Route(
        "GET",
        "/conversations/{id}/cwd",
        "get_cwd",
        "The folder of a conversation",
        ConversationCwd,
        problems=_UNKNOWN,
    ),
    Route(
        "PUT",
        "/conversations/{id}/cwd",
        "set_cwd",
        "Set the folder of a conversation, which is created if it is not known",
        ConversationCwd,
        SetCwd,
        problems=(413, 415, 503),
    ),
    Route(
        "GET",
        "/conversations/{id}/lsp",
        "conversation_lsp",
        "The servers of a conversation",
        ConversationLsp,
        problems=_UNKNOWN,
    ),
    Route(
        "POST",
        "/conversations/{id}/check",
        "check",
        "Fresh diagnostics of a file; its servers start if necessary",
        CheckedFile,
        CheckFile,
        problems=(404, 413, 415, 503),
    ),
    Route("GET", "/status", "status", "The service and its servers", Status, problems=(503,)),
    Route(
        "GET",
        "/events",
        "events",
        "Changes of states and of diagnostics, as server-sent events",
        content_type="text/event-stream",
        query={"conversation": "only events of the workspace of this conversation"},
        problems=(404, 429),
    ),
    Route("GET", "/openapi.json", "openapi", "This document"),
    Route(
        "GET",
        "/",
        "page",
        "The status page",
        content_type="text/html",
        query={"code": "a code that is valid once, for a session of a browser"},
    ),
    Route("GET", "/status.css", "style", "The style of the page", content_type="text/css"),
    Route("GET", "/status.js", "script", "The script of the page", content_type="text/javascript"),
)


def find_route(method: str, segments: tuple[str, ...]) -> tuple[Route, dict[str, str]]:
    """The endpoint of a request, and the parameters in its path."""
    fitting = [
        (route, parameters) for route in ROUTES if (parameters := _fit(route, segments)) is not None
    ]
    if not fitting:
        raise ProblemError("unknown-path", "there is no such address: see /openapi.json")
    for route, parameters in fitting:
        if route.method == method:
            return route, parameters
    allowed = ", ".join(route.method for route, _ in fitting)
    raise ProblemError("wrong-method", f"this address takes {allowed}", Allow=allowed)


def _fit(route: Route, segments: tuple[str, ...]) -> dict[str, str] | None:
    """The parameters, if a path is that of the route."""
    if len(segments) != len(route.segments):
        return None
    parameters: dict[str, str] = {}
    for pattern, given in zip(route.segments, segments, strict=True):
        if pattern.startswith("{"):
            parameters[pattern[1:-1]] = given
        elif pattern != given:
            return None
    return parameters


@functools.cache
def openapi_document() -> dict[str, Any]:
    """The document, in version 3.1."""
    results = [route.result for route in ROUTES if route.result is not None]
    bodies = [route.body for route in ROUTES if route.body is not None]
    types = [*results, *bodies, EventBody, Problem]
    _, schemas = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "lspkit", "version": VERSION},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(route: Route) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"type": "string"}}
    if route.result is not None:
        content = {"schema": _reference(route.result)}
    elif route.content_type == "application/json":
        content = {"schema": {"type": "object"}}
    responses: dict[str, Any] = {
        "200": {"description": route.summary, "content": {route.content_type: content}}
    }
    if "code" in route.query:
        responses["303"] = {"description": "The session is open: load the page without the code"}
    for status in sorted({*ANY_PROBLEM, *route.problems}):
        problem = {PROBLEM_TYPE: {"schema": _reference(Problem)}}
        responses[str(status)] = {"description": "A problem", "content": problem}
    operation: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": responses,
    }
    if route.body is not None:
        body = {"application/json": {"schema": _reference(route.body)}}
        operation["requestBody"] = {"required": True, "content": body}
    return operation


def _parameters(route: Route) -> list[dict[str, Any]]:
    an_id = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID, "pattern": ID_PATTERN}
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": an_id}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    in_query = [
        {"name": name, "in": "query", "description": meaning, "schema": {"type": "string"}}
        for name, meaning in route.query.items()
    ]
    return in_path + in_query


def _reference(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=kind.__name__)}
