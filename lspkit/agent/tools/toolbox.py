"""`Toolbox`: the tools for a model. It answers every call, and never raises.

A call is converted to a request (`arguments.py`), run by the workspace's engine, and answered as an
envelope (`envelope.py`) or as text (`result_text.py`). The toolbox returns the configured
permission, and refuses denied calls; asking the user is the host's task. It needs no lock: its
state between calls may be lost without harm.
"""

from __future__ import annotations

import collections
import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

import lspkit.operations as ops
from lspkit.agent.check_timeout import CheckTimeouts
from lspkit.agent.tools.arguments import ToolRequest, bad_input, mapping_of, read_arguments
from lspkit.agent.tools.envelope import (
    FEWEST_BYTES,
    MOST_BYTES,
    MOST_ITEMS,
    Envelope,
    TextBudget,
    ToolOutcome,
    caveats_of,
    evaluate_report,
    failures_of,
    make_envelope,
    servers_of,
    to_json,
    with_relative_paths,
)
from lspkit.agent.tools.result_data import ResultContext, shape_result, shorten
from lspkit.agent.tools.result_text import (
    Page,
    bare_name,
    longest_word,
    result_text,
    search_form_for,
)
from lspkit.agent.tools.schemas import Schema, Shape, Style, tool_schemas
from lspkit.agent.tools.source_lines import SourceLines
from lspkit.agent.tools.tool_table import SINGLE, TABLE, ToolSpec, offered_tools, spec_of
from lspkit.config import Config
from lspkit.config.model import DISABLED, Permission
from lspkit.config.problems import suggestion_for
from lspkit.diagnostics.render import findings_word, name_of
from lspkit.edit_types import WorkspaceEdit
from lspkit.errors import LspkitError, NoServerError, PathError, ServerUnavailableError
from lspkit.operations.request import OPERATIONS, Request
from lspkit.protocol.uris import uri_to_path
from lspkit.runtime.concurrency.call import AnswerLog, CancelLike
from lspkit.runtime.engine_api import Limits
from lspkit.types import Call, CallItem, Severity
from lspkit.visible_text import one_line
from lspkit.workspace import CHECK_TIMEOUT, Workspace
from lspkit.workspace_boundary import Boundary, absolute_path, locate

log = logging.getLogger("lspkit.agent")

# Checks the items of a call hierarchy that a model passes back.
#
# An item contains a URI, which a model may have changed. So the file must be inside the boundary. A
# server's own items may be outside, in a library: these are recorded when they are returned, and
# accepted later.

#: Most items that are recorded.
MOST_RECORDED = 2_000
#: Characters of a URI in a message.
LONGEST_SHOWN = 60


class HierarchyItems:
    """The items that were returned to the model. Thread-safe."""

    def __init__(self) -> None:
        #: Digests. Each operation on the deque is atomic, so it needs no lock.
        self._known: collections.deque[bytes] = collections.deque(maxlen=MOST_RECORDED)

    def note(self, result: Any) -> None:
        """Record the items of a result."""
        self._known.extend([_digest(item) for item in _items(result)])

    def refuse_foreign(self, item: CallItem, boundary: Boundary) -> None:
        """Raise a `PathError` unless the item was recorded, or is inside the boundary."""
        if _digest(item) in tuple(self._known):
            return
        path = uri_to_path(item.uri)
        if path is not None:
            locate(path, boundary, may_be_missing=True)
        elif item.uri[:5].lower() == "file:":
            # A server may find a file by it nevertheless.
            shown = shorten(one_line(item.uri), LONGEST_SHOWN)
            message = f"{shown} names no file of this machine that could be checked"
            raise PathError(message, code="EOUTSIDE", path=shown, boundary=boundary.root)


def _items(result: Any) -> Iterable[CallItem]:
    for entry in result if isinstance(result, list) else ():
        item = entry.item if isinstance(entry, Call) else entry
        if isinstance(item, CallItem) and item.raw:
            yield item


def _digest(item: CallItem) -> bytes:
    """A digest that does not depend on the formatting of the JSON."""
    raw = json.dumps(json.loads(item.raw), sort_keys=True)
    return hashlib.sha256(f"{item.server}\0{raw}".encode("utf-8", "surrogatepass")).digest()


# Whether a host should run a call, ask first, or refuse it.
#
# The table has the defaults; the configuration overrides them, by any name of a tool.

#: In order of strictness.
_STRICTER: tuple[Permission, ...] = ("allow", "ask", "deny")


class PermissionRefused(LspkitError):
    """A call that is not allowed."""

    code = "EPERM"


def permission_of(name: str, operation: object, config: Config) -> Permission:
    """The permission of a tool. That of the single tool depends on the operation."""
    rows = offered_tools(config)
    if name == SINGLE:
        named = [row for row in rows if row.operation == operation]
        permissions = [
            _row_permission(row, config, config.permissions.get(SINGLE)) for row in named or rows
        ]
    else:
        permissions = [_row_permission(row, config) for row in rows if row is spec_of(name)]
    return max(permissions, key=_STRICTER.index, default="deny")


def _row_permission(row: ToolSpec, config: Config, single: Permission | None = None) -> Permission:
    own = next((config.permissions[name] for name in row.names if name in config.permissions), None)
    permissions = [permission for permission in (own, single) if permission is not None]
    return max(permissions, key=_STRICTER.index, default=row.permission)


def check_permission(row: ToolSpec, tool: str, config: Config) -> None:
    """Raise an error if the configuration disables or denies a call."""
    called = row.called_as(tool)
    if not config.enabled:
        raise NoServerError(DISABLED)
    if row not in offered_tools(config):
        raise PermissionRefused(f"{called} is switched off by the configuration (navigationTools)")
    if permission_of(tool, row.operation, config) == "deny":
        raise PermissionRefused(f"{called} is denied by the configuration (permissions)")


#: Raises an `LspkitError` if a host does not allow an absolute path.
PathCheck = Callable[[str], object]

#: What the diagnostics of all files are.
SO_FAR = (
    "only files that were checked so far are listed, with what was found then; "
    "a filePath checks one file as it is now"
)


class ToolAnswer(msgspec.Struct, frozen=True):
    """The answer to a call in both forms."""

    #: The answer as data.
    envelope: Envelope
    #: The answer for the model: JSON of the envelope for the single tool, text for the others.
    text: str


class _Call(msgspec.Struct):
    """A call in progress."""

    outcome: ToolOutcome
    limits: Limits
    check_path: PathCheck | None = None
    row: ToolSpec | None = None
    request: ToolRequest | None = None
    config: Config | None = None
    #: The words for a file without findings; empty if that is not proven.
    clean: str = ""
    began: float = msgspec.field(default_factory=time.monotonic)

    @property
    def duration(self) -> float:
        """The seconds since it began."""
        return time.monotonic() - self.began


class Toolbox:
    """The tools of one workspace.

        toolbox = Toolbox(ws)
        tools = toolbox.schemas("openai", "per-operation")    # for the model's interface
        toolbox.execute("lsp_definition", '{"filePath": "src/app.py", "symbol": "main"}')

    `search_tool` and `search_form` are the search that a model is advised to use when a server
    fails: the form contains `{tool}` and `{symbol}`. `apply_hint` is what the user can do so that
    `apply` is allowed, for the refusal. Thread-safe.
    """

    def __init__(
        self,
        ws: Workspace,
        *,
        allow_apply: bool = False,
        apply_hint: str = "",
        search_tool: str = "grep",
        search_form: str | None = None,
        max_items: int = MOST_ITEMS,
        max_bytes: int = MOST_BYTES,
    ) -> None:
        if max_items < 1 or max_bytes < FEWEST_BYTES:
            raise ValueError(f"max_items must be at least 1, max_bytes at least {FEWEST_BYTES}")
        self._ws = ws
        self._allow_apply, self._apply_hint = allow_apply, apply_hint
        self._search_tool = search_tool
        self._search_form = search_form_for(search_tool) if search_form is None else search_form
        self._room = TextBudget(max_items, max_bytes)
        self._items = HierarchyItems()
        self._timeouts = CheckTimeouts(ws)
        #: The generation of the configuration, and the warnings about the workspace with it.
        self._standing: tuple[int, tuple[str, ...]] = (0, ())

    def schemas(
        self, style: Style = "openai", shape: Shape = "single", *, output: bool = False
    ) -> list[Schema]:
        """The enabled tools for the API of a model."""
        return tool_schemas(style, shape, config=self._ws.config, output=output)

    def call(
        self, input: object, *, timeout: float | None = None, cancel: CancelLike | None = None
    ) -> Envelope:
        """Run the single tool, and return the envelope."""
        return self._run_call(SINGLE, input, _Call(ToolOutcome(), Limits(timeout, cancel)))

    def execute(
        self,
        name: str,
        arguments: object = None,
        *,
        timeout: float | None = None,
        cancel: CancelLike | None = None,
    ) -> str:
        """Run a tool by its name, and return the text for the model."""
        return self.answer(name, arguments, timeout=timeout, cancel=cancel).text

    def answer(
        self,
        name: str,
        arguments: object = None,
        *,
        timeout: float | None = None,
        cancel: CancelLike | None = None,
        check_path: PathCheck | None = None,
    ) -> ToolAnswer:
        """Run a tool by its name, and return the answer as data and as text.

        `check_path` raises an `LspkitError` if an absolute path is not allowed. It is called for
        the files of an item in the arguments, and for those of an edit before it is applied.
        """
        call = _Call(ToolOutcome(), Limits(timeout, cancel), check_path)
        made = self._run_call(name, arguments, call)
        if name == SINGLE:
            return ToolAnswer(made, to_json(made))
        try:
            return ToolAnswer(made, self._text(call, made))
        except Exception:
            log.debug("the text of %s could not be made", name, exc_info=True)
            messages = [error["message"] for error in made["errors"]]
            return ToolAnswer(made, "\n".join(messages) or to_json(made))

    def permission(self, name: str, arguments: object = None) -> Permission:
        """Whether the host should run a call, ask its user first, or refuse it.

        For `lsp` it depends on the arguments; without them it is the strictest permission.
        """
        try:
            given = mapping_of(arguments).get("operation") if arguments is not None else None
            return permission_of(name, given, self._ws.config)
        except Exception:  # noqa: BLE001 - a tool never raises; an unknown call is not allowed
            return "deny"

    # One call

    def _run_call(self, name: str, arguments: object, call: _Call) -> Envelope:
        """Run a call, and return the envelope, also after a failure."""
        try:
            self._attempt(call, name, arguments)
        except LspkitError as problem:
            call.outcome.errors.insert(0, with_relative_paths(problem, str(self._ws.root)))
        except Exception as problem:  # noqa: BLE001 - a tool never raises, whatever it is given
            call.outcome.errors.append(_internal_error(problem))
        took = int(call.duration * 1000)
        try:
            return make_envelope(call.outcome, took, self._room)
        except Exception as problem:  # noqa: BLE001 - as above
            failed = ToolOutcome(
                operation=call.outcome.operation, errors=[_internal_error(problem)]
            )
            return make_envelope(failed, took, self._room)

    def _attempt(self, call: _Call, name: str, arguments: object) -> None:
        given = mapping_of(arguments)
        row = _operation(given, call) if name == SINGLE else _tool(name)
        call.row, call.outcome.operation = row, row.operation
        call.request = request = read_arguments(row, given, name)
        call.outcome.warnings += request.warnings
        settings = self._ws.settings
        call.config = config = settings.config
        call.outcome.standing = self._warnings(settings.generation)
        check_permission(row, name, config)
        apply = bool(request.values.get("apply"))
        if apply and not self._allow_apply:
            message = "apply is not allowed here: leave it out for a preview, and edit the files"
            hint = f"; {self._apply_hint}" if self._apply_hint else ""
            raise PermissionRefused(f"{message}{hint}")
        if (item := request.values.get("item")) is not None:
            self._check_item(call, item, config)
        result = self._result(call, request.request)
        self._items.note(result)
        call.outcome.caveats = caveats_of(result)
        if apply and isinstance(result, WorkspaceEdit) and result.changes:
            self._apply(call, result, force=bool(request.values.get("force")))
        elif apply:
            apply = False
        frame = ResultContext(
            root=str(self._ws.root),
            requested=self._requested_file(request),
            severity=Severity(config.diagnostics.severity),
            applied=apply,
        )
        kind = OPERATIONS[type(request.request)].result
        if not call.outcome.errors or call.outcome.hits:
            call.outcome.shaped = shape_result(result, kind, frame)

    def _result(self, call: _Call, request: Request[Any]) -> Any:
        limits, outcome = call.limits, call.outcome
        if not isinstance(request, ops.CheckRequest):
            answer_log = AnswerLog()
            try:
                result = self._ws.run(
                    request,
                    timeout=limits.timeout,
                    cancel=limits.cancel,
                    answer_log=answer_log,
                )
            finally:
                outcome.hits, outcome.errors = answer_log.answered, failures_of(answer_log)
            if isinstance(request, ops.DiagnosticsRequest):
                outcome.hits = servers_of(result)  # no server was asked
                outcome.warnings.append(SO_FAR)
            return result
        if limits.timeout is None:
            limits = Limits(self._timeouts.seconds(request.path), limits.cancel)
        report = self._ws.run(request, timeout=limits.timeout, cancel=limits.cancel)
        self._timeouts.spend(request.path)
        cancelled = limits.cancel is not None and limits.cancel.is_set()
        outcome.hits, outcome.errors, warnings = evaluate_report(report, cancelled=cancelled)
        outcome.warnings += warnings
        if report.verdict.clean:
            name = name_of(report.path, self._ws.root)
            call.clean = f"{name}: no {findings_word(report.severity)}"
        return report

    def _check_item(self, call: _Call, item: CallItem, config: Config) -> None:
        root = str(self._ws.root)
        self._items.refuse_foreign(item, config.boundary(root))
        if call.check_path is not None:
            call.check_path(absolute_path(item.via, root))
            if (path := uri_to_path(item.uri)) is not None:
                call.check_path(path)

    def _apply(self, call: _Call, edit: WorkspaceEdit, *, force: bool) -> None:
        if call.check_path is not None:
            for path in edit.files:
                call.check_path(str(path))
        timeout, cancel = call.limits.timeout, call.limits.cancel
        left = CHECK_TIMEOUT if timeout is None else max(0.0, timeout - call.duration)
        change = self._ws.apply(edit, check="project", force=force, timeout=left, cancel=cancel)
        shown = {one_line(caveat.message) for caveat in edit.caveats}  # with the preview
        unchecked = (line for line in change.unchecked if line not in shown)
        call.outcome.warnings += [
            f"applied, but not checked: {line.removeprefix(f'{self._ws.root}/')}"
            for line in unchecked
        ]

    def _requested_file(self, request: ToolRequest) -> str:
        item = request.values.get("item")
        path = request.values.get("path", item.via if item is not None else "")
        return os.path.realpath(absolute_path(path, str(self._ws.root))) if path else ""

    def _warnings(self, generation: int) -> tuple[str, ...]:
        """Warnings about the workspace, updated when the configuration is reloaded."""
        known, warnings = self._standing
        if known != generation:
            warnings = self._ws.run(ops.WarningsRequest())
            self._standing = (generation, warnings)
        return warnings

    # Text

    def _text(self, call: _Call, made: Envelope) -> str:
        row = call.row
        if row is None:
            return "\n".join(error["message"] for error in made["errors"])
        sources = SourceLines((call.config or Config()).boundary(str(self._ws.root)))
        page = Page(
            row=row,
            sources=sources,
            search_tool=self._search_tool,
            search_form=self._search_form,
            symbol=_symbol(call.request, sources) if call.request else "",
            most=self._room.bytes,
            installs={
                error.server: error.install
                for error in call.outcome.errors
                if isinstance(error, ServerUnavailableError) and error.install
            },
            clean=call.clean,
        )
        # Warnings about the workspace come after these, and are only in the data.
        about = len(dict.fromkeys((*call.outcome.caveats, *call.outcome.warnings)))
        return result_text(made, page, made["meta"]["warnings"][:about])


def _operation(given: dict[str, Any], call: _Call) -> ToolSpec:
    """The operation in the arguments of the single tool; its name is recorded in any case."""
    name = given.pop("operation", None)
    call.outcome.operation = name if isinstance(name, str) else ""
    operations = {row.operation: row for row in TABLE}
    expected = f"expected one of {', '.join(operations)}"
    if name is None:
        raise bad_input(f"operation is missing: {expected}")
    if not isinstance(name, str) or name not in operations:
        shown = one_line(name[:60]) if isinstance(name, str) else "no text"
        near = suggestion_for(name, operations) if isinstance(name, str) else ""
        raise bad_input(f"operation is {shown}: {expected}{near}")
    return operations[name]


def _tool(name: object) -> ToolSpec:
    row = spec_of(name)
    if row is None:
        tools = [SINGLE, *(row.tool for row in TABLE)]
        shown = one_line(name[:60]) if isinstance(name, str) else "of no name"
        raise bad_input(f"there is no tool {shown}: there are {', '.join(tools)}")
    return row


def _symbol(request: ToolRequest, sources: SourceLines) -> str:
    """The name in a call, empty if not known."""
    values = request.values
    if "symbol" in values:
        return bare_name(values["symbol"])
    if "item" in values:
        return bare_name(values["item"].name)
    if "query" in values:
        return longest_word(values["query"])
    if "line" in values:
        return sources.word(values["path"], values["line"], values["column"])
    return ""


def _internal_error(problem: Exception) -> LspkitError:
    """A fault of lspkit: the traceback is logged, and the model gets a short message."""
    log.debug("a tool call failed inside lspkit", exc_info=problem)
    return LspkitError(f"lspkit itself failed ({type(problem).__name__}); see its log")
