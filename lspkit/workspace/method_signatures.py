"""The signatures of methods that take common options, for `help()` and completion.

In the code such a method has `**more: Unpack[PositionCallOptions]`, which a type checker reads.
People, and programs that use `inspect`, are shown the options themselves.
"""

from __future__ import annotations

import inspect
from typing import Any

from lspkit.workspace import call_options

#: The options in the order in which they are shown.
ORDER = ("symbol", "text", "timeout", "cancel")


def list_options(kind: type) -> None:
    """Give the methods of a class signatures that list the options."""
    for function in vars(kind).values():
        packed = getattr(function, "__annotations__", {}).get("more", "")
        if isinstance(packed, str) and packed.startswith("Unpack["):
            function.__signature__ = _listed(inspect.signature(function), packed)


def _listed(found: inspect.Signature, packed: str) -> inspect.Signature:
    name = packed.removeprefix("Unpack[").removesuffix("]")
    options: dict[str, Any] = getattr(call_options, name).__annotations__
    parameters = [one for one in found.parameters.values() if one.name != "more"]
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
    return found.replace(parameters=parameters)
