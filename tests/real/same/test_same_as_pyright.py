"""`check_all` says what pyright says on the command line, about real packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.same import command_line
from tests.real.same.agreeing import Checker, agree
from tests.real.same.comparing import HINTS
from tests.real.same.packages import OWN, PENDULUM, RETURNS, Package

pytestmark = [pytest.mark.server, pytest.mark.timeout(900)]

PYRIGHT = Checker("pyright", "pyright", command_line.pyright, (HINTS,))


@pytest.mark.parametrize("package", [PENDULUM, RETURNS], ids=lambda package: package.name)
def test_every_file_has_the_findings_of_the_command_line_also_when_lines_were_broken_and_mended(
    package: Package, tmp_path: Path
) -> None:
    agree(PYRIGHT, package, tmp_path / package.name)


def test_every_file_of_lspkit_has_the_findings_of_the_command_line(tmp_path: Path) -> None:
    # Not broken as well: that would double the time, which is the longest as it is.
    agree(PYRIGHT, OWN, tmp_path / OWN.name, also_broken=False)
