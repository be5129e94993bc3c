"""A change far away, in a project that takes a server seconds to look through again.

A file uses a function by way of one of many modules. Another process changes what the function
returns, and at once the file is checked, which itself stays as it is: whatever a server says of it
before it has come to the end of its own work is of the time before.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import real_servers
from tests.real.running import workspace
from tests.runtime.server_log import written_outside

pytestmark = [pytest.mark.server, pytest.mark.slow]

SERVERS = ["pyrefly", "ty", "zuban", "pyright", "basedpyright"]
MODULES, FUNCTIONS = 200, 60
#: Seconds for one check, on a busy machine.
TIMEOUT = 60.0


def base(returned: str) -> str:
    return f"def made() -> {returned}: ...\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    work = "\n".join(
        f"def work{number}(given: list[int]) -> dict[str, list[int]]:\n"
        "    return {str(one): [more for more in given if more > one] for one in given}\n"
        for number in range(FUNCTIONS)
    )
    for number in range(MODULES):
        (folder / f"module{number}.py").write_text(f"from base import made as made\n\n{work}")
    (folder / "base.py").write_text(base("int"))
    (folder / "pyrefly.toml").write_text("")
    user = f"from module{MODULES - 1} import made\n\ncount: int = made()\n"
    (folder / "user.py").write_text(user)
    return folder


@pytest.mark.parametrize("server", SERVERS)
def test_a_verdict_waits_for_the_end_of_the_work(server: str, project: Path) -> None:
    real_servers.require(server)
    returned = ["int", "str", "int", "str", "int"]
    with workspace(project, server, argv=real_servers.command(server)) as ws:
        verdicts = []
        for one in returned:
            written_outside(project / "base.py", base(one))
            verdicts.append(ws.check("user.py", timeout=TIMEOUT).verdict.value)
    assert verdicts == ["clean" if one == "int" else "dirty" for one in returned]
