"""`lspkit check --new-since`: what the work tree has introduced."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.check.repository import OLD, commit, git
from tests.cli.running import TIMEOUT, CommandLine
from tests.scripted import comes_true

pytestmark = pytest.mark.slow

server = pytest.mark.server

NEW = 'new: int = "text"\n'


@pytest.fixture(scope="session")
def only_git(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with nothing but git, for `PATH`."""
    folder = tmp_path_factory.mktemp("only-git")
    (folder / "git").symlink_to(shutil.which("git") or "")
    return str(folder)


@pytest.fixture
def with_ty(with_ty: CommandLine, only_git: str, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The same, which also finds git."""
    path = f"{with_ty.environment['PATH']}{os.pathsep}{only_git}"
    monkeypatch.setitem(with_ty.environment, "PATH", path)
    return with_ty


@pytest.fixture
def left_behind(tmp_path: Path) -> Callable[[], list[str]]:
    """The names in the temporary folder, in which nothing may be left."""
    return lambda: sorted(one for one in os.listdir(tmp_path / "tmp") if "revision" in one)


@server
@pytest.mark.slow
def test_what_was_there_before_is_counted_and_is_no_finding(with_ty, tree, left_behind):
    done = with_ty("check", ".", "--include", "*.py", "--new-since", "HEAD", cwd=tree)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "2 files: 1 finding from before, 2 without new findings\n"
    assert left_behind() == []


@server
@pytest.mark.slow
def test_what_the_work_tree_introduced_is_a_finding(with_ty, tree, left_behind):
    (tree / "a.py").write_text(f"import os\n\n{OLD}{NEW}", encoding="utf-8")
    (tree / "untracked.py").write_text(NEW, encoding="utf-8")
    done = with_ty("check", ".", "--include", "*.py", "--new-since", "HEAD", cwd=tree)
    assert done.returncode == 1
    first, second, summary = done.stdout.splitlines()
    assert first.startswith("a.py:4:12 error ")
    assert second.startswith("untracked.py:1:12 error ")
    assert summary == (
        "3 files: 2 new findings in 2 files, 1 finding from before, 1 without new findings"
    )
    assert left_behind() == []


@server
@pytest.mark.slow
def test_an_edit_that_breaks_another_file_is_noticed_there(with_ty, tree):
    (tree / "clean.py").write_text("def f(a: int) -> None: ...\n", encoding="utf-8")
    (tree / "user.py").write_text("from clean import f\n\nf(1)\n", encoding="utf-8")
    commit(tree)
    (tree / "clean.py").write_text("def f(a: str) -> None: ...\n", encoding="utf-8")
    done = with_ty("check", ".", "--include", "*.py", "--new-since", "HEAD", cwd=tree)
    assert done.returncode == 1
    assert done.stdout.startswith("user.py:3:3 error ")


@server
@pytest.mark.slow
def test_a_renamed_file_is_followed(with_ty, tree):
    (tree / "a.py").write_text(OLD + "# one\n# two\n# three\n", encoding="utf-8")
    commit(tree)
    git(tree, "mv", "a.py", "b.py")
    with (tree / "b.py").open("a", encoding="utf-8") as stream:
        stream.write(NEW)
    done = with_ty("check", ".", "--include", "*.py", "--new-since", "HEAD", cwd=tree)
    assert done.returncode == 1
    finding, _ = done.stdout.splitlines()
    assert finding.startswith("b.py:5:12 error ")


@server
@pytest.mark.slow
def test_json_has_what_is_new_fixed_and_left(with_ty, tree):
    (tree / "a.py").write_text(OLD + NEW, encoding="utf-8")
    done = with_ty("check", "a.py", "--new-since", "HEAD", "--json", cwd=tree)
    printed = json.loads(done.stdout)
    assert (printed["newSince"], printed["uncompared"]) == ("HEAD", [])
    [report] = printed["reports"]
    assert [one["range"]["start"]["line"] for one in report["introduced"]] == [2]
    assert [one["range"]["start"]["line"] for one in report["remaining"]] == [1]
    assert report["fixed"] == []


@server
@pytest.mark.slow
def test_a_revision_that_could_not_be_checked_leaves_it_unknown(with_ty, tree):
    done = with_ty("check", "a.py", "--new-since", "HEAD", "--timeout", "0", cwd=tree)
    assert done.returncode == 3


@server
@pytest.mark.slow
def test_a_revision_that_takes_too_long_to_read_leaves_it_unknown(
    with_ty, tree, tmp_path, left_behind
):
    """The command ends by its own timeout; git would go on for longer than this test may take."""
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    git, sleep = shutil.which("git"), shutil.which("sleep")
    slow.write_text(
        f'#!/bin/sh\ncase "$*" in *cat-file*) exec {sleep} 600;; esac\nexec {git} "$@"\n'
    )
    slow.chmod(0o755)
    path = os.pathsep.join([str(slow.parent), with_ty.environment["PATH"]])
    words = ("check", "a.py", "clean.py", "--new-since", "HEAD", "--timeout", "15")
    done = with_ty(*words, "--json", cwd=tree, PATH=path)
    assert (done.returncode, done.stderr) == (3, "")
    answer = json.loads(done.stdout)
    assert [one["introduced"] for one in answer["reports"]] == [None, []]
    assert [one["reason"] for one in answer["uncompared"]] == [
        "its state at HEAD is not known: the timeout expired before the revision was read"
    ]
    assert left_behind() == []


@server
@pytest.mark.slow
def test_a_revision_is_not_read_if_nothing_has_to_be_compared(with_ty, tree):
    """It is one that cannot be read: an object is missing."""
    object = git(tree, "rev-parse", "HEAD:a.py").strip()
    (tree / ".git" / "objects" / object[:2] / object[2:]).unlink()
    words = ("--new-since", "HEAD", "--json")
    done = with_ty("check", "clean.py", *words, cwd=tree)
    assert (done.returncode, done.stderr) == (0, "")
    [report] = json.loads(done.stdout)["reports"]
    assert report["introduced"] == []
    done = with_ty("check", "a.py", *words, cwd=tree)
    assert done.returncode == 2
    assert "an object of the revision is missing" in done.stderr


@server
@pytest.mark.slow
def test_a_folder_of_the_repository_is_compared_with_itself(with_ty, tree):
    (tree / "sub").mkdir()
    (tree / "sub" / "c.py").write_text(OLD, encoding="utf-8")
    commit(tree)
    done = with_ty("check", ".", "--new-since", "HEAD", cwd=tree / "sub")
    assert (done.returncode, done.stderr) == (0, "")


@server
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_behind(with_ty, tree, left_behind, number):
    for one in range(100):
        (tree / f"m{one}.py").write_text(OLD * 50, encoding="utf-8")
    commit(tree)
    with subprocess.Popen(
        with_ty.command("check", ".", "--new-since", "HEAD"),
        cwd=tree,
        env={**with_ty.environment, "TMPDIR": os.environ["TMPDIR"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert comes_true(left_behind)
        process.send_signal(number)
        _, said = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, said) == (128 + number, "")
    assert left_behind() == []


# Mistakes


def test_without_a_repository_it_is_a_mistake_in_the_call(bare, tmp_path):
    (tmp_path / "a.py").touch()
    done = bare("check", "a.py", "--new-since", "HEAD", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"needs a git repository, and {tmp_path} is not in one\n")


@pytest.mark.parametrize("name", ["nothing", "HEAD~99", "HEAD:a.py", "$(touch x)", "@{upstream}"])
def test_an_unknown_revision_is_named(bare, tree, only_git, name):
    done = bare("check", "a.py", "--new-since", name, cwd=tree, PATH=only_git)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no revision {name!r} in {tree}" in done.stderr


@pytest.mark.parametrize("name", ["", "--all", "-x"])
def test_an_option_is_no_revision(bare, tree, name):
    done = bare("check", "a.py", f"--new-since={name}", cwd=tree)
    assert done.returncode == 2
    assert "expected a git revision" in done.stderr


def test_without_git_it_is_a_mistake_in_the_call(bare, tree):
    done = bare("check", "a.py", "--new-since", "HEAD", cwd=tree)
    assert done.returncode == 2
    assert "needs git, which was not found" in done.stderr
