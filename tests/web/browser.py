"""A real browser without a window: Chromium, driven over its debugging pipe."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests import real_servers

#: What it is called, in `.servers/bin` or on PATH.
PROGRAM = "chromium-headless-shell"
#: Seconds to wait for anything on a busy machine.
PATIENCE = 30.0
OPTIONS = (
    *("--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-extensions", "--disable-sync", "--mute-audio", "--hide-scrollbars"),
)

#: The browser reads from descriptor 3 and writes to 4.
LAUNCHER = """
import os, sys
given = [os.dup(os.dup(os.dup(int(one)))) for one in sys.argv[1:3]]
os.dup2(given[0], 3)
os.dup2(given[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def browser_program() -> str:
    """The path of the browser; skips the test where there is none."""
    row = real_servers.programs().get(PROGRAM, {})
    found = row["command"][0] if "command" in row else shutil.which(PROGRAM)
    if found is None:
        missing = row.get("missing", real_servers.NO_SET_UP)
        pytest.skip(f"no program {PROGRAM}: {missing}")
    return str(found)


class Browser:
    """One page of a browser. Each call of the protocol waits for its result."""

    def __init__(self, folder: Path) -> None:
        command = [browser_program(), *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-ISc", LAUNCHER, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._numbers = itertools.count(1)
        self._data = b""
        #: Errors of the console, and the addresses of all requests.
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._session = ""
        try:
            self._attach()
        except BaseException:
            self._end()
            raise

    def _attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        opened = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = opened["sessionId"]
        for part in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{part}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        try:
            self.call("Browser.close")
            self._process.wait(PATIENCE)
        finally:
            self._end()

    def _end(self) -> None:
        os.close(self._in)
        os.close(self._out)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE)

    def call(self, method: str, **params: Any) -> Any:
        """The result of a method of the protocol."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._receive()
            if found.get("id") == number:
                assert "error" not in found, found
                return found["result"]
            self._note(found)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._data:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            data = os.read(self._in, 1 << 16) if ready else b""
            assert data, "the browser says nothing"
            self._data += data
        text, _, self._data = self._data.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(json.dumps(params["args"]))

    def open(self, url: str) -> None:
        """Load a page."""
        self.call("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """Wait until an expression in the page is true."""
        deadline = time.monotonic() + PATIENCE
        while not (found := self.value(expression)):
            assert time.monotonic() < deadline, (
                f"{expression}: {self.value('document.body.innerText')}"
            )
            select.select([self._in], [], [], 0.05)
        return found

    def press(self, key: str, text: str = "") -> None:
        """Press a key."""
        options = {"key": key, "text": text} if text else {"key": key}
        if key == "Enter":
            options |= {"text": "\r", "windowsVirtualKeyCode": 13}
        if key == "Tab":
            options |= {"windowsVirtualKeyCode": 9}
        self.call("Input.dispatchKeyEvent", type="keyDown", **options)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """The size of the window, and the colours that the user prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
