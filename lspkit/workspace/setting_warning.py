"""The warning about settings that a program passes and lspkit does not use, as a misspelt one.

The command line prints such lines, and `status()` has them. A program would see neither.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable


class UnusedSettingWarning(UserWarning):
    """A setting in the `config` of `Workspace` or `connect` is not used.

    The message names the nearest key.
    """


def warn_unused(lines: Iterable[str], *, stacklevel: int) -> None:
    """Warn about each. With `stacklevel` 1 it is attributed to the caller's line."""
    for line in lines:
        warnings.warn(line, UnusedSettingWarning, stacklevel=stacklevel + 1)
