"""A header changes, alone or with what includes it: clangd goes by what is on disk."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import lspkit
from lspkit import Severity
from tests import real_servers
from tests.real.running import workspace_with
from tests.runtime.server_log import written_outside
from tests.runtime.watch.watching import until_ready

pytestmark = [pytest.mark.server, pytest.mark.slow]

# The standard header makes it slow to read what is included anew.
USER = '#include <string>\n#include "other.h"\n// {}\nint copy = value();\n'
SECOND = 1_700_000_000


def project(folder: Path) -> tuple[lspkit.Workspace, Path, Path]:
    """The workspace, the source, and the header."""
    real_servers.require("clangd")
    folder.mkdir()
    (folder / "compile_flags.txt").write_text("-xc++\n", encoding="utf-8")
    user, other = folder / "user.cpp", folder / "other.h"
    other.write_text("int value();\n", encoding="utf-8")
    user.write_text(USER.format(0), encoding="utf-8")
    return workspace_with(folder, {"clangd": real_servers.command("clangd")}), user, other


@pytest.mark.parametrize("noticed", [True, False])
def test_a_header_that_changes_with_its_user_is_read_again(tmp_path: Path, noticed: bool) -> None:
    """clangd notices by size and second, and publishes from before first; or it does not."""
    opened, user, other = project(tmp_path / "project")
    verdicts = []
    with opened as ws:
        for number in range(7):
            text = "char *value();\n" if number % 2 else "int   value();\n"
            written_outside(other, f"{text}// {number}\n")
            second = SECOND + number if noticed else SECOND
            os.utime(other, (second, second))
            verdicts.append(ws.write(user, USER.format(number), timeout=60).verdict.value)
    assert verdicts == ["clean", *["dirty", "clean"] * 3]


def test_a_header_that_changes_with_several_users_is_read_again_at_any_interval(
    tmp_path: Path,
) -> None:
    """In another second clangd notices it by itself; in the same one it has to be forced."""
    opened, user, other = project(tmp_path / "project")
    users = [user, *(user.with_name(f"user_{number}.cpp") for number in range(3))]
    seen, expected = [], []
    with opened as ws:
        for number, pause in enumerate([0.0, 1.05, 0.0, 0.4, 1.05, 1.05, 0.1, 0.7, 1.05, 0.0]):
            time.sleep(pause)
            text = "char *value();\n" if number % 2 else "int   value();\n"
            other.write_text(text, encoding="utf-8")
            for one in users:
                one.write_text(USER.format(number), encoding="utf-8")
            reports = ws.check_all(users, timeout=60)
            seen.append({report.verdict.value for report in reports.values()})
            expected.append({"dirty" if number % 2 else "clean"})
    assert seen == expected


def test_what_includes_a_header_is_looked_at_again_without_being_asked_about(
    tmp_path: Path,
) -> None:
    opened, user, other = project(tmp_path / "project")
    with opened as ws:
        assert all(one.verdict.clean for one in ws.check_all([user, other]).values())
        epoch, until = ws.epoch, time.monotonic() + 60
        assert ws.write(other, "char *value();\n").verdict.clean
        while all(one.severity is not Severity.ERROR for one in ws.diagnostics(user).get(user, [])):
            assert time.monotonic() < until
            epoch = ws.wait_for_change(epoch, timeout=60)
        assert "char *" in str(ws.hover(user, 4, 12))


def test_a_header_in_a_folder_outside_of_the_workspace_is_read_again(tmp_path: Path) -> None:
    opened, user, _ = project(tmp_path / "project")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "far.h").write_text("int value();\n", encoding="utf-8")
    flags = f"-xc++\n-I{outside}\n"
    (tmp_path / "project/compile_flags.txt").write_text(flags, encoding="utf-8")
    user.write_text('#include "far.h"\nint copy = value();\n', encoding="utf-8")
    with opened as ws:
        assert ws.check(user, timeout=60).verdict.clean
        until_ready(ws._engine.pool.disk_events._watcher)
        (outside / "far.h").write_text("char *value();\n", encoding="utf-8")
        assert ws.check(user, timeout=60).verdict.dirty


@pytest.mark.parametrize("name", ["far.h", "far.inc"])
def test_a_header_in_the_work_tree_around_the_workspace_is_read_again(
    name: str, tmp_path: Path
) -> None:
    real_servers.require("clangd")
    for folder in (".git", "inner", "beside"):
        (tmp_path / folder).mkdir()
    header = tmp_path / "beside" / name
    source = f'#include "../beside/{name}"\nint main(void) {{ return f(1); }}\n'
    (tmp_path / "inner/main.c").write_text(source, encoding="utf-8")
    found = []
    with workspace_with(tmp_path / "inner", {"clangd": real_servers.command("clangd")}) as ws:
        for text in ("int f(int);\n", "int f(int, int);\n", "int f(int);\n"):
            header.write_text(text, encoding="utf-8")
            found.append(ws.check("main.c", timeout=60).verdict.value)
    assert found == ["clean", "dirty", "clean"]


@pytest.mark.parametrize("name", ["table.log", "table.tmp", "table.bak", "table.orig", "table.db"])
def test_a_file_that_is_included_is_read_again_whatever_it_is_called(
    name: str, tmp_path: Path
) -> None:
    opened, user, _ = project(tmp_path / "project")
    (user.parent / name).write_text("int value();\n", encoding="utf-8")
    user.write_text(f'#include "{name}"\nint copy = value();\n', encoding="utf-8")
    with opened as ws:
        assert ws.check(user, timeout=60).verdict.clean
        (user.parent / name).write_text("char *value();\n", encoding="utf-8")
        assert ws.check(user, timeout=60).verdict.dirty
