"""What changed files mean for one server: it reads some only once, and does not notice others."""

from __future__ import annotations

import os
import time

from lspkit.protocol.watching.registrations import DELETED, FileEvent
from lspkit.runtime.pool.event_queue import is_hidden_by_text
from lspkit.runtime.pool.slot import Slot
from lspkit.runtime.server.server import Server

#: Endings of files that may be a configuration, or part of it.
DATA = (".json", ".jsonc", ".toml", ".ini", ".cfg")


def note_changes(server: Server, slot: Slot, events: list[FileEvent]) -> bool:
    """Files have changed. Returns whether a new process must replace the server. For any thread."""
    is_outdated = False
    if server.usable and any(server.record.inputs.hold(event.path, event.kind) for event in events):
        slot.changed_at = time.monotonic()
        is_outdated = server.begun and server.record.reread()
    if server.usable and any(event.path.endswith(DATA) for event in events):
        server.record.configuration.forget()
        error = server.record.configuration.error()
        if error is not None and any(error.may_be_about(event.path) for event in events):
            server.record.outdated = is_outdated = True
    environments = server.record.inputs.environments
    may_differ = server.usable and environments.may_be_changed_by([event.path for event in events])
    if may_differ and not environments.are_current():
        slot.changed_at = time.monotonic()
        if server.begun:  # otherwise the start will notice it
            server.record.outdated = is_outdated = True
    definition = server.choice.definition
    with server.channel.lock:
        server.index.changed(
            event.path
            for event in events
            if event.kind != DELETED and definition.language_of(os.path.basename(event.path))
        )
    cannot_refresh = definition.disk.refresh is None
    if cannot_refresh and any(is_hidden_by_text(server, event) for event in events):
        server.record.outdated = is_outdated = True
    return is_outdated
