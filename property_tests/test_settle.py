"""The decision about fresh diagnostics, for any target, push and time."""

from __future__ import annotations

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from lspkit.diagnostics.settle import Settled, Target, Unknown, Wait, settle
from lspkit.diagnostics.store import Push, Store

# Few values, so that boundaries are hit often; and arbitrary ones.
TIMES = st.integers(0, 12).map(float) | st.floats(0, 1e6)
VERSIONS = st.integers(0, 5) | st.integers(0, 2**31)
TARGETS = st.builds(
    Target,
    version=VERSIONS,
    written_at=TIMES,
    deadline=TIMES | st.just(float("inf")),
    debounce=st.sampled_from([0.0, 0.15, 1.0, 3.0]) | st.floats(0, 100),
)
PUSHES = st.builds(
    Push,
    uri=st.just("file:///a"),
    version=st.none() | VERSIONS,
    items=st.just(b"[]"),
    at=TIMES,
    epoch=st.just(1),
)
#: What was said over time: which file, which version, and how long after the last.
HISTORIES = st.lists(
    st.tuples(
        st.sampled_from(["file:///a", "file:///b", "file:///A", ""]),
        st.none() | st.integers(0, 5),
        st.sampled_from([0.0, 0.1, 1.0]),
    ),
    max_size=12,
)


@given(TARGETS, PUSHES, TIMES)
def test_never_settled_by_a_push_older_than_the_version(target, push, now):
    decision = settle(target, push, now)
    if isinstance(decision, Settled):
        assert decision.push is push
        assert push.at > target.written_at
        if push.version is None:
            assert decision.how == "quiet"
        else:
            assert decision.how == "version"
            assert push.version >= target.version


@given(TARGETS, st.none() | PUSHES, TIMES)
def test_never_waits_past_the_deadline_nor_for_the_past(target, push, now):
    decision = settle(target, push, now)
    if isinstance(decision, Wait):
        assert now < decision.until <= target.deadline
    if now >= target.deadline:
        assert not isinstance(decision, Wait)


@st.composite
def spoken(draw: st.DrawFn) -> tuple[Target, Push]:
    """A target, and a push that speaks of it."""
    target = draw(TARGETS)
    version = draw(st.none() | st.integers(0, 3).map(lambda more: target.version + more))
    at = target.written_at + draw(st.floats(0.001, 20))
    return target, Push("file:///a", version, b"[]", at, 1)


@given(spoken(), TIMES, TIMES)
def test_once_settled_it_stays_settled(pair, patience, later):
    target, push = pair
    now = push.at + patience
    first = settle(target, push, now)
    if isinstance(first, Settled):
        assert settle(target, push, now + later) == first


@given(spoken())
def test_a_push_that_speaks_of_the_text_is_settled_by_silence_or_the_deadline(pair):
    target, push = pair
    for now in (push.at + target.debounce, max(push.at, min(target.deadline, 1e9))):
        assert isinstance(settle(target, push, now), Settled)


@given(TARGETS, st.none() | PUSHES, TIMES, TIMES)
def test_once_given_up_it_stays_given_up(target, push, now, later):
    first = settle(target, push, now)
    assume(isinstance(first, Unknown))
    assert settle(target, push, now + later) == first


@given(TARGETS, st.none() | PUSHES, TIMES)
def test_whoever_waits_as_told_gets_a_decision(target, push, now):
    decision = settle(target, push, now)
    looks = 0
    while isinstance(decision, Wait) and decision.until < float("inf"):
        looks += 1
        assert looks <= 2
        decision = settle(target, push, decision.until)


@given(TARGETS, PUSHES, TIMES)
def test_a_push_about_something_older_changes_nothing(target, push, now):
    older = push.version is not None and push.version < target.version
    assume(older or push.at <= target.written_at)
    assert settle(target, push, now) == settle(target, None, now)


@given(TARGETS, HISTORIES, TIMES)
def test_pushes_about_other_files_change_nothing(target, history, after):
    everything, alone = Store(), Store()
    now = 0.0
    for uri, version, pause in history:
        now += pause
        everything.push(uri, version, b"[]", now)
        if uri == "file:///a":
            alone.push(uri, version, b"[]", now)
    now += after
    seen = settle(target, everything.last("file:///a"), now)
    expected = settle(target, alone.last("file:///a"), now)
    assert type(seen) is type(expected)
    if isinstance(seen, Settled) and isinstance(expected, Settled):
        # Only its number among all reports differs.
        assert (seen.how, seen.push.version, seen.push.at) == (
            expected.how,
            expected.push.version,
            expected.push.at,
        )
    else:
        assert seen == expected


@given(TARGETS, PUSHES, PUSHES, TIMES)
def test_a_later_push_of_the_same_version_is_never_less_than_the_earlier(target, one, other, now):
    """A burst may put the decision off, but never turns an answer into none."""
    earlier, later = sorted((one, other), key=lambda push: push.at)
    later = msgspec.structs.replace(later, version=earlier.version)
    if isinstance(settle(target, earlier, now), Settled):
        assert not isinstance(settle(target, later, now), Unknown)
