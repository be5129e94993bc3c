"""Structs that msgspec has to know before threads use them."""

from __future__ import annotations

from typing import TypeVar

import msgspec

S = TypeVar("S", bound=type)


def prepare_struct(struct: S) -> S:
    """Decorate a struct that is decoded by its type, without a module-level decoder.

    msgspec collects type information when a struct is first decoded. If several threads cause this
    at once, the process crashes (msgspec 0.22, in 12 of 40 runs). The import of a module happens in
    one thread.
    """
    msgspec.json.Decoder(struct)
    return struct
