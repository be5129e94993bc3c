"""What can be asked, each as data and as a generator.

A request is a frozen value with a result type. Its generator yields effects (`effects.py`), which
say what to ask, and is sent the answers; it does no I/O itself. So the same operation runs in the
caller's thread, behind `submit`, for one server or for several, or in a test without a process.
"""

from lspkit.operations.check import Check
from lspkit.operations.effects import (
    Ask,
    Effect,
    Examination,
    Examine,
    Examined,
    FindPlaces,
    Place,
    ReadText,
    Reply,
)
from lspkit.operations.navigate import Definition, Hover, References
from lspkit.operations.request import OPERATIONS, Request
from lspkit.operations.symbols import DocumentSymbols

__all__ = [
    "OPERATIONS",
    "Ask",
    "Check",
    "Definition",
    "DocumentSymbols",
    "Effect",
    "Examination",
    "Examine",
    "Examined",
    "FindPlaces",
    "Hover",
    "Place",
    "ReadText",
    "References",
    "Reply",
    "Request",
]
