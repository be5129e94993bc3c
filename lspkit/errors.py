"""Every error that lspkit raises.

All derive from `LspkitError`, have a stable `code` for programs, a message for people, and details
as attributes. They can be pickled, and converted to JSON and back (`to_dict`, `error_from_dict`).
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, ClassVar, Self

from lspkit.visible_text import one_line, several_lines


class LspkitError(Exception):
    """Base class. `fields` holds the details, each of which is also an attribute."""

    #: Stable identifier of this kind of error.
    code: ClassVar[str] = "ELSPKIT"
    #: All codes of a class that has several (`PathError`).
    codes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, message: str, *, code: str | None = None, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        if code is not None and code != self.code:
            if code not in self.codes:
                raise TypeError(f"{type(self).__name__} has no code {code!r}")
            self.__dict__["code"] = code
        for name, value in fields.items():
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
            setattr(self, name, value)
        self.fields = fields

    def __str__(self) -> str:
        """The message on one line, with control characters from files and servers escaped."""
        return one_line(" ".join(self.message.splitlines()))

    def __reduce__(self) -> tuple[Any, ...]:
        return error_from_dict, (self.to_dict(),)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the lines of the caller's code, and the message."""
        notes = [several_lines(str(note)) for note in getattr(self, "__notes__", ())]
        return [*_caller_lines(self.__traceback__), f"{type(self).__name__}: {self}", *notes]

    def copy(self) -> Self:
        """An equal error. One exception object must not be raised in several threads."""
        return type(self)(self.message, code=self.code, **self.fields)

    def to_dict(self) -> dict[str, Any]:
        """The error as JSON values: `code`, `message` and the fields. Infinity is `"inf"`."""
        fields = {
            name: "inf" if value == float("inf") else value for name, value in self.fields.items()
        }
        return {"code": self.code, "message": self.message, **fields}


class ConfigError(LspkitError):
    """A configuration file cannot be read, or has invalid content."""

    code = "ECONFIG"
    #: The file, or None for a mapping that was passed in.
    file: str | None = None
    #: Counted from 1, None if not known. `line`, `place` and `expected` describe the first fault.
    line: int | None = None
    #: Path of the key in the file: `lsp.pyright.command[0]`.
    place: str = ""
    #: What is valid there.
    expected: str = ""
    #: All faults, each with `line`, `place`, `expected` and `found`.
    faults: tuple[dict[str, Any], ...] = ()

    def __str__(self) -> str:
        """One line for each fault."""
        return several_lines(self.message)


class PathError(LspkitError):
    """A path cannot be used: it is missing, outside the workspace, excluded, or not text. Or it was
    not changed, because it differs from the expected state (`ECHANGED`) or cannot be written
    (`EWRITE`)."""

    code = "ENOENT"
    codes = ("ENOENT", "EOUTSIDE", "EBINARY", "EEXCLUDED", "ECHANGED", "EWRITE")
    #: The path as the caller wrote it.
    path: str = ""
    #: The path with links resolved, if that was possible.
    resolved: str = ""
    #: The folder that paths must be in.
    boundary: str = ""


class PositionError(LspkitError):
    """The file does not have this position or symbol."""

    code = "EPOSITION"
    #: The valid range of the value that was out of range, as text.
    bounds: str = ""
    #: Symbols that could have been meant.
    candidates: tuple[str, ...] = ()


class NoServerError(LspkitError):
    """No server is defined for this kind of file."""

    code = "ENOSERVER"
    #: The file's extension, or its name if it has none.
    extension: str = ""


class ServerUnavailableError(LspkitError):
    """A server is defined for the file, but its program is missing or not allowed to run."""

    code = "EUNAVAILABLE"
    server: str = ""
    #: The program that was searched for, and the folders.
    looked_for: str = ""
    #: The command that installs it.
    install: str = ""
    #: The trust state that keeps it from running: `untrusted` or `stale`.
    rule: str = ""


class ServerBrokenError(LspkitError):
    """The server has exited, or failed to start."""

    code = "EBROKEN"
    server: str = ""
    #: Exit status as in `subprocess` (negative: a signal), None if not known.
    exit_status: int | None = None
    attempts: int = 0
    #: Seconds until the next start is allowed: None: at once; infinity: not before a reload.
    retry_in: float | None = None
    stderr: str = ""


class RequestTimeoutError(LspkitError, TimeoutError):
    """The server did not answer in time. The fields say what it was doing."""

    code = "ETIMEDOUT"
    server: str = ""
    #: State of the server: `starting`, `running`, …
    state: str = ""
    #: What the server said it was busy with.
    progress: tuple[str, ...] = ()
    #: Methods of the requests that were waiting for an answer.
    in_flight: tuple[str, ...] = ()
    stderr: str = ""


class RequestFailedError(LspkitError):
    """The server answered with an error, or with an invalid answer."""

    code = "ELSP"
    server: str = ""
    #: The error code that the server sent.
    server_code: int = 0
    #: The error message that the server sent.
    server_message: str = ""
    #: The errors for which an edit was undone, each with `path`, `line`, `column`, `severity`,
    #: `message` and `code`.
    introduced: tuple[dict[str, Any], ...] = ()


class IncompleteEditError(LspkitError):
    """An edit may be incomplete, and was not applied. Nothing was written."""

    code = "EINCOMPLETE"
    #: Why it may be incomplete.
    reasons: tuple[str, ...] = ()


class UnsupportedError(LspkitError):
    """No server of the file supports this operation. Nothing was sent."""

    code = "EUNSUPPORTED"
    operation: str = ""
    servers: tuple[str, ...] = ()


class CancelledError(LspkitError):
    """The caller's `CancelToken` was set."""

    code = "ECANCELLED"


class WorkspaceClosedError(LspkitError):
    """The workspace is closed, or belongs to the parent of this forked process."""

    code = "ECLOSED"


class ProtocolError(LspkitError):
    """lspkit attempted a message that the state of the session does not allow."""

    code = "EPROTOCOL"


class FramingError(LspkitError):
    """The byte stream of a server can no longer be split into messages."""

    code = "EFRAMING"


def _all_errors(base: type[LspkitError]) -> dict[str, type[LspkitError]]:
    by_code = dict.fromkeys((base.code, *base.codes), base)
    for child in base.__subclasses__():
        by_code.update(_all_errors(child))
    return by_code


def error_from_dict(values: dict[str, Any]) -> LspkitError:
    """Rebuild the error from the result of `to_dict`.

    An error of a newer lspkit keeps its code, and is a plain `LspkitError` if its class is not
    known; fields that are not known are left out.
    """
    code, message = str(values["code"]), str(values["message"])
    kind = _all_errors(LspkitError).get(code)
    if kind is None:
        unknown = LspkitError(message)
        unknown.__dict__["code"] = code
        return unknown
    fields = {name: _field(kind, name, value) for name, value in values.items()}
    known = {name: value for name, value in fields.items() if name in _field_names(kind)}
    return kind(message, code=code, **known)


def _field_names(kind: type[LspkitError]) -> set[str]:
    return {name for base in kind.__mro__ for name in getattr(base, "__annotations__", {})} - {
        "code",
        "codes",
    }


def _field(kind: type[LspkitError], name: str, value: Any) -> Any:
    if isinstance(getattr(kind, name, None), tuple):
        return tuple(value)
    return float("inf") if value == "inf" and name == "retry_in" else value


def _caller_lines(trace: TracebackType | None) -> list[str]:
    """The lines that led to an error, without those of lspkit and IPython."""
    lines: list[str] = []
    # In a notebook it is loaded, and has the text of the cells.
    source = getattr(sys.modules.get("linecache"), "getline", None)
    while trace is not None:
        frame, number = trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in ("lspkit", "IPython"):
            continue
        file = frame.f_code.co_filename
        is_cell = file.startswith("<ipython-input-") or "/ipykernel_" in file
        code = source(file, number).strip() if source is not None else ""
        where = f"line {number}" if is_cell else f"{file}:{number}"
        lines.append(one_line(f"{where}: {code}"))
    return lines
