"""Decoders of msgspec, made by one thread at a time.

msgspec collects information about a struct when its first decoder is made, and keeps it with the
class. A second thread that needs the same struct meanwhile uses what is there so far, and the
process crashes (msgspec 0.22). So decoders are made here only, under one lock, and values are
converted here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
#: Decodes a value of a type that JSON does not have.
DecodeHook = Callable[[type, Any], object]

#: Guards the information that msgspec collects about structs.
_lock = threading.Lock()
#: The types for which it is complete.
_complete: set[Any] = set()

# A fork waits: a child would keep what another thread has collected by halves.
os.register_at_fork(
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


@overload
def make_decoder(kind: type[T], dec_hook: DecodeHook | None = None) -> msgspec.json.Decoder[T]: ...
@overload
def make_decoder(kind: Any, dec_hook: DecodeHook | None = None) -> msgspec.json.Decoder[Any]: ...
def make_decoder(kind: Any, dec_hook: DecodeHook | None = None) -> msgspec.json.Decoder[Any]:
    """A decoder of JSON for values of a type."""
    with _lock:
        return msgspec.json.Decoder(kind, dec_hook=dec_hook)


@overload
def convert(value: Any, kind: type[T], **options: Any) -> T: ...
@overload
def convert(value: Any, kind: Any, **options: Any) -> Any: ...
def convert(value: Any, kind: Any, **options: Any) -> Any:
    """`msgspec.convert`, also while other threads convert or decode such a value for the first
    time."""
    if kind not in _complete:
        make_decoder(kind)
        _complete.add(kind)
    return msgspec.convert(value, kind, **options)
