"""Which TypeScript configuration includes a file, and what its server says about that.

TypeScript continues without an option that it does not understand and without a file that cannot be
read, so what it finds in a source then is not what the project asks for. TypeScript 7 publishes
what is wrong with a configuration as soon as it has read it. tsserver has to be asked.
"""

from __future__ import annotations

import os
import time
from typing import Any

from lspkit.diagnostics import tsserver
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.errors import RequestFailedError
from lspkit.protocol.capabilities import EXECUTE_COMMAND
from lspkit.protocol.uris import path_to_uri
from lspkit.protocol.wire.results import join_lists
from lspkit.runtime.exchange.ask_server import request_deadline, request_server, wait_for
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.project_index import config_of
from lspkit.runtime.freshness.check_subject import CheckSubject
from lspkit.servers.project.config_inputs import imported_by

#: Most files of one configuration that are asked about.
MOST_FILES = 10
#: The source of what was asked for.
SOURCE = "configuration"
#: Seconds in which TypeScript 7 publishes about a configuration, even if nothing is wrong.
PUBLISHES_WITHIN = 5.0


def read_configuration(context: Context, subject: CheckSubject, rule: ProofRule) -> None:
    """Have the record know the configuration of a file, after the server has answered about it."""
    server, query = subject.server, subject.server.choice.definition.project
    if query is None:
        return
    if server.record.configuration.files_of(subject.uri) is not None:
        return
    changes = server.record.configuration.changes
    until = request_deadline(context, server)
    config = config_of(context, server, query, subject.file, until)
    if config is None:
        return
    files: tuple[str, ...] = (config,) if config else ()
    if config and rule.ask == "tsserver":
        files = _files_of(context, subject, config, until)
    elif config:
        _wait_for_push(subject, path_to_uri(config))
    server.record.configuration.note(subject.uri, files, changes)


def _files_of(
    context: Context, subject: CheckSubject, config: str, until: float
) -> tuple[str, ...]:
    """The files of a configuration, after tsserver was asked about them.

    Once for all sources that it includes: the answer may list all of them.
    """
    server, uri = subject.server, path_to_uri(config)
    while (known := server.record.configuration.files_of(uri)) is None:
        activity = server.activity.next(uri)
        if not server.record.configuration.begin_reading(uri):
            wait_for(context, server, activity, until)
            continue
        try:
            changes = server.record.configuration.changes
            bases = imported_by(os.path.dirname(config), (os.path.basename(config),)) - {config}
            there = (base for base in bases if base.endswith(".json") and os.path.isfile(base))
            known = (config, *sorted(there))[:MOST_FILES]
            for path in known:
                _ask_about(context, subject, config, path, until, extends=bool(bases))
            server.record.configuration.note(uri, known, changes)
            return known
        finally:
            server.record.configuration.end_reading(uri)
            server.activity.tell(uri)
    return known


def _wait_for_push(subject: CheckSubject, uri: str) -> None:
    """Wait until the server has published about a configuration that it has read.

    It reads one only once: it is restarted when one has changed.
    """
    server, latest = subject.server, min(subject.call.deadline, time.monotonic() + PUBLISHES_WITHIN)
    while time.monotonic() < latest:
        activity = server.activity.next(uri)
        if server.record.last_said(uri) is not None or not server.takes_calls:
            return
        subject.call.wait(activity, latest)


def _ask_about(
    context: Context, subject: CheckSubject, config: str, path: str, until: float, *, extends: bool
) -> None:
    """Have the record know the findings in one file of a configuration."""
    params = {"file": path, "projectFileName": config}
    items = tsserver.items_of(_run(context, subject, "semanticDiagnosticsSync", params, until))
    lists = [items or b"[]"]
    if path == config and extends:  # a file that it extends may be missing
        answer = _run(context, subject, "synchronizeProjectList", {"knownProjects": []}, until)
        lists.append(tsserver.project_errors(answer, config))
    # Not as a push: what vtsls publishes about it, perhaps later, has no codes.
    subject.server.record.pulled(path_to_uri(path), None, join_lists(lists), SOURCE)


def _run(
    context: Context, subject: CheckSubject, command: str, params: dict[str, Any], until: float
) -> bytes:
    request = tsserver.command_request(command, params)
    try:
        reply = request_server(context, subject.server, EXECUTE_COMMAND, request, until)
    except RequestFailedError:
        return b"null"  # the file is no part of the configuration
    return bytes(reply.result)
