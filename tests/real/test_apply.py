"""A rename over fifty files, made and taken back, on real servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

import lspkit
from lspkit.edits.apply import apply, undo
from lspkit.workspace_boundary import boundary_of
from tests import real_servers
from tests.edits.trees import at_step, snapshot
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

#: A workspace, and the edit that renames in it.
Renaming = tuple[lspkit.Workspace, lspkit.WorkspaceEdit]

#: More files than this are changed by the rename.
USERS = 50
#: And by one that fails at each of its steps: every kind of file that `fill` makes.
FEW_USERS = 14
#: Line endings by turns, and one file that has all of them.
ENDINGS = ("\n", "\r\n")

#: Server: the extension, the file that defines, and one that uses; `{n}` is its number.
LANGUAGES = {
    "pyright": (
        ".py",
        'def größe(wert: int) -> int:\n    """😀 doubles."""\n    return wert * 2\n',
        "from origin import größe\n\ntext_{n} = '😀 größe'; value_{n} = größe({n})\n",
    ),
    "typescript": (
        ".ts",
        "/** 😀 doubles. */\nexport function größe(wert: number): number {\n  return 2;\n}\n",
        (
            'import { größe } from "./origin";\n\n'
            "export const text{n} = '😀 größe'; export const value{n} = größe({n});\n"
        ),
    ),
}


def fill(folder: Path, server: str, users: int) -> str:
    """The project; returns the name of the file that defines."""
    extension, origin, user = LANGUAGES[server]
    (folder / "tsconfig.json").write_text('{"compilerOptions": {"types": []}}\n', encoding="utf-8")
    (folder / f"origin{extension}").write_text(origin, encoding="utf-8")
    for number in range(users):
        text = user.replace("{n}", str(number)).replace("\n", ENDINGS[number % 2])
        if number == 7:
            text = text.replace("\r\n", "\n", 1)  # mixed
        mark = b"\xef\xbb\xbf" if number % 10 == 3 else b""
        file = folder / f"user{number}{extension}"
        file.write_bytes(mark + text.encode())
        file.chmod(0o640 if number % 3 else 0o755)
    return f"origin{extension}"


@contextmanager
def renamed_in(folder: Path, server: str, users: int) -> Iterator[Renaming]:
    real_servers.require(server)
    origin = fill(folder, server, users)
    with workspace_with(folder, {server: real_servers.command(server)}) as ws:
        # TypeScript knows the users of a file only once it has seen one of them.
        ws.check(origin.replace("origin", "user0"))
        yield ws, ws.rename(origin, symbol="größe", new_name="größer")


@pytest.fixture(scope="module", params=LANGUAGES)
def over_fifty(request, tmp_path_factory):
    with renamed_in(tmp_path_factory.mktemp("project"), request.param, USERS) as renaming:
        yield renaming


@pytest.fixture
def renaming(over_fifty):
    """A rename in a server that the tests share: each of them leaves the tree as it was."""
    ws, _ = over_fifty
    before = snapshot(ws.root)
    yield over_fifty
    assert snapshot(ws.root) == before


def test_a_rename_over_fifty_files_is_made_and_taken_back_byte_for_byte(renaming):
    ws, edit = renaming
    assert len(edit.files) == USERS + 1
    before = snapshot(ws.root)
    applied = ws.apply(edit)
    after = snapshot(ws.root)
    changed = [name for name in before if before[name] != after[name]]
    assert len(changed) == USERS + 1
    for name in changed:
        text = after[name][2].decode()
        assert text.replace("größer", "größe") == before[name][2].decode()
        assert after[name][1] == before[name][1]  # the mode
    ws.undo(applied)
    assert snapshot(ws.root) == before


@pytest.mark.parametrize("server", LANGUAGES)
def test_a_rename_that_fails_after_any_single_step_leaves_the_tree_as_it_was(server, tmp_path):
    with renamed_in(tmp_path, server, FEW_USERS) as (_, edit):
        assert len(edit.files) == FEW_USERS + 1
    boundary, before, steps = boundary_of(str(tmp_path)), snapshot(tmp_path), []
    undo(apply(edit, boundary, before_step=steps.append), boundary)
    assert len(set(steps)) > 2 * FEW_USERS  # each file is written beside, and takes its place

    def fail() -> None:
        raise OSError("stop")

    for number in set(steps):
        with pytest.raises((OSError, lspkit.PathError)):
            apply(edit, boundary, before_step=at_step(number, fail))
        assert snapshot(tmp_path) == before, f"failed before step {number}"


def test_a_rename_that_is_verified_stays_where_it_breaks_nothing(renaming):
    ws, edit = renaming
    applied = ws.apply(edit, check="project")
    assert len(applied.files) == USERS + 1
    assert applied.unchecked == ()
    reports = ws.check_all(applied.files)
    assert {report.verdict for report in reports.values()} == {lspkit.Verdict.CLEAN}
    ws.undo(applied)


def test_an_edit_that_breaks_something_is_taken_back_when_it_is_verified(renaming):
    ws, edit = renaming
    before = snapshot(ws.root)
    users = tuple(one for one in edit.changes if one.path.stem != "origin")
    half = lspkit.WorkspaceEdit(users, edit.server)  # all but the definition itself
    with pytest.raises(lspkit.RequestFailedError, match="was undone"):
        ws.apply(half, check="project")
    assert snapshot(ws.root) == before


#: Server: a file that defines `double` and uses it wrongly twice on one line.
WRONG_BEFORE = {
    "ty": ("a.py", "def double(x: int) -> int:\n    return x\n\n\ndouble('a'), double('b')\n"),
    "pyright": ("a.py", "def double(x: int) -> int:\n    return x\n\n\ndouble('a'), double('b')\n"),
    "typescript": ("a.ts", "class double { a = 1 }\nexport const b: double = 1, c: double = 2;\n"),
}


@pytest.fixture(params=WRONG_BEFORE)
def wrong_before(request, tmp_path):
    server = request.param
    real_servers.require(server)
    name, text = WRONG_BEFORE[server]
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"types": []}}\n')
    with workspace_with(tmp_path, {server: real_servers.command(server)}) as ws:
        yield ws, name, ws.rename(name, symbol="double", new_name="twice")


def test_a_rename_stays_where_old_errors_name_what_it_renames(wrong_before, tmp_path):
    ws, name, edit = wrong_before
    old = [one.message for one in ws.check(name).counted]
    ws.apply(edit, check="project")
    assert "double" not in (tmp_path / name).read_text(encoding="utf-8")
    assert len(old) == 2
    assert [one.message for one in ws.check(name).counted] == [
        one.replace("double", "twice") for one in old
    ]


def test_a_rename_of_half_of_them_is_taken_back_beside_old_errors(wrong_before, tmp_path):
    ws, name, edit = wrong_before
    text = (tmp_path / name).read_text(encoding="utf-8")
    [change] = edit.changes
    *_, last = change.edits
    broken = "twice".join(text.rsplit("double", 1))
    half = msgspec.structs.replace(change, edits=(last,), after=broken)
    with pytest.raises(lspkit.RequestFailedError, match="was undone"):
        ws.apply(lspkit.WorkspaceEdit((half,), edit.server), check="project")
    assert (tmp_path / name).read_text(encoding="utf-8") == text
