"""The decision whether a server has spoken about the text that a caller means.

Pure: it is given what was asked for (`Target`), the newest push, and the time, and says either
what the push is worth or how long to wait. A push that carries the version of the text, or a later
one, is a proof, if it came after the last change of anything that the server sees: a version says
nothing about the other files. A push without a version that came after that is only *quiet*: more
may follow, and it may speak of an older text. A pull needs no decision: its answer is about the
text it was asked for.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lspkit.diagnostics.store import Push


class Target(msgspec.Struct, frozen=True):
    """What a caller wants to know about: this version, since this moment, until then."""

    version: int
    #: When the text was handed over.
    written_at: float
    deadline: float
    #: How long a server has to be silent after a push before it counts.
    debounce: float


class Settled(msgspec.Struct, frozen=True):
    """The push speaks for the text: with a proof, or as far as can be told."""

    push: Push
    how: Literal["version", "quiet"]


class Wait(msgspec.Struct, frozen=True):
    """Not yet; look again at this time, or when a push comes."""

    until: float


class Unknown(msgspec.Struct, frozen=True):
    """The time is up."""

    reason: str


def settle(target: Target, push: Push | None, now: float) -> Settled | Wait | Unknown:
    """What the newest push about the file is worth for this target."""
    if push is not None and _is_about(target, push):
        # One more push may follow close behind: the last one of a burst is meant.
        quiet_at = min(push.at + target.debounce, target.deadline)
        if now >= quiet_at:
            return Settled(push, "quiet" if push.version is None else "version")
        return Wait(quiet_at)
    if now >= target.deadline:
        return Unknown("no report about this text came in time")
    return Wait(target.deadline)


def _is_about(target: Target, push: Push) -> bool:
    return push.at > target.written_at and (push.version is None or push.version >= target.version)
