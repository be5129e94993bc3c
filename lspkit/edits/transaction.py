"""Several changes of the disk, all or none.

All new contents are written beside first. Then what is replaced gets a second name and what goes is
set aside, so that going back takes neither space nor luck, only renames. When everything is in its
place, and every folder still where it was, the old contents are dropped.

A process that is killed cannot take anything back; it may leave files named `.lspkit-…`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from lspkit.edits.open_folders import OpenFolders
from lspkit.edits.path_errors import error_fields, write_error
from lspkit.edits.planned_tree import FileState, PlannedChange
from lspkit.edits.single_file import BeforeStep, no_step
from lspkit.edits.transaction_steps import (
    Confirm,
    Drop,
    Keep,
    MakeFolder,
    PutInPlace,
    RemoveFolder,
    SetAside,
    Stage,
    Step,
)
from lspkit.errors import PathError


def carry_out(
    changes: Sequence[PlannedChange], folders: OpenFolders, before_step: BeforeStep = no_step
) -> dict[str, FileState]:
    """Makes the changes, and returns what is at each path then. Fails with nothing changed.

    `before_step` is called before each step, and once more after the last one.
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
        one.path: stages[one.path].state if one.path in stages else one.after for one in changes
    }


def _prepare(
    changes: Sequence[PlannedChange], folders: OpenFolders
) -> tuple[Mapping[str, Stage], list[Step]]:
    """The steps, in the order in which each finds what it needs."""
    passing = {one.path for one in changes if "folder" in (one.before.kind, one.after.kind)}

    def beside(path: str) -> str:
        """The nearest folder that is there before and after: a rename needs one file system."""
        above = os.path.dirname(path)
        while above in passing:
            above = os.path.dirname(above)
        return above

    coming = [one for one in changes if one.after.is_leaf]
    replaced = [one for one in coming if one.before.is_leaf]
    going = [one for one in changes if one.before.is_leaf and not one.after.is_leaf]
    folders_going = [one for one in changes if one.before.kind == "folder"]
    folders_coming = [one for one in changes if one.after.kind == "folder"]

    stages = {one.path: Stage(folders, one, beside(one.path)) for one in coming}
    kept = {one.path: Keep(folders, one, beside(one.path)) for one in replaced}
    aside = [SetAside(folders, one, beside(one.path)) for one in going]
    spares = [one.spare for one in kept.values()] + [one.spare for one in aside]
    return stages, [
        Confirm(folders),
        *stages.values(),
        *kept.values(),
        *aside,
        *(RemoveFolder(folders, one) for one in reversed(folders_going)),
        *(MakeFolder(folders, one) for one in folders_coming),
        *(PutInPlace(folders, one, stages[one.path], kept.get(one.path)) for one in coming),
        Confirm(folders),
        *(Drop(one) for one in spares),
    ]


def _take_back(begun: Sequence[Step]) -> list[str]:
    """Takes the steps back, last one first. Returns a line for each that could not be.

    An interrupt has to wait: to stop here would leave half of a change.
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
                lost.append(f"{step.path} could not be put back: {_why(problem)}")
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
    return write_error(f"{said}. Not all is as it was: look at these files", **about)
