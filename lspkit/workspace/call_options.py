"""The keyword arguments that methods of a workspace have in common."""

from __future__ import annotations

import inspect
from typing import Any, TypedDict

from lspkit.runtime.concurrency.call import CancelLike
from lspkit.runtime.engine_api import Limits


class CallOptions(TypedDict, total=False):
    """Options of every blocking method."""

    #: Seconds for the whole call, including the start of a server.
    timeout: float | None
    #: Ends the call early.
    cancel: CancelLike | None


class FileCallOptions(CallOptions, total=False):
    """Options of every request about a file."""

    #: The text to use instead of the file's content, for this call only.
    text: str | None


class PositionCallOptions(FileCallOptions, total=False):
    """Options of every request about a position, besides line and column."""

    #: A name in the file (`Class.method`), or, with a line, a word on that line.
    symbol: str | None


#: The limits of a call without options.
UNLIMITED = Limits()


def limits_of(more: FileCallOptions) -> tuple[Limits, dict[str, Any]]:
    """The limits among the options, and the other options. The request refuses unknown ones."""
    if not more:
        return UNLIMITED, {}
    rest: dict[str, Any] = {**more}
    return Limits(rest.pop("timeout", None), rest.pop("cancel", None)), rest


# The signatures of methods that take common options, for `help()` and completion.
#
# In the code such a method has `**more: Unpack[PositionCallOptions]`, which a type checker reads.
# People, and programs that use `inspect`, are shown the options themselves.

#: The options in the order in which they are shown.
ORDER = ("symbol", "text", "timeout", "cancel")


def list_options(kind: type) -> None:
    """Give the methods of a class signatures that list the options."""
    for function in vars(kind).values():
        packed = getattr(function, "__annotations__", {}).get("more", "")
        if isinstance(packed, str) and packed.startswith("Unpack["):
            function.__signature__ = _listed(inspect.signature(function), packed)


def _listed(signature: inspect.Signature, packed: str) -> inspect.Signature:
    name = packed.removeprefix("Unpack[").removesuffix("]")
    options: dict[str, Any] = globals()[name].__annotations__
    parameters = [
        parameter for parameter in signature.parameters.values() if parameter.name != "more"
    ]
    for option in ORDER:
        if option in options:
            parameters.append(
                inspect.Parameter(
                    option,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=None,
                    # Annotations are text in the other parameters as well.
                    annotation=options[option].__forward_arg__,
                )
            )
    return signature.replace(parameters=parameters)
