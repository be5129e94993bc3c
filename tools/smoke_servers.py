"""Asks every server of `.servers/servers.json` one `initialize` and prints a table of the answers.

This proves that what was installed runs here, without any part of lspkit: one process after the
other, a fresh folder with one small file each. The exit code is 1 when a server did not answer.
Names on the command line restrict it to these servers.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

SERVERS = Path(__file__).resolve().parent.parent / ".servers"
DEADLINE = 60.0


def send(stream: IO[bytes], message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()


def read(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next message, or None at the end of the stream."""
    length = 0
    while (line := stream.readline()).strip():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    if not line:
        return None
    message: dict[str, Any] = json.loads(stream.read(length))
    return message


def reply(message: dict[str, Any]) -> dict[str, Any]:
    """Every request of a server is answered, or it hangs: with null, once for each item."""
    items = (message.get("params") or {}).get("items")
    return {"id": message["id"], "result": [None] * len(items) if items else None}


def wait_for(answers: queue.Queue[dict[str, Any] | None], stdin: IO[bytes], number: int) -> Any:
    end = time.monotonic() + DEADLINE
    while True:
        message = answers.get(timeout=max(0.01, end - time.monotonic()))
        if message is None:
            raise RuntimeError("it closed its output")
        if "method" in message:
            if "id" in message:
                send(stdin, reply(message))
        elif message.get("id") == number:
            if "error" in message:
                raise RuntimeError(message["error"].get("message", "an error"))
            return message["result"]


def initialize_parameters(folder: str) -> dict[str, Any]:
    uri = Path(folder).as_uri()
    return {
        "processId": os.getpid(),
        "rootUri": uri,
        "rootPath": folder,
        "workspaceFolders": [{"uri": uri, "name": "smoke"}],
        "capabilities": {},
        "initializationOptions": {},
    }


def ask(command: list[str], env: dict[str, str]) -> tuple[float, dict[str, Any]]:
    """Starts a server, returns the milliseconds to its answer and the answer, and ends it."""
    with tempfile.TemporaryDirectory(prefix="smoke-", ignore_cleanup_errors=True) as folder:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            # Some servers leave temporary files: here they go with the folder.
            env={**os.environ, **env, "TMPDIR": folder},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            stdin, stdout = process.stdin, process.stdout
            if stdin is None or stdout is None:
                raise RuntimeError("it has no pipes")
            answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
            threading.Thread(target=pump, args=(stdout, answers), daemon=True).start()
            send(
                stdin,
                {"id": 1, "method": "initialize", "params": initialize_parameters(folder)},
            )
            result = wait_for(answers, stdin, 1)
            elapsed = 1000 * (time.monotonic() - started)
            send(stdin, {"method": "initialized", "params": {}})
            send(stdin, {"id": 2, "method": "shutdown"})
            wait_for(answers, stdin, 2)
            send(stdin, {"method": "exit"})
            stdin.close()
            process.wait(5)
            return elapsed, result
        finally:
            # Also after a proper exit: a wrapper may be gone and its server still there.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def pump(stream: IO[bytes], answers: queue.Queue[dict[str, Any] | None]) -> None:
    while (message := read(stream)) is not None:
        answers.put(message)
    answers.put(None)


def row(name: str, entry: dict[str, Any]) -> tuple[bool, str]:
    if "missing" in entry:
        return False, f"{name:15} missing: {entry['missing']}"
    try:
        elapsed, result = ask(entry["command"], entry["env"])
    except (OSError, RuntimeError, ValueError, queue.Empty, subprocess.TimeoutExpired) as error:
        return False, f"{name:15} {entry['version']:10} FAILED: {error!r}"
    info = result.get("serverInfo") or {}
    said = " ".join(str(info[key]) for key in ("name", "version") if info.get(key)).split("\n")[0]
    capabilities = len(result["capabilities"])
    return True, f"{name:15} {entry['version']:10} {elapsed:6.0f} ms {capabilities:3}  {said[:60]}"


def main(names: list[str]) -> int:
    entries = json.loads((SERVERS / "servers.json").read_text())
    print(f"{'server':15} {'version':10} {'initialize':>9} capabilities, name it gives itself")
    failed = 0
    for name in names or entries:
        answered, line = row(name, entries[name])
        failed += not answered
        print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
