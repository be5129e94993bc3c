"""`lspkit hook`: the hook of command-line agents. It tells the model what its edit has broken.

The input and the answer are described in `agent/hooks/agent_protocols.py`. A hook must not disturb
the agent: whatever happens, the exit status is 0, nothing but an answer is written to standard
output, and the process ends within the timeout. If it ends without an answer of the servers, it
says which files were not checked.

Most calls edit nothing. So the workspace is imported only when there is something to check.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING

import msgspec

from lspkit.agent.hooks.agent_protocols import (
    MOST_BYTES,
    HookCall,
    IgnoredInput,
    answer,
    read_call,
    texts_before,
    touched_files,
)
from lspkit.agent.hooks.agent_session import text_of
from lspkit.agent.hooks.tool_files import ToolKind, Touch
from lspkit.cli.command_table import uses_service
from lspkit.cli.failure import CLEAN
from lspkit.cli.output import is_terminal, print_message, print_result, print_traceback
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import is_inside

if TYPE_CHECKING:
    from lspkit.agent.hooks.edit_hooks import EditHooks
    from lspkit.service.client import Client

#: The part of the timeout that is left for stopping the servers.
CLOSING = 0.1
#: Seconds for reading the input of a hook that was started too late, to say so.
LEAST = 0.25
#: Calls that only matter to hooks that are still there at the next call.
KEPT = (ToolKind.READ, ToolKind.SHELL)
#: Errors after which a file was not checked in time: the service, or a server, does not answer.
UNANSWERED = ("EUNAVAILABLE", "ETIMEDOUT")
#: Files that are named after the timeout, and characters of a name.
MOST_NAMES, LONGEST_NAME = 5, 100
#: A name cannot leave its tag.
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Reply:
    """The answer to the agent, which is given once."""

    def __init__(self) -> None:
        #: A token: the thread that gives the answer takes it out.
        self._turn: list[None] = [None]
        #: The call whose files are being checked.
        self._call: HookCall | None = None
        self._files: tuple[str, ...] = ()

    def await_check(self, call: HookCall, files: tuple[str, ...]) -> None:
        """Note which files are being checked."""
        self._files, self._call = files, call

    def give(self, call: HookCall, text: str) -> None:
        """Print the answer, if there is a text and no answer was given before."""
        reply = answer(call, text)
        if not reply:
            return
        try:
            self._turn.pop()
        except IndexError:
            return  # the other thread was first
        print_result(reply)

    def give_late(self) -> None:
        """Say that the files could not be checked in time."""
        if self._call is not None and self._files:
            self.give(self._call, late_text(self._files, self._call.cwd))


def late_text(files: Sequence[str], folder: str) -> str:
    """What the model reads about edited files that were not checked. Loads nothing."""
    names = [name.removeprefix(folder.rstrip(os.sep) + os.sep) for name in files[:MOST_NAMES]]
    shown = ", ".join(one_line(name)[:LONGEST_NAME].translate(ESCAPES) for name in names)
    return f"The edit was applied. Could not be checked in time: <files>{shown}</files>"


def run(arguments: argparse.Namespace) -> int:
    """Answer the input, and return 0; the process is ended if that takes too long."""
    deadline = arguments.began + arguments.timeout
    reply = Reply()
    worker = threading.Thread(target=_work, args=(arguments, deadline, reply), daemon=True)
    worker.start()
    worker.join(max(LEAST, deadline - time.monotonic()))
    if worker.is_alive():
        # It waits for input, or for a server. The guardian stops the servers.
        reply.give_late()
        os._exit(CLEAN)
    return CLEAN


def open_hooks(
    root: str, kind: ToolKind, *, use_service: bool
) -> AbstractContextManager[EditHooks | Client] | None:
    """The hooks for a call of this kind; None if there are none for which it matters."""
    service = service_hooks(root) if use_service else None
    if service is None and kind not in KEPT:
        return own_hooks(root)
    return service


def service_hooks(root: str) -> AbstractContextManager[EditHooks | Client] | None:
    """The hooks in the service of a workspace; None if there can be no service here."""
    from lspkit.errors import ServerUnavailableError  # here: most calls edit nothing
    from lspkit.service.client import Client

    client = Client(root)
    try:
        client.start()
    except ServerUnavailableError:
        client.close()
        return None
    return closing(client)


@contextmanager
def own_hooks(root: str) -> Iterator[EditHooks]:
    """Hooks in this process."""
    from lspkit.agent.hooks.edit_hooks import EditHooks  # here: most calls edit nothing
    from lspkit.workspace import Workspace

    with Workspace(root) as ws:
        yield EditHooks(ws)


def root_of(cwd: str, files: tuple[str, ...]) -> str:
    """The project around the folder; else the one in it around the first file; else it."""
    from lspkit.cli.project_root import find_project  # here: most calls edit nothing

    here = os.path.realpath(cwd)
    folders = [here, *(os.path.dirname(os.path.realpath(file)) for file in files)]
    for folder in folders:
        project = find_project(folder)
        if project and (folder is here or is_inside(project, here)):
            return project
    return here


def _work(arguments: argparse.Namespace, deadline: float, reply: Reply) -> None:
    """Read the input and write the answer. Failures are shown with `--debug` only."""
    try:
        call = read_call(_read_input(), arguments.agent)
        if isinstance(call, IgnoredInput):
            if arguments.debug or call.is_foreign:
                print_message(f"{call.why}; `lspkit hook` is for agents, which send a tool call")
            return
        call = msgspec.structs.replace(call, cwd=call.cwd or os.getcwd())
        touch = touched_files(call)
        if arguments.debug:
            print_message(_describe(call, touch))
        if touch is not None:
            # A file that is there was not deleted, or is there again.
            gone = tuple(path for path in touch.gone if not os.path.lexists(path))
            touch = msgspec.structs.replace(touch, gone=gone)
            if touch.files or gone or touch.kind is ToolKind.SHELL:
                _check(call, touch, arguments, deadline, reply)
    except Exception as problem:  # noqa: BLE001  a hook must not disturb the agent
        if getattr(problem, "code", "") in UNANSWERED:
            reply.give_late()
        if arguments.debug:
            print_traceback(problem)


def _check(
    call: HookCall, touch: Touch, arguments: argparse.Namespace, deadline: float, reply: Reply
) -> None:
    """Check the files, and print the answer before the servers are stopped."""
    if touch.kind in KEPT and not uses_service(arguments):
        return  # no hooks are kept; the project need not even be looked for
    if touch.kind not in KEPT:
        reply.await_check(call, touch.files)
    root = arguments.root or root_of(call.cwd, (*touch.files, *touch.gone))
    opened = open_hooks(root, touch.kind, use_service=uses_service(arguments))
    if opened is None:
        return
    with opened as hooks:
        left = deadline - time.monotonic() - CLOSING * arguments.timeout
        # The agent shows the output of the tool itself. So only the findings are asked for.
        paths = {"paths": [*touch.files, *touch.gone]}
        text = hooks.tool_result(
            touch.kind.value,
            paths,
            "",
            timeout=max(0.0, left),
            before=texts_before(call, text_of),
            session=call.session,
        )
        reply.give(call, text)


def _read_input() -> bytes:
    """The input, or a part of it that is too large to be read."""
    if sys.stdin is None or is_terminal(sys.stdin):
        return b""
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    # The rest is read as well: an agent whose pipe breaks may report a failure.
    while sys.stdin.buffer.read(1024 * 1024):
        pass
    return data


def _describe(call: HookCall, touch: Touch | None) -> str:
    files = "no files" if touch is None else f"{touch.kind} {', '.join(touch.files)}"
    who = f"{call.protocol.agent} {call.session}".strip()
    return one_line(f"{who}: {call.moment.value} {call.tool}: {files}")
