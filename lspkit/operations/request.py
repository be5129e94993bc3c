"""Requests as data, and the table of operations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, ClassVar, Generic, TypeVar, get_args

import msgspec

from lspkit.errors import PositionError
from lspkit.operations.host import Host
from lspkit.protocol.text import BYTE_ORDER_MARK

T_co = TypeVar("T_co", covariant=True)


@functools.cache
def _plain_fields(request: type[Request[Any]]) -> tuple[tuple[str, type, bool], ...]:
    """The fields of one plain type, each with that type and whether it may be None."""
    plain_fields: list[tuple[str, type, bool]] = []
    for field in msgspec.structs.fields(request):
        union = field.type if isinstance(field.type, UnionType) else None
        kinds = set(get_args(union)) if union is not None else {field.type}
        may_be_none = NoneType in kinds
        kinds.discard(NoneType)
        kind: Any = kinds.pop() if len(kinds) == 1 else None
        is_struct = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
        # The numbers of a position have a check of their own.
        is_number = kind is int and not issubclass(request, PositionRequest)
        if kind in (str, bool) or is_struct or is_number:
            plain_fields.append((field.name, kind, may_be_none))
    return tuple(plain_fields)


def _as_plain(name: str, kind: type, value: Any) -> Any:
    """The value as exactly this type, so that every engine gets the same; or a `TypeError`."""
    if kind is bool:
        return bool(value)
    if kind is str:
        check_text(name, value)
        return str.__str__(value)  # a subclass, which msgspec cannot encode
    if kind is int and hasattr(value, "__index__"):
        return int(value)
    if not isinstance(value, kind):
        wanted = "a whole number" if kind is int else kind.__name__
        raise TypeError(f"{name} is {value!r:.80}: {wanted} is needed")
    return value


def check_text(name: str, value: object) -> None:
    """Raise a `TypeError` unless the value is a str."""
    if not isinstance(value, str):
        what = "bytes, to be decoded first" if isinstance(value, bytes) else repr(value)
        raise TypeError(f"{name} is {what}: a str is needed")


class Request(msgspec.Struct, Generic[T_co], frozen=True, kw_only=True):
    """Base of all requests, with the type of the result. Plain values: it can be sent as JSON."""

    #: Whether it is not sent again to a new service: it may have been carried out.
    only_once: ClassVar[bool] = False
    #: Whether it changes what texts the servers are shown: calls that are submitted later see that.
    shows_texts: ClassVar[bool] = False
    #: Whether its result depends on the texts of files, so that it waits for its turn where several
    #: clients show texts.
    reads_texts: ClassVar[bool] = True

    @property
    def is_about_many_files(self) -> bool:
        """Whether it has a result at its timeout, which may be long: what is known up to then."""
        return False

    def __post_init__(self) -> None:
        for name, kind, may_be_none in _plain_fields(type(self)):
            value = getattr(self, name)
            if type(value) is not kind and not (value is None and may_be_none):
                msgspec.structs.force_setattr(self, name, _as_plain(name, kind, value))


class StateRequest(Request[T_co], Generic[T_co], frozen=True, kw_only=True):
    """A request about the workspace, whatever the texts of its files."""

    reads_texts = False


class FileRequest(Request[T_co], Generic[T_co], frozen=True, kw_only=True):
    """A request about one file."""

    path: str
    #: The text to use instead of the file's content, for this request only. As in a file, a byte
    #: order mark is no part of it.
    text: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.text is not None and self.text.startswith(BYTE_ORDER_MARK):
            text = self.text.removeprefix(BYTE_ORDER_MARK)
            msgspec.structs.force_setattr(self, "text", text)


def check_number(name: str, value: object) -> None:
    """Raise a `PositionError` unless the value is None or a valid line or column."""
    if value is not None and (type(value) is not int or value < 1):
        raise PositionError(
            f"{name} is {value!r}: a whole number from 1 is needed", bounds="1 or more"
        )


class PositionRequest(FileRequest[T_co], Generic[T_co], frozen=True, kw_only=True):
    """A request about a position: by line and column, by symbol, or by line and symbol."""

    line: int | None = None
    column: int | None = None
    symbol: str | None = None

    def __post_init__(self) -> None:
        line, column, symbol = self.line, self.column, self.symbol
        by_place = type(line) is type(column) is int and line > 0 and column > 0 and symbol is None
        is_bare = self.text is None and len(self.__struct_fields__) == _OWN_FIELDS
        if by_place and is_bare and type(self.path) is str:
            return  # as nearly always
        super().__post_init__()
        if by_place:
            return
        check_number("line", line)
        check_number("column", column)
        by_number = line is not None and column is not None and symbol is None
        if not by_number and not (symbol and column is None):
            raise PositionError(
                "a position is a line and a column, or a symbol, or a line and a symbol",
                bounds="line and column, or symbol, or line and symbol",
            )


#: How many fields a request about a position has, unless it has more of its own.
_OWN_FIELDS = len(PositionRequest.__struct_fields__)

R = TypeVar("R", bound=Request[Any])
T = TypeVar("T")


class Operation(msgspec.Struct, frozen=True, eq=False):
    """One row of the table `OPERATIONS`, equal only to itself."""

    name: str
    request: type[Request[Any]]
    #: The type of the result, for decoding it from JSON.
    result: Any
    run: Callable[[Any, Host], Any]


#: All operations, by the type of the request.
OPERATIONS: dict[type[Request[Any]], Operation] = {}


def operation(
    name: str, request: type[R], result: Any
) -> Callable[[Callable[[R, Host], T]], Callable[[R, Host], T]]:
    """Add a function to the table."""

    def add(run: Callable[[R, Host], T]) -> Callable[[R, Host], T]:
        OPERATIONS[request] = Operation(name, request, result, run)
        return run

    return add
