"""`lspkit serve --stdio`: every method, the bootstrap variable, and the end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import lspkit
from lspkit.service.client_session import METHODS
from lspkit.testing import Fault, Script
from tests.scripted import config_for
from tests.service.site import Site, descendants, nothing_runs
from tests.service.stdio_service import StdioService

CALL_FAILED = -32000


@pytest.fixture
def service(site: Site) -> Iterator[StdioService]:
    """A service that has said that it is ready."""
    with StdioService(site) as made:
        ready = made.receive()
        assert ready is not None and ready["method"] == "lsp/ready"
        yield made


def bootstrap(root: object, **more: Any) -> dict[str, str]:
    """The environment variable."""
    return {"LSP_BOOTSTRAP": json.dumps({"workspaceRoot": str(root), **more})}


def test_the_first_message_says_that_it_is_ready(site: Site) -> None:
    with StdioService(site) as made:
        ready = made.receive()
        assert ready == {
            "jsonrpc": "2.0",
            "method": "lsp/ready",
            "params": {
                "version": lspkit.__version__,
                "pid": made.process.pid,
                "root": str(site.project),
                "environment": {
                    name: site.environ.get(name, "") for name in ("PATH", "VIRTUAL_ENV")
                },
            },
        }
        assert made.end() == (0, "")
    assert site.sockets() == []


def test_every_method_has_a_test_here() -> None:
    names = "call checkFile diagnostics diagnosticEpoch diagnosticsAfter status operation"
    further = "getDiagnosticEpoch getAllDiagnosticsAfter toolResult shutdown"
    assert set(METHODS) == {f"lsp/{name}" for name in f"{names} {further}".split()}


def test_check_file_reports_and_raises_the_epoch(service: StdioService, site: Site) -> None:
    epochs = [service.result("lsp/diagnosticEpoch")["epoch"]]
    on_disk = service.result("lsp/checkFile", {"path": "a.scr"})
    assert (on_disk["verdict"], on_disk["diagnostics"]) == ("clean", [])
    epochs.append(on_disk["epoch"])
    given = service.result("lsp/checkFile", {"path": "a.scr", "text": "ERROR\n"})
    assert given["verdict"] == "dirty"
    assert [one["severity"] for one in given["diagnostics"]] == ["error"]
    epochs.append(given["epoch"])
    # Also a check that finds what was known.
    for _ in range(2):
        epochs.append(service.result("lsp/checkFile", {"path": "a.scr"})["epoch"])
    assert epochs == sorted(set(epochs))
    assert service.result("lsp/getDiagnosticEpoch")["epoch"] >= epochs[-1]
    assert (site.project / "a.scr").read_text(encoding="utf-8") != "ERROR\n"


@pytest.mark.parametrize("method", ["lsp/diagnosticsAfter", "lsp/getAllDiagnosticsAfter"])
def test_known_diagnostics_are_in_the_order_of_their_files(
    service: StdioService, site: Site, method: str
) -> None:
    for name in ("b", "c", "B", "a"):
        (site.project / f"{name}.scr").write_text("ERROR\n", encoding="utf-8")
        epoch = service.result("lsp/checkFile", {"path": f"{name}.scr"})["epoch"]
    files = [str(site.project / f"{name}.scr") for name in ("B", "a", "b", "c")]
    assert list(service.result("lsp/diagnostics")["files"]) == files
    found = service.result(method, {"afterEpoch": epoch - 1, "waitMs": 60_000})
    assert list(found["files"]) == files
    assert found["epoch"] >= epoch


@pytest.mark.parametrize("method", ["lsp/diagnosticsAfter", "lsp/getAllDiagnosticsAfter"])
def test_a_wait_ends_with_a_newer_epoch_or_with_its_time(
    service: StdioService, method: str
) -> None:
    epoch = service.result("lsp/checkFile", {"path": "a.scr"})["epoch"]
    epoch = service.result("lsp/diagnosticEpoch")["epoch"]
    assert service.result(method, {"afterEpoch": epoch, "waitMs": 1})["epoch"] == epoch
    assert service.result(method, {"afterEpoch": epoch})["epoch"] == epoch
    waiting = service.begin(method, {"afterEpoch": epoch, "waitMs": 60_000})
    service.begin("lsp/checkFile", {"path": "a.scr", "text": "ERROR\n"})
    assert service.answer(waiting)["result"]["epoch"] > epoch


def test_status_names_the_servers_and_the_service(service: StdioService, site: Site) -> None:
    service.result("lsp/checkFile", {"path": "a.scr"})
    found = service.result("lsp/status")
    assert found["service"]["pid"] == service.process.pid
    assert found["service"]["root"] == str(site.project)
    assert "scripted" in json.dumps(found)


def test_call_takes_every_operation_of_a_workspace(service: StdioService, site: Site) -> None:
    given = {"path": "a.scr", "line": 2, "column": 4}
    params = {"method": "definition", "params": given}
    (found,) = service.result("lsp/call", params)["value"]
    assert found["path"] == str(site.project / "a.scr")
    assert found["range"]["start"] == {"line": 1, "column": 5}


def test_operation_is_the_single_tool(service: StdioService) -> None:
    given = {"operation": "goToDefinition", "filePath": "a.scr", "line": 2, "character": 4}
    found = service.result("lsp/operation", given)
    assert found["ok"] is True, found
    (place,) = found["data"]
    assert place["filePath"] == "a.scr"
    assert place["range"]["start"] == {"line": 1, "character": 5}


def test_tool_result_appends_findings(service: StdioService, site: Site) -> None:
    (site.project / "a.scr").write_text("ERROR\n", encoding="utf-8")
    params = {"tool": "write", "arguments": {"path": "a.scr"}, "output": "written"}
    found = service.result("lsp/toolResult", params)["output"]
    assert found.startswith("written\n")
    assert "a.scr" in found and "ERROR" in found


def test_a_request_can_be_cancelled() -> None:
    script = Script(faults=[Fault("textDocument/definition", "hang")])
    with Site(script) as site, StdioService(site) as service:
        given = {"path": "a.scr", "line": 2, "column": 4}
        number = service.begin("lsp/call", {"method": "definition", "params": given})
        site.log.wait_for_message("textDocument/definition")
        service.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
        error = service.answer(number)["error"]
        assert error["code"] == CALL_FAILED
        assert error["data"]["error"]["code"] == lspkit.CancelledError.code
        site.log.wait_for_message("$/cancelRequest")
        assert service.result("lsp/diagnosticEpoch")["epoch"] >= 0


def test_shutdown_is_answered_and_ends_it(service: StdioService, site: Site) -> None:
    service.result("lsp/checkFile", {"path": "a.scr"})
    assert service.result("lsp/shutdown") is None
    assert service.receive() is None
    assert service.end() == (0, "")
    assert nothing_runs(), descendants()
    assert site.log.messages("shutdown")


def test_the_end_of_its_input_ends_it_with_its_servers(service: StdioService, site: Site) -> None:
    service.result("lsp/checkFile", {"path": "a.scr"})
    assert service.end() == (0, "")
    assert nothing_runs(), descendants()
    assert site.log.messages("shutdown")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_its_servers(
    service: StdioService, site: Site, number: signal.Signals
) -> None:
    service.result("lsp/checkFile", {"path": "a.scr"})
    os.kill(service.process.pid, number)
    assert service.receive() is None
    assert service.end() == (0, "")
    assert nothing_runs(), descendants()


def test_it_takes_its_root_and_configuration_from_the_variable(site: Site) -> None:
    other = site.base / "other project"
    other.mkdir()
    (other / "b.own").write_text("def one\n", encoding="utf-8")
    config = config_for(site.argv)
    config["lsp"]["scripted"]["extensions"] = [".own"]
    with StdioService(site, **bootstrap(other, config=config)) as service:
        ready = service.receive()
        assert ready is not None and ready["params"]["root"] == str(other)
        assert service.result("lsp/checkFile", {"path": "b.own"})["verdict"] == "clean"
        assert service.end() == (0, "")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('{"workspaceRoot": ', "LSP_BOOTSTRAP cannot be used"),
        ("", "LSP_BOOTSTRAP cannot be used"),
        ("[]", "LSP_BOOTSTRAP cannot be used"),
        ('{"config": {}}', "workspaceRoot"),
        ('{"workspaceRoot": "/missing/folder"}', "/missing/folder"),
        ('{"workspaceRoot": "relative"}', "no absolute path"),
        ('{"workspaceRoot": "/tmp", "other": 1}', "other"),
        ('{"workspaceRoot": 7}', "workspaceRoot"),
        ('{"workspaceRoot": "/tmp", "config": {"lsp": 7}}', "lsp"),
        ('{"workspaceRoot": "/tmp", "config": 7}', "config"),
    ],
)
def test_a_bad_variable_ends_it_with_one_line(site: Site, value: str, words: str) -> None:
    done = site.run("serve", "--stdio", LSP_BOOTSTRAP=value)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
