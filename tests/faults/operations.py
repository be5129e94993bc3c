"""The columns of the fault matrix: every question that a Workspace takes, as data.

A row says which message of the protocol carries the answer, so that a fault can be put on it, how
the question is asked, and what the right answer looks like as text. `show` makes that text of any
answer. The texts of the files and the canned answers of the scripted server are here as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import lspkit
from lspkit.edit_types import CodeAction, FileEdit, WorkspaceEdit
from lspkit.types import Call, HierarchyItem, Location, SignatureHelp, Symbol


@dataclass(frozen=True)
class Subject:
    """A file to ask about. Each defines a word of its own, so that answers can be told apart."""

    file: str
    word: str

    @property
    def text(self) -> str:
        """The word is defined on line 1 and used on line 2, where something is wrong as well."""
        return f"def {self.word}\n😀 {self.word} ERROR\n"


#: Whom the questions are about, and whom a second caller asks about at the same time.
SUBJECTS = (Subject("a.scr", "greet"), Subject("b.scr", "treat"))
#: A file that is opened first, so that the server is up when it is asked.
WARM = Subject("warm.scr", "began")
#: Asked about the file above; the answer is null.
WARM_METHOD = "x/warm"

Ask = Callable[[lspkit.Workspace, Subject, float], Any]


@dataclass(frozen=True)
class Operation:
    """One column."""

    name: str
    #: The message that faults are put on: a request, or a notification of the server.
    method: str
    ask: Ask
    #: The right answer as `show` has it; {file} and {word} are the subject's.
    right: str
    #: How the server reports what is wrong with a file.
    diagnostics: Literal["push", "pull"] = "push"
    #: Which occurrence of the message is the one in question.
    occurrence: int = 1
    #: The message of the client that leads to it.
    trigger: str = ""
    #: Whether the operation asks something else afterwards.
    goes_on: bool = False
    #: Whether the operation needs the server before it asks.
    begins_before: bool = False

    @property
    def cause(self) -> str:
        """The message of the client that leads to the one in question."""
        return self.trigger or self.method

    @property
    def is_push(self) -> bool:
        """Whether the answer is something that the server says of itself."""
        return bool(self.trigger)

    @property
    def is_raw(self) -> bool:
        """Whether the answer is handed on as it came."""
        return self.ask is _request

    @property
    def is_check(self) -> bool:
        """Whether a failure becomes a report that says so, rather than an error."""
        return self.ask is _check


def _at(name: str, line: int = 2, column: int = 4, **more: Any) -> Ask:
    def ask(ws: lspkit.Workspace, subject: Subject, timeout: float) -> Any:
        return getattr(ws, name)(subject.file, line, column, timeout=timeout, **more)

    return ask


def _check(ws: lspkit.Workspace, subject: Subject, timeout: float) -> Any:
    return ws.check(subject.file, timeout=timeout)


def _document_symbols(ws: lspkit.Workspace, subject: Subject, timeout: float) -> Any:
    return ws.document_symbols(subject.file, timeout=timeout)


def _workspace_symbols(ws: lspkit.Workspace, subject: Subject, timeout: float) -> Any:
    return ws.workspace_symbols("gr", subject.file, timeout=timeout)


def _request(ws: lspkit.Workspace, subject: Subject, timeout: float) -> Any:
    return ws.request(subject.file, "x/echo", {"say": "hello"}, timeout=timeout)


_DOCUMENT = "textDocument/"
_ITEM = "greet a.scr:1:5"

OPERATIONS = (
    Operation("definition", _DOCUMENT + "definition", _at("definition"), "{file}:1:5"),
    Operation("declaration", _DOCUMENT + "declaration", _at("declaration"), "a.scr:1:5"),
    Operation("type_definition", _DOCUMENT + "typeDefinition", _at("type_definition"), "a.scr:1:5"),
    Operation("implementation", _DOCUMENT + "implementation", _at("implementation"), "a.scr:1:5"),
    Operation("references", _DOCUMENT + "references", _at("references"), "{file}:1:5, {file}:2:3"),
    Operation("hover", _DOCUMENT + "hover", _at("hover"), "def {word}"),
    Operation(
        "signature_help", _DOCUMENT + "signatureHelp", _at("signature_help"), "greet(who) 0 0"
    ),
    Operation(
        "document_symbols", _DOCUMENT + "documentSymbol", _document_symbols, "{word} {file}:1:5"
    ),
    Operation("workspace_symbols", "workspace/symbol", _workspace_symbols, _ITEM),
    Operation(
        "prepare_call_hierarchy",
        _DOCUMENT + "prepareCallHierarchy",
        _at("prepare_call_hierarchy"),
        _ITEM,
    ),
    Operation(
        "incoming_calls",
        "callHierarchy/incomingCalls",
        _at("incoming_calls"),
        f"{_ITEM} from 2:3-2:8",
    ),
    Operation(
        "outgoing_calls",
        "callHierarchy/outgoingCalls",
        _at("outgoing_calls"),
        f"{_ITEM} from 2:3-2:8",
    ),
    Operation("supertypes", "typeHierarchy/supertypes", _at("supertypes"), _ITEM),
    Operation("subtypes", "typeHierarchy/subtypes", _at("subtypes"), _ITEM),
    Operation(
        "subtypes, in prepare",
        _DOCUMENT + "prepareTypeHierarchy",
        _at("subtypes"),
        _ITEM,
        goes_on=True,
    ),
    Operation(
        "rename",
        _DOCUMENT + "rename",
        _at("rename", new_name="meet"),
        "{file} 1:5-1:10 meet, {file} 2:3-2:8 meet",
        begins_before=True,  # it sees that the server has no `prepareRename`
    ),
    Operation(
        "code_actions", _DOCUMENT + "codeAction", _at("code_actions"), "Greet politely (quickfix)"
    ),
    Operation(
        "check, pushed",
        _DOCUMENT + "publishDiagnostics",
        _check,
        "dirty 2:9",
        occurrence=2,  # the first is about the file that was opened to warm up
        trigger=_DOCUMENT + "didOpen",
    ),
    Operation(
        "check, pulled",
        _DOCUMENT + "diagnostic",
        _check,
        "dirty 2:9",
        diagnostics="pull",
    ),
    Operation("request", "x/echo", _request, "{{'said': 'hello'}}"),
)


def answers(uri: str) -> dict[str, Any]:
    """The canned answers, for what the scripted server does not compute; `uri` is `a.scr`'s."""
    name = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
    # The character before it takes two units of UTF-16, which is what the server counts in.
    use = {"start": {"line": 1, "character": 3}, "end": {"line": 1, "character": 8}}
    place = {"uri": uri, "range": name}
    item = {"name": "greet", "kind": 12, "uri": uri, "range": name, "selectionRange": name}
    signature = {"label": "greet(who)", "parameters": [{"label": "who"}]}
    return {
        _DOCUMENT + "declaration": [place],
        _DOCUMENT + "typeDefinition": [place],
        _DOCUMENT + "implementation": [place],
        _DOCUMENT + "signatureHelp": {
            "signatures": [signature],
            "activeSignature": 0,
            "activeParameter": 0,
        },
        "workspace/symbol": [{"name": "greet", "kind": 12, "location": place}],
        _DOCUMENT + "prepareCallHierarchy": [item],
        "callHierarchy/incomingCalls": [{"from": item, "fromRanges": [use]}],
        "callHierarchy/outgoingCalls": [{"to": item, "fromRanges": [use]}],
        _DOCUMENT + "prepareTypeHierarchy": [item],
        "typeHierarchy/supertypes": [item],
        "typeHierarchy/subtypes": [item],
        _DOCUMENT + "codeAction": [{"title": "Greet politely", "kind": "quickfix"}],
        "x/echo": {"said": "hello"},
        WARM_METHOD: None,
    }


def _name(path: Path | None) -> str:
    return path.name if path is not None else "?"


def _named(thing: Symbol | HierarchyItem) -> str:
    return f"{thing.name} {_name(thing.path)}:{thing.selection.start}"


def _edits(edit: WorkspaceEdit) -> str:
    return ", ".join(
        f"{_name(change.path)} {one.range} {one.new_text}"
        for change in edit.changes
        if isinstance(change, FileEdit)
        for one in change.edits
    )


def _signatures(told: SignatureHelp) -> str:
    return f"{told} {told.active_signature} {told.active_parameter}"


def _report(report: lspkit.Report) -> str:
    places = (str(one.range.start) for one in report.diagnostics)
    return " ".join([report.verdict.value, *places])


#: How each kind of answer is written.
_SHOWN: dict[type, Callable[[Any], str]] = {
    Location: lambda one: f"{_name(one.path)}:{one.range.start}",
    Symbol: _named,
    HierarchyItem: _named,
    Call: lambda one: f"{_named(one.item)} from {', '.join(map(str, one.ranges))}",
    lspkit.Hover: lambda one: " ".join(one.contents),
    SignatureHelp: _signatures,
    WorkspaceEdit: _edits,
    CodeAction: str,
    lspkit.Report: _report,
}


def show(answer: Any) -> str:
    """An answer as text; an empty one is the empty text."""
    if answer is None:
        return ""
    if isinstance(answer, list):
        return ", ".join(map(show, answer))
    shown = next((_SHOWN[kind] for kind in type(answer).__mro__ if kind in _SHOWN), str)
    return shown(answer)
