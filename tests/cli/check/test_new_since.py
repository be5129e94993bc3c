"""`lspkit check --new-since`: what the work tree has introduced, in a repository of anybody."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from lspkit.cli.argument_types import UsageError
from lspkit.cli.check.git_program import Git, environment
from lspkit.cli.check.git_revision import export_revision, find_revision
from tests.cli.running import TIMEOUT, CommandLine
from tests.scripted import comes_true

pytestmark = pytest.mark.slow

server = pytest.mark.server

OLD = 'old: int = "text"\n'
NEW = 'new: int = "text"\n'


def git(tree: Path, *words: str) -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    done = subprocess.run(
        ["git", *names, *words],
        cwd=tree,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def commit(tree: Path) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "all")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "pyproject.toml").write_text('[project]\nname = "p"\n', encoding="utf-8")
    (folder / "a.py").write_text(OLD, encoding="utf-8")
    (folder / "clean.py").write_text("x = 1\n", encoding="utf-8")
    commit(folder)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


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


def test_a_git_of_the_project_is_not_run(tree, monkeypatch):
    (tree / "git").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    (tree / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tree}:.")
    with pytest.raises(UsageError, match="was not found"):
        Git.at(str(tree))


# A repository of anybody


TRAP = "touch {mark}; cat"


@pytest.mark.parametrize(
    ("setting", "attributes"),
    [
        ("core.fsmonitor", ""),
        ("core.pager", ""),
        ("core.sshCommand", ""),
        ("core.askPass", ""),
        ("core.editor", ""),
        ("diff.external", ""),
        ("credential.helper", ""),
        ("core.alternateRefsCommand", ""),
        ("filter.trap.smudge", "* filter=trap\n"),
        ("filter.trap.clean", "* filter=trap\n"),
        ("filter.trap.process", "* filter=trap\n"),
        ("diff.trap.textconv", "* diff=trap\n"),
        ("diff.trap.command", "* diff=trap\n"),
        ("alias.rev-parse", ""),
        ("alias.ls-tree", ""),
    ],
)
def test_nothing_that_the_repository_configures_is_run(tree, tmp_path, setting, attributes):
    (tree / "b.py").write_text("# renamed\n" * 9, encoding="utf-8")
    (tree / ".gitattributes").write_text(attributes, encoding="utf-8")
    commit(tree)
    git(tree, "mv", "b.py", "c.py")
    (tree / "a.py").write_text(NEW, encoding="utf-8")
    mark = tmp_path / "mark"
    trap = TRAP.format(mark=mark)
    git(tree, "config", setting, f"!{trap}" if setting.startswith("alias") else trap)
    # git run by somebody else in the test may have sprung it.
    mark.unlink(missing_ok=True)
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert Path(revision.folder, "a.py").read_text(encoding="utf-8") == OLD
        assert revision.renamed == {"c.py": "b.py"}
    assert not mark.exists()


def test_no_hook_is_run(tree, tmp_path):
    mark = tmp_path / "mark"
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        hook = tree / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
        hook.chmod(0o755)
    with export_revision(find_revision("HEAD", str(tree))):
        pass
    assert not mark.exists()


def test_missing_objects_are_not_fetched(tree, tmp_path):
    mark = tmp_path / "mark"
    [name] = git(tree, "rev-parse", "HEAD:a.py").split()
    (tree / ".git" / "objects" / name[:2] / name[2:]).unlink()
    git(tree, "config", "remote.origin.url", f"ext::sh -c touch% {mark}")
    git(tree, "config", "remote.origin.promisor", "true")
    git(tree, "config", "extensions.partialClone", "origin")
    git(tree, "config", "core.repositoryFormatVersion", "1")
    git(tree, "config", "protocol.ext.allow", "always")
    with pytest.raises(UsageError), export_revision(find_revision("HEAD", str(tree))):
        pass
    assert not mark.exists()


def add_entry(tree: Path, *entries: tuple[str, str, bytes]) -> None:
    """Commit a tree with these entries, which git itself would refuse to add."""

    def store(content: bytes, kind: str) -> bytes:
        words = ["git", "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
        done = subprocess.run(words, cwd=tree, input=content, capture_output=True, check=True)
        return done.stdout.strip()

    lines = b""
    for mode, name, content in sorted(entries, key=lambda one: one[1]):
        object = store(content, "blob")
        lines += f"{mode} {name}\0".encode() + bytes.fromhex(object.decode())
    made = store(lines, "tree").decode()
    git(tree, "update-ref", "HEAD", git(tree, "commit-tree", "-m", "odd", made).strip())


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", ".", "a/../../x"])
def test_a_name_that_leads_elsewhere_is_left_out(tree, tmp_path, name):
    add_entry(tree, ("100644", name, b"evil"), ("100644", "ok.py", b"fine"))
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert sorted(os.listdir(revision.folder)) == [".git", "ok.py"]
        assert os.listdir(Path(revision.folder, ".git")) == []
        assert revision.files == {"ok.py"}


@pytest.mark.parametrize("target", ["/etc/passwd", "../../x", "../outside", ".git/config"])
def test_a_link_that_leads_elsewhere_is_left_out(tree, target):
    os.symlink(target, tree / "link")
    os.symlink("a.py", tree / "inner")
    commit(tree)
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert not Path(revision.folder, "link").is_symlink()
        assert Path(revision.folder, "inner").read_text(encoding="utf-8") == OLD


def test_nothing_is_written_through_a_link(tree, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    add_entry(tree, ("120000", "d", str(outside).encode()), ("100644", "d", b"evil"))
    with export_revision(find_revision("HEAD", str(tree))):
        assert os.listdir(outside) == []


def test_packages_and_environments_of_the_work_tree_are_there(tree):
    (tree / ".gitignore").write_text("env/\nnode_modules/\n", encoding="utf-8")
    for name in ("env/lib", "node_modules/pkg"):
        (tree / name).mkdir(parents=True)
    (tree / "env" / "pyvenv.cfg").touch()
    commit(tree)
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert os.readlink(Path(revision.folder, "env")) == str(tree / "env")
        assert os.readlink(Path(revision.folder, "node_modules")) == str(tree / "node_modules")
    assert (tree / "env" / "lib").is_dir()


def test_variables_of_a_hook_do_not_lead_to_another_repository():
    given = {
        "GIT_DIR": "/x",
        "GIT_INDEX_FILE": "/x",
        "GIT_WORK_TREE": "/x",
        "GIT_SSH_COMMAND": "evil",
        "GIT_EXTERNAL_DIFF": "evil",
        "GIT_CONFIG_GLOBAL": "/home/me/.gitconfig",
        "HOME": "/home/me",
    }
    left = environment(given)
    assert {name for name in left if name in given} == {"GIT_CONFIG_GLOBAL", "HOME"}


def test_no_process_of_git_is_left(tree):
    with export_revision(find_revision("HEAD", str(tree))):
        children = psutil.Process().children(recursive=True)
        assert [one.name() for one in children if one.name().startswith("git")] == []
