"""A server that fails: what is told of its last words, and by whom it is told."""

from __future__ import annotations

import sys

import pytest

import lspkit
from lspkit.runtime.server.failure_errors import LONGEST_LINE, telling_line
from lspkit.testing import Diagnostics, Fault, Say, Script
from tests.scripted import config_for, workspace

NODE = """node:internal/modules/cjs/loader:1078
  throw err;
  ^

Error: Cannot find module './server'
Require stack:
- /usr/lib/server.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1075:15) {
  code: 'MODULE_NOT_FOUND'
}

Node.js v18.19.0
"""
PYTHON = """Traceback (most recent call last):
  File "server.py", line 3, in <module>
    raise ImportError("no error here") from error
ModuleNotFoundError: No module named 'jedi'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "server.py", line 5, in <module>
RuntimeError: it does not start
"""
RUST = """thread 'main' panicked at src/main.rs:2:5:
no toolchain
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
JAVA = """Error: LinkageError occurred while loading main class Main
\tjava.lang.UnsupportedClassVersionError: class file version 65.0
"""


@pytest.mark.parametrize(
    ("stderr", "told"),
    [
        (NODE, "Error: Cannot find module './server'"),
        (PYTHON, "ModuleNotFoundError: No module named 'jedi'"),
        (RUST, "thread 'main' panicked at src/main.rs:2:5:"),
        (JAVA, "Error: LinkageError occurred while loading main class Main"),
        ("starting\nusage: server --stdio\n", "usage: server --stdio"),
        ("\n \n", ""),
        ("", ""),
        ("  at the edge\n", "at the edge"),
        ("error " + "x" * 1000, ("error " + "x" * 1000)[:LONGEST_LINE]),
    ],
    ids=["node", "python", "rust", "java", "no error", "blank", "nothing", "indented", "long"],
)
def test_the_first_line_that_tells_what_went_wrong_is_told(stderr, told):
    assert telling_line(stderr) == told


def failing(code: str) -> list[str]:
    """A program that reads a line, says these things and ends."""
    return [sys.executable, "-I", "-S", "-c", f"import sys; sys.stdin.buffer.readline(); {code}"]


def test_a_server_that_does_not_start_is_told_of_by_that_line(tmp_path):
    says = f"sys.stderr.write({NODE!r}); sys.exit(1)"
    with (
        workspace(tmp_path, failing(says)) as ws,
        pytest.raises(lspkit.ServerUnavailableError, match=r"status 1: Error: Cannot find module"),
    ):
        ws.hover("a.scr", 1, 1)


def test_one_that_is_no_server_is_unavailable_to_every_call_from_the_first_on(tmp_path):
    with workspace(tmp_path, failing("sys.exit(1)")) as ws:
        for _ in range(2):
            for ask in (lambda: ws.check("a.scr"), lambda: ws.hover("a.scr", 1, 1)):
                with pytest.raises(lspkit.ServerUnavailableError, match="does not work"):
                    ask()
            assert ws.check_all(["a.scr"])[tmp_path / "a.scr"].verdict.unknown


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("print('error: unknown option --stdio', flush=True); sys.exit(1)", "unknown option"),
        ("sys.exit(0)", "exit status 0"),
    ],
    ids=["complains on standard output", "ends without an error"],
)
def test_a_program_that_sends_no_message_before_it_ends_is_no_server(tmp_path, does, words):
    with (
        workspace(tmp_path, failing(does)) as ws,
        pytest.raises(lspkit.ServerUnavailableError, match=f"does not work: .*{words}"),
    ):
        ws.hover("a.scr", 1, 1)


def test_a_server_that_refuses_to_start_is_unavailable_with_what_to_do(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "error", message="no TypeScript here")]))
    (tmp_path / "a.ts").touch()
    with (
        lspkit.Workspace(tmp_path, config={"lsp": {"typescript": {"command": argv}}}) as ws,
        pytest.raises(lspkit.ServerUnavailableError, match="no TypeScript here") as caught,
    ):
        ws.hover("a.ts", 1, 1)
    assert caught.value.install.startswith("lspkit install typescript")
    assert caught.value.install in str(caught.value)


def test_after_a_crash_at_the_start_a_question_raises_and_a_check_is_unknown(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("textDocument/didOpen", "crash", code=3)]))
    with workspace(tmp_path, argv) as ws:
        for _ in range(2):
            report = ws.check("a.scr", scope="project")
            assert (report.verdict.value, report.other_files.verdict.value) == ("unknown",) * 2
            assert "exit status 3" in report.why
            with pytest.raises(lspkit.ServerBrokenError, match="exit status 3"):
                ws.hover("a.scr", 1, 1)


def test_of_two_servers_the_one_that_is_there_is_heard(tmp_path, scripted):
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    config = config_for(scripted(Script()))
    config["lsp"]["stub"] = {"command": failing("sys.exit(1)"), "extensions": [".scr"]}
    with lspkit.Workspace(tmp_path, config=config) as ws:
        assert ws.check("a.scr").verdict.dirty


@pytest.mark.parametrize("method", ["window/logMessage", "window/showMessage"])
@pytest.mark.parametrize(
    "why", ['exec: "go": executable file not found in $PATH', "go resolves to ./go: stderr: "]
)
def test_gopls_without_go_is_unavailable_at_once_with_the_reason(tmp_path, scripted, method, why):
    message = (
        "Error loading workspace folders (expected 1, got 0)\n"
        f"failed to load view for {tmp_path.as_uri()}: err: {why}\n"
    )
    note = {"method": method, "params": {"type": 1, "message": message}}
    # As the real one: it refuses whatever it is asked, and publishes nothing.
    refuses = Fault("textDocument/hover", "error", message="no views in session (0)")
    silent = Diagnostics(how="none")
    script = Script(
        diagnostics=silent, say=[Say("initialized", notification=note)], faults=[refuses]
    )
    (tmp_path / "go.mod").write_text("module x\n", encoding="utf-8")
    (tmp_path / "main.go").write_text("package main\n", encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": {"gopls": {"command": scripted(script)}}}) as ws:
        for _ in range(2):
            with pytest.raises(
                lspkit.ServerUnavailableError, match="needs `go` on the PATH"
            ) as caught:
                ws.check("main.go", timeout=50)
            assert why.strip() in str(caught.value)
        with pytest.raises(lspkit.ServerUnavailableError, match="needs `go` on the PATH"):
            ws.hover("main.go", 1, 1)
