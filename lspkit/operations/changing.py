"""Changes: files that are written, moved and deleted, texts that are shown in their place, and
edits that are carried out.

The disk is the engine's; here is only what follows what.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from lspkit.diagnostics.report import Report
from lspkit.operations.check import Check, check
from lspkit.operations.effects import ChangeDisk, Effect, EndOverlay, Overlay
from lspkit.operations.request import Request, operation


class Write(Request[Report], frozen=True, kw_only=True):
    """Give a file this text."""

    path: str
    text: str


class Delete(Request[None], frozen=True, kw_only=True):
    """Delete a file."""

    path: str


class Move(Request[None], frozen=True, kw_only=True):
    """Give a file another place."""

    path: str
    new_path: str


class ShowTexts(Request[int], frozen=True, kw_only=True):
    """Show the servers these texts in place of the files."""

    texts: dict[str, str]


class ShowDisk(Request[None], frozen=True, kw_only=True):
    """Show the servers the disk again."""

    number: int


@operation("write", Write, Report)
def write(request: Write) -> Generator[Effect, Any, Report]:
    """The file as it is then."""
    yield ChangeDisk("write", request.path, text=request.text)
    report: Report = yield from check(Check(path=request.path))
    return report


@operation("delete", Delete, None)
def delete(request: Delete) -> Generator[Effect, Any, None]:
    """The servers are told before they are asked anything else."""
    yield ChangeDisk("delete", request.path)


@operation("move", Move, None)
def move(request: Move) -> Generator[Effect, Any, None]:
    """The servers are told before they are asked anything else."""
    yield ChangeDisk("move", request.path, new_path=request.new_path)


@operation("show_texts", ShowTexts, int)
def show_texts(request: ShowTexts) -> Generator[Effect, Any, int]:
    """The number to end it with."""
    number: int = yield Overlay(request.texts)
    return number


@operation("show_disk", ShowDisk, None)
def show_disk(request: ShowDisk) -> Generator[Effect, Any, None]:
    """The servers see the files as they are."""
    yield EndOverlay(request.number)
