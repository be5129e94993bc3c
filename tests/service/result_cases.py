"""Calls that give a result, to be compared between a workspace in this process and the service."""

from __future__ import annotations

from typing import Any

import lspkit
import lspkit.operations as ops
from lspkit.agent import EditHooks, Toolbox
from lspkit.runtime.concurrency.call import AnswerLog
from lspkit.testing import Log
from tests.service.compared_outcomes import Case, Scene
from tests.service.contract_services import non_utf8

A = "a.scr"
#: Not UTF-8, as every file name on Linux may be.
ODD = non_utf8("odd") + ".scr"
TEXT = "def greet\n😀 greet ERROR\n"
#: Seconds for what ends by itself.
LONG = 60.0


def at(name: str, *place: Any, **more: Any) -> Case:
    return lambda scene: getattr(scene.ws, name)(A, *(place or (2, 4)), timeout=LONG, **more)


def call(name: str, *given: Any, **more: Any) -> Case:
    return lambda scene: getattr(scene.ws, name)(*given, **more)


def kept(name: str, case: Case) -> Case:
    return lambda scene: scene.keep(name, case(scene))


def overlaid(scene: Scene) -> Any:
    with scene.ws.overlay({A: "ERROR ERROR\n", "new.scr": "def fresh\n"}):
        inside = scene.ws.check(A)
        new = scene.ws.document_symbols("new.scr")
        with scene.ws.overlay({A: "WARN\n"}):
            nested = scene.ws.check(A)
    return inside, new, nested, scene.ws.check(A)


def synced(scene: Scene) -> Any:
    sent = scene.ws.sync(A, "def greet\nWARN\n")
    seen = scene.ws.check(A, "def greet\nWARN WARN\n")
    return sent, seen, scene.ws.sync(A), scene.ws.check(A)


def epochs(scene: Scene) -> Any:
    before = scene.ws.epoch
    scene.ws.check(A, f"ERROR {before}\n")
    later = scene.ws.wait_for_change(before, timeout=LONG)
    same = scene.ws.wait_for_change(later + 10**6, timeout=0.05)
    return type(before), later > before, same >= later, scene.ws.epoch >= later


def changed_on_disk(scene: Scene) -> Any:
    first = scene.ws.changed_files()
    (scene.root / "b.scr").write_text("def treat\nWARN\n")
    found = scene.ws.changed_files(first.mark)
    (scene.root / "b.scr").write_text("def treat\n")
    return first, found, scene.ws.changed_files(found.mark), scene.ws.changed_files(12345)


def edited(scene: Scene) -> Any:
    edit = scene.ws.rename(A, 2, 4, "meet", timeout=LONG)
    applied = scene.ws.apply(edit)
    text = (scene.root / A).read_text()
    undone = scene.ws.undo(applied)
    again = scene.ws.apply(edit)
    checked = scene.ws.undo(again, check="project", timeout=LONG)
    return edit, applied, text, undone, checked, (scene.root / A).read_text()


def partial(scene: Scene) -> Any:
    """A file of two servers, one of which fails: the log tells which has answered."""
    log = AnswerLog()
    request = ops.DefinitionRequest(path="p.two", line=2, column=4)
    found = scene.ws.run(request, timeout=LONG, answer_log=log)
    return found, log.answered, log.failed


def log_of(scene: Scene) -> Log:
    """What the server of `.scr` files has got."""
    rows = scene.ws.status().rows
    return Log.of(next(row.command for row in rows if row.server == "scripted"))


def received(params: Any) -> Case:
    """The parameters of a raw request as they reach the server."""

    def case(scene: Scene) -> Any:
        answer = scene.ws.request(A, "x/echo", params)
        return answer, log_of(scene).messages("x/echo")[-1]["params"]

    return case


def cancelled() -> lspkit.CancelToken:
    token = lspkit.CancelToken()
    token.set()
    return token


def submitted(name: str, *given: Any, **more: Any) -> Case:
    def case(scene: Scene) -> Any:
        future = scene.ws.submit(getattr(scene.ws, name), *given, **more)
        problem = future.exception(LONG)
        return future.result() if problem is None else problem

    return case


def tool(name: str, arguments: Any) -> Case:
    def case(scene: Scene) -> Any:
        answer = Toolbox(scene.ws, allow_apply=True).answer(name, arguments, timeout=LONG)
        return answer.envelope, answer.text

    return case


def hooked(scene: Scene) -> Any:
    hooks = EditHooks(scene.ws)
    (scene.root / A).write_text(TEXT + "ERROR again\n")
    first = hooks.tool_result("write_file", {"path": A}, "written", timeout=LONG)
    kept = hooks.last
    (scene.root / A).write_text(TEXT)
    second = hooks.tool_result("edit", {"path": A}, "edited", timeout=LONG)
    return first, kept, second, hooks.last, hooks.counts


def written(scene: Scene) -> Any:
    report = scene.ws.write("made/new.scr", "def fresh\nERROR\n", timeout=LONG)
    moved = scene.ws.move("made/new.scr", "made/old.scr")
    there = sorted(one.name for one in (scene.root / "made").iterdir())
    deleted = scene.ws.delete("made/old.scr")
    wide = scene.ws.write("made/new.scr", "def fresh\n", check="project", timeout=LONG)
    gone = scene.ws.move("made/new.scr", "made/old.scr", check="project", timeout=LONG)
    return report, moved, there, deleted, wide, gone


def restarted(scene: Scene) -> Any:
    """And asked about one file: others are opened again in the background."""
    return scene.ws.restart("scripted", timeout=LONG), scene.ws.document_symbols(A, timeout=LONG)


RESULTS: dict[str, Case] = {
    "config": lambda scene: scene.ws.config,
    "settings": lambda scene: (scene.ws.settings, scene.ws.settings),
    "status before a server runs": call("status"),
    "running servers": lambda scene: scene.ws.run(ops.FileServersRequest()),
    "servers of a file": lambda scene: scene.ws.run(ops.FileServersRequest(path=A)),
    "warnings": lambda scene: scene.ws.run(ops.WarningsRequest()),
    "trust notice": lambda scene: scene.ws.run(ops.TrustNoticeRequest()),
    "definition": at("definition"),
    "definition by symbol": at("definition", None, None, symbol="greet"),
    "definition in a text": at("definition", 1, 6, text="x greet\ndef greet\n"),
    "definition of a path": lambda scene: scene.ws.definition(scene.root / A, 2, 4),
    "definition in a file whose name is not UTF-8": call("definition", ODD, 2, 4),
    "declaration": at("declaration"),
    "type_definition": at("type_definition"),
    "implementation": at("implementation"),
    "references": at("references"),
    "references without the declaration": at("references", include_declaration=False),
    "hover": at("hover"),
    "no hover": at("hover", 2, 2),
    "signature_help": at("signature_help"),
    "document_symbols": call("document_symbols", A),
    "workspace_symbols": call("workspace_symbols", "gr", A),
    "workspace_symbols without a file": call("workspace_symbols", "gr"),
    "prepare_call_hierarchy": kept("items", at("prepare_call_hierarchy")),
    "incoming_calls": at("incoming_calls"),
    "incoming_calls of an item": lambda s: s.ws.incoming_calls(s.kept["items"][0]),
    "outgoing_calls": at("outgoing_calls"),
    "outgoing_calls of an item": lambda s: s.ws.outgoing_calls(s.kept["items"][0]),
    "supertypes": kept("types", at("supertypes")),
    "subtypes": at("subtypes"),
    "callers at the place of a type": lambda s: s.ws.incoming_calls(s.kept["types"][0]),
    "hover of an item": lambda s: s.ws.hover(s.kept["items"][0]),
    "subtypes of an item": lambda s: s.ws.subtypes(s.kept["types"][0]),
    "choice as a text": at("references", include_declaration=""),
    "rename": at("rename", 2, 4, "meet"),
    "code_actions": at("code_actions"),
    "code_actions of a kind": at("code_actions", 1, 1, end_line=2, end_column=1, only=["quickfix"]),
    "request": call("request", A, "x/echo", {"say": [1, 2.5, None, "\0😀"]}),
    "request with parameters that JSON has no words for": received(
        {"tuple": (1, 2), 3: b"bytes", "inf": float("inf"), "set": {1}, "large": 2**63}
    ),
    "request with a text that is not UTF-8": received({ODD: [ODD, "\0", "\0dcff"]}),
    "check": call("check", A),
    "check of a text": call("check", A, "WARN\nERROR\n"),
    "check of a project": call("check", A, scope="project"),
    "check with a severity": call("check", A, "WARN\n", severity="warning"),
    "check of a file whose name is not UTF-8": call("check", ODD),
    "check_all": lambda s: s.ws.check_all([A, "b.scr", ODD, "missing.scr", "x.none", "x.gone"]),
    "check_edit": lambda s: s.ws.run(ops.CheckEditRequest(files=(ops.EditedFile("b.scr"),))),
    "check_edit with the text before": lambda s: s.ws.run(
        ops.CheckEditRequest(files=(ops.EditedFile("b.scr", "def greet\n"),), first=(A,))
    ),
    "diagnostics": call("diagnostics"),
    "diagnostics of a file": call("diagnostics", A),
    "partial answer": partial,
    "overlay": overlaid,
    "sync": synced,
    "epoch and wait_for_change": epochs,
    "status, cancelled before": lambda s: type(s.ws.run(ops.StatusRequest(), cancel=cancelled())),
    "epoch, cancelled before": lambda s: s.ws.wait_for_change(-1, cancel=cancelled()) > -1,
    "changed_files": changed_on_disk,
    "write, move and delete": written,
    "apply and undo": edited,
    "submit": submitted("definition", A, 2, 4),
    "submit of a check": submitted("check", A, "ERROR\n"),
    "tool": tool("lsp", {"operation": "goToDefinition", "filePath": A, "line": 2, "character": 4}),
    "tool by name": tool("lsp_references", {"filePath": A, "symbol": "greet"}),
    "tool with a partial answer": tool(
        "lsp", {"operation": "goToDefinition", "filePath": "p.two", "line": 2, "character": 4}
    ),
    "tool for diagnostics": tool("lsp_diagnostics", {"filePath": A}),
    "tool for a missing file": tool("lsp_hover", {"filePath": "missing.scr", "symbol": "x"}),
    "tool with bad arguments": tool("lsp", {"operation": "nothing"}),
    "tool that renames": tool("lsp_rename", {"filePath": A, "symbol": "greet", "newName": "meet"}),
    "hooks": hooked,
    "status": call("status"),
    "status of a folder": lambda scene: scene.ws.status(scene.root),
    "status_text": call("status_text"),
    "reload": call("reload"),
    "status after a reload": call("status"),
    "restart": restarted,
}
