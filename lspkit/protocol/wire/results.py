"""The results of requests, as servers really send them.

Each `read_…` function decodes the raw JSON of one kind of answer, in the caller's thread. They
accept all forms of the protocol and common deviations: unknown fields, null for a list, one item
for a list of one, old and new forms. An invalid item is dropped and counted; the others are kept.
"""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import msgspec

from lspkit.limits import LARGEST_REPORT, MOST_FINDINGS, MOST_RESULTS
from lspkit.msgspec_types import convert, make_decoder
from lspkit.protocol.wire.framing import MAX_BODY
from lspkit.protocol.wire.messages import decode_any, replace_lone_surrogates

T = TypeVar("T")


class WirePosition(msgspec.Struct, frozen=True, gc=False):
    """Zero-based, in the units of the session's encoding."""

    line: int
    character: int


class WireRange(msgspec.Struct, frozen=True, gc=False):
    """From `start` up to, not including, `end`."""

    start: WirePosition
    end: WirePosition


NOWHERE = WireRange(WirePosition(0, 0), WirePosition(0, 0))


class WireLocation(msgspec.Struct, frozen=True, rename="camel"):
    """`Location` and `LocationLink` in one, since msgspec cannot distinguish two objects."""

    uri: str | None = None
    range: WireRange | None = None
    target_uri: str | None = None
    target_range: WireRange | None = None
    target_selection_range: WireRange | None = None

    @property
    def place(self) -> tuple[str, WireRange] | None:
        """URI and range, None for an object that has neither."""
        uri = self.target_uri or self.uri
        if uri is None:
            return None
        return uri, self.target_selection_range or self.target_range or self.range or NOWHERE


class WireMarkup(msgspec.Struct, frozen=True):
    """`MarkupContent` and `MarkedString` in one."""

    value: str = ""
    language: str | None = None
    kind: str | None = None

    @property
    def text(self) -> str:
        """The text; code is a fenced block."""
        if self.language:
            return f"```{self.language}\n{self.value}\n```"
        return self.value


class WireHover(msgspec.Struct, frozen=True):
    """`Hover`, in any of its forms."""

    contents: WireMarkup | str | list[WireMarkup | str] | None = None
    range: WireRange | None = None

    @property
    def texts(self) -> list[str]:
        """One text per section, without empty ones."""
        parts = self.contents if isinstance(self.contents, list) else [self.contents or ""]
        texts = [part if isinstance(part, str) else part.text for part in parts]
        return [text for text in texts if text.strip()]


class WireSymbol(msgspec.Struct, frozen=True, rename="camel"):
    """`DocumentSymbol`, `SymbolInformation` and `WorkspaceSymbol` in one."""

    name: str
    kind: int = 0
    detail: str | None = None
    range: WireRange | None = None
    selection_range: WireRange | None = None
    children: list[WireSymbol] | None = None
    location: WireLocation | None = None
    container_name: str | None = None


class WireItem(msgspec.Struct, frozen=True, rename="camel"):
    """`CallHierarchyItem` and `TypeHierarchyItem`."""

    name: str
    uri: str
    kind: int = 0
    detail: str | None = None
    range: WireRange = NOWHERE
    selection_range: WireRange | None = None


class WireCall(msgspec.Struct, frozen=True, rename="camel"):
    """An incoming call (`from`) or an outgoing one (`to`), the item still raw."""

    caller: msgspec.Raw | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="from")
    callee: msgspec.Raw | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="to")
    from_ranges: list[WireRange] | None = None

    @property
    def item(self) -> bytes:
        """The other end of the call, raw."""
        other = self.caller or self.callee
        return b"null" if isinstance(other, msgspec.UnsetType) else bytes(other)


class WireParameter(msgspec.Struct, frozen=True):
    """A parameter: its label, or its offsets in the signature's label."""

    label: str | tuple[int, int] = ""
    documentation: WireMarkup | str | None = None


class WireSignature(msgspec.Struct, frozen=True, rename="camel"):
    """One way to call a function."""

    label: str
    documentation: WireMarkup | str | None = None
    parameters: list[WireParameter] | None = None
    active_parameter: int | None = None


class WireSignatureHelp(msgspec.Struct, frozen=True, rename="camel"):
    """The answer to `signatureHelp`."""

    signatures: list[WireSignature] | None = None
    active_signature: int | None = None
    active_parameter: int | None = None


class WireTextEdit(msgspec.Struct, frozen=True, rename="camel"):
    """A replacement of a range."""

    range: WireRange
    #: Required: a missing text must not be taken for an empty one, which deletes.
    new_text: str


class WireDocument(msgspec.Struct, frozen=True):
    """A document and its version."""

    uri: str
    version: int | None = None


class WireChange(msgspec.Struct, frozen=True, rename="camel"):
    """The edits of one document, or an operation on a file."""

    kind: str | None = None
    text_document: WireDocument | None = None
    edits: list[WireTextEdit] | None = None
    uri: str | None = None
    old_uri: str | None = None
    new_uri: str | None = None
    options: dict[str, bool] | None = None


class WireEdit(msgspec.Struct, frozen=True, rename="camel"):
    """`WorkspaceEdit`, in both of its forms."""

    changes: dict[str, list[WireTextEdit]] | None = None
    document_changes: list[WireChange] | None = None


class WireAction(msgspec.Struct, frozen=True, rename="camel"):
    """`CodeAction`, or a bare `Command`, whose `command` is a string."""

    title: str
    kind: str | None = None
    is_preferred: bool | None = None
    disabled: dict[str, str] | None = None
    edit: WireEdit | None = None


class WireCommand(msgspec.Struct, frozen=True):
    """`Command`."""

    command: str
    arguments: list[Any] | None = None
    #: Whether it was sent without a code action.
    bare: bool = False


class WireCodeDescription(msgspec.Struct, frozen=True):
    """A page about a code."""

    href: str | None = None


class WireRelated(msgspec.Struct, frozen=True):
    """Another place that explains a finding."""

    location: WireLocation
    message: str = ""


class WireDiagnostic(msgspec.Struct, frozen=True, rename="camel"):
    """One finding."""

    range: WireRange
    message: str | WireMarkup = ""
    severity: int | None = None
    code: int | float | str | None = None
    source: str | None = None
    code_description: WireCodeDescription | None = None
    tags: list[int] | None = None
    related_information: list[WireRelated] | None = None

    @property
    def text(self) -> str:
        """The message as plain words."""
        return self.message if isinstance(self.message, str) else self.message.text


class WireReport(msgspec.Struct, frozen=True, rename="camel"):
    """The answer to a pull of diagnostics."""

    kind: str = "full"
    items: msgspec.Raw = msgspec.Raw(b"[]")
    result_id: str | None = None
    related_documents: dict[str, msgspec.Raw] | None = None


class Read(msgspec.Struct, Generic[T], frozen=True):
    """The decoded items of a list, and the number of invalid ones."""

    items: list[T]
    dropped: int = 0


#: Exceptions of decoding.
BAD = (msgspec.DecodeError, UnicodeError, RecursionError)


class _ListReader(Generic[T]):
    """Decodes a list of items, a single item, or null.

    `vague` is for a struct without required fields: an object must then be empty or have a known
    field. Items beyond `most` count as dropped.
    """

    def __init__(self, shape: type[T], *, vague: bool = False, most: int = MOST_RESULTS) -> None:
        self._shape = shape
        self._most = most
        self._blank = shape() if vague else None
        #: Made on first use: no program needs all readers.
        self._decoder: Any = None

    def __call__(self, raw: bytes) -> Read[T]:
        beyond = 0
        if len(raw) >= self._most:  # otherwise it has fewer items
            raw, beyond = first_items(raw, self._most)
        if self._decoder is None:
            shape: Any = self._shape
            self._decoder = make_decoder(list[shape] | shape | None)
        try:
            decoded = self._decoder.decode(raw)
        except BAD:
            return self._one_by_one(raw, beyond)
        if decoded is None:
            return Read([])
        items = decoded if isinstance(decoded, list) else [decoded]
        if self._blank is not None and self._blank in items:
            return self._one_by_one(raw, beyond)
        return Read(items, beyond)

    def _one_by_one(self, raw: bytes, beyond: int) -> Read[T]:
        """The valid items of an answer with invalid ones; `beyond` items were dropped before."""
        try:
            value = decode_any(raw)
        except BAD:
            return Read([], 1 + beyond)
        values = value if isinstance(value, list) else [value]
        read = [self._decode_leniently(value) for value in values]
        items = [item for item, _ in read if item is not None]
        return Read(items, beyond + sum(dropped for _, dropped in read))

    def _decode_leniently(self, value: Any) -> tuple[T | None, int]:
        """One item without the invalid parts of its lists, and the number of these."""
        if self._blank is not None and has_no_known_field(value, self._shape):
            return None, 1
        for dropped in range(MOST_DROPPED):
            try:
                # Not strict, so that `3.0` is a line; only here, since unions become ambiguous.
                return convert(value, self._shape, strict=False), dropped
            except msgspec.ValidationError as problem:
                if not _drop_part(value, str(problem)):
                    return None, dropped + 1
        return None, MOST_DROPPED


def has_no_known_field(value: Any, shape: Any) -> bool:
    """Whether a value is an object with fields, none of which the struct has."""
    known = shape.__struct_encode_fields__
    return isinstance(value, dict) and bool(value) and not any(name in value for name in known)


#: Invalid parts that are removed from one item before it is dropped.
MOST_DROPPED = 100
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


def _drop_part(value: Any, problem: str) -> bool:
    """Remove the innermost list item that an error of msgspec names; False if there is none."""
    place = problem.rpartition(" - at `$")[2].rstrip("`")
    part: tuple[list[Any], int] | None = None
    for name, index in _STEP.findall(place):
        try:
            if index:
                part = (value, int(index))
            value = value[int(index)] if index else value[name]
        except (KeyError, IndexError, TypeError):
            return False
    if part is None:
        return False
    del part[0][part[1]]
    return True


read_locations = _ListReader(WireLocation)
read_symbols = _ListReader(WireSymbol)
read_diagnostics = _ListReader(WireDiagnostic, most=MOST_FINDINGS)
read_hover = _ListReader(WireHover, vague=True)
read_calls = _ListReader(WireCall)
read_signature_help = _ListReader(WireSignatureHelp, vague=True)
read_edit = _ListReader(WireEdit, vague=True)
read_item = _ListReader(WireItem)
read_action = _ListReader(WireAction)


def read_command(raw: bytes) -> WireCommand | None:
    """The command of a code action, or a bare command."""
    try:
        action = msgspec.json.decode(replace_lone_surrogates(raw))
    except BAD:
        return None
    inner = action.get("command") if isinstance(action, dict) else None
    bare = isinstance(inner, str)
    try:
        command = convert(action if bare else inner, WireCommand)
    except msgspec.ValidationError:
        return None
    return msgspec.structs.replace(command, bare=bare)


def read_report(raw: bytes) -> WireReport | None:
    """The answer to a pull, None if it is invalid.

    Null, which some servers send, is a full report without findings.
    """
    try:
        report = _report.decode(replace_lone_surrogates(raw))
        if report is None:
            return WireReport()
        if report == WireReport() and has_no_known_field(decode_any(raw), WireReport):
            return None
    except BAD:
        return None
    return report if report.kind in ("full", "unchanged") else None


_report: msgspec.json.Decoder[WireReport | None] = make_decoder(WireReport | None)

_KIND_NAMES = """
file module namespace package class method property field constructor enum interface function
variable constant string number boolean array object key null enum-member struct event operator
type-parameter
"""

#: Words for `SymbolKind`, by number.
SYMBOL_KINDS = dict(enumerate(_KIND_NAMES.split(), start=1))


# Lists whose items are sent back to the server byte for byte, or are decoded only in part.
#
# Like the readers above, these never raise: invalid items are left out and counted.


def read_raw_items(raw: bytes) -> Read[bytes]:
    """The raw items of a list; null is an empty list, any other value a list of one."""
    try:
        mended = replace_lone_surrogates(raw).strip()
        if mended == b"null":
            return Read([])
        if not mended.startswith(b"["):
            msgspec.json.decode(mended)
            return Read([mended])
        pieces = msgspec.json.decode(mended, type=list[msgspec.Raw])
    except BAD:
        return Read([], 1)
    return Read([bytes(piece) for piece in pieces])


def join_lists(lists: Iterable[bytes]) -> bytes:
    """Several lists as one."""
    return b"[" + b",".join(item for raw in lists for item in read_raw_items(raw).items) + b"]"


class _Severity(msgspec.Struct, gc=False):
    severity: int | None = None


_severities = make_decoder(list[_Severity])


def read_severities(raw: bytes) -> collections.Counter[int | None]:
    """The number of findings of each severity in a list. Fast, since only this is decoded."""
    try:
        return collections.Counter(finding.severity for finding in _severities.decode(raw))
    except BAD:
        return collections.Counter(finding.severity for finding in read_diagnostics(raw).items)


def read_location_ranges(raw: bytes) -> Read[tuple[str, WireRange]]:
    """The URI and the range of each location."""
    read = read_locations(raw)
    named = [place for item in read.items if (place := item.place) is not None]
    return Read(named, read.dropped + len(read.items) - len(named))


def read_hierarchy_items(raw: bytes) -> Read[tuple[bytes, WireItem]]:
    """The items of a hierarchy, each with its raw bytes."""
    pieces = read_raw_items(raw)
    read = [(piece, read_item(piece)) for piece in pieces.items]
    pairs = [(piece, wire) for piece, result in read for wire in result.items]
    return Read(pairs, pieces.dropped + sum(not result.items for _, result in read))


def read_calls_with_items(raw: bytes) -> Read[tuple[WireCall, WireItem]]:
    """Calls, each with its caller or callee."""
    pieces = read_raw_items(raw)
    calls = [call for piece in pieces.items for call in read_calls(piece).items]
    read = [(call, read_item(call.item)) for call in calls]
    pairs = [(call, result.items[0]) for call, result in read if result.items]
    return Read(pairs, pieces.dropped + len(pieces.items) - len(pairs))


def read_actions(raw: bytes) -> Read[tuple[bytes, WireAction]]:
    """Code actions, each with its raw bytes. An action with an invalid part is left out."""
    pieces = read_raw_items(raw)
    read = [(piece, read_action(piece)) for piece in pieces.items]
    good = [
        (piece, result.items[0]) for piece, result in read if result.items and not result.dropped
    ]
    return Read(good, pieces.dropped + len(read) - len(good))


# Limits the length of raw lists.
#
# A list is cut before its items are decoded, since decoding takes the time.

#: An item that cannot be decoded: it stands for the findings that were left out.
_UNREADABLE = b"null"


def first_items(raw: bytes, most: int, size: int = MAX_BODY) -> tuple[bytes, int]:
    """A raw list with at most so many items and bytes, and how many items were left out."""
    if len(raw) < 2 * most and len(raw) <= size:
        return raw, 0  # an item needs at least a character and a comma
    try:
        items = msgspec.json.decode(replace_lone_surrogates(raw), type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return raw, 0  # not a valid list
    kept = [bytes(item) for item in items[:most]]
    if len(raw) > size:
        ends = itertools.accumulate(len(item) + 1 for item in kept)
        kept = kept[: sum(end <= size for end in ends)]
    if len(kept) == len(items):
        return raw, 0
    return b"[%b]" % b",".join(kept), len(items) - len(kept)


def bounded_report(items: bytes) -> tuple[bytes, int]:
    """The findings of one report that are kept, and how many are not.

    A list that was cut ends with an item that cannot be decoded, so that it proves nothing about
    the file.

    >>> bounded_report(b"[]")
    (b'[]', 0)
    """
    kept, dropped = first_items(items, MOST_FINDINGS, LARGEST_REPORT)
    if dropped:
        kept = kept[:-1] + (b"," if len(kept) > 2 else b"") + _UNREADABLE + b"]"
    elif len(kept) > LARGEST_REPORT:
        return b"[%b]" % _UNREADABLE, 1  # not a list
    return kept, dropped
