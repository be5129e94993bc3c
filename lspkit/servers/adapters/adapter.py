"""The hooks of an adapter, each with a default that suits an ordinary server.

An adapter has no state: one object serves all processes of a server, in all workspaces and threads.
What depends on a process is an argument, or in what a hook returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from lspkit.diagnostics.freshness_events import Case, Judged
from lspkit.diagnostics.progress_proof import proof_by_progress
from lspkit.protocol.capabilities import InitializeOptions
from lspkit.protocol.open_documents import SyncOptions
from lspkit.servers.definition import Definition


class BackgroundIndex(msgspec.Struct, frozen=True, kw_only=True):
    """An index that a server builds in the background, for its answers about several files."""

    #: The title of the `$/progress` of this work. Such a server finds definitions in other files by
    #: its index, too, and a file that changes on disk is opened, since it does not read it again.
    #: Empty: the server does not report the work, and its process is idle when it is done.
    title: str = ""
    #: Names of files, in the folder of a document or in one above, without which there is no index.
    needs: tuple[str, ...] = ()
    #: What is missing without an index, and what a user can do about it.
    without: str = ""


class ForwardedRequest(msgspec.Struct, frozen=True):
    """A request that a server sends to its client by a notification, for another server."""

    #: Identifies it in the answer.
    number: Any
    #: The file that it is about; empty if none is recognized.
    path: str
    #: What the other server is asked.
    method: str
    params: Any


class Adapter:
    """What lspkit does for an ordinary server. Each server with an oddity has a class of its own.

    Hooks are called in the thread of a call, without a lock, unless they say otherwise. None of
    them waits for the server.
    """

    # The start of a process

    def complete(self, definition: Definition, folders: Sequence[str]) -> Definition | str:
        """The definition with what it needs from these folders of programs; or why that is missing.

        Called when a server is chosen, also one that does not start then.
        """
        return definition

    def environment(self, scratch: str) -> dict[str, str]:
        """Environment variables. `scratch` is the process's own folder for temporary files."""
        return {}

    def initialize(self, options: InitializeOptions) -> InitializeOptions:
        """What `initialize` says, and how the session treats the server."""
        return options

    def is_false_start(self, ran_for: float) -> bool:
        """Whether another process is started at once for one that ended by itself before any use.

        `ran_for` is in seconds. Called by the thread that notices the end, under the pool's lock.
        """
        return False

    # Documents

    #: Additional params of each `didChange`; and further ones of one that leaves the text as it is
    #: and makes the server check the document again.
    change_params: Mapping[str, Any] = {}
    touch_params: Mapping[str, Any] = {}

    def takes_path(self, path: str) -> bool:
        """Whether the server may be told of a file at this path. Also under the pool's lock."""
        return True

    def sync_options(self, options: SyncOptions) -> SyncOptions:
        """Which notifications it gets for a document, in place of those that it has asked for.

        Called under the server's lock.
        """
        return options

    def misjudges_new(self, name: str, text: str) -> str:
        """Why findings about the text of a file that does not exist on disk are wrong; or empty."""
        return ""

    def doubt(self, path: str, root: str) -> str:
        """Why an empty list of findings about a file on disk proves nothing; or empty."""
        return ""

    # Changes on disk

    #: Whether it deadlocks when it is notified of a new file while it works on a request. A change
    #: of an open document is sent before, which ends the request. A process that is silent and idle
    #: for some seconds while a call waits for its answer is replaced.
    blocks_on_new_files: bool = False
    #: After this number of notified changes without a request, the server ignores the next
    #: `didChange`; a request is sent before. 0: never.
    loses_edits_after: int = 0

    def restart_rule(self, definition: Definition, root: str) -> Callable[[str, int], bool]:
        """A function that tells by path and kind of a change whether the process is outdated.

        Called when a process is about to start. The function is called for each change on disk, by
        the thread that delivers the changes to this process, and may keep a record of them.
        """
        return lambda path, kind: False

    # The state of the project

    #: A request for a file's text as the server knows it. Used to wait until a server that reads
    #: files in the background has read a change.
    text_request: str = ""
    #: None: its answers are complete as soon as the project is loaded.
    index: BackgroundIndex | None = None
    #: Seconds after a notification of a file in which it may not find names that this file
    #: includes, since it puts them into its index later and does not say when.
    index_lag: float = 0.0

    def needs_project(self, method: str) -> bool:
        """Whether its answer to a method is right only after it has loaded the project."""
        return True

    # Requests that another server answers

    #: The id of the server that answers them. It runs in the same root.
    companion: str = ""

    def forwarded(self, method: str, params: bytes | None) -> list[ForwardedRequest]:
        """The requests in a notification of the server. Called by its reader thread."""
        return []

    def forwarded_answer(self, request: ForwardedRequest, result: bytes | None) -> tuple[str, Any]:
        """The notification with the answer to a request; `result` is None if there is none."""
        raise NotImplementedError

    # Proofs

    #: For a rule `progress`: the notification that starts its task, if nothing else starts it, and
    #: the one that stops a run that is no longer needed. Such a task runs programs of the project,
    #: which may write files that the sources before this one read; these are asked again then.
    start_work: str = ""
    stop_work: str = ""

    def proof_by_progress(self, case: Case) -> Judged:
        """The decision of the rule `progress`. Pure."""
        return proof_by_progress(case)
