"""Rules that prove that a server has checked a text. They are data, part of a server's definition.

| how        | what proves that the findings are those of the text                                 |
| ---------- | ----------------------------------------------------------------------------------- |
| `pull`     | the answer to a pull that was sent after the text                                   |
| `version`  | a push with the version of the text, or a later version of the same text            |
| `ordered`  | the answer to a request that was sent after the text, and that the server processes |
|            | in order: it contains the findings, or comes after the pushes                       |
| `progress` | a named task that began after the text was on disk, and ended; adapters refine that |
| `quiet`    | no proof: a push without a version came, then none for a while; unless the version  |
|            | can be inferred (`protocol/checked_versions.py`)                                    |
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lspkit.protocol.events import Signal

How = Literal["pull", "version", "ordered", "progress", "quiet"]


class ProofRule(msgspec.Struct, frozen=True, kw_only=True):
    """How the findings of one source of a server are proven."""

    #: None: `pull` if the server offers it, else `version`.
    how: How | None = None
    #: The name of the source, for a server with several.
    source: str = ""
    #: Whether the source reads the document or the file. `disk` does not apply to unsaved text.
    sees: Literal["buffer", "disk"] = "buffer"
    #: Whether there is exactly one push per change, so that no further one is awaited.
    single: bool = False
    #: For `version`: notifications by which the server says that it is done with a file. A push
    #: counts only after one of them, since an earlier push may be about files as they were before.
    #: Until then the server is not made to check the file again. Another notification of the same
    #: method says that it is not done, and has to come after each text (`finished_files.py`).
    rests_by: tuple[Signal, ...] = ()
    #: Seconds without another push after which a burst is over; None: as configured.
    debounce: float | None = None
    #: Whether nobody has tried what its answers to pulls are worth. Then an empty one proves as
    #: little as silence: some servers answer from a cache, or publish what they find.
    untried: bool = False
    #: For `quiet`: whether a push followed by silence was always right in tests, so
    #: that it counts as a proof.
    trusted: bool = False
    #: For `progress`: prefix of the token or the title of the task. For `version`: a task that
    #: every notification of changed files starts; no push counts before its end.
    token: str = ""
    #: For `ordered`: `tsserver` has the findings in its answers; the answer to a method of the
    #: protocol shows that the pushes have been sent. For `progress` also a method: its answer shows
    #: that the findings of the task have been sent, or that the change was read before the task
    #: began. For `version`: that no other push follows; sent after a push (with
    #: `rests_by`, when the server is done). For `pull`: answered between the text and the pull,
    #: by a server that answers a pull right behind a change from the text before.
    ask: str = ""
    #: Whether findings about a file depend on that file alone.
    alone: bool = False


#: The default rule.
OFFERED = ProofRule()

#: The rule of a server that lspkit has no definition of.
UNTRIED = ProofRule(untried=True)
