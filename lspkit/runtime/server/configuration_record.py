"""What one server says about its configuration, and the findings in it.

Either it says that it cannot read the files that configure it, or, for TypeScript, which finds a
configuration for each source, there are findings in that.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from lspkit.diagnostics.configuration_error import (
    CANNOT_READ,
    ConfigurationError,
    as_finding,
    configuration_error,
    unread_option,
)
from lspkit.limits import MOST_REPORTED_FILES
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.server.connection import STDERR_KEPT
from lspkit.runtime.server.document_channel import DocumentChannel
from lspkit.servers.selection.choose import Choice
from lspkit.workspace_boundary import folders_above


class ConfigurationRecord:
    """The configuration as one server has read it. The lock of the channel guards all fields."""

    def __init__(
        self,
        channel: DocumentChannel,
        choice: Choice,
        keep: Callable[[str, int | None, bytes], None],
    ) -> None:
        self._channel = channel
        self._choice = choice
        #: Keeps findings about a file.
        self._keep = keep
        #: Why the server cannot read its configuration, from its own words; None if it can.
        self._error: ConfigurationError | None = None
        self._is_kept = False
        #: The configuration that includes a source, with the files that it extends: by URI of the
        #: source, and of the configuration, with the count of changes at which it was read.
        self._files: dict[str, tuple[tuple[str, ...], int]] = {}
        #: How often any of them may have changed.
        self.changes = 0
        #: The configurations that a call is asking about.
        self._being_read: set[str] = set()

    def doubt(self, uri: str) -> str:
        """Why findings in a file are those for another configuration; empty if they are not."""
        error = self.error()
        if error is not None:
            self._keep_finding(error)
            return CANNOT_READ + error.message
        with self._channel.lock:
            reports = [
                (os.path.basename(path), report.items)
                for path in self._files.get(uri, ((), 0))[0]
                for report in self._channel.observations.store.about(path_to_uri(path))
            ]
        unread = unread_option(reports)
        return CANNOT_READ + unread if unread else ""

    def error(self) -> ConfigurationError | None:
        """What the server has said about it."""
        line, config = (
            self._channel.observations.unread_configuration,
            self._choice.definition.disk.config,
        )
        if not line or config is None or self._error is not None:
            return self._error
        connection, root = self._channel.connection, self._choice.root
        log = "" if connection is None else connection.stderr_tail(STDERR_KEPT)
        folders = (root, *folders_above(root))
        error = configuration_error(
            line, log, [os.path.join(folder, name) for folder in folders for name in config.names]
        )
        if error is not None and error.is_whole:  # otherwise its log may still come
            self._error = error
        return error

    def _keep_finding(self, error: ConfigurationError) -> None:
        """Keep what it has said as a finding at the file, once."""
        with self._channel.lock:
            is_kept = self._is_kept or not error.is_whole
            self._is_kept = self._is_kept or error.is_whole
        path = next((path for path in error.paths if os.path.isfile(path)), "")
        if path and not is_kept:
            self._keep(path_to_uri(path), None, as_finding(error, self._choice.id))

    def files_of(self, uri: str) -> tuple[str, ...] | None:
        """The files that configure a source or make up a configuration, if known and current."""
        with self._channel.lock:
            files, changes = self._files.get(uri, ((), -1))
            return files if changes == self.changes else None

    def note(self, uri: str, files: tuple[str, ...], changes: int) -> None:
        """These files do, as of `changes`.

        If one has changed since, what is known about them counts until they are read again.
        """
        with self._channel.lock:
            if len(self._files) >= MOST_REPORTED_FILES:
                self._files.clear()
            self._files[uri] = files, changes

    def begin_reading(self, uri: str) -> bool:
        """A call asks about a configuration; False if another call does so already."""
        with self._channel.lock:
            is_free = uri not in self._being_read
            self._being_read.add(uri)
            return is_free

    def end_reading(self, uri: str) -> None:
        """It has asked."""
        with self._channel.lock:
            self._being_read.discard(uri)

    def forget(self) -> None:
        """A file of data or a package has changed, which may be part of a configuration."""
        with self._channel.lock:
            self.changes += 1
