"""What another process does to a module of a project, as the next check sees it.

A file imports a module that is not there. Another process creates the module, breaks it, mends it,
replaces it, renames it away and back, and deletes it; after each step the importer is checked,
without any wait in between. The importer is open all the time, the module never is: the server has
to hear of it, or to look for itself.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

import lspkit
from benchmarks.overlap_projects import COURSES, Course, Template
from lspkit import Verdict
from tests.real.disk_courses import (
    CLEAN,
    DIRTY,
    TIMEOUT,
    UNKNOWN,
    elsewhere,
    group_of,
    verdict_soon,
    workspace,
)
from tests.side_by_side import SideBySide, selected

pytestmark = [
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.timeout(300),  # several servers in one test, on a busy machine
    pytest.mark.usefixtures("programs_on_the_path"),
]

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
#: Those that take longest come first, and so together.
SLOWEST = ("jdtls", "rust-analyzer", "intelephense", "clangd")
MODULES: dict[str, Course] = {server: COURSES[server] for server in SLOWEST}
MODULES |= {server: course for server, course in COURSES.items() if course.pair is not None}
MODULES["rust-analyzer"] = RUST

#: What is true after each step.
STEPS = {
    "missing": DIRTY,
    "created": CLEAN,
    "broken": DIRTY,
    "mended": CLEAN,
    "replaced by a broken one": DIRTY,
    "replaced by a good one": CLEAN,
    "renamed away": DIRTY,
    "renamed back": CLEAN,
    "deleted": DIRTY,
}

#: What a server says instead of what is true, and why. A version of it, or of lspkit, that does
#: better fails the test until these tables say so.
INSTEAD: dict[str, tuple[dict[str, Verdict], str]] = {}
#: Servers whose silence proves nothing: they may leave it open, but must not be wrong.
MAY_NOT_KNOW = {
    "jdtls": "it publishes without a version, up to two seconds after a change",
    "intelephense": "it publishes without a version, a second after a change",
}
#: Servers that are told at once, and may tell of what was wrong before for a moment. Never that all
#: is well when it is not.
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
        "replaced by a broken one": ("rewrite", other, bad),
        "replaced by a good one": ("rewrite", other, good),
        "renamed away": ("move", other, str(away)),
        "renamed back": ("move", away, str(other)),
        "deleted": ("delete", other),
    }
    found = {}
    for step, act in acts.items():
        if act is not None:
            elsewhere(*act)
        found[step] = ws.check(importer, timeout=TIMEOUT).verdict
        if later and found[step] is not CLEAN:
            found[step] = verdict_soon(ws, importer, STEPS[step])
    return found


def module_course(server: str, place: Path) -> dict[str, Verdict]:
    """What the server says at each step."""
    course, folder = MODULES[server], place / "project"
    assert course.pair is not None
    assert course.other is not None
    with workspace(server, course, folder) as ws:
        importer = folder / course.pair.name
        importer.write_text(course.pair.make(1, broken=False).content)
        other = folder / course.other.name
        return told(ws, importer, other, course.other, later=server in LATER)


@pytest.mark.parametrize("module_server", list(MODULES))
def test_the_next_check_sees_what_another_process_did_to_a_module(
    module_server: str, results: SideBySide, request: pytest.FixtureRequest
) -> None:
    server, group = module_server, group_of(module_server, selected(request, "module_server"))
    found = results.result(server, {one: partial(module_course, one) for one in group})
    expected = STEPS | INSTEAD.get(server, ({}, ""))[0]
    if server in MAY_NOT_KNOW:
        found = {step: expected[step] if one is UNKNOWN else one for step, one in found.items()}
    assert found == expected


@pytest.mark.parametrize("server", ["ty", "pyright", "typescript-7"])
def test_a_module_that_is_replaced_by_one_with_the_same_time_is_read(
    server: str, tmp_path: Path
) -> None:
    course, folder = MODULES[server], tmp_path / "project"
    assert course.pair is not None
    assert course.other is not None
    found = []
    with workspace(server, course, folder) as ws:
        importer, other = (folder / one.name for one in (course.pair, course.other))
        importer.write_text(course.pair.make(1, broken=False).content)
        for broken in (False, True, False):
            draft = tmp_path / "draft"
            draft.write_text(course.other.make(1, broken=broken).content)
            os.utime(draft, (10**9, 10**9))
            elsewhere("move", draft, str(other))
            found.append(ws.check(importer, timeout=TIMEOUT).verdict)
    assert found == [CLEAN, DIRTY, CLEAN]


def test_the_exceptions_are_about_servers_that_are_tried() -> None:
    assert {*INSTEAD, *MAY_NOT_KNOW, *LATER} <= set(MODULES)
