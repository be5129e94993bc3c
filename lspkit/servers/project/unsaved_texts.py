"""Whether a server sees a text of another file that is not on disk. Decisions, without I/O."""

from __future__ import annotations

import os

from lspkit.servers.definition import Definition


def concerns(definition: Definition, name: str, *, is_inside: bool) -> bool:
    """Whether what it finds elsewhere may depend on a file of this name.

    What it can be asked about may be imported from anywhere; what else it reads, and how a project
    is set up, counts inside of its root.
    """
    if is_inside and definition.is_marker(name):
        return True
    if not definition.compares_files:
        return False
    is_read = is_inside and os.path.splitext(name)[1] in definition.disk.reads
    return is_read or definition.language_of(name) is not None


def unseen(definition: Definition, name: str, *, is_shown: bool, is_there: bool) -> str:
    """Why it does not see the text that stands for a file; empty if it does.

    `is_shown`: it has the file open with that text. `is_there`: so is a file on disk.
    """
    if definition.documents.unsaved == "never":
        return f"it reads other files from disk, and the text of {name} is not there"
    if definition.documents.unsaved == "untried":
        return f"nobody has tried whether it sees a text that is not on disk, as that of {name}"
    if not is_shown:
        return f"it reads {name} from disk, and not the text that stands for it"
    if not is_there and not definition.documents.unsaved_files:
        return f"it sees no files that are not on disk, as {name}"
    return ""
