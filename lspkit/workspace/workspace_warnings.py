"""The warning about an untrusted project in a notebook.

Scripts can call `status()`, and the command line prints a line. In a notebook the user would see
neither, and could mistake the silence of a server that may not run for its answer.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable

import lspkit.operations as ops
from lspkit.runtime.engine_api import Engine, Limits

#: By project: an object of the thread that warned. `setdefault` is atomic, so that one of several
#: threads warns, without a lock.
_warned: dict[str, object] = {}


class UntrustedProjectWarning(UserWarning):
    """A project is not trusted, and something of it may not run. Shown in notebooks only.

    It is shown once for each project. To disable it:

        warnings.filterwarnings("ignore", category=lspkit.UntrustedProjectWarning)
    """


def in_notebook() -> bool:
    """Whether IPython runs this process: in a notebook, a console, or a shell in a program."""
    # Not imported here: if nobody has imported it, it is not running.
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return ask is not None and ask() is not None


def warn_once(engine: Engine, *, stacklevel: int) -> None:
    """Warn about an untrusted project, once in this process, and only in a notebook.

    With `stacklevel` 1 the warning is attributed to the caller's line. If warnings are errors, it
    is raised on every call.
    """
    if not in_notebook():
        return
    notice = engine.run(ops.TrustNoticeRequest(), Limits())
    mine = object()
    if not notice.text or _warned.setdefault(notice.project, mine) is not mine:
        return
    try:
        warnings.warn(notice.text, UntrustedProjectWarning, stacklevel=stacklevel + 1)
    except BaseException:
        del _warned[notice.project]
        raise


# The warning about settings that a program passes and lspkit does not use, as a misspelt one.
#
# The command line prints such lines, and `status()` has them. A program would see neither.


class UnusedSettingWarning(UserWarning):
    """A setting in the `config` of `Workspace` or `connect` is not used.

    The message names the nearest key.
    """


def warn_unused(lines: Iterable[str], *, stacklevel: int) -> None:
    """Warn about each. With `stacklevel` 1 it is attributed to the caller's line."""
    for line in lines:
        warnings.warn(line, UnusedSettingWarning, stacklevel=stacklevel + 1)
