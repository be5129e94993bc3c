"""The warning that a notebook shows in a project that is not trusted.

Scripts have `status()`, and the command line says its own line. Who works in a notebook sees
neither, and would take the silence of a server that is held back for its answer.
"""

from __future__ import annotations

import sys
import warnings

from lspkit.config.load import Loaded

#: By project: a mark of who has told about it in this process. `setdefault` is one step, so that
#: of several threads one tells it, without a lock.
_warned: dict[str, object] = {}


class UntrustedProjectWarning(UserWarning):
    """A project is not trusted, and something is held back from it. Shown in notebooks only.

    It is shown once for each project. To see none of them:

        warnings.filterwarnings("ignore", category=lspkit.UntrustedProjectWarning)
    """


def in_notebook() -> bool:
    """Whether IPython runs this process: in a notebook, a console, or a shell in a program."""
    # Never imported for this: where nobody has, it cannot be running.
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return ask is not None and ask() is not None


def warn_once(loaded: Loaded, *, stacklevel: int) -> None:
    """Warn about a project of which something is held back, the first time in this process.

    In a notebook only. With `stacklevel` 1 the warning is about the line that calls this. Where the
    user has made warnings errors, it is raised, and raised again until something is done about it.
    """
    if not in_notebook() or loaded.standing.candidate in _warned:
        return
    from lspkit.servers.restriction.held_back import notice  # here: only notebooks need it at once

    said = notice(loaded)
    mine = object()
    if not said or _warned.setdefault(loaded.standing.candidate, mine) is not mine:
        return
    try:
        warnings.warn(said, UntrustedProjectWarning, stacklevel=stacklevel + 1)
    except BaseException:
        del _warned[loaded.standing.candidate]
        raise
