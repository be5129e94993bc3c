"""What changed files mean for one server: it reads some only once, and does not notice others."""

from __future__ import annotations

import os
import time

from lspkit.protocol.registrations import DELETED, FileEvent
from lspkit.runtime.pool.event_queue import is_hidden_by_text
from lspkit.runtime.pool.slot import Slot
from lspkit.runtime.server.server import Server

#: Endings of files that may be a configuration, or part of it.
DATA = (".json", ".jsonc", ".toml", ".ini", ".cfg")


def note_changes(server: Server, slot: Slot, events: list[FileEvent]) -> bool:
    """Files have changed. Returns whether a new process must replace the server from now on.

    One that is not started yet will read them as they are. For any thread.
    """
    if not server.takes_calls:
        return False
    inputs, definition = server.record.inputs, server.choice.definition
    if any(inputs.hold(event.path, event.kind) for event in events):
        slot.changed_at = time.monotonic()
        server.record.reread()
    if any(event.path.endswith(DATA) for event in events):
        server.record.configuration.forget()
        error = server.record.configuration.error()
        if error is not None and any(error.may_be_about(event.path) for event in events):
            server.outdate()
    may_differ = inputs.environments.may_be_changed_by([event.path for event in events])
    if may_differ and not inputs.environments.are_current():
        slot.changed_at = time.monotonic()
        server.outdate()
    with server.channel.lock:
        server.index.changed(
            event.path
            for event in events
            if event.kind != DELETED and definition.language_of(os.path.basename(event.path))
        )
    cannot_refresh = definition.disk.refresh is None
    if cannot_refresh and any(is_hidden_by_text(server, event) for event in events):
        server.outdate()
    return not server.takes_calls
