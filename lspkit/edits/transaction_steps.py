"""The single steps of a transaction, each of which can be taken back.

Taking back goes by what is on disk, not by what a step remembers to have done: an interrupt may
have come before, during or after it. So it is also harmless to take a step back twice. Old contents
that are needed for it lie under a spare name; if even that is gone, they are written from memory.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Protocol

import msgspec

from lspkit.edits.directory import Directory, Identity, identity, spare_name
from lspkit.edits.open_folders import OpenFolders
from lspkit.edits.path_errors import changed_error, error_fields
from lspkit.edits.planned_tree import FileState, PlannedChange, state_of
from lspkit.errors import PathError


class Step(Protocol):
    """One thing that is done to the disk."""

    #: What it is about, for messages.
    path: str

    def do(self) -> None:
        """Do it."""

    def take_back(self) -> None:
        """Make it undone, however far it got."""


class Spare:
    """A file that is there for a moment, in a folder that outlives the transaction."""

    def __init__(self, folders: OpenFolders, beside: str) -> None:
        self._folders = folders
        self._beside = beside
        self.name = spare_name()

    @property
    def folder(self) -> Directory:
        """The folder that it lies in."""
        return self._folders.at(self._beside)

    @property
    def path(self) -> str:
        """Where it is."""
        return os.path.join(self._beside, self.name)

    def look(self) -> os.stat_result | None:
        """What it is, None if it is not there."""
        return self.folder.look(self.name)

    def write(self, state: FileState) -> None:
        """Makes it."""
        if state.kind == "link":
            self.folder.write_link(self.name, state.data)
        else:
            self.folder.write(self.name, state.data, state.mode, state.owner)

    def discard(self) -> None:
        """Removes it, if it is there."""
        self.folder.discard(self.name)


class _PathStep:
    """What all steps have in common that are about one path."""

    def __init__(self, folders: OpenFolders, change: PlannedChange) -> None:
        self.path = change.path
        self._folders = folders
        self._change = change
        #: Set when its folders are open and nothing is in its way, just before anything is done.
        self._begun = False

    def take_back(self) -> None:
        """Make it undone, however far it got."""
        if self._begun:
            self._go_back()

    def _go_back(self) -> None:
        raise NotImplementedError

    def _home(self) -> tuple[Directory, str]:
        return self._folders.home(self.path)

    def _changed_error(self) -> PathError:
        message = (
            f"{self.path} was changed by somebody else at the same moment; "
            "nothing was written, ask for the change again"
        )
        return changed_error(message, **error_fields(self.path, self._folders.boundary))


class Stage(_PathStep):
    """The new content is written under a spare name."""

    def __init__(self, folders: OpenFolders, change: PlannedChange, beside: str) -> None:
        super().__init__(folders, change)
        self.spare = Spare(folders, beside)
        #: What is written, with the mode that it got.
        self.state = change.after
        self.identity: Identity | None = None

    def do(self) -> None:
        self._begun = self.spare.look() is None
        self.spare.write(self.state)
        found = self.spare.look()
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.spare.path)
        self.identity = identity(found)
        if self.state.kind == "file":
            self.state = msgspec.structs.replace(self.state, mode=stat.S_IMODE(found.st_mode))

    def _go_back(self) -> None:
        self.spare.discard()


class Keep(_PathStep):
    """What is about to be replaced gets a second name, or is copied where that cannot be."""

    def __init__(self, folders: OpenFolders, change: PlannedChange, beside: str) -> None:
        super().__init__(folders, change)
        self.spare = Spare(folders, beside)
        self.identity: Identity | None = None

    def do(self) -> None:
        folder, name = self._home()
        found = folder.look(name)
        if found is None:
            raise self._changed_error()
        self.identity = identity(found)
        self._begun = self.spare.look() is None
        if not folder.link(name, self.spare.folder, self.spare.name):
            self.spare.write(self._change.before)

    def _go_back(self) -> None:
        self.spare.discard()

    def put_back(self) -> None:
        """It gets its own name again."""
        folder, name = self._home()
        if self.spare.look() is None:
            self.spare.write(self._change.before)
        self.spare.folder.rename(self.spare.name, folder, name)


class SetAside(_PathStep):
    """What is to go gets a spare name instead of its own."""

    def __init__(self, folders: OpenFolders, change: PlannedChange, beside: str) -> None:
        super().__init__(folders, change)
        self.spare = Spare(folders, beside)

    def do(self) -> None:
        folder, name = self._home()
        if folder.look(name) is None:
            raise self._changed_error()
        self._begun = True
        folder.rename(name, self.spare.folder, self.spare.name)
        # It cannot be changed by its name any more: what it is now is what goes.
        if not state_of(self.spare.folder, self.spare.name).is_same(self._change.before):
            raise self._changed_error()

    def _go_back(self) -> None:
        folder, name = self._home()
        there, here = folder.look(name), self.spare.look()
        if there is None:
            if here is None:
                self.spare.write(self._change.before)
            self.spare.folder.rename(self.spare.name, folder, name)
        elif here is not None:
            message = f"something else is there, and what was there is in {self.spare.path}"
            raise FileExistsError(errno.EEXIST, message)


class RemoveFolder(_PathStep):
    """An empty folder goes."""

    def do(self) -> None:
        try:
            folder, name = self._home()
            self._folders.forget(self.path)
            if folder.look(name) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
            self._begun = True
            folder.remove(name)
        except OSError as problem:
            in_use = problem.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT)
            if not (self._change.if_empty and in_use):
                raise

    def _go_back(self) -> None:
        folder, name = self._home()
        if folder.look(name) is None:
            folder.make(name, self._change.before.mode, self._change.before.owner)


class MakeFolder(_PathStep):
    """A folder comes."""

    def do(self) -> None:
        folder, name = self._home()
        if folder.look(name) is not None:
            raise self._changed_error()
        self._folders.forget(self.path)
        self._begun = True
        folder.make(name, self._change.after.mode, self._change.after.owner)

    def _go_back(self) -> None:
        folder, name = self._home()
        self._folders.forget(self.path)
        if folder.look(name) is not None:
            folder.remove(name)


class PutInPlace(_PathStep):
    """What was staged gets its own name, over what was kept."""

    def __init__(
        self, folders: OpenFolders, change: PlannedChange, stage: Stage, kept: Keep | None
    ) -> None:
        super().__init__(folders, change)
        self._stage = stage
        self._kept = kept

    def do(self) -> None:
        folder, name = self._home()
        found, spare = folder.look(name), self._stage.spare
        kept = None if self._kept is None else self._kept.identity
        # Now rather than when it was kept: this is the last moment before it is replaced.
        if (None if found is None else identity(found)) != kept or (
            kept is not None and not state_of(folder, name).is_same(self._change.before)
        ):
            raise self._changed_error()
        self._begun = True
        if self._kept is None:
            spare.folder.rename_new(spare.name, folder, name)
        else:
            spare.folder.rename(spare.name, folder, name)

    def _go_back(self) -> None:
        folder, name = self._home()
        found = folder.look(name)
        if found is None or identity(found) != self._stage.identity:
            return  # it has not happened, or is taken back already
        if self._kept is None:
            folder.unlink(name)
        else:
            self._kept.put_back()


class Confirm:
    """The folders that were worked in are still where they were."""

    def __init__(self, folders: OpenFolders) -> None:
        self.path = folders.boundary.root
        self._folders = folders

    def do(self) -> None:
        self._folders.confirm()

    def take_back(self) -> None:
        """Nothing was done."""


class Drop:
    """What was kept or set aside is no longer needed."""

    def __init__(self, spare: Spare) -> None:
        self.path = spare.path
        self._spare = spare

    def do(self) -> None:
        self._spare.discard()

    def take_back(self) -> None:
        """Whoever needs it writes it anew."""
