"""Whether a push speaks for the text that a caller means: each boundary on both sides."""

from __future__ import annotations

import pytest

from lspkit.diagnostics.settle import Settled, Target, Unknown, Wait, settle
from lspkit.diagnostics.store import Push

#: Version 3, written at 10, until 20, with half a second of silence.
TARGET = Target(version=3, written_at=10.0, deadline=20.0, debounce=0.5)


def push(version: int | None, at: float) -> Push:
    return Push("file:///a", version, b"[]", at, 1)


def test_without_a_push_it_waits_until_the_deadline():
    assert settle(TARGET, None, 10.0) == Wait(20.0)
    assert settle(TARGET, None, 19.999) == Wait(20.0)
    assert isinstance(settle(TARGET, None, 20.0), Unknown)


@pytest.mark.parametrize("version", [3, 4, 1000])
def test_a_push_of_this_version_or_a_later_one_is_a_proof(version):
    seen = push(version, 11.0)
    assert settle(TARGET, seen, 11.5) == Settled(seen, "version")


def test_a_push_of_an_older_version_is_none():
    assert settle(TARGET, push(2, 15.0), 16.0) == Wait(20.0)
    assert isinstance(settle(TARGET, push(2, 15.0), 20.0), Unknown)


@pytest.mark.parametrize("at", [5.0, 10.0])
def test_a_version_is_no_proof_if_something_was_written_since(at):
    # The text may be the same while another file, that it depends on, has changed.
    assert settle(TARGET, push(3, at), 15.0) == Wait(20.0)
    assert isinstance(settle(TARGET, push(3, at), 20.0), Unknown)


def test_the_silence_after_a_push_is_waited_for():
    seen = push(3, 11.0)
    assert settle(TARGET, seen, 11.0) == Wait(11.5)
    assert settle(TARGET, seen, 11.499) == Wait(11.5)
    assert settle(TARGET, seen, 11.5) == Settled(seen, "version")


def test_the_silence_never_goes_past_the_deadline():
    seen = push(3, 19.9)
    assert settle(TARGET, seen, 19.9) == Wait(20.0)
    assert settle(TARGET, seen, 20.0) == Settled(seen, "version")


def test_a_push_without_a_version_after_the_write_is_only_quiet():
    seen = push(None, 10.1)
    assert settle(TARGET, seen, 10.6) == Settled(seen, "quiet")


@pytest.mark.parametrize("at", [9.9, 10.0])
def test_a_push_without_a_version_before_the_write_is_nothing(at):
    assert settle(TARGET, push(None, at), 15.0) == Wait(20.0)
    assert isinstance(settle(TARGET, push(None, at), 20.0), Unknown)


def test_without_a_silence_to_wait_for_a_push_counts_at_once():
    target = Target(version=1, written_at=0.0, deadline=20.0, debounce=0.0)
    assert isinstance(settle(target, push(1, 5.0), 5.0), Settled)


def test_a_caller_without_a_deadline_waits_for_ever():
    target = Target(version=1, written_at=0.0, deadline=float("inf"), debounce=0.5)
    assert settle(target, None, 1e9) == Wait(float("inf"))


def test_a_deadline_that_has_passed_is_no_wait():
    assert isinstance(settle(TARGET, None, 21.0), Unknown)
    assert isinstance(settle(TARGET, push(3, 30.0), 30.0), Settled)


def test_the_reason_for_not_knowing_is_said():
    decision = settle(TARGET, None, 20.0)
    assert isinstance(decision, Unknown)
    assert decision.reason
