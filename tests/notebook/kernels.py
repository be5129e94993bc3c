"""A real kernel, as a notebook starts one, for tests that type cells into it."""

from __future__ import annotations

import os
import queue
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager
from jupyter_core.utils import ensure_event_loop

TIMEOUT = 60
ROOT = Path(__file__).resolve().parents[2]

#: An entry for each kernel of this process.
_running: list[Path] = []


@dataclass
class Output:
    """What one cell has shown."""

    #: By type, of the result of the cell.
    result: dict[str, str] = field(default_factory=dict)
    printed: str = ""
    #: Name of the error, and what is shown of it.
    error: str = ""
    traceback: str = ""
    #: The text of each display, as it was shown, and each update of one.
    displays: list[str] = field(default_factory=list)
    updates: list[str] = field(default_factory=list)

    @property
    def html(self) -> str:
        """The HTML of the result."""
        return self.result.get("text/html", "")

    @property
    def text(self) -> str:
        """The HTML of the result, without tags."""
        blocks = re.sub(r"</?(?:table|tr|td|th|div|br|pre)\b[^>]*>", " ", self.html)
        return " ".join(re.sub(r"<[^>]*>", "", blocks).split())


class Kernel:
    """A kernel and its client."""

    def __init__(self, manager: KernelManager, client: Any) -> None:
        self.manager = manager
        self._client = client

    def run(self, code: str, cell_id: str | None = None) -> Output:
        """Run a cell; a notebook gives each of its cells an identity."""
        return self.finish(self.begin(code, cell_id))

    def begin(self, code: str, cell_id: str | None = None) -> str:
        """Run a cell without waiting for its end; returns what `finish` takes."""
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        metadata = {"cellId": cell_id} if cell_id is not None else {}
        message = self._client.session.msg("execute_request", content, metadata=metadata)
        self._client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def finish(self, cell: str) -> Output:
        """Wait for the end of a cell."""
        output = Output()
        while (message := self.next_message(cell)) is not None:
            _take(output, message["header"]["msg_type"], message["content"])
        return output

    def next_message(self, cell: str) -> dict[str, Any] | None:
        """The next message of a cell; None at its end."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            try:
                message = self._client.get_iopub_msg(timeout=1)
            except queue.Empty:
                assert self.manager.is_alive(), "the kernel has died"
                continue
            if message["parent_header"].get("msg_id") != cell:
                continue
            content = message["content"]
            if content.get("execution_state") == "idle":
                return None
            return message
        raise AssertionError("the cell did not end")

    def next_update(self) -> str:
        """The next update of a display, which may come after the end of its cell."""
        while True:
            message = self._client.get_iopub_msg(timeout=TIMEOUT)
            if message["header"]["msg_type"] == "update_display_data":
                shown: str = message["content"]["data"]["text/html"]
                return shown


def _take(output: Output, kind: str, content: dict[str, Any]) -> None:
    if kind == "execute_result":
        output.result = content["data"]
    elif kind == "stream":
        output.printed += content["text"]
    elif kind == "error":
        output.error = content["ename"]
        output.traceback = "\n".join(content["traceback"])
    elif kind == "display_data":
        output.displays.append(content["data"]["text/html"])
    elif kind == "update_display_data":
        output.updates.append(content["data"]["text/html"])


def environment(home: Path) -> dict[str, str]:
    """The variables of a kernel whose home folder is this one."""
    return {
        **os.environ,
        "HOME": str(home),
        "IPYTHONDIR": str(home / ".ipython"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "LSPKIT_NO_SERVICE": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        # Without the installed packages, in which a server would find the original of a copy.
        "PYTHONPATH": str(ROOT),
    }


@contextmanager
def kernel(folder: Path, home: Path) -> Iterator[Kernel]:
    """A kernel that runs in a folder."""
    _running.append(home)
    manager = KernelManager(kernel_name="python3")
    manager.connection_file = str(home / "kernel.json")
    manager.start_kernel(cwd=str(folder), env=environment(home))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=TIMEOUT)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        if manager.is_alive():
            manager.shutdown_kernel()
        manager.cleanup_resources()
        _running.pop()
        if not _running:
            # jupyter_client makes one for each thread, and closes none.
            ensure_event_loop().close()
