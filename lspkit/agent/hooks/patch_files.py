"""Which files a patch changes, deletes or renames, and their hunks. Pure, and never raises.

Two formats are read: unified diffs of `diff -u` and git, and the format that begins with
`*** Begin Patch`. Models make mistakes in both, so only what is needed to find the files is
required: counts in a hunk may be wrong, and text around the patch is ignored. The steps of a patch
are followed in order, so that a file that is deleted and added again counts as changed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import msgspec


class Hunk(msgspec.Struct, frozen=True):
    """A part of a file, with the lines around the change."""

    old: tuple[str, ...]
    new: tuple[str, ...]


class PatchedFiles(msgspec.Struct, frozen=True):
    """The files of a patch by the names in it, in the order of the patch."""

    #: Files with new content after the patch.
    touched: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    #: Old and new name; if the content has changed, the new name is also in `touched`.
    renamed: tuple[tuple[str, str], ...] = ()


def read_patch(text: str) -> PatchedFiles:
    """The files of a patch; empty for a text that is not a patch.

    >>> read_patch("--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-a\\n+b\\n").touched
    ('x.py',)
    """
    return _follow_steps(_steps(text))


def hunks_of(text: str, name: str) -> tuple[Hunk | None, ...]:
    """The hunks of a file, by its name after the patch. A hunk that is not clear is None.

    Empty if several steps of the patch are about the file: then their order matters.
    """
    steps = [step for step in _steps(text) if name in (step.old, step.new)]
    return steps[0].hunks if len(steps) == 1 and steps[0].new == name else ()


class _Step(msgspec.Struct, frozen=True):
    """The change of one file from `old` to `new`; either may be missing."""

    old: str | None
    new: str | None
    #: Whether the content changes.
    changed: bool = True
    hunks: tuple[Hunk | None, ...] = ()


def _steps(text: str) -> Iterator[_Step]:
    # Not `splitlines`, which also splits at characters that are not line breaks for patch tools.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    is_marked = any(_MARK.match(line) for line in lines)
    return _marked_steps(lines) if is_marked else _unified_steps(lines)


def _follow_steps(steps: Iterator[_Step]) -> PatchedFiles:
    # By path: True if the file has new content, False if it is deleted.
    states: dict[str, bool] = {}
    renamed: list[tuple[str, str]] = []
    for step in steps:
        old, new = step.old, step.new
        if old is not None and old != new:
            if new is not None:
                renamed.append((old, new))
            changed = states.pop(old, False) or step.changed
            if new is None:
                states[old] = False
            elif changed:
                states[new] = True
            else:
                states.pop(new, None)
        elif new is not None and step.changed:
            states[new] = True
    touched = tuple(path for path, there in states.items() if there)
    deleted = tuple(path for path, there in states.items() if not there)
    return PatchedFiles(touched, deleted, tuple(renamed))


# Content

#: How lines of content begin: of the old text, of the new text, and of both. A model may leave the
#: space of an empty line out.
_OLD, _NEW = ("-", " ", ""), ("+", " ", "")
#: After a line without a line break at its end.
_NOTE = "\\"


def _is_change(line: str) -> bool:
    return line.startswith(("+", "-"))


def _hunk(lines: Sequence[str]) -> Hunk | None:
    """The hunk with these lines; None if not all of them are content.

    None also if only the old or only the new text lacks the line break at its end.
    """
    ends = {above[:1] for above, line in itertools.pairwise(lines) if line.startswith(_NOTE)}
    if len(ends & {"+", "-"}) == 1:
        return None
    size = len(lines)
    while size and not lines[size - 1]:
        size -= 1  # an empty line at the end may also be one after the patch
    content = [line for line in lines[:size] if not line.startswith(_NOTE)]
    if any(line[:1] not in (*_OLD, "+") for line in content):
        return None
    old, new = (tuple(line[1:] for line in content if line[:1] in signs) for signs in (_OLD, _NEW))
    return Hunk(old, new)


# The format with markers

_MARK = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to): *(.*)")
_END = "*** End Patch"


def _marked_steps(lines: Sequence[str]) -> Iterator[_Step]:
    """Content lines begin with a sign or a space, so markers are only in the first column."""
    what = path = moved_to = ""
    content: list[str] = []
    for line in [*lines, _END]:
        mark = _MARK.match(line)
        if mark and mark[1] == "Move to":
            moved_to = mark[2].rstrip(" \t")
        elif mark or line.startswith(_END):
            if path:
                yield _marked_step(what, path, moved_to, content)
            what, path = (mark[1], mark[2].rstrip(" \t")) if mark else ("", "")
            moved_to, content = "", []
        else:
            content.append(line)


def _marked_step(what: str, path: str, moved_to: str, content: Sequence[str]) -> _Step:
    if what == "Delete File":
        return _Step(path, None)
    parts: list[list[str]] = [[]]
    for line in content:
        if line.startswith(("@@", "*** ")):
            parts.append([])
        else:
            parts[-1].append(line)
    hunks = tuple(_hunk(part) for part in parts if any(map(_is_change, part)))
    if what == "Add File":
        return _Step(None, path, hunks=hunks)
    return _Step(path, moved_to or path, changed=bool(hunks), hunks=hunks)


# Unified diffs

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
#: The prefixes of names in git: `a` and `b`, or others with `diff.mnemonicPrefix`.
_SIDES = "abciow"


class _Diff(msgspec.Struct):
    """The data about one file of a diff so far."""

    #: From `diff --git`, with prefixes.
    header: str = ""
    #: From `---` and `+++`, with prefixes.
    old: str = ""
    new: str = ""
    renamed_from: str = ""
    renamed_to: str = ""
    copied_to: str = ""
    created: bool = False
    deleted: bool = False
    changed: bool = False
    hunks: list[Hunk | None] = []

    def step(self) -> _Step | None:
        """The change of the file, None if its content does not change."""
        hunks = tuple(self.hunks)
        if self.renamed_from and self.renamed_to:
            return _Step(self.renamed_from, self.renamed_to, self.changed, hunks)
        if self.copied_to:
            return _Step(None, self.copied_to)
        old, new = self._names()
        if self.deleted or (new is None and self.changed):
            return _Step(old or new, None) if old or new else None
        if new and (self.changed or self.created):
            return _Step(None, new, hunks=hunks)
        return None  # only the mode changes

    def _names(self) -> tuple[str | None, str | None]:
        if not self.old and not self.new:
            return _halves(self.header)
        old = None if self.old == "/dev/null" else self.old
        new = None if self.new == "/dev/null" else self.new
        if old and new:
            return _strip_sides(old, new)
        bare = _halves(self.header)[1]
        if bare is not None and bare in (old, new):
            return old, new  # the header has no prefixes either
        return _strip_side(old), _strip_side(new)


#: Lines between `diff --git` and the first hunk: prefix, and field that they set.
_EXTENDED = (
    ("rename from ", "renamed_from"),
    ("rename to ", "renamed_to"),
    ("copy to ", "copied_to"),
    ("new file mode ", "created"),
    ("deleted file mode ", "deleted"),
    ("GIT binary patch", "changed"),
    ("Binary files ", "changed"),
)


def _unified_steps(lines: Sequence[str]) -> Iterator[_Step]:
    diff = _Diff()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("diff --git "):
            yield from _steps_of(diff)
            diff = _Diff(header=line.removeprefix("diff --git "))
        elif _names_follow(lines, at - 1):
            if diff.old or diff.new:
                yield from _steps_of(diff)
                diff = _Diff()
            diff.old, diff.new = _name(line[4:]), _name(lines[at][4:])
            at += 1
        elif line.startswith("@@") and (diff.old or diff.new):
            diff.changed = True
            hunk, at = _hunk_at(lines, at)
            diff.hunks.append(hunk)
        elif diff.header:
            _read_extended_header(diff, line)
    yield from _steps_of(diff)


def _steps_of(diff: _Diff) -> Iterator[_Step]:
    step = diff.step()
    if step is not None:
        yield step


def _read_extended_header(diff: _Diff, line: str) -> None:
    for beginning, field in _EXTENDED:
        if line.startswith(beginning):
            is_name = field.endswith(("_from", "_to"))
            setattr(diff, field, _name(line[len(beginning) :]) if is_name else True)


def _names_follow(lines: Sequence[str], at: int) -> bool:
    """Whether names follow. A removed `-- x` and an added `++ y` look alike, but without a hunk."""
    return (
        at + 2 < len(lines)
        and lines[at].startswith("--- ")
        and lines[at + 1].startswith("+++ ")
        and lines[at + 2].startswith("@@")
    )


def _hunk_at(lines: Sequence[str], at: int) -> tuple[Hunk | None, int]:
    """The hunk after its header, and the index after it."""
    end = _counted_end(lines, at)
    if end is None:
        end = _visible_end(lines, at)
    elif _content_follows(lines, end):
        return None, end  # the counts are too small
    return _hunk(lines[at:end]), end


def _content_follows(lines: Sequence[str], at: int) -> bool:
    # Git writes `-- ` before its version.
    is_other = at == len(lines) or lines[at] == "-- " or _names_follow(lines, at)
    return not is_other and lines[at].startswith(("+", "-", " "))


def _counted_end(lines: Sequence[str], at: int) -> int | None:
    """The index after the lines that the counts in the header cover; None if they are wrong."""
    counts = _HUNK.match(lines[at - 1])
    if counts is None:
        return None
    # Converting a million digits would take long.
    old, new = (int((number or "1")[:9]) for number in counts.groups())
    while at < len(lines) and (old > 0 or new > 0):
        sign = lines[at][:1]
        if sign not in (*_OLD, "+", _NOTE):
            break
        old -= sign in _OLD
        new -= sign in _NEW
        at += 1
    if at < len(lines) and lines[at].startswith(_NOTE):
        at += 1
    return at if old == new == 0 else None


def _visible_end(lines: Sequence[str], at: int) -> int:
    """The index of the next header, or of the end of a code block."""
    while at < len(lines):
        if lines[at].startswith(("@@", "diff --git ", "```")) or _names_follow(lines, at):
            break
        at += 1
    return at


def _name(written: str) -> str:
    """A name without the time after it; git quotes names that are not plain ASCII."""
    name = written.split("\t")[0].rstrip(" ")
    return _unquote(name[1:-1]) if len(name) > 1 and name[0] == name[-1] == '"' else name


_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_LETTERS = {"n": b"\n", "t": b"\t", "r": b"\r", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}


def _unquote(name: str) -> str:
    def plain(match: re.Match[str]) -> str:
        what = match[1]
        data = bytes([int(what, 8) & 255]) if len(what) == 3 else _LETTERS.get(what)
        return what if data is None else data.decode("latin-1")

    # Escapes are bytes: they are joined before they are decoded as UTF-8.
    data = _ESCAPE.sub(plain, name.encode("utf-8", "surrogatepass").decode("latin-1"))
    return data.encode("latin-1").decode("utf-8", "surrogateescape")


def _halves(header: str) -> tuple[str | None, str | None]:
    """The names in `a/x b/x`, if both are equal: otherwise the end of the first is unknown."""
    if header.startswith('"'):
        first, _, second = header.partition('" ')
        first, second = _name(f'{first}"'), _name(second)
    else:
        middle = len(header) // 2
        if header[middle : middle + 1] != " ":
            return None, None
        first, second = header[:middle], header[middle + 1 :]
    old, new = _strip_sides(first, second)
    return (old, new) if old and old == new else (None, None)


def _strip_sides(old: str, new: str) -> tuple[str, str]:
    if old[1:2] == new[1:2] == "/" and old[0] != new[0] and {old[0], new[0]} <= set(_SIDES):
        return old[2:], new[2:]
    return old, new


def _strip_side(name: str | None) -> str | None:
    return name[2:] if name is not None and name.startswith(("a/", "b/")) else name
