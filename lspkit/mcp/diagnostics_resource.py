"""The resource `diagnostics://{path}`: URIs, and which of them a client has subscribed to.

A path is relative to the workspace, or absolute. A subscriber is told when the findings of a file
differ from those that were known before, not at every report of a server.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote

from lspkit.errors import LspkitError, PathError
from lspkit.mcp.client_roots import ClientRoots
from lspkit.types import Diagnostic
from lspkit.workspace import Workspace

SCHEME = "diagnostics://"
TEMPLATE = f"{SCHEME}{{path}}"
MIME_TYPE = "text/plain"
#: Subscriptions of one client.
MOST_SUBSCRIPTIONS = 500
#: Resources in one list.
MOST_LISTED = 200

Findings = tuple[Diagnostic, ...]


class TooManySubscriptionsError(LspkitError):
    """A client has subscribed to as many resources as it may."""

    code = "ELIMIT"


def path_of(uri: str) -> str:
    """The path in a URI of a file's diagnostics."""
    path = unquote(uri.removeprefix(SCHEME), errors="surrogateescape")
    if not uri.startswith(SCHEME) or not path:
        raise PathError(f"{uri} is not a URI of the form {TEMPLATE}", path=uri)
    return path


def uri_of(path: str, root: str) -> str:
    """The URI of a file's diagnostics."""
    inside = os.path.relpath(path, root) if path.startswith(os.path.join(root, "")) else path
    return SCHEME + quote(inside, errors="surrogateescape")


def known_uris(ws: Workspace, roots: ClientRoots) -> list[str]:
    """The URIs of the files with known findings that a client can read, in order."""
    root = str(ws.root)
    files = sorted(str(path) for path, found in ws.diagnostics().items() if found)
    uris = (uri_of(one, root) for one in files)
    return list(
        itertools.islice((one for one in uris if _is_allowed(one, root, roots)), MOST_LISTED)
    )


def _is_allowed(uri: str, root: str, roots: ClientRoots) -> bool:
    try:
        roots.check_path(path_of(uri), root)
    except PathError:
        return False
    return True


class Subscriptions:
    """The resources that a client has subscribed to. Thread-safe."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        #: Guards the fields below.
        self._lock = threading.Lock()
        #: URIs by the real path of the file, with the number of their subscriptions.
        self._uris: dict[str, dict[str, int]] = {}
        self._known: dict[str, Findings] = {}

    def add(self, uri: str, path: str) -> bool:
        """Subscribe; returns whether the file was not subscribed to before."""
        with self._lock:
            if sum(map(len, self._uris.values())) >= MOST_SUBSCRIPTIONS:
                message = f"there are {MOST_SUBSCRIPTIONS} subscriptions; end some of them"
                raise TooManySubscriptionsError(message)
            first = path not in self._uris
            uris = self._uris.setdefault(path, {})
            uris[uri] = uris.get(uri, 0) + 1
        return first

    def remove(self, uri: str) -> None:
        """End a subscription; nothing happens if there is none."""
        with self._lock:
            for path, uris in list(self._uris.items()):
                if uri not in uris:
                    continue
                uris[uri] -= 1
                if not uris[uri]:
                    del uris[uri]
                if not uris:
                    del self._uris[path]
                    self._known.pop(path, None)

    def paths(self) -> list[str]:
        """The files that are subscribed to."""
        with self._lock:
            return list(self._uris)

    def has(self, path: str) -> bool:
        """Whether a file is subscribed to."""
        return path in self._uris

    def note(self, path: str) -> None:
        """Remember the findings of a file as those that the client can read now."""
        self.changed([path])

    def changed(self, paths: Iterable[str]) -> list[str]:
        """The URIs of those files whose findings have changed since they were last looked at."""
        uris: list[str] = []
        for path in paths:
            found = self._findings(path)
            with self._lock:
                if path not in self._uris:
                    continue
                # Before the first look, the client has not been told that it has subscribed.
                if self._known.get(path, found) != found:
                    uris += self._uris[path]
                self._known[path] = found
        return uris

    def _findings(self, path: str) -> Findings:
        try:
            return tuple(self._ws.diagnostics(path).get(Path(path), ()))
        except LspkitError:  # it was deleted, or the service has ended
            return ()
