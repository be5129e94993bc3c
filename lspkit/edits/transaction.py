"""Carries out several changes of the disk, all or none.

All new contents are first written to temporary files. Then files that will be replaced get a second
name, and files that will be deleted are renamed, so that a rollback needs only renames. When all
changes are done, and every folder is confirmed, the old contents are deleted.

A process that is killed cannot roll back; it may leave files named `.lspkit-…`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from lspkit.edits import transaction_steps
from lspkit.edits.open_folders import OpenFolders
from lspkit.edits.path_errors import error_fields, write_error
from lspkit.edits.planned_tree import FileState, PlannedChange
from lspkit.errors import PathError

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
    begun: list[transaction_steps.Step] = []
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
        one.path: stages[one.path].state if one.path in stages else one.after for one in changes
    }


def _prepare(
    changes: Sequence[PlannedChange], folders: OpenFolders
) -> tuple[Mapping[str, transaction_steps.Stage], list[transaction_steps.Step]]:
    """The steps in their order."""
    passing = {one.path for one in changes if "folder" in (one.before.kind, one.after.kind)}

    def beside(path: str) -> str:
        """The nearest folder that exists before and after: a rename needs one file system."""
        above = os.path.dirname(path)
        while above in passing:
            above = os.path.dirname(above)
        return above

    coming = [one for one in changes if one.after.is_leaf]
    replaced = [one for one in coming if one.before.is_leaf]
    going = [one for one in changes if one.before.is_leaf and not one.after.is_leaf]
    folders_going = [one for one in changes if one.before.kind == "folder"]
    folders_coming = [one for one in changes if one.after.kind == "folder"]

    stages = {one.path: transaction_steps.Stage(folders, one, beside(one.path)) for one in coming}
    kept = {one.path: transaction_steps.Keep(folders, one, beside(one.path)) for one in replaced}
    aside = [transaction_steps.SetAside(folders, one, beside(one.path)) for one in going]
    spares = [one.spare for one in kept.values()] + [one.spare for one in aside]
    return stages, [
        transaction_steps.Confirm(folders),
        *stages.values(),
        *kept.values(),
        *aside,
        *(transaction_steps.RemoveFolder(folders, one) for one in reversed(folders_going)),
        *(transaction_steps.MakeFolder(folders, one) for one in folders_coming),
        *(
            transaction_steps.PutInPlace(folders, one, stages[one.path], kept.get(one.path))
            for one in coming
        ),
        transaction_steps.Confirm(folders),
        *(transaction_steps.Drop(one) for one in spares),
    ]


def _take_back(begun: Sequence[transaction_steps.Step]) -> list[str]:
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
    said = "; ".join([f"{path} cannot be changed: {_why(problem)}", *lost])
    return write_error(f"{said}. Not everything was restored: check these files", **about)
