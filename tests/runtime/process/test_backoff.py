"""How long a server that has failed is spared."""

from __future__ import annotations

import pytest

from lspkit.runtime.process.backoff import FailureRecord, Restart, after_failure

RESTART = Restart()


def failed(
    record: FailureRecord,
    *,
    ran_for: float = 1.0,
    now: float = 100.0,
    dice: float = 0.0,
    **more: bool,
):
    return after_failure(record, RESTART, ran_for=ran_for, now=now, dice=dice, **more)


def test_delays_double_up_to_a_minute():
    record, delays = FailureRecord(), []
    for _ in range(7):
        record = failed(record)
        delays.append(record.retry_at - 100)
    assert delays == [5, 10, 20, 40, 60, 60, 60]
    assert record.attempts == 7


@pytest.mark.parametrize(("dice", "delay"), [(-1.0, 4.0), (0.0, 5.0), (0.5, 5.5), (1.0, 6.0)])
def test_a_delay_varies_by_a_fifth(dice, delay):
    assert failed(FailureRecord(), dice=dice).retry_at - 100 == pytest.approx(delay)


@pytest.mark.parametrize(("ran_for", "delay"), [(59.9, 5), (60.0, 0), (1e6, 0)])
def test_the_first_crash_of_a_server_that_was_well_restarts_it_at_once(ran_for, delay):
    record = failed(FailureRecord(), ran_for=ran_for)
    assert (record.attempts, record.retry_at - 100) == (1, delay)


def test_the_first_crash_of_a_server_that_was_of_use_restarts_it_at_once():
    record = failed(FailureRecord(), was_of_use=True)
    assert (record.attempts, record.retry_at - 100) == (1, 0)


@pytest.mark.parametrize(("later", "delay"), [(0.0, 5), (59.9, 5), (60.0, 0)])
def test_one_that_answers_and_crashes_again_and_again_is_spared_once_a_minute(later, delay):
    answered = failed(FailureRecord(), was_of_use=True).after_success()
    assert answered.attempts == 0
    again = failed(answered, now=100 + later, was_of_use=True)
    assert again.retry_at - (100 + later) == pytest.approx(delay)


def test_the_second_crash_does_not():
    record = failed(failed(FailureRecord(), ran_for=100), ran_for=100)
    assert record.retry_at - 100 >= 5


def test_the_record_that_is_given_is_left_alone():
    record = FailureRecord(2, 7.0)
    failed(record)
    assert record == FailureRecord(2, 7.0)


def test_a_fresh_record_may_start_at_once():
    assert FailureRecord().retry_at <= 0


def test_a_server_that_has_failed_for_days_is_still_tried():
    record = failed(FailureRecord(attempts=5000))
    assert record.retry_at - 100 == 60
