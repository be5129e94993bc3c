"""A text that is only for one caller never answers for another, on servers that compare files."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from benchmarks.overlap_projects import COURSES
from tests import real_servers
from tests.real.running import workspace

pytestmark = [pytest.mark.server, pytest.mark.slow]

SERVERS = ("basedpyright", "pyright", "ty", "typescript", "typescript-7", "vtsls", "gopls")
CHECKS = 20


@pytest.mark.parametrize("server", SERVERS)
def test_a_text_for_one_call_does_not_mend_what_another_caller_checks(
    server: str, tmp_path: Path
) -> None:
    real_servers.require(server)
    folder, course = tmp_path / "project", COURSES[server]
    folder.mkdir()
    course.write(folder, real_servers.NODE_MODULES)
    assert course.pair is not None
    assert course.other is not None
    user, other = folder / course.pair.name, folder / course.other.name
    for file in (user, other):
        file.parent.mkdir(parents=True, exist_ok=True)
    user.write_text(course.pair.make(1, broken=False).content)
    other.write_text(course.other.make(2, broken=True).content)
    fine = [course.other.make(number, broken=False).content for number in range(3, 9)]
    over = threading.Event()
    with workspace(folder, server, argv=real_servers.command(server)) as ws:
        assert ws.check(user, timeout=60).verdict.dirty
        ws.check(other, timeout=60)

        def what_if() -> None:
            while not over.is_set():
                for text in fine:
                    ws.check(other, text, timeout=60)

        guest = threading.Thread(target=what_if)
        guest.start()
        try:
            verdicts = [ws.check(user, timeout=60).verdict.value for _ in range(CHECKS)]
        finally:
            over.set()
            guest.join()
    assert verdicts == ["dirty"] * CHECKS
