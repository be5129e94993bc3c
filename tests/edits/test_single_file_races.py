"""Somebody leads a path elsewhere, just while a file is being changed."""

from __future__ import annotations

import contextlib
import os
import threading

import pytest

import lspkit
from lspkit.edits.single_file import begins_with, move, read_bytes, remove, replace
from tests.edits.trees import (
    at_step,
    snapshot,
    swap_for_link,
)

pytestmark = pytest.mark.usefixtures("by_descriptor")


@pytest.fixture
def root(small_root):
    return small_root


@pytest.fixture
def boundary(small_boundary):
    return small_boundary


CALLS = {
    "replace": lambda boundary, step: replace("sub/deep/x.py", b"x", boundary, before_step=step),
    "make": lambda boundary, step: replace(
        "sub/deep/new/x.py", b"x", boundary, make_folders=True, before_step=step
    ),
    "remove": lambda boundary, step: remove("sub/deep/x.py", boundary, before_step=step),
    "move away": lambda boundary, step: move("sub/deep/x.py", "x.py", boundary, before_step=step),
    "move in": lambda boundary, step: move("a.py", "sub/deep/y.py", boundary, before_step=step),
    "overwrite": lambda boundary, step: move(
        "a.py", "sub/deep/x.py", boundary, overwrite=True, before_step=step
    ),
}


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("which", ["sub", "sub/deep"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_folder_that_becomes_a_link_leads_nowhere(
    root, boundary, call, which, step, by_descriptor
):
    outside = root.parent / "work2"
    for folder in (root / "sub" / "deep", outside, outside / "deep"):
        folder.mkdir(exist_ok=True)
        (folder / "x.py").write_bytes(b"as it was")
    before, elsewhere = snapshot(root / which), snapshot(outside)
    swap = at_step(step, lambda: swap_for_link(root / which, root / "aside", outside))
    with pytest.raises(lspkit.PathError) as caught:
        call(boundary, swap)
    assert snapshot(outside) == elsewhere
    assert (root / "a.py").read_bytes() == b"one\r\n"
    if by_descriptor:  # by paths alone, what was begun in a folder that is gone cannot be removed
        assert caught.value.code == "ECHANGED"
        assert snapshot(root / "aside") == before


def test_a_file_that_becomes_a_link_is_not_followed(root, boundary):
    secret = root.parent / "work2" / "c.py"

    def swap() -> None:
        (root / "a.py").unlink()
        (root / "a.py").symlink_to(secret)

    with pytest.raises(lspkit.PathError) as caught:
        replace("a.py", b"x", boundary, before_step=at_step(0, swap))
    assert caught.value.code == "ECHANGED"
    assert secret.read_bytes() == b"three\n"


def test_a_link_that_appears_at_the_last_moment_is_replaced_not_followed(root, boundary):
    secret = root.parent / "work2" / "c.py"

    def swap() -> None:
        (root / "a.py").unlink()
        (root / "a.py").symlink_to(secret)

    replace("a.py", b"x", boundary, before_step=at_step(1, swap))
    assert secret.read_bytes() == b"three\n"
    assert snapshot(root)["a.py"][0] == "file"


def test_a_file_that_becomes_a_link_is_not_read(root, boundary):
    def swap() -> None:
        (root / "a.py").unlink()
        (root / "a.py").symlink_to(root.parent / "work2" / "c.py")

    with pytest.raises(lspkit.PathError):
        read_bytes("a.py", boundary, before_step=at_step(0, swap))


def test_a_file_that_is_deleted_begins_with_nothing(root, boundary):
    assert begins_with("a.py", b"one", boundary)
    assert not begins_with("a.py", b"two", boundary)
    delete = at_step(0, (root / "a.py").unlink)
    assert not begins_with("a.py", b"one", boundary, before_step=delete)
    assert not begins_with("a.py", b"one", boundary)


def test_what_a_file_that_becomes_a_link_leads_to_is_not_looked_at(root, boundary):
    def swap() -> None:
        (root / "a.py").unlink()
        (root / "a.py").symlink_to(root.parent / "work2" / "c.py")

    with pytest.raises(lspkit.PathError) as caught:
        begins_with("a.py", b"three", boundary, before_step=at_step(0, swap))
    assert caught.value.code == "EWRITE"


# By paths alone, such a race can be lost.
@pytest.mark.parametrize("by_descriptor", ["by descriptor"], indirect=True)
def test_nobody_wins_the_race_between_check_and_write(root, boundary):
    outside, done = root.parent / "work2", threading.Event()

    def swap() -> None:
        while not done.is_set():
            swap_for_link(root / "sub", root / "aside", outside)
            (root / "sub").unlink()
            (root / "aside").rename(root / "sub")

    before, attacker, last = snapshot(outside), threading.Thread(target=swap), b"two\n"
    attacker.start()
    try:
        for number in range(400):
            with contextlib.suppress(lspkit.PathError):
                replace("sub/b.py", b"%d" % number, boundary)
                last = b"%d" % number
    finally:
        done.set()
        attacker.join()
    assert snapshot(outside) == before
    assert sorted(os.listdir(root / "sub")) == ["b.py", "deep"]
    assert (root / "sub" / "b.py").read_bytes() == last
