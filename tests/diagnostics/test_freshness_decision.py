"""Whether a server has spoken about the text that a caller means: each rule, on both sides."""

from __future__ import annotations

import msgspec
import pytest

from lspkit.diagnostics.freshness_decision import settle
from lspkit.diagnostics.freshness_events import (
    BEGINS_WITHIN,
    CHANGED,
    PATIENCE,
    PAUSE,
    Began,
    CheckDue,
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
    Superseded,
    Target,
    Unknown,
    Wait,
    Written,
)
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import Signal

URI = "file:///a"
#: Version 3, which was written as number 7, until 20.
TARGET = Target(URI, version=3, seq=7, deadline=20.0)
#: The server was ready at 1, and told at 10.
START = [Ready(at=1.0), Written(seq=7, at=10.0)]
DEBOUNCE = 0.5

#: How a server says that it is done; what that looks like matters to nobody here.
DONE = (Signal("status", {"state": "idle"}),)
VERSION = ProofRule(how="version")
PULL = ProofRule(how="pull")
ORDERED = ProofRule(how="ordered", ask="tsserver")
QUIET = ProofRule(how="quiet")
PROGRESS = ProofRule(how="progress", token="check", sees="disk")
ALL = [VERSION, PULL, ORDERED, QUIET, PROGRESS]


def decide(rule, *events, now, target=TARGET, start=START):
    return settle(target, rule, [*start, *events], now, DEBOUNCE)


def push(at, version, uri=URI):
    return Pushed(uri=uri, version=version, at=at)


def rested(at, since=10.5, worked=True, uri=URI):
    return Rested(uri=uri, at=at, since=since, worked=worked)


def answered(at, asked, seq=7):
    return RequestAnswered(tag="links", asked_seq=seq, asked_at=asked, at=at)


def pulled(at, seq, uri=URI):
    return Pulled(uri=uri, asked_seq=seq, at=at)


# Any rule


@pytest.mark.parametrize("rule", ALL)
def test_at_the_deadline_it_is_unknown_with_a_reason(rule):
    assert isinstance(decide(rule, now=19.999), Wait)
    decision = decide(rule, now=20.0)
    assert isinstance(decision, Unknown)
    assert decision.reason


@pytest.mark.parametrize("rule", ALL)
def test_a_wait_never_goes_past_the_deadline(rule):
    for now in (10.0, 12.5, 19.9):
        decision = decide(rule, now=now)
        assert isinstance(decision, Wait)
        assert decision.until <= 20.0


@pytest.mark.parametrize("rule", ALL)
def test_nothing_counts_before_the_server_is_ready(rule):
    said = [push(11.0, 3), pulled(11.0, 7), RequestAnswered(tag="tsserver", asked_seq=7, at=11.0)]
    work = [Began(token="check", at=11.0), Ended(token="check", at=11.5)]
    events = [Written(seq=7, at=10.0), *said, *work]
    assert decide(rule, *events, now=15.0, start=[]) == Wait(20.0)


@pytest.mark.parametrize("rule", ALL)
def test_a_server_that_ended_leaves_it_unknown_and_says_why(rule):
    assert decide(rule, Gone(reason="it crashed", at=11.0), now=11.0) == Unknown("it crashed")


@pytest.mark.parametrize("rule", ALL)
def test_another_text_meanwhile_leaves_it_unknown(rule):
    assert isinstance(decide(rule, Superseded(version=4, at=11.0), now=11.0), Unknown)
    assert isinstance(decide(rule, Superseded(version=3, at=11.0), now=11.0), Wait)


def test_what_is_proven_stays_so_when_the_server_ends():
    events = [pulled(11.0, 7), Gone(reason="it crashed", at=12.0)]
    assert decide(PULL, *events, now=12.0) == Proven("pull", 11.0)


# Asking


def test_an_answer_to_a_pull_that_was_asked_after_the_write_is_a_proof():
    assert decide(PULL, pulled(11.0, 7), now=11.0) == Proven("pull", 11.0)
    assert decide(PULL, pulled(11.0, 8), now=11.0) == Proven("pull", 11.0)


def test_an_answer_to_a_pull_that_was_asked_before_is_none():
    assert decide(PULL, pulled(11.0, 6), now=11.0) == Wait(20.0, "pull")


def test_an_answer_about_another_file_is_none():
    assert decide(PULL, pulled(11.0, 7, "file:///b"), now=11.0) == Wait(20.0, "pull")


def test_an_ordered_answer_is_a_proof_if_it_is_the_right_one_and_asked_after_the_write():
    right = RequestAnswered(tag="tsserver", asked_seq=7, at=11.0)
    assert decide(ORDERED, right, now=11.0) == Proven("ordered", 11.0)
    early = RequestAnswered(tag="tsserver", asked_seq=6, at=11.0)
    assert decide(ORDERED, early, now=11.0) == Wait(20.0, "ordered")
    other = RequestAnswered(tag="something", asked_seq=7, at=11.0)
    assert decide(ORDERED, other, now=11.0) == Wait(20.0, "ordered")


# Pushes with a version


@pytest.mark.parametrize("version", [3, 4, 1000])
def test_a_push_of_this_version_or_a_later_one_is_a_proof_after_a_silence(version):
    assert decide(VERSION, push(11.0, version), now=11.0) == Wait(11.5)
    assert decide(VERSION, push(11.0, version), now=11.499) == Wait(11.5)
    assert decide(VERSION, push(11.0, version), now=11.5) == Proven("version", 11.5)


def test_every_further_push_begins_the_silence_anew():
    pushes = [push(11.0, 3), push(11.3, 3), push(11.6, 3)]
    assert decide(VERSION, *pushes, now=11.7) == Wait(12.1)
    assert decide(VERSION, *pushes, now=12.1) == Proven("version", 12.1)


def test_a_push_after_the_silence_changes_nothing():
    assert decide(VERSION, push(11.0, 3), push(12.0, 3), now=12.1) == Proven("version", 11.5)


def test_where_one_push_is_all_there_is_no_silence_to_wait_for():
    single = ProofRule(how="version", single=True)
    assert decide(single, push(11.0, 3), now=11.0) == Proven("version", 11.0)


def test_a_rule_may_have_a_silence_of_its_own():
    patient = ProofRule(how="version", debounce=2.0)
    assert decide(patient, push(11.0, 3), now=12.0) == Wait(13.0)


def test_the_silence_is_cut_short_by_the_deadline():
    assert decide(VERSION, push(19.9, 3), now=19.9) == Wait(20.0)
    assert decide(VERSION, push(19.9, 3), now=20.0) == Proven("version", 20.0)


def test_a_push_of_an_older_version_is_no_proof():
    assert decide(VERSION, push(5.0, 2), now=11.0) == Wait(10.0 + PATIENCE)
    assert isinstance(decide(VERSION, push(5.0, 2), now=20.0), Unknown)


@pytest.mark.parametrize("at", [5.0, 10.0])
def test_a_version_is_no_proof_if_something_was_written_since_but_asks_for_another_look(at):
    # The text may be the same while another file, that it depends on, has changed.
    assert decide(VERSION, push(at, 3), now=11.0) == Wait(20.0, "touch")


def test_a_push_without_a_version_asks_for_another_look():
    assert decide(VERSION, push(11.0, None), now=11.0) == Wait(20.0, "touch")


def test_a_server_that_stays_silent_is_asked_to_look_again():
    assert decide(VERSION, now=10.0) == Wait(10.0 + PATIENCE)
    assert decide(VERSION, now=10.0 + PATIENCE) == Wait(20.0, "touch")


@pytest.mark.parametrize("rule", [VERSION, PROGRESS], ids=lambda one: one.how)
def test_each_time_that_it_was_asked_to_look_again_it_is_given_twice_the_time(rule):
    for touched in range(3):
        target = msgspec.structs.replace(TARGET, touched=touched, seq=0, deadline=50.0)
        again = 10.0 + PATIENCE * 2**touched
        assert decide(rule, now=again - 0.1, target=target) == Wait(again)
        assert getattr(decide(rule, now=again, target=target), "ask", "") in ("touch", "save")


def test_one_that_has_spoken_of_something_else_is_asked_at_once_and_then_later_and_later():
    assert decide(VERSION, push(11.0, None), now=11.0) == Wait(20.0, "touch")
    for touched, pause in enumerate([PAUSE, 3 * PAUSE, 7 * PAUSE], 1):
        target = msgspec.structs.replace(TARGET, touched=touched)
        for said in (push(11.0, None), push(11.0, 2)):
            assert decide(VERSION, said, now=11.0, target=target) == Wait(11.0 + pause)
            assert decide(VERSION, said, now=11.0 + pause, target=target) == Wait(20.0, "touch")


def test_a_server_that_cannot_be_told_of_a_save_is_not_told_again_at_once():
    unsaved = msgspec.structs.replace(TARGET, touched=1)
    assert decide(PROGRESS, now=10.1) == Wait(20.0, "save")
    assert decide(PROGRESS, now=10.1, target=unsaved) == Wait(10.0 + 2 * PATIENCE)


def test_a_server_that_says_when_it_is_done_is_left_alone_while_it_is_silent():
    rests = ProofRule(how="version", rests_by=DONE)
    assert decide(rests, now=10.0 + PATIENCE) == Wait(20.0)


def test_a_push_about_another_file_is_none():
    assert decide(VERSION, push(11.0, 3, "file:///b"), now=11.6) == Wait(10.0 + PATIENCE)


# Pushes without a version


def test_a_push_without_a_version_is_only_quiet():
    assert decide(QUIET, push(10.1, None), now=10.2) == Wait(10.6)
    assert decide(QUIET, push(10.1, None), now=10.6) == Quiet(10.6)


def test_a_push_without_a_version_before_the_write_is_nothing():
    assert decide(QUIET, push(10.0, None), now=15.0) == Wait(20.0)
    assert isinstance(decide(QUIET, push(10.0, None), now=20.0), Unknown)


def test_silence_is_a_proof_where_it_was_never_wrong_and_was_not_cut_short():
    trusted = ProofRule(how="quiet", trusted=True)
    assert decide(trusted, push(11.0, None), now=11.5) == Proven("quiet", 11.5)
    assert decide(trusted, push(19.8, None), now=20.0) == Quiet(20.0)


def test_where_the_version_of_a_push_is_known_no_silence_is_awaited():
    assert decide(QUIET, push(10.1, TARGET.version), now=10.2) == Proven("version", 10.1)
    assert decide(QUIET, push(10.1, TARGET.version - 1), now=19.0) == Wait(20.0)


def test_no_silence_counts_while_findings_about_the_text_are_due():
    trusted, due = ProofRule(how="quiet", trusted=True), CheckDue(at=10.0)
    assert decide(trusted, push(11.0, None), due, now=15.0) == Wait(20.0)
    assert isinstance(decide(trusted, push(11.0, None), due, now=20.0), Unknown)
    assert decide(trusted, push(11.0, TARGET.version), due, now=15.0) == Proven("version", 11.0)


# Work


def test_work_that_began_after_the_save_and_ended_is_a_proof():
    saved = Saved(seq=7, at=10.0)
    began, ended = Began(token="check/0", at=10.5), Ended(token="check/0", at=11.0)
    assert decide(PROGRESS, saved, began, ended, now=11.0) == Proven("progress", 11.0)
    assert decide(PROGRESS, saved, began, now=18.0) == Wait(20.0)


def test_work_that_began_before_the_save_is_none():
    saved = Saved(seq=7, at=10.0)
    events = [Began(token="check", at=9.9), Ended(token="check", at=11.0)]
    assert isinstance(decide(PROGRESS, saved, *events, now=11.0), Wait)


def test_other_work_is_none():
    saved = Saved(seq=7, at=10.0)
    events = [Began(token="indexing", at=10.5), Ended(token="indexing", at=11.0)]
    assert isinstance(decide(PROGRESS, saved, *events, now=11.0), Wait)


def test_a_change_that_was_never_saved_asks_for_a_save():
    assert decide(PROGRESS, now=10.0) == Wait(20.0, "save")


def test_a_save_that_starts_nothing_is_repeated_after_a_while():
    saved = Saved(seq=7, at=10.0)
    assert decide(PROGRESS, saved, now=11.0) == Wait(10.0 + PATIENCE)
    assert decide(PROGRESS, saved, now=10.0 + PATIENCE) == Wait(20.0, "save")


def test_a_caller_without_a_deadline_waits_for_ever():
    endless = Target(URI, version=3, seq=7, deadline=float("inf"))
    assert decide(QUIET, now=1e9, target=endless) == Wait(float("inf"))


# Another text meanwhile


def test_a_push_of_another_text_is_no_proof_about_this_one():
    superseded = Superseded(version=4, at=10.0)
    single = ProofRule(how="version", single=True)
    for version in (4, 5):
        assert decide(single, push(11.0, version), superseded, now=11.0) == Unknown(CHANGED)
    assert decide(single, push(11.0, 3), superseded, now=11.0) == Proven("version", 11.0)


def test_a_later_version_of_the_same_text_is_a_proof():
    superseded = Superseded(version=5, at=10.0)
    single = ProofRule(how="version", single=True)
    assert decide(single, push(11.0, 4), superseded, now=11.0) == Proven("version", 11.0)


@pytest.mark.parametrize(
    ("rule", "events"),
    [
        (PULL, [pulled(11.0, 7)]),
        (ORDERED, [RequestAnswered(tag="tsserver", asked_seq=7, at=11.0)]),
        (QUIET, [push(10.5, None)]),
        (PROGRESS, [Began(token="check", at=10.5), Ended(token="check", at=11.0)]),
    ],
    ids=["pull", "ordered", "quiet", "progress"],
)
def test_what_carries_no_version_counts_only_if_the_text_was_there_to_the_end(rule, events):
    assert isinstance(decide(rule, *events, now=11.5), Proven | Quiet)
    for at in (10.0, 11.0):
        superseded = Superseded(version=4, at=at)
        assert decide(rule, *events, superseded, now=11.5) == Unknown(CHANGED)
    assert isinstance(
        decide(rule, *events, Superseded(version=4, at=11.1), now=11.5), Proven | Quiet
    )


def test_while_pushes_of_older_versions_still_come_the_server_is_not_asked_to_look_again():
    assert decide(VERSION, push(10.5, 2), now=11.0) == Wait(10.5 + PATIENCE)
    assert decide(VERSION, push(10.5, 2), push(12.4, 2), now=12.5) == Wait(12.4 + PATIENCE)
    assert decide(VERSION, push(12.4, 2), now=12.4 + PATIENCE) == Wait(20.0, "touch")


def test_where_a_server_says_when_it_is_done_only_the_push_before_that_counts():
    rests = ProofRule(how="version", single=True, rests_by=DONE)
    assert decide(rests, push(11.0, 3), now=11.0) == Wait(20.0)
    assert decide(rests, push(11.0, 3), rested(10.9), now=11.1) == Wait(20.0)
    assert decide(rests, push(11.0, 3), rested(11.2, uri="file:///b"), now=11.2) == Wait(20.0)
    assert decide(rests, push(11.0, 3), rested(11.2), now=11.2) == Proven("version", 11.0)


def test_where_it_says_so_too_early_it_is_asked_something_then():
    rule = ProofRule(how="version", single=True, rests_by=DONE, ask="links")
    done = rested(11.2)
    assert decide(rule, push(11.0, 3), now=11.1) == Wait(20.0)
    assert decide(rule, push(11.0, 3), done, now=11.2) == Wait(20.0, "ordered")
    answer, old = (answered(11.3, asked=11.2, seq=seq) for seq in (7, 6))
    assert decide(rule, push(11.0, 3), done, answer, now=11.3) == Proven("version", 11.3)
    assert decide(rule, push(11.0, 3), done, old, now=11.3) == Wait(20.0, "ordered")
    # There was another push after all, which has to be followed by the same.
    late = push(11.4, 3)
    assert decide(rule, late, done, answer, now=11.5) == Wait(20.0)
    assert decide(rule, late, rested(11.5), answer, now=11.5) == Wait(20.0, "ordered")


def test_an_answer_from_before_it_worked_once_more_does_not_count():
    rule = ProofRule(how="version", single=True, rests_by=DONE, ask="links")
    answer = answered(11.3, asked=11.2)
    again = rested(11.5, since=11.4)
    assert decide(rule, push(11.0, 3), again, answer, now=11.5) == Wait(20.0, "ordered")
    # It has said twice in a row that it is done.
    still = rested(11.5, since=11.1)
    assert decide(rule, push(11.0, 3), still, answer, now=11.5) == Proven("version", 11.3)


def test_a_server_that_never_began_is_done_only_after_a_while():
    """The thread that matters may not have had its turn yet."""
    rule = ProofRule(how="version", single=True, rests_by=DONE, ask="links")
    idle = rested(11.0, since=9.0, worked=False)
    latest = 11.0 + BEGINS_WITHIN
    assert decide(rule, push(11.0, 3), idle, now=11.1) == Wait(latest)
    assert decide(rule, push(11.0, 3), idle, now=latest) == Wait(20.0, "ordered")
    answer = answered(latest, asked=latest)
    assert decide(rule, push(11.0, 3), idle, answer, now=latest) == Proven("version", latest)
    # What it says after the question does not make the wait longer.
    still = rested(latest + 0.1, since=9.0, worked=False)
    proven = Proven("version", latest)
    assert decide(rule, push(11.0, 3), still, answer, now=latest + 0.1) == proven
