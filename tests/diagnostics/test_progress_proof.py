"""Work that is started by lspkit, and work that publishes: when that is a proof."""

from __future__ import annotations

import pytest

from lspkit.diagnostics.freshness_decision import settle
from lspkit.diagnostics.freshness_events import (
    PATIENCE,
    Began,
    Ended,
    Proven,
    Pushed,
    Quiet,
    Ready,
    RequestAnswered,
    Started,
    Stopped,
    Target,
    Unknown,
    Wait,
    Written,
)
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.servers.adapters.systems_adapters import Jdtls, RustAnalyzer

URI = "file:///a"
TARGET = Target(URI, version=3, seq=7, deadline=20.0)
START = [Ready(at=1.0), Written(seq=7, at=10.0)]
RUN = ProofRule(how="progress", token="check", ask="symbols", sees="disk")
PUBLISHES = ProofRule(how="progress", token="Publish", ask="symbols")


class NeverStops(RustAnalyzer):
    stop_work = ""


def decide(rule, *events, now, start=START, adapter=None):
    adapter = adapter or (Jdtls() if rule is PUBLISHES else NeverStops())
    proof = adapter.proof_by_progress
    return settle(TARGET, rule, [*start, *events], now, by_progress=proof)


def told(at):
    return Started(token="check", at=at)


def began(at, token="check/0", title=""):
    return Began(token=token, title=title, at=at)


def ended(at, token="check/0"):
    return Ended(token=token, at=at)


def answered(at, seq=7):
    return RequestAnswered(tag="symbols", asked_seq=seq, at=at)


def push(at, uri=URI):
    return Pushed(uri=uri, version=None, at=at)


# One run at a time


def test_the_run_is_started_after_the_write():
    assert decide(RUN, now=10.0) == Wait(20.0, "start")


def test_a_run_that_was_started_after_the_write_is_a_proof_once_its_findings_are_out():
    run = [told(10.1), began(10.2), ended(11.0)]
    assert decide(RUN, told(10.1), now=10.1) == Wait(10.1 + PATIENCE)
    assert decide(RUN, *run[:2], now=10.3) == Wait(20.0)
    assert decide(RUN, *run, now=11.0) == Wait(20.0, "ordered")
    assert decide(RUN, *run, answered(11.1), now=11.1) == Proven("progress", 11.1)


def test_an_answer_from_before_the_end_shows_nothing():
    run = [told(10.1), began(10.2), ended(11.0)]
    assert decide(RUN, *run, answered(10.9), now=11.1) == Wait(20.0, "ordered")


def test_a_run_that_was_started_before_the_write_is_waited_for_and_proves_nothing():
    before = [told(9.9), began(10.1)]
    assert decide(RUN, *before, now=10.2) == Wait(20.0)
    assert decide(RUN, *before, ended(11.0), answered(11.1), now=11.1) == Wait(20.0, "start")


def test_an_end_that_another_run_has_caused_proves_nothing():
    """Only what began since the run was started belongs to it."""
    events = [told(9.0), began(9.1), told(10.1), ended(10.2), answered(10.3)]
    assert decide(RUN, *events, now=10.3) == Wait(10.1 + PATIENCE)


def test_a_run_from_before_may_be_ended_and_proves_nothing_then():
    rust = RustAnalyzer()
    before, own = [told(9.9), began(10.1)], [told(10.1), began(10.2)]
    assert decide(RUN, *before, now=10.2, adapter=rust) == Wait(20.0, "stop")
    assert decide(RUN, *own, now=10.3, adapter=rust) == Wait(20.0)  # of this very text
    run = [*own, Stopped(token="check", at=10.5), ended(10.6), answered(10.7)]
    assert decide(RUN, *run, now=10.7, adapter=rust) == Wait(20.0, "start")


def test_a_run_that_had_ended_before_it_was_to_end_is_a_proof():
    run = [told(10.1), began(10.2), ended(10.4), Stopped(token="check", at=10.5), answered(10.6)]
    assert decide(RUN, *run, now=10.7) == Proven("progress", 10.6)


def test_a_run_that_does_not_begin_is_started_again():
    assert decide(RUN, told(10.1), now=10.1 + PATIENCE) == Wait(20.0, "start")


def test_a_run_of_several_pieces_has_ended_with_the_last_of_them():
    pieces = [told(10.1), began(10.2), began(10.3, "check/1"), ended(11.0)]
    assert decide(RUN, *pieces, answered(11.1), now=11.2) == Wait(20.0)
    done = [*pieces, ended(11.5, "check/1"), answered(11.6)]
    assert decide(RUN, *done, now=11.6) == Proven("progress", 11.6)


def test_a_run_of_a_project_that_was_loaded_anew_since_is_not_waited_for():
    start = [Written(seq=7, at=10.0), Ready(at=12.0)]
    assert decide(RUN, told(10.1), began(10.2), now=12.0, start=start) == Wait(20.0, "start")
    run = [told(10.1), began(10.2), ended(12.5), answered(12.6)]
    assert decide(RUN, *run, now=13.0, start=start) == Wait(20.0, "start")


# Work that publishes


VALIDATED = began(10.0, "other", "Validate documents")


def test_a_push_after_the_work_began_counts_if_the_change_was_taken_in_before():
    events = [VALIDATED, answered(10.5), began(11.0, "uuid", "Publish Diagnostics"), push(11.1)]
    assert decide(PUBLISHES, *events, now=11.1) == Quiet(11.1)


def test_what_shows_that_the_change_was_taken_in_is_asked_for():
    assert decide(PUBLISHES, now=10.0) == Wait(20.0, "ordered")
    assert decide(PUBLISHES, answered(10.5, seq=6), now=10.5) == Wait(20.0, "ordered")


@pytest.mark.parametrize(
    "events",
    [
        [began(10.2, "uuid", "Publish Diagnostics"), push(10.6)],
        [began(10.6, "uuid", "Publish Diagnostics"), push(10.55), ended(10.7, "uuid")],
        [began(10.6, "uuid", "Publish Diagnostics"), push(10.7, "file:///b")],
        [began(10.6, "uuid", "Building"), push(10.7)],
    ],
    ids=["work-from-before", "push-from-before", "another-file", "other-work"],
)
def test_nothing_else_is_a_proof(events):
    assert isinstance(decide(PUBLISHES, VALIDATED, answered(10.5), *events, now=10.8), Wait)


def test_where_it_has_to_look_first_only_what_is_published_after_that_counts():
    left_over = [answered(10.5), began(10.6, "uuid", "Publish Diagnostics"), push(10.7)]
    assert isinstance(decide(PUBLISHES, *left_over, now=10.8), Wait)
    looked = [*left_over, began(10.9, "other", "Validate documents")]
    assert isinstance(decide(PUBLISHES, *looked, now=11.0), Wait)
    done = [*looked, began(11.1, "third", "Publish Diagnostics"), push(11.2)]
    assert decide(PUBLISHES, *done, now=11.2) == Quiet(11.2)


def test_a_server_that_does_not_publish_is_made_to_look_again():
    assert decide(PUBLISHES, answered(10.5), now=10.6) == Wait(10.5 + PATIENCE)
    assert decide(PUBLISHES, answered(10.5), now=13.0) == Wait(20.0, "touch")


# Work that a note of changed files sets off


BEHIND = ProofRule(how="version", token="Recheck", debounce=0.5, ask="symbols")
NOTED = Started(token="Recheck", at=10.0)
BEGAN, ENDED = began(10.1, "r/1", "Recheck"), ended(12.0, "r/1")


def versioned(at):
    return Pushed(uri=URI, version=3, at=at)


def test_a_push_counts_only_when_what_the_note_set_off_has_ended():
    said = [versioned(10.2), answered(10.3)]
    for events in ([NOTED], [NOTED, BEGAN]):
        assert decide(BEHIND, *events, *said, now=19.0) == Wait(20.0)
    assert decide(BEHIND, NOTED, BEGAN, *said, ENDED, now=12.0) == Wait(12.5)
    assert decide(BEHIND, NOTED, BEGAN, *said, ENDED, now=12.5) == Proven("version", 12.5)


def test_the_silence_begins_anew_with_the_push_at_its_end():
    events = [NOTED, BEGAN, ENDED, versioned(12.1)]
    assert decide(BEHIND, *events, answered(10.3), now=12.7) == Wait(20.0, "ordered")
    assert decide(BEHIND, *events, answered(12.2), now=12.6) == Wait(12.7)
    assert decide(BEHIND, *events, answered(12.2), now=12.7) == Proven("version", 12.7)


def test_work_from_before_the_last_note_is_not_what_that_sets_off():
    again = Started(token="Recheck", at=11.0)
    events = [NOTED, BEGAN, again, ENDED, versioned(12.1), answered(12.2)]
    assert decide(BEHIND, *events, now=19.0) == Wait(20.0)
    more = [began(12.05, "r/2", "Recheck"), ended(12.09, "r/2")]
    assert decide(BEHIND, *events, *more, now=12.7) == Proven("version", 12.7)
    # Two notes may be worked off together, and one after the other.
    third = began(12.3, "r/3", "Recheck")
    assert decide(BEHIND, *events, *more, third, now=19.0) == Wait(20.0)


def recheck(at, token):
    return began(at, token, "Recheck"), ended(at + 0.1, token)


def later(at):
    """A note of another file, the work that it sets off, and a push: over and over."""
    note, token = Started(token="Recheck", at=at), f"r/{at}"
    return [note, *recheck(at + 0.01, token), versioned(at + 0.15)]


def test_files_that_keep_changing_do_not_put_off_a_proof_for_ever():
    events, (*before, pushed) = [NOTED, BEGAN, ended(10.2, "r/1")], later(10.4)
    assert decide(BEHIND, *events, *before, pushed, now=10.6) == Wait(20.0, "ordered")
    more = [one for at in (10.4, 10.6) for one in later(at)]
    assert decide(BEHIND, *events, *more, now=10.8) == Proven("version", 10.75)
    # It is at work again: that is about what has changed later.
    third = [Started(token="Recheck", at=10.8), began(10.81, "r/9", "Recheck")]
    assert decide(BEHIND, *events, *more, *third, now=19.0) == Proven("version", 10.75)


def test_while_files_keep_changing_each_note_from_before_is_worked_off_first():
    notes = [Started(token="Recheck", at=9.9), NOTED]
    events = [*notes, *recheck(10.05, "r/1"), versioned(10.7)]
    third = Started(token="Recheck", at=10.75)
    assert decide(BEHIND, *events, third, now=10.8) == Wait(20.0)
    second = [*recheck(10.8, "r/2"), versioned(11.5)]
    assert decide(BEHIND, *events, third, *second, now=11.5) == Proven("version", 11.5)


def test_without_a_note_nothing_is_waited_for():
    said = [versioned(10.2), answered(10.3)]
    assert decide(BEHIND, *said, now=10.8) == Proven("version", 10.8)


def test_work_that_does_not_end_is_named_in_the_reason():
    decision = decide(BEHIND, NOTED, BEGAN, versioned(10.2), now=20.0)
    assert decision == Unknown("Recheck did not finish in time")
