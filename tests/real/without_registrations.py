"""Runs a server, and keeps to itself what it asks to be told of: as if that came much too late.

`python without_registrations.py PROGRAM ARGUMENT…`
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import IO

ASKS = "client/registerCapability"


def read(stream: IO[bytes]) -> bytes | None:
    """The next message; None at the end."""
    length = 0
    while line := stream.readline():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
        elif not line.strip() and length:
            return stream.read(length)
    return None


def write(stream: IO[bytes], message: bytes, lock: threading.Lock) -> None:
    with lock:
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(message), message))
        stream.flush()


def main() -> None:
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    to_server, to_client = threading.Lock(), threading.Lock()
    stdin, stdout = server.stdin, server.stdout

    def forward() -> None:
        while (message := read(sys.stdin.buffer)) is not None:
            write(stdin, message, to_server)
        stdin.close()

    threading.Thread(target=forward, daemon=True).start()
    while (message := read(stdout)) is not None:
        said = json.loads(message)
        if said.get("method") == ASKS:
            answer = {"jsonrpc": "2.0", "id": said["id"], "result": None}
            write(stdin, json.dumps(answer).encode(), to_server)
        else:
            write(sys.stdout.buffer, message, to_client)
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
