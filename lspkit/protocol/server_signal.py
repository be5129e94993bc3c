"""One message of a server that says something lspkit goes by, and the test for it."""

from __future__ import annotations

from typing import Any

import msgspec

LOG_MESSAGE = "window/logMessage"
PROGRESS = "$/progress"


class Signal(msgspec.Struct, frozen=True):
    """A notification or request that means something if its params hold these values."""

    #: For work that the server reports on: `$/progress`, with its title as the only param.
    method: str
    #: Values that the params have at the top level. None are needed if this is empty.
    params: dict[str, Any] = {}
    #: A part of the text in `message`.
    contains: str = ""

    def fits(self, method: str, params: Any) -> bool:
        """Whether a message is this signal."""
        return (
            method == self.method
            and isinstance(params, dict)
            and all(params.get(key) == value for key, value in self.params.items())
            and self.contains in str(params.get("message", ""))
        )


def log_line(part: str) -> Signal:
    """A line that a server logs or shows, with this part in it."""
    return Signal(LOG_MESSAGE, contains=part)
