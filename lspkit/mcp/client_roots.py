"""The roots of a client: the folders that it works in. They narrow the workspace, never widen it.

A root inside the workspace is used. A root around the workspace allows all of it. Any other root
is ignored; if all are, nothing is allowed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lspkit.agent.tools.tool_table import FIELDS
from lspkit.errors import PathError
from lspkit.protocol.uris import uri_to_path
from lspkit.workspace_boundary import Boundary, absolute_path, is_inside

#: Why no file may be used.
NO_ROOT = (
    "none of the roots of the client lies in this project, so no file of it may be used; name the "
    "folder of the client: lspkit mcp ROOT"
)
#: The names of the field that has a path.
PATH_FIELDS = (FIELDS["path"].name, *FIELDS["path"].aliases)


class ClientRoots(msgspec.Struct, frozen=True):
    """The folders of a client, as real paths."""

    #: None if the whole workspace is allowed.
    folders: tuple[str, ...] | None = None
    #: URIs of roots that cannot be used.
    ignored: tuple[str, ...] = ()

    def check_arguments(self, arguments: Mapping[str, Any], root: str) -> dict[str, Any]:
        """The arguments of a tool, with a path that the workspace can resolve.

        Raises a `PathError` if it is outside these folders, or there is none.
        """
        if self.folders == ():
            raise PathError(NO_ROOT, code="EOUTSIDE", path=root, boundary="")
        checked = dict(arguments)
        for name in PATH_FIELDS:
            if isinstance(given := checked.get(name), str) and given:
                checked[name] = self.check_path(given, root)
        return checked

    def check_path(self, given: str, root: str) -> str:
        """The path as the workspace can resolve it; a `PathError` if it is outside."""
        path, moved = absolute_path(given, root), None
        if not os.path.isabs(given) and not os.path.lexists(path):
            # Relative to the client's folder.
            places = (absolute_path(given, folder) for folder in self._folders_of_client(root))
            moved = next((place for place in places if os.path.lexists(place)), None)
        if self.folders is None:
            return moved or given
        path = moved or path
        self._refuse_outside(given, os.path.realpath(path))
        return path

    def check_absolute(self, path: str) -> None:
        """Raise a `PathError` if an absolute path is outside.

        If its name is a link, the folder that has the link must be inside, too: an edit may rename
        or delete the link itself.
        """
        path = absolute_path(path, os.sep)
        folder, name = os.path.split(path.rstrip(os.sep))
        self._refuse_outside(path, os.path.realpath(path))
        self._refuse_outside(path, os.path.join(os.path.realpath(folder), name))

    def _folders_of_client(self, root: str) -> tuple[str, ...]:
        return _folder_in(root) if self.folders is None else self.folders

    def _refuse_outside(self, given: str, real: str) -> None:
        if self.folders is not None and not any(is_inside(real, folder) for folder in self.folders):
            folders = ", ".join(self.folders)
            message = f"{given} lies outside the roots of the client: {folders or NO_ROOT}"
            raise PathError(message, code="EOUTSIDE", path=given, resolved=real, boundary=folders)


def _folder_in(root: str) -> tuple[str, ...]:
    """The current folder, which the client has chosen, if it is inside the workspace."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was deleted
        return ()
    return (here,) if is_inside(here, root) else ()


def client_roots(uris: Iterable[str], boundary: Boundary) -> ClientRoots:
    """The roots that lie in a workspace. A client that has none may use all of it."""
    folders: list[str] = []
    ignored: list[str] = []
    whole = False
    for uri in uris:
        path = uri_to_path(uri)
        real = os.path.realpath(path) if path and "\0" not in path else ""
        if real and is_inside(boundary.root, real):
            whole = True
        elif real and _may_access(real, boundary):
            folders.append(real)
        else:
            ignored.append(uri)
    used = tuple(dict.fromkeys(folders)) if (folders or ignored) and not whole else None
    return ClientRoots(used, tuple(ignored))


def _may_access(real: str, boundary: Boundary) -> bool:
    return boundary.allow_external or is_inside(real, boundary.outer)
