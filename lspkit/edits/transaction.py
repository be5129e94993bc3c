"""Carries out several changes of the disk, all or none.

All new contents are first written to temporary files. Then files that will be replaced get a second
name, and files that will be deleted are renamed, so that a rollback needs only renames. When all
changes are done, and every folder is confirmed, the old contents are deleted.

A process that is killed cannot roll back; it may leave files named `.lspkit-…`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence

import msgspec

from lspkit.edits.directory import Directory, Identity, identity, spare_name
from lspkit.edits.open_folders import OpenFolders
from lspkit.edits.path_errors import changed_error, error_fields, write_error
from lspkit.edits.planned_tree import FileState, PlannedChange, state_of
from lspkit.errors import PathError

# The steps of a transaction, each of which can be rolled back.
#
# A rollback examines the disk instead of relying on what a step recorded, since an interrupt may
# have come before, during or after it. So rolling back twice is harmless. Old contents are kept in
# a temporary file; if that was removed, they are written from memory.


class Step:
    """One change of the disk."""

    #: The path for messages.
    path: str

    def do(self) -> None:
        """Do it."""
        raise NotImplementedError

    def take_back(self) -> None:
        """Make it undone, however far it got. There may be nothing to do."""


class Spare:
    """A temporary file, in a folder that exists during the whole transaction."""

    def __init__(self, folders: OpenFolders, folder_path: str) -> None:
        self._folders = folders
        self._beside = folder_path
        self.name = spare_name()

    @property
    def folder(self) -> Directory:
        """Its folder."""
        return self._folders.at(self._beside)

    @property
    def path(self) -> str:
        """Its path."""
        return os.path.join(self._beside, self.name)

    def look(self) -> os.stat_result | None:
        """Its status, None if it does not exist."""
        return self.folder.look(self.name)

    def write(self, state: FileState) -> None:
        """Create it."""
        if state.kind == "link":
            self.folder.write_link(self.name, state.data)
        else:
            self.folder.write(self.name, state.data, state.mode, state.owner)

    def discard(self) -> None:
        """Remove it, if it exists."""
        self.folder.discard(self.name)


class _PathStep(Step):
    """Base of the steps for one path."""

    def __init__(self, folders: OpenFolders, change: PlannedChange) -> None:
        self.path = change.path
        self._folders = folders
        self._change = change
        #: Set after all checks, just before the first change.
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
            f"{self.path} was changed by another process meanwhile; "
            "nothing was written, request the change again"
        )
        return changed_error(message, **error_fields(self.path, self._folders.boundary))


class _SpareStep(_PathStep):
    """Base of the steps with a temporary file."""

    def __init__(self, folders: OpenFolders, change: PlannedChange, folder_path: str) -> None:
        super().__init__(folders, change)
        self.spare = Spare(folders, folder_path)
        #: Of the file that it writes or keeps.
        self.identity: Identity | None = None

    def _go_back(self) -> None:
        self.spare.discard()


class Stage(_SpareStep):
    """Writes the new content to a temporary file."""

    def __init__(self, folders: OpenFolders, change: PlannedChange, folder_path: str) -> None:
        super().__init__(folders, change, folder_path)
        #: The written state, with its actual mode.
        self.state = change.after

    def do(self) -> None:
        self._begun = self.spare.look() is None
        self.spare.write(self.state)
        status = self.spare.look()
        if status is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.spare.path)
        self.identity = identity(status)
        if self.state.kind == "file":
            self.state = msgspec.structs.replace(self.state, mode=stat.S_IMODE(status.st_mode))


class Keep(_SpareStep):
    """Gives the file that will be replaced a second name, or copies it if that is not possible."""

    def do(self) -> None:
        folder, name = self._home()
        status = folder.look(name)
        if status is None:
            raise self._changed_error()
        self.identity = identity(status)
        self._begun = self.spare.look() is None
        if not folder.link(name, self.spare.folder, self.spare.name):
            self.spare.write(self._change.before)

    def put_back(self) -> None:
        """Restore the file under its own name."""
        folder, name = self._home()
        if self.spare.look() is None:
            self.spare.write(self._change.before)
        self.spare.folder.rename(self.spare.name, folder, name)


class SetAside(_SpareStep):
    """Renames the file that will be deleted to a temporary name."""

    def do(self) -> None:
        folder, name = self._home()
        if folder.look(name) is None:
            raise self._changed_error()
        self._begun = True
        folder.rename(name, self.spare.folder, self.spare.name)
        # It can no longer be changed by its name, so this is its final content.
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
            message = f"the name is taken, and the old content is in {self.spare.path}"
            raise FileExistsError(errno.EEXIST, message)


class RemoveFolder(_PathStep):
    """Removes an empty folder."""

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
    """Creates a folder."""

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
    """Renames the staged file to its own name, over the kept one."""

    def __init__(
        self, folders: OpenFolders, change: PlannedChange, stage: Stage, kept: Keep | None
    ) -> None:
        super().__init__(folders, change)
        self._stage = stage
        self._kept = kept

    def do(self) -> None:
        folder, name = self._home()
        status, spare = folder.look(name), self._stage.spare
        kept = None if self._kept is None else self._kept.identity
        # Checked here, at the last moment before it is replaced.
        if (None if status is None else identity(status)) != kept or (
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
        status = folder.look(name)
        if status is None or identity(status) != self._stage.identity:
            return  # not done, or rolled back already
        if self._kept is None:
            folder.unlink(name)
        else:
            self._kept.put_back()


class Confirm(Step):
    """Checks that the used folders were not moved or replaced."""

    def __init__(self, folders: OpenFolders) -> None:
        self.path = folders.boundary.root
        self._folders = folders

    def do(self) -> None:
        self._folders.confirm()


class Drop(Step):
    """Deletes a temporary file that is no longer needed. A step that needs it writes it again."""

    def __init__(self, spare: Spare) -> None:
        self.path = spare.path
        self._spare = spare

    def do(self) -> None:
        self._spare.discard()


#: Called with the number of each step before it is made. For tests.
BeforeStep = Callable[[int], None]


def no_step(number: int) -> None:
    """Do nothing."""


def carry_out(
    changes: Sequence[PlannedChange], folders: OpenFolders, before_step: BeforeStep = no_step
) -> dict[str, FileState]:
    """Make the changes, and return the new state of each path. On failure nothing is changed.

    `before_step` is called before each step, and once after the last one.
    """
    if not changes:
        return {}
    stages, steps = _prepare(changes, folders)
    begun: list[Step] = []
    try:
        for number, step in enumerate(steps):
            before_step(number)
            begun.append(step)
            step.do()
        before_step(len(steps))
    except (OSError, PathError) as problem:
        lost = _take_back(begun)
        if isinstance(problem, PathError) and not lost:
            raise
        raise _refusal(problem, begun[-1].path if begun else "", lost, folders) from problem
    except BaseException as problem:
        for line in _take_back(begun):
            problem.add_note(line)
        raise
    return {
        change.path: stages[change.path].state if change.path in stages else change.after
        for change in changes
    }


def _prepare(
    changes: Sequence[PlannedChange], folders: OpenFolders
) -> tuple[Mapping[str, Stage], list[Step]]:
    """The steps in their order."""
    passing = {
        change.path for change in changes if "folder" in (change.before.kind, change.after.kind)
    }

    def lasting_folder(path: str) -> str:
        """The nearest folder that exists before and after: a rename needs one file system."""
        above = os.path.dirname(path)
        while above in passing:
            above = os.path.dirname(above)
        return above

    coming = [change for change in changes if change.after.is_leaf]
    replaced = [change for change in coming if change.before.is_leaf]
    going = [change for change in changes if change.before.is_leaf and not change.after.is_leaf]
    folders_going = [change for change in changes if change.before.kind == "folder"]
    folders_coming = [change for change in changes if change.after.kind == "folder"]

    stages = {change.path: Stage(folders, change, lasting_folder(change.path)) for change in coming}
    kept = {change.path: Keep(folders, change, lasting_folder(change.path)) for change in replaced}
    aside = [SetAside(folders, change, lasting_folder(change.path)) for change in going]
    spares = [step.spare for step in kept.values()] + [step.spare for step in aside]
    return stages, [
        Confirm(folders),
        *stages.values(),
        *kept.values(),
        *aside,
        *(RemoveFolder(folders, change) for change in reversed(folders_going)),
        *(MakeFolder(folders, change) for change in folders_coming),
        *(
            PutInPlace(folders, change, stages[change.path], kept.get(change.path))
            for change in coming
        ),
        Confirm(folders),
        *(Drop(spare) for spare in spares),
    ]


def _take_back(begun: Sequence[Step]) -> list[str]:
    """Roll the steps back, last one first. Returns a line for each that failed.

    An interrupt is delayed: stopping here would leave a partial change.
    """
    lost: list[str] = []
    interrupted = False
    for step in reversed(begun):
        while True:
            try:
                step.take_back()
            except KeyboardInterrupt:
                interrupted = True
                continue
            except (OSError, PathError) as problem:
                lost.append(f"{step.path} could not be restored: {_why(problem)}")
            break
    if interrupted:
        raise KeyboardInterrupt(*lost)
    return lost


def _why(problem: OSError | PathError) -> str:
    if isinstance(problem, PathError):
        return problem.message
    return problem.strerror or str(problem)


def _refusal(
    problem: OSError | PathError, path: str, lost: Sequence[str], folders: OpenFolders
) -> PathError:
    about = error_fields(path, folders.boundary)
    if not lost:
        message = f"{path} cannot be changed: {_why(problem)}; nothing was written"
        return write_error(message, **about)
    message = "; ".join([f"{path} cannot be changed: {_why(problem)}", *lost])
    return write_error(f"{message}. Not everything was restored: check these files", **about)
