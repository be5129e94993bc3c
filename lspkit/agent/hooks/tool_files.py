"""Which files a tool call uses, by the name of the tool and by its arguments. Pure.

Agents name their tools differently (`write_file`, `Write`, `mcp__files__write_file`). They are a
table here; names are compared without case, punctuation and the prefix of the server. A model has
written the arguments, so they may have any form.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lspkit.agent.hooks.patch_files import Hunk, hunks_of, read_patch

# The names of the arguments of tools, as different agents choose them. Pure.
#
# They are compared without case and punctuation: `file_path`, `filePath` and `file-path` are equal.


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

# The text of a file before an edit, from the arguments of the tool and the text after it. Pure.
#
# An edit tool names the text that it replaced, a patch has the lines that it removed. Where the
# place of an edit is not certain, the result is None: a wrong text would be worse than none.


def text_before_edit(arguments: Mapping[str, Any], text: str) -> str | None:
    """The text before a replacement, or before several; None if it is not certain."""
    named = {plain_field(name): value for name, value in arguments.items()}
    several = _first(named, EDIT_FIELDS)
    if isinstance(several, list | tuple):
        for edit in reversed(several):
            before = text_before_edit(edit, text) if isinstance(edit, Mapping) else None
            if before is None:
                return None
            text = before
        return text if several else None
    old, new = _first(named, OLD_FIELDS), _first(named, NEW_FIELDS)
    if not isinstance(old, str) or not isinstance(new, str) or not old or not new:
        return None
    at = text.find(new)
    # Of several places, some may have had the new text before, also if all were replaced.
    if at < 0 or text.rfind(new) != at:
        return None
    before = text[:at] + old + text[at + len(new) :]
    every = any(named.get(field) for field in ALL_FIELDS)
    return None if every and before.replace(old, new) != text else before


def _first(named: Mapping[str, Any], fields: frozenset[str]) -> Any:
    return next((value for name, value in named.items() if name in fields), None)


def text_before_hunks(hunks: Sequence[Hunk | None], text: str) -> str | None:
    """The text of a file before a patch; None if one of its hunks is not found, or not readable."""
    ending = "\r\n" if "\r\n" in text else "\n"
    lines, start = text.split(ending), 0
    for hunk in hunks:
        place = None if hunk is None else _find(lines, hunk.new, start)
        if hunk is None or place is None:
            return None
        lines[place : place + len(hunk.new)] = hunk.old
        start = place + len(hunk.old)
    return ending.join(lines) if hunks else None


def _find(lines: Sequence[str], part: Sequence[str], start: int) -> int | None:
    """The only place of these lines after a start; None if there is none, or several."""
    size = len(part)
    places = (
        [
            at
            for at in range(start, len(lines) - size + 1)
            if lines[at] == part[0] and list(lines[at : at + size]) == list(part)
        ]
        if part
        else []
    )
    return places[0] if len(places) == 1 else None


#: The arguments of a tool: named values, the same as JSON, or a plain text.
Arguments = Mapping[str, Any] | str | None
#: Gets the files from the arguments of one tool.
Files = Callable[[Mapping[str, Any]], Iterable[str]]


class ToolKind(enum.StrEnum):
    """What a tool does to files."""

    #: Replaces the whole text of a file.
    WRITE = "write"
    #: Changes a part of a file.
    EDIT = "edit"
    #: Changes any number of files.
    PATCH = "patch"
    READ = "read"
    #: Gives a file another path.
    MOVE = "move"
    DELETE = "delete"
    #: May do anything.
    SHELL = "shell"


#: What may remove files: a file of such a call that does not exist is gone.
REMOVING = frozenset({ToolKind.PATCH, ToolKind.MOVE, ToolKind.DELETE, ToolKind.SHELL})


class Touch(msgspec.Struct, frozen=True):
    """The kind of a call, and its files by their names in it, each once."""

    kind: ToolKind
    files: tuple[str, ...] = ()
    #: The arguments by name.
    arguments: Mapping[str, Any] = {}
    #: The files that it has removed or renamed, by their old names.
    gone: tuple[str, ...] = ()

    def text_before(self, file: str, text: str) -> str | None:
        """The text of one of the files before the call; None if the arguments do not tell it."""
        if self.kind is ToolKind.EDIT and len(self.files) == 1:
            return text_before_edit(self.arguments, text)
        if self.kind is not ToolKind.PATCH:
            return None
        patches = list(_patches(self.arguments))
        return text_before_hunks(hunks_of(patches[0], file), text) if len(patches) == 1 else None


class Tool(msgspec.Struct, frozen=True):
    """A tool that is known."""

    kind: ToolKind
    #: None: the files are in the usual arguments.
    files: Files | None = None


#: Names of tools by kind. The kind itself is one of them.
_NAMES = {
    ToolKind.WRITE: "write_file create_file write_to_file save_file overwrite_file",
    ToolKind.EDIT: "edit_file multi_edit replace replace_in_file insert_edit search_replace",
    ToolKind.PATCH: "apply_patch apply_diff apply_unified_diff",
    ToolKind.MOVE: "move_file rename_file",
    ToolKind.DELETE: "delete_file remove_file",
    ToolKind.READ: "read_file view view_file open_file",
    ToolKind.SHELL: (
        "bash sh exec terminal run_command run_shell_command run_terminal_cmd "
        "execute_command exec_command execute_bash local_shell"
    ),
}
#: Tools by their plain names.
TOOLS: Mapping[str, Tool] = {
    name.replace("_", ""): Tool(kind)
    for kind, names in _NAMES.items()
    for name in (kind.value, *names.split())
}
#: Prefix of the names of editors with several commands, and the kinds of their commands.
EDITOR = "strreplace"
_COMMANDS = {"view": ToolKind.READ, "create": ToolKind.WRITE}

#: Start of a patch in the format with markers, also inside a shell command.
_BEGIN = "*** Begin Patch"


def plain_name(tool: str) -> str:
    """The name of a tool without case, punctuation, and the prefix of the server.

    >>> plain_name("mcp__files__Write_File")
    'writefile'
    """
    last = re.split(r"__|[./:]", tool)[-1]
    return re.sub(r"[\W_]", "", last).lower()


def touch_of(
    tool: str, arguments: Arguments, more: Mapping[str, Tool] | None = None
) -> Touch | None:
    """The kind and the files of a call; None for a tool that does not use files.

    `more` are tools that the host has registered; they take precedence.
    """
    name = plain_name(tool)
    values = _values(arguments)
    known = (more or {}).get(name) or TOOLS.get(name)
    if known is None and name.startswith(EDITOR):
        known = Tool(_COMMANDS.get(str(values.get("command")), ToolKind.EDIT))
    if known is None:
        return None
    gone: Iterable[str] = ()
    if known.files is not None:
        files: Iterable[str] = known.files(values)
    elif known.kind is ToolKind.SHELL:
        files, gone = _patched_files(values, must_begin=True)
    else:
        files = _paths_in(values, MOVE_FIELDS if known.kind is ToolKind.MOVE else PATH_FIELDS)
        if not files:
            files, gone = _patched_files(values)
    return Touch(known.kind, _unique(files), values, _unique(gone))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _values(arguments: Arguments) -> Mapping[str, Any]:
    """The arguments by name. A text that is not a JSON object can only be a patch."""
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments)
        except (ValueError, RecursionError):
            read = None
        return read if isinstance(read, dict) else {"input": arguments}
    return arguments if isinstance(arguments, Mapping) else {}


def _paths_in(values: Mapping[str, Any], fields: frozenset[str] = PATH_FIELDS) -> list[str]:
    paths: list[str] = []
    for name, value in values.items():
        field = plain_field(name)
        if field in fields:
            paths += _texts(value)
        elif field in EDIT_FIELDS and isinstance(value, list | tuple):
            for entry in value:
                paths += _paths_in(entry) if isinstance(entry, Mapping) else []
    return paths


def _patched_files(
    values: Mapping[str, Any], *, must_begin: bool = False
) -> tuple[list[str], list[str]]:
    """The files of patches, and those that are gone."""
    files: list[str] = []
    gone: list[str] = []
    for text in _patches(values, must_begin=must_begin):
        patch = read_patch(text)
        files += patch.touched
        gone += [*patch.deleted, *(old for old, _ in patch.renamed)]
    return files, gone


def _patches(values: Mapping[str, Any], *, must_begin: bool = False) -> Iterator[str]:
    """The patches in the arguments. In a command, only the format with markers is recognised."""
    for name, value in values.items():
        for text in _texts(value) if plain_field(name) in PATCH_FIELDS else ():
            marked = text.find(_BEGIN)
            if marked >= 0 or not must_begin:
                yield text[max(marked, 0) :]


def _texts(value: object) -> list[str]:
    """A text, or the texts in a list; a list may also contain objects with a path."""
    if isinstance(value, str):
        return [value]
    texts: list[str] = []
    for entry in value if isinstance(value, list | tuple) else ():
        if isinstance(entry, str):
            texts.append(entry)
        elif isinstance(entry, Mapping):
            names = (entry.get("path"), entry.get("file_path"))
            texts += [name for name in names if isinstance(name, str)]
    return texts
