"""A program that uses as many of lspkit's locks as it can, in as many combinations: see
`lock_trace.py`. Everything in it is real: servers, files, processes, threads.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lspkit
from lspkit.runtime.pool import pool
from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.guardian import Guardian
from lspkit.runtime.process.sidecar import Sidecar
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.watcher import Watcher
from lspkit.servers.built_in import BUILT_IN
from lspkit.service.client import Client
from lspkit.service.remote_workspace import RemoteEngine
from lspkit.service.runtime_folder import bootstrap_of
from lspkit.service.service_process import ServiceProcess
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.testing import Diagnostics, Fault, Log, Say, Script, progress, watchers
from lspkit.web import Address, HttpServer
from tests.runtime.watch.watching import until_ready
from tests.scripted import SOURCE
from tests.service.contract_services import client_of

#: A request that means nothing: the moment at which a script does something.
POKE = "test/poke"
PULL, REFERENCES = "textDocument/diagnostic", "textDocument/references"
PATIENCE = 30.0
#: The time limit of calls that wait for an answer that never comes.
BRIEF = 1.5

PUSHES = Script(
    say=[watchers("**/*.scr"), *progress("load")],
    faults=[Fault("textDocument/hover", "crash", run=1)],
)
REFRESH = {"method": "workspace/diagnostic/refresh", "params": None}
PULLS = Script(
    diagnostics=Diagnostics(how="pull"),
    say=[Say(POKE, request=REFRESH)],
    answers={POKE: None},
    faults=[Fault(REFERENCES, "hang")],
)


def main(folder: str) -> None:
    """Run all parts, in folders of their own."""
    os.environ["LSPKIT_TRUST"] = "always"
    parts = (
        *(many_callers, new_configuration, forwarded_request, idle_server, sidecar, polling),
        *(service, http),
    )
    for part in parts:
        place = Path(folder) / part.__name__
        place.mkdir()
        part(place)


def many_callers(place: Path) -> None:
    """Four threads use a workspace in all ways at once; each file has two servers."""
    root, outside = place / "root", place / "outside"
    root.mkdir()
    outside.mkdir()
    asks = watchers({"globPattern": {"baseUri": outside.as_uri(), "pattern": "**/*"}}, name="out")
    pulls = PULLS.command(place / "pulls")
    pushes = Script(say=[*PUSHES.say, asks], faults=PUSHES.faults).command(place / "pushes")
    config = place / "config.json"
    config.write_text(json.dumps(_only(pulls=_scr(pulls), pushes=_scr(pushes))), encoding="utf-8")
    with lspkit.Workspace(root, config=config) as ws:
        with ThreadPoolExecutor(4) as callers:
            for future in [callers.submit(_use, ws, root, number) for number in range(4)]:
                future.result(PATIENCE)
        (outside / "new").mkdir()
        (root / "by_others.scr").write_text(SOURCE, encoding="utf-8")
        ws.check("by_others.scr", timeout=PATIENCE)
        _refresh(ws, Log.of(pulls))
        another = _only(pulls=_scr(pulls, settings={"a": 1}), pushes=_scr(pushes))
        config.write_text(json.dumps(another), encoding="utf-8")
        ws.submit(ws.reload).result(PATIENCE)
        ws.wait_for_change(ws.epoch, 0.01)
        # The end finds something under way.
        asked = len(Log.of(pulls).messages(REFERENCES))
        ws.submit(ws.references, "by_others.scr", 2, 4)
        Log.of(pulls).wait_for_message(REFERENCES, count=asked + 1)
        assert len(Log.of(pulls).pids()) == len(Log.of(pushes).pids()) == 2


def _only(**servers: dict[str, Any]) -> dict[str, Any]:
    """A configuration with these servers, and without any that this machine may have."""
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id not in servers}
    return {"lsp": {**others, **servers}}


def _scr(argv: list[str], **more: Any) -> dict[str, Any]:
    return {"command": argv, "extensions": [".scr"], **more}


def _refresh(ws: lspkit.Workspace, log: Log) -> None:
    """Let the first server want to be asked again, and wait until it was."""
    asked = len(log.messages(PULL))
    ws.request("by_others.scr", POKE)
    log.wait_for_message(PULL, count=asked + 1)


def _use(ws: lspkit.Workspace, root: Path, number: int) -> None:
    """What one thread does."""
    name, other, moved = (f"{word}{number}.scr" for word in ("a", "b", "moved"))
    ws.write(name, SOURCE, timeout=PATIENCE)
    (root / other).write_text("ERROR\n", encoding="utf-8")
    with ws.overlay({other: "WARN\n"}):
        ws.check_all([name, other], timeout=PATIENCE)
    # The server never answers the question for references, which the next call puts.
    ws.check(other, "def greet\n", scope="project", timeout=BRIEF)
    cancel, called = lspkit.CancelToken(), threading.Event()
    future = ws.submit(ws.definition, name, 2, 4, timeout=PATIENCE)
    future.add_done_callback(lambda _: called.set())
    given_up = ws.submit(ws.references, name, 2, 4, cancel=cancel)
    _in_vain(lambda: ws.hover(name, 2, 4))  # it ends the first server, once
    ws.status_text()
    ws.diagnostics()
    future.result(PATIENCE)
    called.wait(PATIENCE)
    cancel.set()
    given_up.exception(PATIENCE)
    _in_vain(
        lambda: ws.apply(ws.rename(name, 2, 4, new_name="hello"), check="project", timeout=BRIEF)
    )
    ws.move(other, moved)
    ws.delete(moved)
    ws.changed_files(0)


def _in_vain(ask: Callable[[], object]) -> None:
    """A call that may fail: the server that it needs may just have ended."""
    try:
        ask()
    except lspkit.LspkitError:
        pass


def new_configuration(place: Path) -> None:
    """A server that goes by a file that changes is replaced, before it has lived for long."""
    pool.BRIEF = PATIENCE  # on a busy machine it may live for longer
    argv = Script(diagnostics=Diagnostics(how="pull")).command(place / "server")
    root = place / "root"
    root.mkdir()
    (root / "a.py").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(root, config=_only(zuban={"command": argv})) as ws:
        for number in range(2):
            text = f"[project]\nname = 'x{number}'\n"
            (root / "pyproject.toml").write_text(text, encoding="utf-8")
            ws.check("a.py", timeout=PATIENCE)
    assert len(Log.of(argv).pids()) == 2


def forwarded_request(place: Path) -> None:
    """A server asks something that another one answers."""
    package, root = place / "package", place / "root"
    plugin = package / "node_modules" / "@vue" / "typescript-plugin"
    plugin.mkdir(parents=True)
    root.mkdir()
    (package / "package.json").write_text('{"name": "@vue/language-server"}', encoding="utf-8")
    (plugin / "package.json").write_text("{}", encoding="utf-8")
    program = package / "vue-language-server"
    program.write_text("", encoding="utf-8")
    program.chmod(0o755)
    os.environ["PATH"] = f"{package}{os.pathsep}{os.environ['PATH']}"
    file = root / "a.vue"
    file.write_text(SOURCE, encoding="utf-8")
    question = [7, "_vue:projectInfo", {"file": str(file)}]
    asks = {"method": "tsserver/request", "params": [question]}
    vue = Script(say=[Say("textDocument/documentSymbol", notification=asks)])
    types = Script(
        say=progress("load", when="textDocument/didOpen"),
        capabilities={"executeCommandProvider": {"commands": ["typescript.tsserverRequest"]}},
        answers={"workspace/executeCommand": {"success": True, "body": {}}},
    )
    argv = vue.command(place / "vue")
    second = {"command": types.command(place / "types")}
    config = _only(**{"vue": {"command": argv}, "vue-typescript": second})
    with lspkit.Workspace(root, config=config) as ws:
        ws.document_symbols("a.vue")
        Log.of(argv).wait_for_message("tsserver/response")


def idle_server(place: Path) -> None:
    """A server is stopped that nobody uses, while another thread asks it something."""
    argv = Script().command(place / "server")
    root = place / "root"
    root.mkdir()
    (root / "a.scr").write_text(SOURCE, encoding="utf-8")
    config = {**_only(scripted=_scr(argv)), "timing": {"idleShutdownMs": 20}}
    with lspkit.Workspace(root, config=config) as ws:
        while len(Log.of(argv).pids()) < 2:
            ws.definition("a.scr", 2, 4, timeout=PATIENCE)
            # Idle for about as long as it takes until it is stopped; either may come first.
            threading.Event().wait(0.02)


def sidecar(place: Path) -> None:
    """A program beside a server ends, is started again, and is stopped."""
    argv = [sys.executable, "-I", "-S", "-c", "print('on')"]
    guardian, restart = Guardian(), Restart(base=0.01, most=0.01)
    program = Sidecar(argv, str(place), {}, guardian, restart=restart)
    program.start()
    deadline = time.monotonic() + PATIENCE
    while program.status().restarts < 1 and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    program.stop()
    guardian.close()


def polling(place: Path) -> None:
    """The notifier of other systems, in the same watcher."""
    seen = threading.Event()
    watcher = Watcher(str(place), lambda _: seen.set(), notifier=Notifier)
    until_ready(watcher)
    (place / "a.scr").write_text(SOURCE, encoding="utf-8")
    watcher.catch_up(time.monotonic() + PATIENCE)
    seen.wait(PATIENCE)
    watcher.note([str(place / "a.scr")])
    watcher.close()


def service(place: Path) -> None:
    """Two clients of a service, one of which listens to its events."""
    argv = Script(say=[*progress("load")]).command(place / "server")
    root = place / "root"
    root.mkdir()
    (root / "a.scr").write_text(SOURCE, encoding="utf-8")
    bootstrap = bootstrap_of(root, _only(scripted=_scr(argv)), True)
    process = ServiceProcess(bootstrap)
    thread = threading.Thread(target=process.run, args=(None, PATIENCE))
    thread.start()
    clients = [Client(root) for _ in range(2)]
    for client in clients:
        ours, theirs = socket.socketpair()
        process.add_client(theirs)
        with client._starting:
            client._use(ours, time.monotonic() + PATIENCE)
    first, second = (lspkit.Workspace.on_engine(RemoteEngine(one), root) for one in clients)
    with first.events() as events:
        second.check("a.scr", timeout=PATIENCE)
        assert events.get(PATIENCE)
        clients[1].call("lsp/operation", {"operation": "documentSymbol", "filePath": "a.scr"})
        clients[1].tool_result("read", {"path": "a.scr"}, "")
        first.submit(first.definition, "a.scr", 2, 4).result(PATIENCE)
        with second.overlay({"a.scr": "ERROR\n"}):
            second.check("a.scr", timeout=PATIENCE)
    clients[0].shutdown()
    thread.join(PATIENCE)
    process.close()
    first.close()
    second.close()


def http(place: Path) -> None:
    """A service over HTTP: a reader of events, and a folder outside of the root."""
    argv = Script().command(place / "server")
    for name in ("root", "other"):
        (place / name).mkdir()
        (place / name / "a.scr").write_text(SOURCE, encoding="utf-8")
    bootstrap = bootstrap_of(place / "root", _only(scripted=_scr(argv)), None)
    shared = SharedWorkspace(bootstrap, lambda _: None, lambda: None)
    runtime = tempfile.mkdtemp(prefix="lk")  # the path of a socket has room for 103 bytes only
    environ = {**os.environ, "LSPKIT_STATE": str(place / "state"), "XDG_RUNTIME_DIR": runtime}
    file = place / "token"
    server = HttpServer(shared, Address("127.0.0.1", 0), str(file), lambda: None, environ=environ)
    headers = {
        "Authorization": f"Bearer {file.read_text(encoding='ascii')}",
        "Content-Type": "application/json",
    }

    def ask(method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(server.address.url + path, data, headers, method=method)
        return urllib.request.urlopen(request, timeout=PATIENCE)

    with ask("GET", "/events") as events:
        for name in ("root", "other"):
            ask("PUT", f"/conversations/{name}/cwd", {"cwd": str(place / name)}).close()
            ask("POST", f"/conversations/{name}/check", {"path": "a.scr"}).close()
            ask("GET", f"/conversations/{name}/lsp").close()
        assert events.readline() == b"retry: 2000\n"
        ask("GET", server.page_url().removeprefix(server.address.url)).close()
    with server._workspaces.workspace_of(str((place / "other").resolve())) as ws:
        client_of(ws).shutdown()
    server.close()
    shutil.rmtree(runtime, ignore_errors=True)
    shared.close()
