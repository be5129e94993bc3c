"""The OpenAPI document, made from the table of endpoints and the types of the bodies."""

from __future__ import annotations

import functools
import re
from typing import Any

import msgspec

from lspkit.conversations import ID_PATTERN, LONGEST_ID
from lspkit.version import VERSION
from lspkit.web.body_types import EventBody, Problem
from lspkit.web.problem_document import CONTENT_TYPE
from lspkit.web.routes import ROUTES, Route

#: Statuses of problems that any request can have.
ANY_PROBLEM = (400, 401, 403, 408, 500, 503)
_REFERENCE = "#/components/schemas/{name}"


@functools.cache
def openapi_document() -> dict[str, Any]:
    """The document, in version 3.1."""
    results = [one.result for one in ROUTES if one.result is not None]
    bodies = [one.body for one in ROUTES if one.body is not None]
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
        problem = {CONTENT_TYPE: {"schema": _reference(Problem)}}
        responses[str(status)] = {"description": "A problem", "content": problem}
    found: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": responses,
    }
    if route.body is not None:
        body = {"application/json": {"schema": _reference(route.body)}}
        found["requestBody"] = {"required": True, "content": body}
    return found


def _parameters(route: Route) -> list[dict[str, Any]]:
    an_id = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID, "pattern": ID_PATTERN}
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": an_id}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    in_query = [
        {"name": name, "in": "query", "description": told, "schema": {"type": "string"}}
        for name, told in route.query.items()
    ]
    return in_path + in_query


def _reference(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=kind.__name__)}
