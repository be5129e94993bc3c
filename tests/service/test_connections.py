"""What a connection to the service keeps, passes on, and loses when it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lspkit
import lspkit.operations as ops
from lspkit.edit_types import FileEdit, TextEdit, WorkspaceEdit
from lspkit.errors import (
    CancelledError,
    RequestTimeoutError,
    ServerUnavailableError,
    WorkspaceClosedError,
)
from lspkit.service import client as client_module
from lspkit.service.client import Client
from lspkit.testing import Diagnostics, Fault, Log, Script
from lspkit.testing.plugin import Scripted
from lspkit.types import Position, Range
from tests.scripted import SOURCE, config_for
from tests.service.contract_services import Services, client_of, own_services

A = "a.scr"
#: A server that never answers one method, and answers another.
HANGING = Script(answers={"x/hang": None, "x/echo": "yes"}, faults=[Fault("x/hang", "hang")])


@pytest.fixture
def services(leak_check: object) -> Iterator[Services]:
    with own_services() as made:
        yield made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / A).write_text(SOURCE, encoding="utf-8")
    return folder


@pytest.fixture
def argv(scripted: Scripted) -> list[str]:
    return scripted(HANGING)


CLIENT = """
import sys, lspkit
ws = lspkit.connect(sys.argv[1], config=eval(sys.argv[2]), ready_timeout=60)
{body}
"""


def client_process(root: Path, config: dict[str, Any], body: str) -> subprocess.Popen[str]:
    """Another program that uses the service."""
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT.format(body=body), str(root), repr(config)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    output, problems = process.communicate(timeout=60)
    return output, problems


def test_an_overlay_ends_when_the_connection_is_closed(
    services: Services, root: Path, argv: list[str]
) -> None:
    config = config_for(argv)
    one, other = (services.connect(root, config=config) for _ in range(2))
    one.check(A)
    log = Log.of(argv)
    overlay = one.overlay({A: "def overlaid\nERROR\n"})
    overlay.__enter__()
    log.wait_for_message("textDocument/didChange")

    one.close()

    log.wait_for_message("textDocument/didChange", 2)
    assert other.check(A).diagnostics == []
    with pytest.raises(WorkspaceClosedError):
        overlay.__exit__(None, None, None)


def test_an_overlay_is_for_the_calls_of_its_client_alone(
    services: Services, root: Path, argv: list[str]
) -> None:
    (root / A).write_text("def greet\nERROR\n", encoding="utf-8")
    config = config_for(argv)
    drafter, other = (services.connect(root, config=config) for _ in range(2))

    def counts(*clients: lspkit.Workspace) -> list[int]:
        return [len(ws.check(A).diagnostics) for ws in clients]

    assert counts(other) == [1]
    with drafter.overlay({A: "def second\n"}):
        assert counts(drafter, other, drafter) == [0, 1, 0]
        assert client_of(other).call("lsp/checkFile", {"path": A})["verdict"] == "dirty"
        told = client_of(drafter).tool_result("write", {"file_path": A}, "written")
        assert told.endswith("LSP errors from before the edit that remain: 1")
        other.write(A, "def greet\n")
        with drafter.overlay({A: "WARN\nWARN\n"}):
            assert counts(drafter, other) == [2, 0]
            assert [symbol.name for symbol in other.document_symbols(A)] == ["greet"]
        assert [symbol.name for symbol in drafter.document_symbols(A)] == ["second"]
    assert [symbol.name for symbol in drafter.document_symbols(A)] == ["greet"]
    assert Log.of(argv).complaints() == []


@pytest.mark.parametrize("how", ["overlay", "sync"])
def test_what_a_server_finds_beside_the_texts_of_one_client_is_not_known_to_others(
    services: Services, root: Path, scripted: Scripted, how: str
) -> None:
    (root / "b.scr").write_text("NEED greet\n", encoding="utf-8")
    config = config_for(scripted(Script(diagnostics=Diagnostics(how="pull"))))
    drafter, other = (services.connect(root, config=config) for _ in range(2))
    other.check(A)
    assert other.check("b.scr").diagnostics == []
    with contextlib.ExitStack() as ending:
        if how == "overlay":
            ending.enter_context(drafter.overlay({A: "def draft\n"}))
        else:
            drafter.sync(A, "def draft\n")
        drafter.check("b.scr")
        assert list(drafter.diagnostics()) == [root / "b.scr"]
        assert other.diagnostics() == {}
        assert list(drafter.diagnostics()) == [root / "b.scr"]
        assert other.diagnostics() == {}
    drafter.sync(A)
    assert other.diagnostics() == drafter.diagnostics() == {}
    (root / A).write_text("def draft\n", encoding="utf-8")
    assert len(other.check("b.scr").diagnostics) == 1
    assert list(other.diagnostics()) == list(drafter.diagnostics()) == [root / "b.scr"]


def test_a_synced_text_is_for_the_calls_of_its_client_alone(
    services: Services, root: Path, argv: list[str]
) -> None:
    (root / "b.scr").write_text("NEED second\n", encoding="utf-8")
    config = config_for(argv)
    drafter, other = (services.connect(root, config=config) for _ in range(2))

    drafter.sync(A, "def second\n")

    verdicts = [ws.check("b.scr").verdict.value for ws in (drafter, other, drafter)]
    assert verdicts == ["unknown", "dirty", "unknown"]  # it is not known to see unsaved texts


def test_a_call_that_does_not_get_its_turn_in_time_says_so(
    services: Services, root: Path, argv: list[str]
) -> None:
    config, log = config_for(argv), Log.of(argv)
    drafter, other = (services.connect(root, config=config) for _ in range(2))
    with drafter.overlay({A: "def draft\n"}):
        cancel = threading.Event()
        hanging = drafter.submit(drafter.request, A, "x/hang", cancel=cancel, timeout=60)
        log.wait_for_message("x/hang")
        with pytest.raises(RequestTimeoutError, match="calls take turns"):
            other.check(A, timeout=0.2)
        waiting = other.submit(other.check, A, timeout=60)
        assert other.status_text()
        cancel.set()
        with pytest.raises(CancelledError):
            hanging.result(30)
        assert waiting.result(30).verdict.clean


def test_a_hook_that_does_not_get_its_turn_in_time_says_so_once_and_checks_with_the_next_edit(
    services: Services, root: Path, argv: list[str]
) -> None:
    config, log = config_for(argv), Log.of(argv)
    drafter, other = (services.connect(root, config=config) for _ in range(2))
    (root / "b.scr").write_text("fine\n", encoding="utf-8")
    hooks = client_of(other)
    assert hooks.tool_result("write", {"file_path": "b.scr"}, "written") == "written"
    with drafter.overlay({A: "def draft\n"}):
        cancel = threading.Event()
        hanging = drafter.submit(drafter.request, A, "x/hang", cancel=cancel, timeout=60)
        log.wait_for_message("x/hang")
        (root / "b.scr").write_text("ERROR\n", encoding="utf-8")
        first, second, command = (
            hooks.tool_result(tool, arguments, "done", timeout=0.5)
            for tool, arguments in (
                ("write", {"file_path": "b.scr"}),
                ("write", {"file_path": "b.scr"}),
                ("bash", {"command": "true"}),
            )
        )
        cancel.set()
        with pytest.raises(CancelledError):
            hanging.result(30)
    (root / "c.scr").write_text("fine\n", encoding="utf-8")
    checked = hooks.tool_result("write", {"file_path": "c.scr"}, "written")
    assert first.endswith("Could not be checked in time: <files>b.scr</files>")
    assert (second, command) == ("done", "done")
    assert '<diagnostics file="b.scr">' in checked


@pytest.mark.parametrize("restart", [False, True])
def test_calls_in_the_block_of_an_overlay_fail_if_the_service_ends(
    services: Services, root: Path, argv: list[str], *, restart: bool
) -> None:
    ws = services.connect(root, config=config_for(argv), restart=restart)
    ws.check(A)
    reason = "leave the block" if restart else "has ended"
    with ws.overlay({A: "ERROR\n"}):
        assert len(ws.check(A).diagnostics) == 1
        os.kill(services.remember(ws), signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(ServerUnavailableError, match=reason):
                ws.check(A)
    if restart:
        assert ws.check(A).diagnostics == []
        services.remember(ws)
        with ws.overlay({A: "ERROR\n"}):
            assert len(ws.check(A).diagnostics) == 1


def test_a_synced_text_ends_when_the_connection_is_closed(
    services: Services, root: Path, argv: list[str]
) -> None:
    config, log = config_for(argv), Log.of(argv)
    one, other = (services.connect(root, config=config) for _ in range(2))
    other.check(A)
    one.sync(A, "def synced\n")
    log.wait_for_message("textDocument/didChange")

    one.close()

    log.wait_for_message("textDocument/didChange", 2)
    assert [symbol.name for symbol in other.document_symbols(A)] == ["greet"]


def test_overlays_and_synced_texts_end_when_the_client_is_killed(
    services: Services, root: Path, argv: list[str]
) -> None:
    config = config_for(argv)
    (root / "b.scr").write_text("def second\n")
    ws = services.connect(root, config=config)
    body = f"""
held = ws.overlay({{{A!r}: "def overlaid\\nERROR\\n"}})
held.__enter__()
ws.sync("b.scr", "def synced\\n")
ws.document_symbols("b.scr")
print("shown", flush=True)
sys.stdin.read()
"""
    process = client_process(root, config, body)
    log = Log.of(argv)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "shown\n", finish(process)
        log.wait_for_message("textDocument/didOpen", 2)
    finally:
        process.kill()
        finish(process)

    log.wait_for_message("textDocument/didChange", 2)
    assert ws.check(A).diagnostics == []
    assert [symbol.name for symbol in ws.document_symbols("b.scr")] == ["second"]


def test_an_overlay_of_another_connection_cannot_be_ended(
    services: Services, root: Path, argv: list[str]
) -> None:
    one, other = (services.connect(root, config=config_for(argv)) for _ in range(2))
    number = one.run(ops.ShowTextsRequest(texts={A: "ERROR\n"}))

    with pytest.raises(ValueError, match="has no overlay"):
        other.run(ops.ShowDiskRequest(number=number))

    assert len(one.check(A).diagnostics) == 1
    one.run(ops.ShowDiskRequest(number=number))
    assert one.check(A).diagnostics == []


def test_a_mark_of_another_engine_is_not_complete(
    services: Services, root: Path, argv: list[str]
) -> None:
    config = config_for(argv)
    ws = services.connect(root, config=config)
    ws.check(A)
    mark = ws.changed_files().mark
    assert ws.changed_files(mark).complete
    with lspkit.Workspace(root, config=config) as local:
        local.check(A)
        assert not local.changed_files(mark).complete
        foreign = local.changed_files().mark
    assert not ws.changed_files(foreign).complete

    client_of(ws).shutdown()
    services.wait_for_end(services.remember(ws))
    again = services.connect(root, config=config)
    again.check(A)
    assert not again.changed_files(mark).complete


def test_an_epoch_of_a_former_service_does_not_block(
    services: Services, root: Path, argv: list[str]
) -> None:
    config = config_for(argv)
    ws = services.connect(root, config=config)
    ws.check(A)
    epoch = ws.epoch
    client_of(ws).shutdown()
    services.wait_for_end(services.remember(ws))

    again = services.connect(root, config=config)

    assert again.wait_for_change(epoch, timeout=60) > epoch


def test_an_edit_of_40_mib_passes_in_both_directions(
    services: Services, root: Path, argv: list[str]
) -> None:
    ws = services.connect(root, config=config_for(argv))
    before = "x" * (20 * 2**20)
    (root / "large.txt").write_text(before)
    start = Position(1, 1)
    change = FileEdit(
        path=root / "large.txt",
        uri=(root / "large.txt").as_uri(),
        edits=(TextEdit(Range(start, start), "y"),),
        before=before,
        after="y" + before,
    )

    applied = ws.apply(WorkspaceEdit((change,)))

    assert applied.edit.changes == (change,)
    assert (root / "large.txt").read_text() == "y" + before
    ws.undo(applied)
    assert (root / "large.txt").read_text() == before


@pytest.mark.parametrize("kind", [lspkit.CancelToken, threading.Event])
def test_a_cancel_reaches_the_server(
    services: Services, root: Path, argv: list[str], kind: type[Any]
) -> None:
    ws, log = services.connect(root, config=config_for(argv)), Log.of(argv)
    cancel = kind()
    future = ws.submit(ws.request, A, "x/hang", cancel=cancel)
    sent = log.wait_for_message("x/hang")

    cancel.set()

    with pytest.raises(CancelledError):
        future.result(60)
    assert log.wait_for_message("$/cancelRequest")["params"]["id"] == sent["id"]
    assert ws.request(A, "x/echo") == "yes"


def test_a_call_is_submitted_only_if_a_thread_can_be_started_for_it(
    services: Services, root: Path, argv: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ws: Any = services.connect(root, config=config_for(argv))
    with monkeypatch.context() as patch:
        patch.setattr(ws._engine._threads, "do", lambda *_: False)
        problem = ws.submit(ws.request, A, "x/echo").exception(0)
    assert "the call was not begun" in str(problem)
    assert ws.submit(ws.request, A, "x/echo").result(60) == "yes"


def test_a_submitted_call_ends_with_its_workspace(
    services: Services, root: Path, argv: list[str]
) -> None:
    ws, log = services.connect(root, config=config_for(argv)), Log.of(argv)
    future = ws.submit(ws.request, A, "x/hang")
    log.wait_for_message("x/hang")
    ws.close()
    with pytest.raises(WorkspaceClosedError):
        future.result(0)


def test_an_interrupt_of_a_program_reaches_the_server(
    services: Services, root: Path, argv: list[str]
) -> None:
    config, log = config_for(argv), Log.of(argv)
    ws = services.connect(root, config=config)
    process = client_process(root, config, f'ws.request({A!r}, "x/hang")')
    try:
        sent = log.wait_for_message("x/hang")
        process.send_signal(signal.SIGINT)
        _, problems = finish(process)
    finally:
        process.kill()
        finish(process)

    assert "KeyboardInterrupt" in problems
    assert process.returncode == -signal.SIGINT
    assert log.wait_for_message("$/cancelRequest")["params"]["id"] == sent["id"]
    assert ws.request(A, "x/echo") == "yes"


def test_the_end_of_a_program_ends_its_calls(
    services: Services, root: Path, argv: list[str]
) -> None:
    config, log = config_for(argv), Log.of(argv)
    services.connect(root, config=config)
    process = client_process(root, config, f'ws.request({A!r}, "x/hang")')
    try:
        sent = log.wait_for_message("x/hang")
    finally:
        process.kill()
        finish(process)

    assert log.wait_for_message("$/cancelRequest")["params"]["id"] == sent["id"]


def test_a_timeout_is_the_time_that_is_left(
    services: Services, root: Path, argv: list[str]
) -> None:
    ws = services.connect(root, config=config_for(argv))
    with pytest.raises(RequestTimeoutError) as caught:
        ws.request(A, "x/hang", timeout=0.2)
    # The service itself says so: this side waits a little longer than the timeout.
    assert caught.value.server == "scripted"
    future = ws.submit(ws.request, A, "x/hang", timeout=0.2)
    with pytest.raises(RequestTimeoutError) as caught:
        future.result(60)
    assert caught.value.server == "scripted"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_a_closed_workspace_and_the_parent_goes_on(
    services: Services, root: Path, argv: list[str]
) -> None:
    ws = services.connect(root, config=config_for(argv))
    ws.check(A)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ws.check(A)
        except WorkspaceClosedError as problem:
            status = 0 if "forked" in str(problem) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    assert client_of(ws).state == "alive"
    assert [symbol.name for symbol in ws.document_symbols(A)] == ["greet"]


def test_a_client_whose_service_is_killed_stays_dead(
    services: Services, root: Path, argv: list[str]
) -> None:
    config, log = config_for(argv), Log.of(argv)
    ws = services.connect(root, config=config)
    future = ws.submit(ws.request, A, "x/hang")
    log.wait_for_message("x/hang")
    pid = services.remember(ws)

    os.kill(pid, signal.SIGKILL)

    problem = future.exception(60)
    assert isinstance(problem, ServerUnavailableError)
    assert client_of(ws).state == "dead"
    services.wait_for_end(pid)
    for call in (lambda: ws.hover(A, 2, 4), ws.status, lambda: ws.epoch):
        with pytest.raises(ServerUnavailableError, match="connect again"):
            call()
    again = services.connect(root, config=config)
    assert again.request(A, "x/echo") == "yes"
    with pytest.raises(ServerUnavailableError):
        ws.check(A)
    assert client_of(ws).state == "dead"


def test_a_client_that_may_restart_starts_another_service(
    services: Services, root: Path, argv: list[str]
) -> None:
    ws = services.connect(root, config=config_for(argv), restart=True)
    assert ws.request(A, "x/echo") == "yes"
    epoch, pid = ws.epoch, services.remember(ws)

    os.kill(pid, signal.SIGKILL)
    services.wait_for_end(pid)

    assert ws.request(A, "x/echo") == "yes"
    assert services.remember(ws) != pid
    assert client_of(ws).state == "alive"
    assert ws.wait_for_change(epoch, timeout=60) > epoch


def test_a_folder_whose_name_is_not_utf_8_has_a_service(
    services: Services, tmp_path: Path, argv: list[str]
) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    (folder / A).write_text(SOURCE, encoding="utf-8")

    ws = services.connect(folder, config=config_for(argv))

    assert ws.root == folder
    assert [place.path for place in ws.definition(A, 2, 4)] == [folder / A]


def test_a_client_that_is_closed_while_it_connects_stays_closed(
    services: Services, root: Path, argv: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_for(argv)
    services.connect(root, config=config)  # starts the service
    connected, go_on = threading.Event(), threading.Event()
    connect = client_module.connect_or_start

    def held_up(*given: Any) -> Any:
        made = connect(*given)
        connected.set()
        assert go_on.wait(60)
        return made

    monkeypatch.setattr(client_module, "connect_or_start", held_up)
    client, problems = Client(root, config=config, restart=True, ready_timeout=60), []

    def start() -> None:
        with pytest.raises(WorkspaceClosedError) as caught:
            client.start()
        problems.append(str(caught.value))

    thread = threading.Thread(target=start)
    thread.start()
    assert connected.wait(60)
    client.close()
    go_on.set()
    thread.join(60)
    assert problems == ["this workspace was closed"]
    assert (client.state, client.is_alive()) == ("dead", False)
    with pytest.raises(WorkspaceClosedError, match="this workspace was closed"):
        client.call("lsp/diagnosticEpoch")
