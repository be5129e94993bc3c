"""Converts findings of TypeScript's own server (tsserver) to those of the protocol.

typescript-language-server and vtsls forward requests to it, and its answers, unchanged. Its lines
and offsets count from 1, in UTF-16 units.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lspkit.protocol.uris import path_to_uri
from lspkit.protocol.wire.messages import decode_any

#: The commands for a check of one file. They are sent at once, and processed in order.
COMMANDS = ("syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync")

_TOP = {"line": 0, "character": 0}
_SEVERITIES = {"error": 1, "warning": 2, "message": 3, "suggestion": 4}


def request(command: str, path: str) -> dict[str, Any]:
    """Params of `workspace/executeCommand`."""
    return command_request(command, {"file": path})


def command_request(command: str, params: dict[str, Any]) -> dict[str, Any]:
    """The same with any params of the command."""
    arguments = [command, params, {}]
    return {"command": "typescript.tsserverRequest", "arguments": arguments}


def items_of(answer: bytes) -> bytes | None:
    """The answer as a list of the protocol's diagnostics; None if it is not valid."""
    try:
        response = decode_any(answer)
        if not isinstance(response, dict) or response.get("success") is not True:
            return None
        return msgspec.json.encode([_diagnostic(finding) for finding in response.get("body") or ()])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def project_errors(answer: bytes, config: str) -> bytes:
    """What `synchronizeProjectList` says about a project without naming a file.

    For example that a file which the configuration extends is missing.
    """
    errors: list[dict[str, Any]] = []
    try:
        for project in decode_any(answer)["body"]:
            if project["info"]["projectName"] == config:
                errors += project.get("projectErrors") or ()
        return msgspec.json.encode(
            [
                {
                    "range": {"start": _TOP, "end": _TOP},
                    "message": error["message"],
                    "severity": _SEVERITIES.get(error.get("category", ""), 1),
                    "code": error.get("code"),
                    "source": "typescript",
                }
                for error in errors
            ]
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return b"[]"


def _diagnostic(finding: dict[str, Any]) -> dict[str, Any]:
    diagnostic: dict[str, Any] = {
        "range": _range(finding),
        "message": finding["text"],
        "severity": _SEVERITIES.get(finding.get("category", ""), 1),
        "source": finding.get("source") or "typescript",
    }
    if finding.get("code") is not None:
        diagnostic["code"] = finding["code"]
    marks = ((1, "reportsUnnecessary"), (2, "reportsDeprecated"))
    tags = [number for number, mark in marks if finding.get(mark)]
    if tags:
        diagnostic["tags"] = tags
    related = [
        _related(info) for info in finding.get("relatedInformation") or () if info.get("span")
    ]
    if related:
        diagnostic["relatedInformation"] = related
    return diagnostic


def _related(info: dict[str, Any]) -> dict[str, Any]:
    span = info["span"]
    location = {"uri": path_to_uri(span["file"]), "range": _range(span)}
    return {"location": location, "message": info["message"]}


def _range(span: dict[str, Any]) -> dict[str, Any]:
    return {
        edge: {"line": span[edge]["line"] - 1, "character": span[edge]["offset"] - 1}
        for edge in ("start", "end")
    }
