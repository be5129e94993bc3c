"""Renaming a symbol: the edit that a server proposes, as a preview."""

from __future__ import annotations

import itertools
import keyword
import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from lspkit.answer import INSTALLED_COPY, UNEXPLAINED
from lspkit.edit_types import FileEdit, TextEdit, WorkspaceEdit
from lspkit.errors import CancelledError, LspkitError, PositionError, UnsupportedError
from lspkit.operations.host import Host, Question
from lspkit.operations.host_results import Reply
from lspkit.operations.references.word_net import (
    MOST_PLACES,
    Meaning,
    ask_meanings,
    cast_net,
    name_at,
    open_files,
)
from lspkit.operations.renaming.base_list import PYTHON_SUFFIXES
from lspkit.operations.renaming.method_family import find_family
from lspkit.operations.reply_parsing import decode_replies
from lspkit.operations.request import PositionRequest, operation
from lspkit.operations.symbol_positions import params_at, position_of
from lspkit.operations.workspace_edit import apply_text_edits, changes_of, translate_edit
from lspkit.protocol.text import Text
from lspkit.protocol.uris import path_to_uri
from lspkit.protocol.wire.results import WireEdit, read_edit
from lspkit.types import Caveat, Location, Position, Range

# Several edits as one: the renaming of a method, and of the methods that override it. Pure.


def covers(edit: WorkspaceEdit, place: Location) -> bool:
    """Whether an edit changes the name at a place."""
    return any(
        change.path == place.path
        and any(
            replacement.range.start <= place.range.start <= replacement.range.end
            for replacement in change.edits
        )
        for change in edit.changes
        if isinstance(change, FileEdit)
    )


def changed_places(edit: WorkspaceEdit) -> list[Location]:
    """The places that an edit changes."""
    return [
        Location(change.path, replacement.range, change.uri)
        for change in edit.changes
        if isinstance(change, FileEdit)
        for replacement in change.edits
    ]


def merge(edit: WorkspaceEdit, other: WorkspaceEdit) -> WorkspaceEdit | None:
    """Both edits as one; None if they do not fit together."""
    changes = list(edit.changes)
    at = {change.path: n for n, change in enumerate(changes) if isinstance(change, FileEdit)}
    for change in other.changes:
        if not isinstance(change, FileEdit):
            return None
        number = at.get(change.path)
        if number is None:
            at[change.path] = len(changes)
            changes.append(change)
            continue
        known = changes[number]
        joined = _join(known, change) if isinstance(known, FileEdit) else None
        if joined is None:
            return None
        changes[number] = joined
    return msgspec.structs.replace(edit, changes=tuple(changes))


def _join(change: FileEdit, other: FileEdit) -> FileEdit | None:
    if change.before != other.before or change.before is None:
        return None
    edits: list[TextEdit] = sorted(
        {*change.edits, *other.edits}, key=lambda edit: (edit.range, edit.new_text)
    )
    for first, second in itertools.pairwise(edits):
        if second.range.start < first.range.end or first.range == second.range:
            return None
    after = apply_text_edits(Text(change.before), edits)
    return msgspec.structs.replace(change, edits=tuple(edits), after=after)


# Which names a language allows. Pure.
#
# Most servers rename a symbol to anything, also to a keyword or to a sentence.


class NameRule(msgspec.Struct, frozen=True):
    """The names of one language."""

    language: str
    keywords: frozenset[str]
    #: Characters that a name may have besides letters, digits and `_`.
    more: str = ""
    #: What may stand before a name and is part of it.
    before: tuple[str, ...] = ()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_C = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while"
)
_CPP = (
    "alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const_cast consteval constexpr constinit decltype "
    "delete dynamic_cast explicit export false friend mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public reinterpret_cast requires "
    "static_assert static_cast template this thread_local throw true try typeid typename using "
    "virtual wchar_t xor xor_eq"
)
_GO = (
    "break case chan const continue default defer else fallthrough for func go goto if import "
    "interface map package range return select struct switch type var"
)
_JAVA = (
    "abstract assert boolean break byte case catch char class const continue default do double "
    "else enum extends false final finally float for goto if implements import instanceof int "
    "interface long native new null package private protected public return short static "
    "strictfp super switch synchronized this throw throws transient true try void volatile while _"
)
_RUST = (
    "as async await break const continue crate dyn else enum extern false fn for if impl in let "
    "loop match mod move mut pub ref return self Self static struct super trait true type unsafe "
    "use where while abstract become box do final macro override priv typeof unsized virtual yield"
)
_SCRIPT = (
    "await break case catch class const continue debugger default delete do else enum export "
    "extends false finally for function if import in instanceof new null return super switch this "
    "throw true try typeof var void while with yield let static implements interface package "
    "private protected public"
)

_SCRIPT_RULE = NameRule("JavaScript", _words(_SCRIPT), "$", ("#",))
_CPP_RULE = NameRule("C++", _words(f"{_C} {_CPP}") - {"restrict"}, "$", ("~",))
_PYTHON_RULE = NameRule("Python", frozenset(keyword.kwlist))

#: By the extension of the file. Other languages are not checked.
RULES = {
    **dict.fromkeys((".py", ".pyi"), _PYTHON_RULE),
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
        _SCRIPT_RULE,
    ),
    ".c": NameRule("C", _words(_C), "$"),
    # Headers may be of C, which has fewer keywords.
    ".h": NameRule("C", _words(_C), "$", ("~",)),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".cu"), _CPP_RULE),
    ".go": NameRule("Go", _words(_GO)),
    ".rs": NameRule("Rust", _words(_RUST), before=("r#", "'")),
    ".java": NameRule("Java", _words(_JAVA), "$"),
}


def check_new_name(path: str, name: str) -> None:
    """Raise a `PositionError` if the language of a file does not allow a name."""
    rule = RULES.get(os.path.splitext(path)[1].lower())
    if rule is None:
        return
    bare = next((name.removeprefix(mark) for mark in rule.before if name.startswith(mark)), name)
    allowed = f"a name that {rule.language} allows"
    if name in rule.keywords:
        raise PositionError(f"{name} is a keyword of {rule.language}", bounds=allowed)
    if not bare.translate(dict.fromkeys(map(ord, rule.more), "_")).isidentifier():
        raise PositionError(f"{name!r:.80} is no identifier of {rule.language}", bounds=allowed)


# Names in the `__all__` of a Python module: strings that name what it exports. Pure.

#: An assignment or an extension of the list; its first group are the strings.
_LISTS = re.compile(
    r"^[ \t]*__all__\b[^=(\n]*(?:\+?=\s*|\.(?:append|extend|remove)\s*\(\s*)"
    r"(?P<names>[\[(][^\])]*[\])]|[^\n]*)",
    re.MULTILINE,
)


def exported_names(text: Text, name: str) -> list[Range]:
    """Where a name is in `__all__`, without the quotation marks.

    >>> exported_names(Text("__all__ = [\\n    'f',\\n]\\nf = 'f'\\n"), "f")
    [Range(start=Position(line=2, column=6), end=Position(line=2, column=7))]
    """
    quoted = re.compile(rf"([\"']){re.escape(name)}\1")
    places: list[Range] = []
    for names in _LISTS.finditer(text.value):
        for string in quoted.finditer(text.value, names.start("names"), names.end("names")):
            line, column = text.place(string.start() + 1)
            start = Position(line + 1, column + 1)
            places.append(Range(start, Position(start.line, start.column + len(name))))
    return places


def is_bound_by(line: str, name: str) -> bool:
    """Whether a line of a module imports or defines a name, or is a part of such an import.

    >>> [is_bound_by(line, "f") for line in ("def f():", "from m import (f, g)", "    f,", "f()")]
    [True, True, True, False]
    """
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    return bool(
        re.match(rf"\s*(?:async\s+def|def|class)\s+{word}", line)
        or re.match(rf".*\bimport\b.*{word}(?!\s+as\b)", line)
        or re.match(rf"\s*{word}\s*(?:,|\)|:[^=]*=|=|$)", line)
    )


#: Most places in a caveat.
SHOWN = 5


class RenameRequest(PositionRequest[WorkspaceEdit], frozen=True, kw_only=True):
    """Preview the renaming of a symbol."""

    new_name: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.new_name or not self.new_name.strip():
            raise PositionError("a new name is needed", bounds="a name that is not empty")
        check_new_name(self.path, self.new_name)


@operation("rename", RenameRequest, WorkspaceEdit)
def rename(request: RenameRequest, host: Host) -> WorkspaceEdit:
    """The edit of the first server that has one: two edits would change everything twice.

    A method that overrides another one, or is overridden, is renamed with these methods. What the
    server leaves out is added: places that only the text shows, and names in `__all__`.
    """
    line, column = position_of(request, host)
    edit = _rename_at(request, host, line, column)
    # Families and words are searched on disk, not in a caller's own text.
    if not edit.changes or request.text is not None:
        return edit
    family = find_family(host, request.path, line, column)
    for member in family.own:
        edit = _with_place(request, host, edit, member, [member])
    edit = _with_words(request, host, edit, (line, column), family.own)
    left = tuple(member for member in family.own if not covers(edit, member))
    if left or family.problems:
        caveats = (*edit.caveats, _not_followed(edit, left, family.problems))
        edit = msgspec.structs.replace(edit, caveats=caveats)
    return edit


def _with_words(
    request: RenameRequest,
    host: Host,
    edit: WorkspaceEdit,
    position: tuple[int, int],
    members: list[Location],
) -> WorkspaceEdit:
    """The edit with the places that the server has left out, and what is not known of others."""
    net = cast_net(request, host, *position, changed_places(edit), members)
    if net is None:
        return edit
    declared = net.meaning.declared
    if net.meaning.lines.isdisjoint(key[:2] for key in net.known):
        # An alias gets another name, or the declaration belongs to another server.
        if not is_plain(edit, request.new_name):
            return edit
        more = _rename_member(request, host, declared[0])
        whole = more and merge(edit, more)
        if not whole:
            message = f"the declaration at {declared[0]} keeps its name"
            caveat = Caveat(UNEXPLAINED, message, edit.server, tuple(declared[:MOST_PLACES]))
            return msgspec.structs.replace(edit, caveats=(*edit.caveats, caveat))
        edit, net = whole, net.without(changed_places(whole))
    if net.words:
        open_files(host, net)
        try:
            again = _rename_at(request, host, *position)
        except CancelledError:
            raise
        except LspkitError:
            again = edit  # out of time, for example: the first answer counts
        edit = merge(edit, again) or edit
        net = net.without(changed_places(edit))
    findings = ask_meanings(host, net)
    places = [*findings.declared, *findings.places]
    for place in places:
        if place not in findings.copied:  # there the server would rename the copy
            edit = _with_place(request, host, edit, place, declared)
    name = net.meaning.name
    missed = [place for place in places if not covers(edit, place)]
    edit = _with_texts(host, edit, missed, name, request.new_name)
    edit = _with_exports(host, edit, net.meaning, request.new_name)
    caveats = [*edit.caveats, *findings.caveats(name)]
    if copied := tuple(findings.copied[:MOST_PLACES]):
        shown = ", ".join(map(str, copied[:SHOWN])) + (", …" if len(copied) > SHOWN else "")
        message = f"an installed copy keeps the old name, and is used at {shown}: install it again"
        caveats.append(Caveat(INSTALLED_COPY, message, edit.server, copied))
    return msgspec.structs.replace(edit, caveats=tuple(caveats))


def _with_place(
    request: RenameRequest,
    host: Host,
    edit: WorkspaceEdit,
    place: Location,
    declared: Iterable[Location],
) -> WorkspaceEdit:
    """The edit with that which renames the symbol at a further place.

    A server that does not know the declaration gives an import another name.
    """
    if covers(edit, place):
        return edit
    more = _rename_member(request, host, place)
    if more is None:
        return edit
    if not any(covers(more, place) for place in declared):
        more = _with_plain_imports(more, request.new_name)
    return merge(edit, more) or edit


def _with_plain_imports(edit: WorkspaceEdit, new_name: str) -> WorkspaceEdit:
    """The edit with plain new names where an import took the old one `as` the new one."""
    changes = []
    for change in edit.changes:
        if isinstance(change, FileEdit) and change.before is not None:
            text = Text(change.before)
            edits = [plain_import(text, replacement, new_name) for replacement in change.edits]
            after = apply_text_edits(text, edits)
            change = msgspec.structs.replace(change, edits=tuple(edits), after=after)
        changes.append(change)
    return msgspec.structs.replace(edit, changes=tuple(changes))


def plain_import(text: Text, edit: TextEdit, new_name: str) -> TextEdit:
    """The edit, or if it gives an import another name, one that replaces the imported name.

    Some servers replace the name by `old as new`, others insert ` as new` behind it.

    >>> inserted = TextEdit(Range(Position(1, 9), Position(1, 9)), " as g")
    >>> print(plain_import(Text("use a::f;"), inserted, "g"))
    1:8-1:9 -> 'g'
    """
    if not edit.new_text.endswith(f" as {new_name}"):
        return edit
    start, end = edit.range.start, edit.range.end
    if start == end:
        start = Position(end.line, end.column - len(name_at(text, end.line, end.column)))
    return TextEdit(Range(start, end), new_name) if start < end else edit


def is_plain(edit: WorkspaceEdit, new_name: str) -> bool:
    """Whether an edit does no more than to replace names by the new one."""
    return all(
        replacement.new_text == new_name
        for change in edit.changes
        if isinstance(change, FileEdit)
        for replacement in change.edits
    )


def _with_texts(
    host: Host, edit: WorkspaceEdit, places: Iterable[Location], name: str, new_name: str
) -> WorkspaceEdit:
    """The edit with the name replaced at places that no server renames."""
    ranges: dict[Path, list[Range]] = {}
    for place in places:
        if place.path is not None:
            ranges.setdefault(place.path, []).append(place.range)
    for path, file_ranges in ranges.items():
        text = host.read_text(str(path))
        edits = [
            TextEdit(range, new_name)
            for range in file_ranges
            if text.has_word_at(range.start.line - 1, range.start.column - 1, name)
        ]
        change = FileEdit(
            path, path_to_uri(str(path)), tuple(edits), text.value, apply_text_edits(text, edits)
        )
        edit = merge(edit, msgspec.structs.replace(edit, changes=(change,))) or edit
    return edit


def _with_exports(
    host: Host, edit: WorkspaceEdit, meaning: Meaning, new_name: str
) -> WorkspaceEdit:
    """The edit with the name in `__all__` of the modules that it changes.

    Not all servers for Python know this list. A member of a class is never in it.
    """
    if meaning.owner or meaning.is_parameter:
        return edit
    for change in edit.changes:
        if not isinstance(change, FileEdit) or change.path is None or change.before is None:
            continue
        text = Text(change.before)
        if change.path.suffix in PYTHON_SUFFIXES and any(
            is_bound_by(text.line(replacement.range.start.line - 1), meaning.name)
            for replacement in change.edits
        ):
            uri = path_to_uri(str(change.path))
            places = [
                Location(change.path, range, uri) for range in exported_names(text, meaning.name)
            ]
            missed = [place for place in places if not covers(edit, place)]
            edit = _with_texts(host, edit, missed, meaning.name, new_name)
    return edit


def _rename_member(request: RenameRequest, host: Host, member: Location) -> WorkspaceEdit | None:
    """The edit that renames another method of the family; None if there is none."""
    try:
        again = msgspec.structs.replace(
            request, path=str(member.path), line=member.line, column=member.column, symbol=None
        )
        edit = _rename_at(again, host, member.line, member.column)
    except LspkitError:
        return None  # for example in a library
    return edit


def _not_followed(edit: WorkspaceEdit, left: tuple[Location, ...], problems: list[str]) -> Caveat:
    places = ", ".join(str(place) for place in left[:SHOWN]) + (", …" if len(left) > SHOWN else "")
    messages = [f"methods of the same family keep their name: {places}"] if left else []
    return Caveat("overrides not followed", "; ".join([*messages, *problems]), edit.server, left)


def _rename_at(request: RenameRequest, host: Host, line: int, column: int) -> WorkspaceEdit:
    """The edit that the server proposes for a position."""
    at = params_at(line, column)
    try:
        prepared = host.ask(
            Question(
                request.path, request.text, "textDocument/prepareRename", at, may_be_library=False
            )
        )
    except UnsupportedError:
        prepared = []
    if prepared and all(reply.result == b"null" for reply in prepared):
        raise PositionError(f"{request.path}:{line}:{column} cannot be renamed")
    question = Question(
        request.path,
        request.text,
        "textDocument/rename",
        params_at(line, column, newName=request.new_name),
        may_be_library=False,
        span="all",
    )
    replies = host.ask(question)
    proposal = _first_edit(host, replies)
    if proposal is None:
        return WorkspaceEdit()
    marked = _files_with_mark(host, *proposal)
    if marked:
        # After a sync the server has the texts without byte order marks, and counts like lspkit.
        for path in marked:
            host.sync_file(path, None)
        replies = host.ask(question)
        proposal = _first_edit(host, replies)
    if proposal is None:
        return WorkspaceEdit()
    edit = translate_edit(host, *proposal)
    # The edit is of one server: what another one has failed at does not make it incomplete.
    own = tuple(caveat for caveat in proposal[1].caveats if caveat.server == proposal[1].server)
    return msgspec.structs.replace(edit, caveats=own)


def _first_edit(host: Host, replies: list[Reply]) -> tuple[WireEdit, Reply] | None:
    """The first edit that is not empty."""
    for reply, wires in decode_replies(host, replies, read_edit, whole=True):
        for wire in wires:
            if changes_of(wire):
                return wire, reply
    return None


def _files_with_mark(host: Host, wire: WireEdit, reply: Reply) -> list[str]:
    """The files of an edit that begin with a byte order mark."""
    documents = (change.text_document for change in changes_of(wire))
    uris = tuple(document.uri for document in documents if document is not None)
    places = host.find_places(reply.server, reply.view.uri, uris, texts=True)
    return [str(place.path) for place in places.values() if place.marked]
