"""Every error that lspkit raises.

All derive from `LspkitError`, have a stable `code` for programs, a sentence for people, and carry
their facts as attributes. They survive pickling and a trip as JSON (`to_dict`, `error_from_dict`),
so that an error of a server behind the service is the same error to its caller.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from lspkit.visible_text import one_line, several_lines


class LspkitError(Exception):
    """Base of all. `fields` are the facts, each also an attribute of its own."""

    #: Stable identifier of this kind of error.
    code: ClassVar[str] = "ELSPKIT"
    #: The other codes that one class may stand for (`PathError` has several).
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
        """The message on one line, whatever a file or a server has put into it."""
        return one_line(" ".join(self.message.splitlines()))

    def __reduce__(self) -> tuple[Any, ...]:
        return error_from_dict, (self.to_dict(),)

    def renewed(self) -> Self:
        """An equal error: one that several callers are told must not be raised twice."""
        return type(self)(self.message, code=self.code, **self.fields)

    def to_dict(self) -> dict[str, Any]:
        """The error as plain values: `code`, `message` and the fields."""
        return {"code": self.code, "message": self.message, **self.fields}


class ConfigError(LspkitError):
    """A configuration file that cannot be read, or says something that makes no sense."""

    code = "ECONFIG"
    #: The file, or None for a mapping that was passed in.
    file: str | None = None
    #: Counted from 1, None where it is not known. This and what follows is about the first fault.
    line: int | None = None
    #: Where in the file: `lsp.pyright.command[0]`.
    place: str = ""
    #: What would have been right.
    expected: str = ""
    #: All faults, each with `line`, `place`, `expected` and `found`.
    faults: tuple[dict[str, Any], ...] = ()

    def __str__(self) -> str:
        """A line for each fault."""
        return several_lines(self.message)


class PathError(LspkitError):
    """A path that may not, or cannot, be used: outside, missing, not text, or excluded; or that was
    not changed: it is no longer what it was (`ECHANGED`), or the disk refuses (`EWRITE`)."""

    code = "ENOENT"
    codes = ("ENOENT", "EOUTSIDE", "EBINARY", "EEXCLUDED", "ECHANGED", "EWRITE")
    #: The path as the caller wrote it.
    path: str = ""
    #: The path with links followed, where that could be done.
    resolved: str = ""
    #: The folder that paths have to stay in.
    boundary: str = ""


class PositionError(LspkitError):
    """A position or a symbol that the file does not have."""

    code = "EPOSITION"
    #: The first and last valid value of whatever was out of range, as text.
    bounds: str = ""
    #: Symbols that could have been meant.
    candidates: tuple[str, ...] = ()


class NoServerError(LspkitError):
    """No server definition knows this kind of file."""

    code = "ENOSERVER"
    #: The file's extension, or its name where it has none.
    extension: str = ""


class ServerUnavailableError(LspkitError):
    """A server is defined for the file, but its program is missing or held back."""

    code = "EUNAVAILABLE"
    server: str = ""
    #: What was looked for, and in which folders.
    looked_for: str = ""
    #: The command that installs it.
    install: str = ""
    #: The trust rule that holds it back: `untrusted` or `stale`.
    rule: str = ""


class ServerBrokenError(LspkitError):
    """The server ended, or never came up."""

    code = "EBROKEN"
    server: str = ""
    #: Exit status as `subprocess` has it (negative: a signal), None if it is not known.
    exit_status: int | None = None
    attempts: int = 0
    #: Seconds until it may be started again: None for at once, infinite for not before a reload.
    retry_in: float | None = None
    stderr: str = ""


class RequestTimeoutError(LspkitError, TimeoutError):
    """The answer did not come in time. The fields say why it may have been slow."""

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
    """The server answered with an error, or with something that is no answer."""

    code = "ELSP"
    server: str = ""
    #: The server's own error number.
    server_code: int = 0
    #: The server's own words.
    server_message: str = ""


class UnsupportedError(LspkitError):
    """No server of the file can do this. Nothing was sent."""

    code = "EUNSUPPORTED"
    operation: str = ""
    servers: tuple[str, ...] = ()


class CancelledError(LspkitError):
    """The caller's `Cancel` was set."""

    code = "ECANCELLED"


class WorkspaceClosedError(LspkitError):
    """The workspace was closed, or this is a forked copy of the process that owns it."""

    code = "ECLOSED"


class ProtocolError(LspkitError):
    """lspkit itself tried something that the state of a session forbids."""

    code = "EPROTOCOL"


class FramingError(LspkitError):
    """The bytes from a server can no longer be cut into messages."""

    code = "EFRAMING"


def _all_errors(base: type[LspkitError]) -> dict[str, type[LspkitError]]:
    found = dict.fromkeys((base.code, *base.codes), base)
    for child in base.__subclasses__():
        found.update(_all_errors(child))
    return found


def error_from_dict(values: dict[str, Any]) -> LspkitError:
    """Build the error that `to_dict` describes."""
    fields = dict(values)
    code, message = str(fields.pop("code")), str(fields.pop("message"))
    kind = _all_errors(LspkitError).get(code, LspkitError)
    if kind is LspkitError:
        return LspkitError(message)
    sequences = {name for name in fields if isinstance(getattr(kind, name, None), tuple)}
    for name in sequences:
        fields[name] = tuple(fields[name])
    return kind(message, code=code, **fields)
