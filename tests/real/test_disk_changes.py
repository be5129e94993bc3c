"""What another process does to the files of a project, as the next check sees it.

A file imports a module that is not there. Another process creates the module, breaks it, mends it,
renames it away and back, and deletes it; after each step the importer is checked, without any wait
in between. Then the same with a configuration file. The importer is open all the time, the module
never is: the server has to hear of it, or to look for itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import lspkit
from benchmarks.overlap_projects import COURSES, Course, Template
from lspkit import Verdict
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING, environment

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Seconds for one check, on a busy machine.
TIMEOUT = 60.0
#: Seconds within which a server that reloads its configuration in the background has done so.
RELOADED = 30.0

CLEAN, DIRTY, UNKNOWN = Verdict.CLEAN, Verdict.DIRTY, Verdict.UNKNOWN

#: Writes a file beside its place and puts it there; moves one; removes one.
ELSEWHERE = """
import os, sys
act, path, more = sys.argv[1:]
if act == "write":
    with open(path + ".new", "w", encoding="utf-8") as stream:
        stream.write(more)
    os.replace(path + ".new", path)
elif act == "move":
    os.rename(path, more)
else:
    os.unlink(path)
"""


def elsewhere(act: str, path: Path, more: str = "") -> None:
    """Let another process do it, and return when it is done."""
    argv = [sys.executable, "-I", "-c", ELSEWHERE, act, str(path), more]
    subprocess.run(argv, check=True, timeout=TIMEOUT)


@contextmanager
def workspace(server: str, course: Course, folder: Path) -> Iterator[lspkit.Workspace]:
    """A project without its files, and this server as its definition has it."""
    program = course.program or server
    real_servers.require(program)
    course.write(folder, real_servers.NODE_MODULES)
    own = {
        "command": real_servers.command(program),
        "env": environment(folder, program),
        "disabled": False,
    }
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    config = {"lsp": {**others, server: own}, "timing": TIMING}
    with pytest.MonkeyPatch.context() as patch:
        # It may load a part of another server's package, which is found by that one's program.
        patch.setenv("PATH", str(real_servers.PROGRAMS), prepend=os.pathsep)
        with lspkit.Workspace(folder, config=config, trusted=True) as ws:
            yield ws


def verdict_soon(ws: lspkit.Workspace, path: Path, wanted: Verdict) -> Verdict:
    """The first verdict that is the wanted one, or the last before the time is up."""
    deadline = time.monotonic() + RELOADED
    while True:
        verdict = ws.check(path, timeout=TIMEOUT).verdict
        if verdict is wanted or time.monotonic() > deadline:
            return verdict


# A module

#: For rust-analyzer the importer has to be the file that names the module: there the error is.
RUST = Course(
    language="rust",
    files={"Cargo.toml": COURSES["rust-analyzer"].files["Cargo.toml"]},
    alone=Template("src/lib.rs", "LINE\n", "", ""),
    pair=Template(
        "src/lib.rs",
        "pub mod other;\nLINE\npub fn copy() -> i32 { other::value() }\n",
        "pub fn own() -> i32 { NUMBER }",
        'pub fn own() -> i32 { "NUMBER" }',
    ),
    other=COURSES["rust-analyzer"].other,
)
MODULES: dict[str, Course] = {
    server: course for server, course in COURSES.items() if course.pair is not None
} | {"rust-analyzer": RUST}

#: What is true after each step.
STEPS = {
    "missing": DIRTY,
    "created": CLEAN,
    "broken": DIRTY,
    "mended": CLEAN,
    "renamed away": DIRTY,
    "renamed back": CLEAN,
    "deleted": DIRTY,
}

#: What a server says instead of what is true, and why. A version of it, or of lspkit, that does
#: better fails the test until these tables say so.
INSTEAD: dict[str, tuple[dict[str, Verdict], str]] = {
    "svelte": (
        {"renamed back": DIRTY},
        "a file that was gone and is there again is not read again, whatever is edited",
    ),
}
#: Servers whose silence proves nothing: they may leave it open, but must not be wrong.
MAY_NOT_KNOW = {
    "jdtls": "it publishes without a version, up to two seconds after a change",
    "intelephense": "it publishes without a version, a second after a change",
}
#: Servers that are told at once, and answer from before for a moment.
LATER = {"rust-analyzer": "it reads the files that it is told of in a thread of its own"}


def told(
    ws: lspkit.Workspace, importer: Path, other: Path, template: Template, *, later: bool
) -> dict[str, Verdict]:
    """The verdicts, step by step."""
    # Out of the project: some servers do not care what a file is called.
    away = ws.root.with_name("away" + other.suffix)
    good, bad = (template.make(1, broken=broken).content for broken in (False, True))
    acts = {
        "missing": None,
        "created": ("write", other, good),
        "broken": ("write", other, bad),
        "mended": ("write", other, good),
        "renamed away": ("move", other, str(away)),
        "renamed back": ("move", away, str(other)),
        "deleted": ("delete", other),
    }
    found = {}
    for step, act in acts.items():
        if act is not None:
            elsewhere(*act)
        if later:
            found[step] = verdict_soon(ws, importer, STEPS[step])
        else:
            found[step] = ws.check(importer, timeout=TIMEOUT).verdict
    return found


@pytest.mark.parametrize("server", list(MODULES))
def test_the_next_check_sees_what_another_process_did_to_a_module(
    server: str, tmp_path: Path
) -> None:
    course, folder = MODULES[server], tmp_path / "project"
    assert course.pair is not None
    assert course.other is not None
    with workspace(server, course, folder) as ws:
        importer = folder / course.pair.name
        importer.write_text(course.pair.make(1, broken=False).content)
        other = folder / course.other.name
        found = told(ws, importer, other, course.other, later=server in LATER)
    expected = STEPS | INSTEAD.get(server, ({}, ""))[0]
    if server in MAY_NOT_KNOW:
        found = {step: expected[step] if one is UNKNOWN else one for step, one in found.items()}
    assert found == expected


# A configuration file


@dataclass(frozen=True)
class Setting:
    """A text that is in order or not, depending on a file that configures the server."""

    name: str
    text: str
    configuration: str
    strict: str
    lax: str
    #: Whether the server has read its new configuration only some time after it was told.
    later: bool = False


_TYPED = 'own: int = "a"\n'
_TSCONFIG = (
    '{"compilerOptions": {"strict": STRICT, "noEmit": true, "lib": ["es2020"], "types": []}}\n'
)
_UNTYPED = "export function own(given) { return given; }\n"


def _tsconfig(*, later: bool = False) -> Setting:
    strict, lax = (_TSCONFIG.replace("STRICT", word) for word in ("true", "false"))
    return Setting("main.ts", _UNTYPED, "tsconfig.json", strict, lax, later)


def _pyproject(lax: str, text: str = _TYPED, *, later: bool = False) -> Setting:
    return Setting("main.py", text, "pyproject.toml", "", lax, later)


#: Those marked `later` answer from their old configuration for a moment after they were told of the
#: new one, and give no sign when they have read it: pyright and basedpyright read it by a timer,
#: rust-analyzer asks cargo.
SETTINGS: dict[str, Setting] = {
    "pyright": _pyproject("[tool.pyright]\nreportAssignmentType = false\n", later=True),
    "basedpyright": _pyproject("[tool.basedpyright]\nreportAssignmentType = false\n", later=True),
    "ty": _pyproject('[tool.ty.rules]\ninvalid-assignment = "ignore"\n'),
    "pyrefly": _pyproject("[tool.pyrefly.errors]\nbad-assignment = false\n", later=True),
    "ruff": _pyproject('[tool.ruff.lint]\nignore = ["F821"]\n', "print(missing)\n"),
    "typescript": _tsconfig(),
    "vtsls": _tsconfig(),
    "typescript-7": _tsconfig(),
    "rust-analyzer": Setting(
        "src/lib.rs",
        '#[cfg(feature = "strict")]\npub fn own() -> i32 { "a" }\n',
        "Cargo.toml",
        COURSES["rust-analyzer"].files["Cargo.toml"]
        + '\n[features]\nstrict = []\ndefault = ["strict"]\n',
        COURSES["rust-analyzer"].files["Cargo.toml"] + "\n[features]\nstrict = []\n",
        later=True,
    ),
}


@pytest.mark.parametrize("server", list(SETTINGS))
def test_a_check_sees_what_another_process_did_to_the_configuration(
    server: str, tmp_path: Path
) -> None:
    setting, folder = SETTINGS[server], tmp_path / "project"
    course = Course("", Template(setting.name, "", "", ""), files={setting.name: setting.text})
    found = []
    with workspace(server, course, folder) as ws:
        path, configuration = folder / setting.name, folder / setting.configuration
        for text, wanted in (
            (setting.strict, DIRTY),
            (setting.lax, CLEAN),
            (setting.strict, DIRTY),
            (setting.lax, CLEAN),
        ):
            elsewhere("write", configuration, text)
            if setting.later:
                found.append(verdict_soon(ws, path, wanted))
            else:
                found.append(ws.check(path, timeout=TIMEOUT).verdict)
    assert found == [DIRTY, CLEAN, DIRTY, CLEAN]


def test_the_exceptions_are_about_servers_that_are_tried() -> None:
    assert {*INSTEAD, *MAY_NOT_KNOW, *LATER} <= set(MODULES)
