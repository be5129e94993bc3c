"""`tools/set_up_servers.py`: what cannot be had takes nothing else with it, and is named.

The script runs in a checkout of its own with tables of its own, on packages that are made here:
pip, npm and apt are the real ones, and find them in folders instead of on the network.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the servers are set up on Linux"),
]


@dataclass
class Checkout:
    folder: Path
    #: What the tables of `server_pins.py` are replaced with.
    tables: dict[str, str] = field(default_factory=dict)

    @property
    def packages(self) -> Path:
        return self.folder / "packages"

    def set_up(self) -> dict[str, Any]:
        """Runs the script and returns what it says about each server."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        for name in ("set_up_servers.py", "package_folders.py"):
            shutil.copy(TOOLS / name, tools)
        empty = dict.fromkeys(
            ("PYTHON_PACKAGES", "PYTHON_SOURCES", "NODE_PACKAGES", "DEBIAN_PACKAGES"), "{}"
        )
        tables = [f"{name} = {value}\n" for name, value in (empty | self.tables).items()]
        pins = (TOOLS / "server_pins.py").read_text()
        (tools / "server_pins.py").write_text(pins + "".join(tables))
        subprocess.run(
            [sys.executable, str(tools / "set_up_servers.py")],
            env={**os.environ, **self._environment()},
            check=True,
            timeout=100,
        )
        found: dict[str, Any] = json.loads((self.folder / ".servers/servers.json").read_text())
        return found

    def _environment(self) -> dict[str, str]:
        apt = self.folder / "apt.conf"
        sources = self.folder / "sources.list"
        sources.write_text(f"deb [trusted=yes] file:{self.packages} ./\n")
        apt.write_text(f'Dir::Etc::sourcelist "{sources}";\nDir::Etc::sourceparts "-";\n')
        return {
            "APT_CONFIG": str(apt),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.packages),
            "npm_config_cache": str(self.folder / "npm"),
        }

    def put_wheel(self, name: str) -> None:
        """A package from PyPI with a program that prints its version."""
        about = f"{name}-1.0.dist-info"
        files = {
            f"{name}.py": "def main():\n    print('1.0')\n",
            f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{about}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
        }
        files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{about}/RECORD"))
        with zipfile.ZipFile(self.packages / f"{name}-1.0-py3-none-any.whl", "w") as archive:
            for file, text in files.items():
                archive.writestr(file, text)

    def put_npm_package(self, name: str) -> None:
        folder = self.packages / name
        folder.mkdir()
        about = {"name": name, "version": "1.0.0", "bin": {name: "main.js"}}
        (folder / "package.json").write_text(json.dumps(about))
        (folder / "main.js").write_text("#!/usr/bin/env node\n")

    def put_debian_package(self, name: str) -> None:
        folder = self.folder / "debian" / name
        program = folder / "usr/bin" / name
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho 1.0\n")
        program.chmod(0o755)
        about = f"Package: {name}\nVersion: 1.0\nArchitecture: all\nMaintainer: nobody\n"
        (folder / "DEBIAN").mkdir()
        (folder / "DEBIAN/control").write_text(f"{about}Description: a program\n")
        archive = self.packages / f"{name}_1.0_all.deb"
        subprocess.run(["dpkg-deb", "-b", folder, archive], check=True, timeout=60)
        content = archive.read_bytes()
        place = f"Filename: ./{archive.name}\nSize: {len(content)}\n"
        checked = f"SHA256: {hashlib.sha256(content).hexdigest()}\n"
        with open(self.packages / "Packages", "a") as packages:
            packages.write(f"{about}{place}{checked}Description: a program\n\n")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path)
    made.packages.mkdir()
    return made


def programs(folder: str, *names: str) -> str:
    rows = [f"Program(name={name!r}, folder={folder!r}, server={name!r})," for name in names]
    return f"({''.join(rows)})"


def names_a_command(row: dict[str, Any]) -> bool:
    done = subprocess.run(row["command"], capture_output=True, timeout=60)
    return done.returncode == 0


def test_a_python_package_that_cannot_be_had_takes_only_its_server(checkout: Checkout) -> None:
    checkout.put_wheel("good")
    checkout.tables = {
        "PYTHON_PACKAGES": "{'lacking': '1.0', 'good': '1.0'}",
        "PROGRAMS": programs("python", "lacking", "good"),
    }
    found = checkout.set_up()
    assert names_a_command(found["good"])
    assert "No matching distribution found for lacking==1.0" in found["lacking"]["missing"]


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm on this machine")
def test_an_npm_package_that_cannot_be_had_takes_only_its_server(checkout: Checkout) -> None:
    checkout.put_npm_package("good")
    checkout.put_npm_package("fine")
    pins = {name: f"file:{checkout.packages / name}" for name in ("good", "lacking", "fine")}
    checkout.tables = {
        "NODE_PACKAGES": repr({"node": pins}),
        "PROGRAMS": programs("node", "good", "lacking", "fine"),
    }
    found = checkout.set_up()
    assert [name for name, row in found.items() if "command" in row] == ["good", "fine"]
    assert names_a_command(found["good"]) and names_a_command(found["fine"])
    assert "lacking" in found["lacking"]["missing"]


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt on this machine")
def test_a_debian_package_that_cannot_be_had_takes_only_its_server_and_is_tried_again(
    checkout: Checkout,
) -> None:
    checkout.put_debian_package("good")
    checkout.put_debian_package("fine")
    checkout.tables = {
        "DEBIAN_PACKAGES": "{'debian': ('good', 'lacking', 'fine')}",
        "PROGRAMS": programs("debian", "good", "lacking", "fine"),
    }
    found = checkout.set_up()
    assert [name for name, row in found.items() if "command" in row] == ["good", "fine"]
    assert names_a_command(found["good"]) and names_a_command(found["fine"])
    assert "Unable to locate package lacking" in found["lacking"]["missing"]

    kept = checkout.folder / ".servers/debian/usr/bin/good"
    before = kept.stat().st_ctime_ns
    checkout.put_debian_package("lacking")
    assert names_a_command(checkout.set_up()["lacking"])
    assert kept.stat().st_ctime_ns == before


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt on this machine")
def test_a_program_comes_from_its_second_source_only_where_the_first_one_fails(
    checkout: Checkout,
) -> None:
    for name in ("first", "second"):
        checkout.put_debian_package(name)
    otherwise = "Program(name={0!r}, folder='other-{0}', package='second', file='second')"
    checkout.tables = {
        "DEBIAN_PACKAGES": "{'debian': ('first', 'lacking'),"
        " 'other-first': ('second',), 'other-lacking': ('second',)}",
        "PROGRAMS": "("
        f"Program(name='first', folder='debian', server='first', otherwise="
        f"{otherwise.format('first')}),"
        f"Program(name='lacking', folder='debian', server='lacking', otherwise="
        f"{otherwise.format('lacking')}),)",
    }
    found = checkout.set_up()
    assert names_a_command(found["first"]) and names_a_command(found["lacking"])
    assert not (checkout.folder / ".servers/other-first").exists()
    assert (checkout.folder / ".servers/other-lacking/usr/bin/second").exists()
    # Nothing is missing, so the next run has nothing to do.
    again = checkout.folder / ".servers/.installed"
    assert again.exists()


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt on this machine")
@pytest.mark.parametrize("tool", ["lacking", "lacking-data"])
def test_a_server_without_a_tool_that_it_needs_is_missing_for_that_reason(
    checkout: Checkout, tool: str
) -> None:
    for name in ("helped", "alone"):
        checkout.put_debian_package(name)
    checkout.tables = {
        "DEBIAN_PACKAGES": "{'debian': ('helped', 'alone', 'lacking', 'lacking-data')}",
        "PROGRAMS": "("
        f"Program(name='helped', folder='debian', server='helped', needs=({tool!r},)),"
        "Program(name='alone', folder='debian', server='alone'),"
        "Program(name='lacking', folder='debian'),)",
    }
    found = checkout.set_up()
    programs = json.loads((checkout.folder / ".servers/programs.json").read_text())
    assert "Unable to locate package lacking" in programs["lacking"]["missing"]
    assert names_a_command(found["alone"])
    assert f"it needs {tool}: " in found["helped"]["missing"]
    assert f"Unable to locate package {tool}" in found["helped"]["missing"]
    assert not (checkout.folder / ".servers/bin/helped").exists()


def test_a_program_that_was_written_a_moment_ago_is_run(tmp_path: Path) -> None:
    """While a process that starts holds it open for writing, the system refuses to run it."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 1.2.3\n")
    program.chmod(0o755)
    code = (
        "import sys, threading\n"
        f"sys.path.insert(0, {str(TOOLS)!r})\n"
        "import package_folders\n"
        f"writer = open({str(program)!r}, 'a')\n"
        "threading.Timer(0.3, writer.close).start()\n"
        f"print(package_folders.run([{str(program)!r}]).strip())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "1.2.3\n", done.stderr
