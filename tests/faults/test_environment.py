"""What the world does wrong: no descriptors left, files that vanish, far too many messages, and
servers that are killed at any moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lspkit.protocol.uris import path_to_uri
from lspkit.testing import Fault, Log, Script
from tests.faults.chaos import Storm
from tests.faults.operations import SUBJECTS, answers
from tests.scripted import ask, workspace

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def _host(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HERE / program), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def _write_subjects(folder: Path) -> None:
    for one in SUBJECTS:
        (folder / one.file).write_text(one.text, encoding="utf-8")


#: Scenario of starved.py: how many descriptors are left, and what the starved call may say. A start
#: needs ten of them, and each may be the one that is missing.
STARVED = {
    "starting, lowered": ((0, 1, 3, 4, 6, 8, 10), {"EUNAVAILABLE", "EBROKEN", "ENOENT", "1:5"}),
    "starting, taken": ((0, 1, 2, 4, 7, 9, 10), {"EUNAVAILABLE", "EBROKEN", "ENOENT", "1:5"}),
    "reading, taken": ((0, 1, 2), {"ENOENT", "1:5"}),
    "dying, taken": ((0, 1, 2), {"EBROKEN"}),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("scenario", STARVED)
def test_a_host_without_descriptors_gets_an_error_and_recovers(tmp_path, scripted, scenario):
    _write_subjects(tmp_path)
    argv = scripted(Script(faults=[Fault("x/crash", "crash", code=3)]))
    left, allowed = STARVED[scenario]
    wrong = []
    with ThreadPoolExecutor(len(left)) as hosts:  # they mostly wait
        runs = {
            free: hosts.submit(_host, "starved.py", str(tmp_path), scenario, str(free), *argv)
            for free in left
        }
        for free, run in runs.items():
            done = run.result()
            assert done.returncode == 0, done.stderr
            told = json.loads(done.stdout)
            as_it_should = (
                told["first"] in allowed
                and told["took"] < 5
                and (told["last"], told["left"], told["threads"]) == ("1:5", [], 0)
                and not done.stderr
            )
            if not as_it_should:
                wrong.append(f"{free} left: {done.stdout}{done.stderr[-2000:]}")
    assert not wrong, "\n".join(wrong)


def _vanishing(folder: Path, victim: str, argv: list[str]) -> dict[str, list[str]]:
    done = _host("vanishing.py", str(folder), victim, *argv)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    told = {name: [met, *said] for name, met, *said in map(json.loads, done.stdout.splitlines())}
    return {name: said for name, (met, *said) in told.items() if met}


@pytest.mark.slow
def test_a_file_that_vanishes_before_it_is_read_is_missing_and_then_back(tmp_path, scripted):
    _write_subjects(tmp_path)
    argv = scripted(Script(answers=answers(path_to_uri(str(tmp_path / "b.scr")))))
    assert _vanishing(tmp_path, "a.scr", argv) == {
        "definition": ["ENOENT", "a.scr:1:5"],
        "declaration": ["ENOENT", "b.scr:1:5"],
        "symbols": ["ENOENT", "greet a.scr:1:5"],
        "by name": ["ENOENT", "a.scr:1:5"],
        "check": ["ENOENT", "dirty 2:9"],
        "request": ["ENOENT", "{'said': 'hello'}"],
    }


@pytest.mark.slow
def test_a_place_in_a_file_that_has_just_vanished_is_still_a_place(tmp_path, scripted):
    _write_subjects(tmp_path)
    argv = scripted(Script(answers=answers(path_to_uri(str(tmp_path / "b.scr")))))
    assert _vanishing(tmp_path, "b.scr", argv) == {"declaration": ["b.scr:1:5", "b.scr:1:5"]}


#: Messages per second, and how many are awaited.
RATE, ENOUGH = 10_000, 20_000


@pytest.mark.slow
def test_4_callers_are_answered_beside_10000_messages_a_second(tmp_path, scripted):
    flood = Fault("textDocument/didOpen", "flood", nth=1, rate=RATE, count=0)
    argv = scripted(Script(faults=[flood]))
    over = threading.Event()

    def caller(_: int) -> tuple[set[str], float]:
        said, slowest = set(), 0.0
        while not over.is_set():
            began = time.monotonic()
            said.add(ask(ws, timeout=10))
            slowest = max(slowest, time.monotonic() - began)
        return said, slowest

    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(4) as callers:
        assert ask(ws) == "1:5"
        began, deadline = time.monotonic(), time.monotonic() + 20
        asking = [callers.submit(caller, number) for number in range(4)]
        epoch = 0
        while epoch < ENOUGH and (left := deadline - time.monotonic()) > 0:
            epoch = ws.wait_for_change(epoch + 1000, timeout=left)
        took = time.monotonic() - began
        over.set()
        results = [one.result(20) for one in asking]
    assert epoch >= ENOUGH, f"{epoch} messages in {took:.1f} s"
    assert all(said == {"1:5"} for said, _ in results)
    assert max(slowest for _, slowest in results) < 5
    assert Log.of(argv).complaints() == []


#: A longer run, or the same one again: LSPKIT_CHAOS_SECONDS=600 LSPKIT_CHAOS_SEED=7.
SECONDS = float(os.environ.get("LSPKIT_CHAOS_SECONDS", "10"))
SEED = int(os.environ.get("LSPKIT_CHAOS_SEED", "1"))


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 100)
def test_a_server_killed_at_random_moments_spoils_only_calls_in_flight(tmp_path, scripted):
    _write_subjects(tmp_path)
    script = Script(answers=answers(path_to_uri(str(tmp_path / SUBJECTS[0].file))))
    storm = Storm(tmp_path, scripted(script), scripted(Script()), seed=SEED)
    tally = storm.rage(SECONDS)
    print(f"seed {SEED}: {tally}")
    assert not tally.wrong, f"LSPKIT_CHAOS_SEED={SEED}\n" + "\n".join(tally.wrong[:20])
    assert tally.kills >= SECONDS
    assert tally.right > tally.spoilt > 0


def test_the_plan_of_a_storm_follows_from_its_seed(tmp_path):
    plans = [Storm(tmp_path, [], [], seed=seed).moments(5) for seed in (1, 1, 2)]
    assert plans[0] == plans[1] != plans[2]
