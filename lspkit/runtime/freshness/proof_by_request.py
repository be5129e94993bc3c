"""Fresh findings of one source of one server, with their proof.

`diagnostics/freshness_decision.py` decides what counts as a proof; here findings are requested.
Waiting for findings that a server sends by itself is in `proof_by_push.py`.
"""

from __future__ import annotations

import os
import time
from typing import Any

import msgspec

from lspkit.diagnostics import freshness_events, tsserver
from lspkit.diagnostics.freshness_decision import settle
from lspkit.diagnostics.freshness_events import CHANGED, Proven, Quiet, Target
from lspkit.diagnostics.proof_rule import How, ProofRule
from lspkit.errors import RequestFailedError
from lspkit.operations.host import about_the_file
from lspkit.operations.host_results import Examined, Reply
from lspkit.protocol.capabilities import EXECUTE_COMMAND, PULL_DIAGNOSTICS
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.uris import normalize_uri, path_to_uri
from lspkit.protocol.wire.results import join_lists, read_report
from lspkit.runtime.exchange import ask_server
from lspkit.runtime.exchange.ask_server import request_server, view_of
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import wait_while_reloading
from lspkit.runtime.exchange.project_index import config_of
from lspkit.runtime.files import File
from lspkit.runtime.freshness.check_subject import CheckSubject
from lspkit.runtime.freshness.proof_by_push import SILENCE, wait_for_push
from lspkit.runtime.server.pending_request import Build
from lspkit.runtime.server.process_state import ProcessState
from lspkit.runtime.server.server import Server
from lspkit.servers.project.config_inputs import imported_by

#: Most files of one configuration that are asked about.
MOST_FILES = 10
#: The source of what was asked for.
SOURCE = "configuration"
#: Seconds in which TypeScript 7 publishes about a configuration, even if nothing is wrong.
PUBLISHES_WITHIN = 5.0
#: The reason for an answer from before the project was loaded.
NOT_READY = "it was not ready"
#: The reason for an answer without findings from a server that nobody has tried.
UNTRIED_PULL = (
    "lspkit does not know whether it has read this text when it answers, so an empty answer proves "
    'nothing; if it has, set lsp.{}.proof to "pull"'
)
#: The reason for an answer that cannot be decoded.
NONSENSE = f"it answered {PULL_DIAGNOSTICS} with something that is not a report"


def prove(context: Context, subject: CheckSubject, rule: ProofRule) -> Examined:
    """The findings of one source, or why they are unknown."""
    server, unknown = subject.server, rule.how is None
    if rule.how is None:
        key = server.channel.key_of(subject.file.uri)
        offered = server.channel.session.supports(PULL_DIAGNOSTICS, key)
        other: How = "quiet" if server.channel.observations.versionless else "version"
        rule = msgspec.structs.replace(rule, how="pull" if offered else other)
    if rule.how == "pull":
        return _pull_when_ready(context, subject, rule)
    if rule.how == "ordered":
        _read_again(context, subject)
        if rule.ask == "tsserver":
            return _ask_tsserver(context, subject, rule)
        return _after_barrier(context, subject, rule)
    _wait_for_pending(context, subject)
    result = wait_for_push(context, subject, rule, unknown=unknown)
    if result is None:
        rule = msgspec.structs.replace(rule, how="pull")
        result = _pull_when_ready(context, subject, rule)
    return result


def _pull_when_ready(context: Context, subject: CheckSubject, rule: ProofRule) -> Examined:
    """Ask again if the server was reloading its project meanwhile."""
    server = subject.server
    while True:
        result = _pull_once(context, subject, rule)
        may_be = (
            server.channel.observations.ready is not None or server.state is ProcessState.RELOADING
        )
        if result.reason != NOT_READY or not may_be or subject.call.is_over:
            return result
        wait_while_reloading(context, subject.server)


def _pull_once(context: Context, subject: CheckSubject, rule: ProofRule) -> Examined:
    _read_again(context, subject)
    _wait_for_pending(context, subject)
    if rule.ask:
        _request(context, subject, rule.ask, about_the_file)
    lists: list[bytes] = []
    reply: Reply | None = None
    versions: set[int] = set()
    asked_at = time.monotonic()
    for identifier in _identifiers(subject.server, subject.file):
        source = f"pull {identifier or ''}".strip()
        last = subject.server.record.last_said(subject.uri, source)
        known = None if last is None else last.result_id
        reply = _request(context, subject, PULL_DIAGNOSTICS, _pull(identifier, known))
        report = read_report(reply.result)
        if report is None or (report.kind == "unchanged" and last is None):
            return subject.failed(rule, NONSENSE)
        items, result_id = bytes(report.items), report.result_id
        if report.kind == "unchanged" and last is not None:
            items, result_id = last.items, result_id or known
        lists.append(items)
        version = reply.view.version
        versions.add(version)
        if subject.is_of_disk:
            subject.server.record.pulled(subject.uri, version, items, source, result_id, asked_at)
            _keep_related(subject.server, report.related_documents or {}, source)
    if reply is None:
        return subject.failed(rule, "it has no kind of findings to be asked for")
    if len(versions) > 1:
        return subject.failed(rule, CHANGED)
    read_configuration(context, subject, rule)
    # It may have read the files at any time since the request.
    event = freshness_events.Pulled(uri=subject.uri, asked_seq=reply.seq, at=asked_at)
    return _judge(subject, rule, reply.view, reply.seq, event, lists)


def _request(context: Context, subject: CheckSubject, method: str, build: Build) -> Reply:
    return ask_server.request_document(
        context, subject.server, subject.file, subject.text, method, build
    )


def _keep_related(server: Server, related: dict[str, Any], source: str) -> None:
    """Keep the parts of the answer about related files."""
    for uri, raw in related.items():
        report = read_report(bytes(raw))
        if report is not None and report.kind == "full":
            items = bytes(report.items)
            server.record.pulled(normalize_uri(uri), None, items, source, report.result_id)


def _ask_tsserver(context: Context, subject: CheckSubject, rule: ProofRule) -> Examined:
    requests = [
        subject.server.channel.ask_about(
            subject.file, subject.text, EXECUTE_COMMAND, _command(command, subject.file.path)
        )
        for command in tsserver.COMMANDS
    ]
    lists: list[bytes] = []
    try:
        for pending in requests:
            answered = ask_server.wait_for_answer(context, subject.server, pending)
            if isinstance(answered, RequestFailedError):
                raise answered
            items = tsserver.items_of(answered.result)
            if items is None:
                return subject.failed(rule, "TypeScript's own server gave no findings")
            lists.append(items)
    finally:
        for pending in requests:
            subject.server.channel.finish(pending)
    if len({view_of(pending).version for pending in requests}) > 1:
        return subject.failed(rule, CHANGED)
    if subject.is_of_disk:
        subject.server.record.pulled(subject.uri, view_of(requests[0]).version, join_lists(lists))
    read_configuration(context, subject, rule)
    first = requests[0]
    event = freshness_events.RequestAnswered(tag=rule.ask, asked_seq=first.seq, at=time.monotonic())
    return _judge(subject, rule, view_of(first), first.seq, event, lists)


def _after_barrier(context: Context, subject: CheckSubject, rule: ProofRule) -> Examined:
    """The push of a server that always pushes before it answers the next request."""
    reply = _request(context, subject, rule.ask, about_the_file)
    until = min(subject.call.deadline, time.monotonic() + SILENCE)
    while True:
        activity = subject.server.activity.next()
        # Without a version a push may be about an earlier text.
        report, still = subject.server.record.pushed_about(reply.view)
        if not still:
            return subject.failed(rule, CHANGED)
        if report is not None:
            event = freshness_events.RequestAnswered(
                tag=rule.ask, asked_seq=reply.seq, at=time.monotonic()
            )
            return _judge(subject, rule, reply.view, reply.seq, event, [report.items])
        # Only for the first text: the server may have to request its settings before it can check.
        if not context.call.wait(activity, until):
            return subject.failed(rule, "it has published nothing", late=True)
        subject.server.raise_if_ended()


def _judge(
    subject: CheckSubject,
    rule: ProofRule,
    view: View,
    seq: int,
    event: freshness_events.FreshnessEvent,
    lists: list[bytes],
) -> Examined:
    """Decide whether an answer counts."""
    target = Target(view.uri, view.version, seq, float("inf"))
    # The answer may have been asked for before the check of this file began.
    written = freshness_events.Written(seq=seq, at=min(subject.began, event.at))
    ready = subject.server.channel.observations.ready
    events = [written, event] if ready is None else [ready, written, event]
    if not subject.server.record.still_shows(view):
        # Some servers answer about the text at the time of their answer.
        events.append(freshness_events.Superseded(version=view.version + 1, at=event.at))
    decision = settle(target, rule, events, event.at)
    if rule.untried:
        lists = [*lists, *_published(subject, view)]
    doubt = subject.doubt(lists)
    if doubt:
        return subject.doubted(rule, view, lists, doubt)
    if isinstance(decision, Proven):
        return subject.known(rule, view, lists, decision.how)
    if isinstance(decision, Quiet):
        return subject.known(rule, view, lists, "quiet", UNTRIED_PULL.format(subject.server.id))
    changed = isinstance(decision, freshness_events.Unknown)
    return subject.failed(rule, CHANGED if changed else NOT_READY)


def _published(subject: CheckSubject, view: View) -> list[bytes]:
    """What the server has published about this text or a later version of it."""
    pushed, still = subject.server.record.pushed_about(view)
    if not still or pushed is None or pushed.version is None or pushed.version < view.version:
        return []
    return [pushed.items]


def _wait_for_pending(context: Context, subject: CheckSubject) -> None:
    """Make the server process changes of other open documents, if it would delay that."""
    server, method = subject.server, subject.server.choice.definition.documents.takes_in_by
    for uri, number in server.channel.clock.pending(subject.uri) if method else ():
        params = {"textDocument": {"uri": uri}}
        ask_server.request_server(context, server, method, params)
        server.channel.clock.took_in(uri, number)


def _read_again(context: Context, subject: CheckSubject) -> None:
    """Make the server read files that changed on disk, if it does not by itself."""
    server, how = subject.server, subject.server.choice.definition.disk.looks_again
    if how == "watched" or not server.channel.clock.missed_disk(subject.uri):
        return
    server.channel.sync(subject.file, subject.text)
    if how == "reload":
        params = {"command": "typescript.reloadProjects", "arguments": []}
        pending = server.channel.ask(EXECUTE_COMMAND, params)
        ask_server.wait_for_answer(context, server, pending)
        server.channel.clock.saw_disk()
    else:
        server.channel.touch(subject.uri)


def _identifiers(server: Server, file: File) -> list[str | None]:
    """The identifiers of the server's diagnostics, which are requested one by one."""
    capabilities = server.channel.session.capabilities
    offers = [
        options.get("identifier")
        for options in capabilities.options(PULL_DIAGNOSTICS, server.channel.key_of(file.uri))
    ]
    provider = capabilities.static.get("diagnosticProvider")
    if isinstance(provider, dict):
        offers.append(provider.get("identifier"))
    return list(dict.fromkeys(name if isinstance(name, str) else None for name in offers)) or [None]


def _pull(identifier: str | None, result_id: str | None) -> Build:
    def build(uri: str, _: Text, __: Encoding) -> dict[str, Any]:
        params: dict[str, Any] = {"textDocument": {"uri": uri}}
        if identifier is not None:
            params["identifier"] = identifier
        if result_id is not None:
            params["previousResultId"] = result_id
        return params

    return build


def _command(command: str, path: str) -> Build:
    return lambda _, __, ___: tsserver.request(command, path)


# Which TypeScript configuration includes a file, and what its server says about that
#
# TypeScript continues without an option that it does not understand and without a file that cannot
# be read, so what it finds in a source then is not what the project asks for. TypeScript 7
# publishes what is wrong with a configuration as soon as it has read it. tsserver has to be asked.


def read_configuration(context: Context, subject: CheckSubject, rule: ProofRule) -> None:
    """Have the record know the configuration of a file, after the server has answered about it."""
    server, query = subject.server, subject.server.choice.definition.project
    if query is None:
        return
    if server.record.configuration.files_of(subject.uri) is not None:
        return
    changes = server.record.configuration.changes
    config = config_of(context, server, query, subject.file)
    if config is None:
        return
    files: tuple[str, ...] = (config,) if config else ()
    if config and rule.ask == "tsserver":
        files = _files_of(context, subject, config)
    elif config:
        _wait_for_push(subject, path_to_uri(config))
    server.record.configuration.note(subject.uri, files, changes)


def _files_of(context: Context, subject: CheckSubject, config: str) -> tuple[str, ...]:
    """The files of a configuration, after tsserver was asked about them.

    Once for all sources of a call that it includes: the answer may list all of them.
    """
    record, uri = subject.server.record.configuration, path_to_uri(config)

    def ask() -> None:
        if record.files_of(uri) is not None:
            return
        changes = record.changes
        bases = imported_by(os.path.dirname(config), (os.path.basename(config),)) - {config}
        there = (base for base in bases if base.endswith(".json") and os.path.isfile(base))
        files = (config, *sorted(there))[:MOST_FILES]
        for path in files:
            _ask_about(context, subject, config, path, extends=bool(bases))
        record.note(uri, files, changes)

    context.call.once((subject.server, uri), ask)
    return record.files_of(uri) or (config,)


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
    context: Context, subject: CheckSubject, config: str, path: str, *, extends: bool
) -> None:
    """Have the record know the findings in one file of a configuration."""
    params = {"file": path, "projectFileName": config}
    items = tsserver.items_of(_run(context, subject, "semanticDiagnosticsSync", params))
    lists = [items or b"[]"]
    if path == config and extends:  # a file that it extends may be missing
        answer = _run(context, subject, "synchronizeProjectList", {"knownProjects": []})
        lists.append(tsserver.project_errors(answer, config))
    # Not as a push: what vtsls publishes about it, perhaps later, has no codes.
    subject.server.record.pulled(path_to_uri(path), None, join_lists(lists), SOURCE)


def _run(context: Context, subject: CheckSubject, command: str, params: dict[str, Any]) -> bytes:
    request = tsserver.command_request(command, params)
    try:
        reply = request_server(context, subject.server, EXECUTE_COMMAND, request)
    except RequestFailedError:
        return b"null"  # the file is no part of the configuration
    return bytes(reply.result)
