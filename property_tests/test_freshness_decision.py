"""The decision about freshness, for any events in any order of arrival."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lspkit.diagnostics import freshness_decision
from lspkit.diagnostics.freshness_events import (
    Began,
    Ended,
    Gone,
    Proven,
    Pulled,
    Pushed,
    Quiet,
    Ready,
    RequestAnswered,
    Rested,
    Saved,
    Started,
    Stopped,
    Superseded,
    Target,
    Unknown,
    Wait,
    Written,
)
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import Signal
from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.adapters.systems_adapters import Jdtls, RustAnalyzer

MINE, OTHER = "file:///mine", "file:///other"
TIMES = st.integers(0, 40).map(lambda tenths: tenths / 2)
NUMBERS = st.integers(0, 4)
VERSIONS = st.none() | st.integers(0, 4)


def about(uri):
    return st.one_of(
        st.builds(Pushed, uri=st.just(uri), version=VERSIONS, at=TIMES),
        st.builds(Pulled, uri=st.just(uri), asked_seq=NUMBERS, at=TIMES),
        st.builds(Rested, uri=st.just(uri), at=TIMES, since=TIMES, worked=st.booleans()),
    )


TOKENS = st.sampled_from(["check/0", "check/1", "indexing"])
EVENTS = st.lists(
    st.one_of(
        about(MINE),
        about(OTHER),
        st.builds(Written, seq=NUMBERS, at=TIMES),
        st.builds(Saved, seq=NUMBERS, at=TIMES),
        st.builds(Ready, at=TIMES),
        st.builds(
            RequestAnswered,
            tag=st.sampled_from(["right", "wrong"]),
            asked_seq=NUMBERS,
            asked_at=TIMES,
            at=TIMES,
        ),
        st.builds(Started, token=st.just("check"), at=TIMES),
        st.builds(Stopped, token=st.just("check"), at=TIMES),
        st.builds(Began, token=TOKENS, title=st.sampled_from(["", "Validate documents"]), at=TIMES),
        st.builds(Ended, token=TOKENS, at=TIMES),
        st.builds(Superseded, version=NUMBERS, at=TIMES),
        st.builds(Gone, reason=st.just("it crashed"), at=TIMES),
    ),
    max_size=12,
).map(lambda events: sorted(events, key=lambda one: one.at))
TARGETS = st.builds(Target, uri=st.just(MINE), version=NUMBERS, seq=NUMBERS, deadline=TIMES)
RULES = st.builds(
    ProofRule,
    how=st.sampled_from(["pull", "version", "ordered", "progress", "quiet"]),
    source=st.sampled_from(["", "rust", "java"]),
    single=st.booleans(),
    rests_by=st.sampled_from([(), (Signal("status", {"state": "idle"}),)]),
    trusted=st.booleans(),
    debounce=st.none() | st.sampled_from([0.0, 0.5, 2.0]),
    token=st.just("check"),
    ask=st.just("right"),
)


#: By the source of a rule.
ADAPTERS = {"": Adapter(), "rust": RustAnalyzer(), "java": Jdtls()}


def settle(target, rule, events, now):
    """The decision with one of the adapters that decide about progress."""
    proof = ADAPTERS[rule.source].proof_by_progress
    return freshness_decision.settle(target, rule, events, now, by_progress=proof)


def until(events, now):
    """What has happened by then."""
    return [one for one in events if one.at <= now]


def written_at(target, events):
    return min(
        (one.at for one in events if isinstance(one, Written) and one.seq >= target.seq),
        default=None,
    )


@given(TARGETS, RULES, EVENTS, TIMES)
def test_never_proven_by_anything_older_than_the_write(target, rule, events, now):
    decision = settle(target, rule, until(events, now), now)
    if isinstance(decision, Proven | Quiet):
        written = written_at(target, until(events, now))
        assert written is not None
        young = [one for one in until(events, now) if one.at >= written]
        alone = settle(target, rule, _with_start(target, events, young), now)
        assert isinstance(alone, Proven | Quiet)


def _with_start(target, events, young):
    """Only what is young, with the write itself and the fact that the server was ready."""
    ready = [one for one in events if isinstance(one, Ready)][:1]
    saved = [one for one in events if isinstance(one, Saved)]
    first = [one for one in events if isinstance(one, Written) and one.seq >= target.seq][:1]
    rest = [one for one in young if not isinstance(one, Ready | Written | Saved)]
    return sorted([*ready, *saved, *first, *rest], key=lambda one: one.at)


@given(TARGETS, RULES, EVENTS, TIMES)
def test_never_waits_past_the_deadline(target, rule, events, now):
    decision = settle(target, rule, until(events, now), now)
    if isinstance(decision, Wait):
        assert now < target.deadline
        assert decision.until <= target.deadline


@given(TARGETS, RULES, EVENTS, TIMES, TIMES)
def test_once_proven_it_stays_proven(target, rule, events, now, later):
    # Whoever decides to save again changes what a proof by progress has to come after.
    events = [one for one in events if not isinstance(one, Saved)]
    first = settle(target, rule, until(events, now), now)
    if isinstance(first, Proven):
        assert settle(target, rule, until(events, now + later), now + later) == first


#: So few kinds of events that there is a proof often.
SPOKEN = st.lists(
    st.one_of(
        st.builds(Pushed, uri=st.just(MINE), version=st.just(2), at=TIMES),
        st.builds(RequestAnswered, tag=st.just("right"), asked_seq=st.just(2), at=TIMES),
        st.builds(Rested, uri=st.just(MINE), at=TIMES, since=TIMES, worked=st.booleans()),
        st.builds(Started, token=st.just("check"), at=TIMES),
        st.builds(Began, token=st.sampled_from(["check/0", "check/1"]), at=TIMES),
        st.builds(Ended, token=st.sampled_from(["check/0", "check/1"]), at=TIMES),
    ),
    max_size=8,
).map(lambda events: sorted(events, key=lambda one: one.at))


@given(st.sampled_from(["", "check"]), st.sampled_from(["", "right"]), SPOKEN, TIMES, TIMES)
def test_nor_is_a_version_less_proven_by_what_comes_later(token, ask, events, now, later):
    rule = ProofRule(how="version", debounce=0.5, token=token, ask=ask)
    target = Target(MINE, version=2, seq=2, deadline=40.0)
    events = [Ready(at=-1.0), Written(seq=2, at=-1.0), *events]
    first = settle(target, rule, until(events, now), now)
    if isinstance(first, Proven):
        assert settle(target, rule, until(events, now + later), now + later) == first


@given(TARGETS, RULES, EVENTS, TIMES)
def test_never_proven_by_what_may_be_about_a_later_text(target, rule, events, now):
    known = until(events, now)
    moved = [one for one in known if isinstance(one, Superseded) and one.version > target.version]
    decision = settle(target, rule, known, now)
    if moved and isinstance(decision, Proven | Quiet):
        first = min(moved, key=lambda one: one.version)
        of_this = [one for one in known if isinstance(one, Pushed) and one.version is not None]
        versions = [one.version for one in of_this if one.uri == MINE]
        if rule.how == "version":
            assert any(target.version <= one < first.version for one in versions)
        else:
            assert decision.at < first.at


@given(TARGETS, RULES, EVENTS, TIMES)
def test_events_about_other_files_change_nothing(target, rule, events, now):
    known = until(events, now)
    without = [one for one in known if getattr(one, "uri", MINE) == MINE]
    assert settle(target, rule, known, now) == settle(target, rule, without, now)


@given(TARGETS, RULES, EVENTS)
def test_in_the_end_there_is_an_answer(target, rule, events):
    end = max(target.deadline, 30.0)
    assert isinstance(settle(target, rule, events, end), Proven | Quiet | Unknown)
