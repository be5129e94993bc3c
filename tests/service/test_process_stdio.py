"""`lspkit serve --stdio`: the first message, every method, cancellation."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import lspkit
from lspkit.service.client_session import METHODS
from lspkit.testing import Fault, Script
from tests.service.site import Site
from tests.service.stdio_service import StdioService

CALL_FAILED = -32000


@pytest.fixture(scope="module")
def shared(shared_site: Site) -> Iterator[StdioService]:
    """A service for all tests that do not end it."""
    with StdioService(shared_site) as made:
        made.result("lsp/checkFile", {"path": "a.scr"})  # its server must be no test's leak
        yield made
        assert made.end() == (0, "")


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
    further = "toolResult subscribe unsubscribe shutdown"
    assert set(METHODS) == {f"lsp/{name}" for name in f"{names} {further}".split()}


def test_check_file_reports_and_raises_the_epoch(shared: StdioService, shared_site: Site) -> None:
    epochs = [shared.result("lsp/diagnosticEpoch")["epoch"]]
    on_disk = shared.result("lsp/checkFile", {"path": "a.scr"})
    assert (on_disk["verdict"], on_disk["diagnostics"]) == ("clean", [])
    epochs.append(on_disk["epoch"])
    given = shared.result("lsp/checkFile", {"path": "a.scr", "text": "ERROR\n"})
    assert given["verdict"] == "dirty"
    assert [one["severity"] for one in given["diagnostics"]] == ["error"]
    epochs.append(given["epoch"])
    # Also a check that finds what was known.
    for _ in range(2):
        epochs.append(shared.result("lsp/checkFile", {"path": "a.scr"})["epoch"])
    assert epochs == sorted(set(epochs))
    assert shared.result("lsp/diagnosticEpoch")["epoch"] >= epochs[-1]
    assert (shared_site.project / "a.scr").read_text(encoding="utf-8") != "ERROR\n"


def test_known_diagnostics_are_in_the_order_of_their_files(
    shared: StdioService, shared_site: Site
) -> None:
    for name in ("b", "d", "B", "c"):
        (shared_site.project / f"{name}.scr").write_text("ERROR\n", encoding="utf-8")
        epoch = shared.result("lsp/checkFile", {"path": f"{name}.scr"})["epoch"]
    files = [str(shared_site.project / f"{name}.scr") for name in ("B", "b", "c", "d")]
    known = list(shared.result("lsp/diagnostics")["files"])
    assert known == sorted(known) and set(known) >= set(files)
    found = shared.result("lsp/diagnosticsAfter", {"afterEpoch": epoch - 1, "waitMs": 60_000})
    assert list(found["files"]) == known
    assert found["epoch"] >= epoch


def test_a_wait_ends_with_a_newer_epoch_or_with_its_time(shared: StdioService) -> None:
    epoch = shared.result("lsp/checkFile", {"path": "a.scr"})["epoch"]
    epoch = shared.result("lsp/diagnosticEpoch")["epoch"]
    assert (
        shared.result("lsp/diagnosticsAfter", {"afterEpoch": epoch, "waitMs": 1})["epoch"] == epoch
    )
    assert shared.result("lsp/diagnosticsAfter", {"afterEpoch": epoch})["epoch"] == epoch
    waiting = shared.begin("lsp/diagnosticsAfter", {"afterEpoch": epoch, "waitMs": 60_000})
    shared.begin("lsp/checkFile", {"path": "a.scr", "text": "ERROR\n"})
    assert shared.answer(waiting)["result"]["epoch"] > epoch


def test_status_names_the_servers_and_the_service(shared: StdioService, shared_site: Site) -> None:
    shared.result("lsp/checkFile", {"path": "a.scr"})
    found = shared.result("lsp/status")
    assert found["service"]["pid"] == shared.process.pid
    assert found["service"]["root"] == str(shared_site.project)
    assert "scripted" in json.dumps(found)


def test_call_takes_every_operation_of_a_workspace(shared: StdioService, shared_site: Site) -> None:
    given = {"path": "a.scr", "line": 2, "column": 4}
    params = {"method": "definition", "params": given}
    (found,) = shared.result("lsp/call", params)["value"]
    assert found["path"] == str(shared_site.project / "a.scr")
    assert found["range"]["start"] == {"line": 1, "column": 5}


def test_operation_is_the_single_tool(shared: StdioService) -> None:
    given = {"operation": "goToDefinition", "filePath": "a.scr", "line": 2, "character": 4}
    found = shared.result("lsp/operation", given)
    assert found["ok"] is True, found
    (place,) = found["data"]
    assert place["filePath"] == "a.scr"
    assert place["range"]["start"] == {"line": 1, "character": 5}


def test_tool_result_appends_findings(shared: StdioService, shared_site: Site) -> None:
    (shared_site.project / "new.scr").write_text("ERROR\n", encoding="utf-8")
    params = {"tool": "write", "arguments": {"path": "new.scr"}, "output": "written"}
    found = shared.result("lsp/toolResult", params)["output"]
    assert found.startswith("written\n")
    assert "new.scr" in found and "ERROR" in found


def test_events_come_from_subscribe_to_unsubscribe(shared_site: Site) -> None:
    with StdioService(shared_site) as service:
        service.result("lsp/subscribe")
        service.begin("lsp/checkFile", {"path": "a.scr"})
        seen = []
        while "diagnostics" not in [one["kind"] for one in seen]:
            message = service.receive()
            assert message is not None
            if message.get("method") == "lsp/event":
                seen.append(message["params"])
        states = [one["state"] for one in seen if one["kind"] == "state"]
        assert states == ["starting", "active"]
        assert seen[-1]["path"] == str(shared_site.project / "a.scr")
        service.result("lsp/unsubscribe")
        service.begin("lsp/checkFile", {"path": "a.scr", "text": "ERROR\n"})
        number = service.begin("lsp/diagnosticEpoch")
        while (message := service.receive()) is not None and message.get("id") != number:
            assert message.get("method") != "lsp/event"


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
        assert service.result("lsp/checkFile", {"path": "a.scr"})["verdict"] == "clean"
        assert len(site.log.pids()) == 1
