"""Jobs come back with their numbers, also from a pool whose workers are killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lspkit.batch.batch_check import MOST_BREAKS, dispatch


def double(number: int) -> int:
    return 2 * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


def end_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def end_worker_once(job: tuple[int, str]) -> int:
    """Number 4 ends its process the first time: then there is the file."""
    number, marker = job
    if number == 4 and not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def end_worker(job: tuple[int, str]) -> int:
    """Number 4 always ends its process. Every call leaves a line."""
    number, log = job
    with open(log, "a") as stream:
        stream.write(f"{number}\n")
    if number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def initialize(marker: str) -> None:
    """Fails in every process."""
    raise ValueError(marker)


def run(function: Callable[[Any], Any], jobs: list[Any], pool: Any) -> dict[int, Any]:
    found = list(dispatch(function, jobs, pool))
    assert len(found) == len(jobs)
    return dict(found)


def test_every_job_has_its_result():
    with ThreadPoolExecutor(3) as pool:
        assert run(double, list(range(100)), pool) == {one: 2 * one for one in range(100)}


def test_there_may_be_no_job():
    with ThreadPoolExecutor(1) as pool:
        assert run(double, [], pool) == {}


def test_an_exception_is_the_result_of_its_job_alone():
    with ProcessPoolExecutor(2) as pool:
        found = run(fail_at_three, list(range(6)), pool)
    assert repr(found.pop(3)) == "ValueError('three')"
    assert found == {one: one for one in (0, 1, 2, 4, 5)}


def test_jobs_of_a_lost_worker_are_done_again(tmp_path):
    jobs = [(number, str(tmp_path / "marker")) for number in range(12)]
    with ProcessPoolExecutor(2) as pool:
        assert run(end_worker_once, jobs, pool) == {one: one for one in range(12)}
        with pytest.raises(BrokenExecutor):
            pool.submit(double, 1)


def test_a_pool_that_is_broken_already_is_replaced():
    with ProcessPoolExecutor(1) as pool:
        with pytest.raises(BrokenExecutor):
            pool.submit(end_this_process).result()
        assert run(double, [1, 2], pool) == {0: 2, 1: 4}


def test_a_job_that_always_ends_its_worker_is_given_up_and_no_other(tmp_path):
    log = tmp_path / "log"
    jobs = [(number, str(log)) for number in range(12)]
    with ProcessPoolExecutor(2) as pool:
        found = run(end_worker, jobs, pool)
    assert isinstance(found.pop(4), BrokenExecutor)
    assert found == {one: one for one in range(12) if one != 4}
    assert log.read_text().split().count("4") == 1 + MOST_BREAKS


def test_an_executor_that_can_start_no_worker_ends_with_errors():
    with ProcessPoolExecutor(1, initializer=initialize, initargs=("odd",)) as pool:
        found = run(double, [1, 2, 3], pool)
    assert {type(one).__name__ for one in found.values()} == {"BrokenProcessPool"}
    with ThreadPoolExecutor(1, initializer=initialize, initargs=("odd",)) as threads:
        found = run(double, [1, 2, 3], threads)
    assert {type(one).__name__ for one in found.values()} == {"BrokenThreadPool"}


def test_an_early_end_cancels_what_has_not_begun(tmp_path):
    log = tmp_path / "log"
    jobs = [(number + 10, str(log)) for number in range(1000)]
    with ProcessPoolExecutor(1) as pool:
        found = dispatch(end_worker, jobs, pool)
        next(found)
        found.close()
    assert len(log.read_text().split()) < 10
