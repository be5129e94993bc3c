"""The names of the arguments of tools, as different agents choose them. Pure.

They are compared without case and punctuation: `file_path`, `filePath` and `file-path` are equal.
"""

from __future__ import annotations

import re


def plain_field(name: object) -> str:
    """The name of an argument without case and punctuation; empty if it is no text.

    >>> plain_field("old_String")
    'oldstring'
    """
    return re.sub(r"[\W_]", "", name).lower() if isinstance(name, str) else ""


def _fields(names: str) -> frozenset[str]:
    return frozenset(map(plain_field, names.split()))


#: Arguments that hold a path, or several.
PATH_FIELDS = _fields(
    "path file_path file filename target_file absolute_path target_path paths files file_paths"
)
#: Arguments that hold a path, and those of a move that do.
MOVE_FIELDS = PATH_FIELDS | _fields(
    "source destination source_path destination_path old_path new_path old_file new_file"
)
#: Arguments that hold a patch.
PATCH_FIELDS = _fields("patch patch_text diff input command cmd script")
#: Arguments that hold a list of single edits, each of which may name a file.
EDIT_FIELDS = _fields("edits changes operations replacements")
#: The text that an edit replaces, the one that it inserts, and whether it does so at all places.
OLD_FIELDS = _fields("old_string old_str old_text old search search_text")
NEW_FIELDS = _fields("new_string new_str new_text new replace replacement replace_text")
ALL_FIELDS = _fields("replace_all all")
