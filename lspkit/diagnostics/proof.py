"""How one can tell that a server has looked at a text. Rules are data, part of a definition.

| how        | what proves that the findings are those of the text                                 |
| ---------- | ----------------------------------------------------------------------------------- |
| `pull`     | the server was asked for them after the text was written, and answered              |
| `version`  | a push that carries the version of the text, or a later one of the same text        |
| `ordered`  | a request of the server's own, asked after the text was written, that it works off  |
|            | in order: with the findings in its answer, or after the pushes that it set off      |
| `progress` | a named piece of work that began after the text was on disk, and ended; where a     |
|            | later change may have ended it, it is only ever started by lspkit, one at a time    |
| `quiet`    | nothing does: a push without a version came, and then none for a while              |
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lspkit.protocol.server_signal import Signal

How = Literal["pull", "version", "ordered", "progress", "quiet"]


class ProofRule(msgspec.Struct, frozen=True, kw_only=True):
    """How one source of findings of one server proves itself."""

    #: None: `pull` where the server offers it, else `version`.
    how: How | None = None
    #: What the source is called where a server has more than one.
    source: str = ""
    #: A source that sees the disk has nothing to say about a text that is not there.
    sees: Literal["buffer", "disk"] = "buffer"
    #: Whether one push per change is all, so that none has to be waited for after it.
    single: bool = False
    #: For `version`: notifications by which the server says that it is done with a file. A push
    #: counts only after one of them, since an earlier push may be about files as they were before.
    #: Until then the server is not made to check the file again. Another notification of the same
    #: method says that it is not done.
    rests_by: tuple[Signal, ...] = ()
    #: Seconds without another push after which a burst is over; None: as configured.
    debounce: float | None = None
    #: For `quiet` and `publishes`: whether a push, and silence after it, has never been wrong where
    #: it was tried, so that it counts as a proof.
    trusted: bool = False
    #: For `progress`: how the name of the work begins, or what people read of it. For `version`:
    #: work that every note of changed files sets off; before its end no push counts.
    token: str = ""
    #: For `progress`: the notification that starts the work, where nothing else does. Then it is
    #: known which end belongs to which beginning, and that no later change has cancelled it.
    start: str = ""
    #: For `progress`: the notification that ends a run that nobody waits for any more.
    stop: str = ""
    #: For `progress`: whether each run publishes every open document. Then it is the push after its
    #: beginning that counts, since the run may be cancelled later on.
    publishes: bool = False
    #: For `publishes`: work that comes first, and has to begin after the change was sent: what is
    #: published next may otherwise be what it had found before.
    after: str = ""
    #: For `ordered`: `tsserver` has the findings in its answers, and a method of the protocol only
    #: shows that the pushes are out. For `progress` such a method, too: it shows that what the
    #: work has found is out, or with `publishes` that the change was taken in before it began. And
    #: for `version`: that no other push is on its way, asked when there was one (with `rests_by`,
    #: when the server has said that it is done).
    ask: str = ""
    #: Whether findings about a file depend on that file alone, so that no other change matters.
    alone: bool = False


#: For a server that nothing special is known about.
OFFERED = ProofRule()
