"""`lspkit check` where something cannot be read: it says so, and never takes it for clean."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import TIMEOUT, CommandLine

pytestmark = pytest.mark.slow  # a process each

DENIED = f"cannot be read: {os.strerror(errno.EACCES)}"


@pytest.fixture
def locked(project: Path) -> Iterator[Path]:
    """A folder of the project that nobody may look into."""
    folder = project / "locked"
    folder.mkdir()
    (folder / "a.py").touch()
    folder.chmod(0)
    yield folder
    folder.chmod(0o755)


def check(
    command: CommandLine, *words: str | Path, cwd: Path | str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command.unprivileged("check", *words),
        cwd=cwd,
        env={**command.environment, "TMPDIR": os.environ["TMPDIR"]},
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
    assert done.stderr == ""
    return done


@pytest.mark.server
def test_a_folder_that_cannot_be_read_is_told_beside_the_clean_files(with_ty, project, locked):
    for name in ("pyproject.toml", "wrong.py"):
        (project / name).unlink()
    done = check(with_ty, ".", cwd=project)
    assert done.stdout == f"skipped locked: {DENIED}\n2 files: 1 clean, 1 skipped\n"
    assert done.returncode == 3


def test_a_link_to_what_cannot_be_read_is_told_as_well(bare, project, locked):
    (project / "sub").mkdir()
    (project / "sub" / "link.py").symlink_to(locked / "a.py")
    done = check(bare, "sub", cwd=project)
    assert done.stdout.startswith("skipped sub/link.py: ")
    assert done.stdout.endswith("1 file: 1 skipped\n")
    assert done.returncode == 3


@pytest.mark.parametrize("name", ["locked", "locked/a.py", "locked/none.py"])
def test_it_is_told_as_well_if_it_is_named(bare, project, locked, name):
    done = check(bare, name, cwd=project)
    assert done.stdout == f"skipped {name}: {DENIED}\n1 file: 1 skipped\n"
    assert done.returncode == 3


def test_it_is_told_as_well_from_elsewhere(bare, project, locked):
    done = check(bare, locked / "a.py", cwd="/")
    assert done.stdout == f"skipped {locked}/a.py: {DENIED}\n1 file: 1 skipped\n"
    assert done.returncode == 3


def test_it_is_part_of_the_json(bare, project, locked):
    done = check(bare, "--json", "locked", cwd=project)
    assert json.loads(done.stdout)["skipped"] == [{"path": str(locked), "reason": DENIED}]
    assert done.returncode == 3


@pytest.mark.server
def test_a_file_that_may_not_be_read_is_told(with_ty, project):
    (project / "right.py").chmod(0)
    done = check(with_ty, "right.py", cwd=project)
    assert done.stdout == f"skipped right.py: {DENIED}\n1 file: 1 skipped\n"
    assert done.returncode == 3


@pytest.mark.parametrize("name", ["circle", "x" * 300])
def test_a_path_that_the_system_refuses_is_one_line(bare, project, name):
    (project / "circle").symlink_to("circle")
    done = bare("check", name, cwd=project)
    reason = os.strerror(errno.ELOOP if name == "circle" else errno.ENAMETOOLONG)
    assert done.stdout == f"skipped {name}: cannot be read: {reason}\n1 file: 1 skipped\n"
    assert (done.returncode, done.stderr) == (3, "")
