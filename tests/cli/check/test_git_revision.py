"""The files of a git revision, from a repository of anybody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import psutil
import pytest

from lspkit.cli.check import git_revision
from lspkit.cli.check.git_revision import Git, environment, export_revision, find_revision
from lspkit.cli.command_parser import UsageError
from tests.cli.check.repository import OLD, add_entry, commit, git, store_object
from tests.scripted import comes_true

pytestmark = pytest.mark.slow

NEW = 'new: int = "text"\n'


def test_a_git_of_the_project_is_not_run(tree, monkeypatch):
    (tree / "git").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    (tree / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tree}:.")
    with pytest.raises(UsageError, match="was not found"):
        Git.at(str(tree))


def test_a_configuration_that_includes_a_fifo_is_not_waited_for(tree, monkeypatch):
    monkeypatch.setattr(git_revision, "FIRST_SECONDS", 0.5)
    os.mkfifo(tree / "fifo")
    git(tree, "config", "include.path", str(tree / "fifo"))
    with pytest.raises(UsageError, match=r"not ended within 0\.5 s in .*includes a file"):
        find_revision("HEAD", str(tree))


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


@pytest.mark.parametrize("target", ["lib/../lib/m.py", "around/../../outside", "around/../x"])
def test_a_link_that_goes_up_after_a_name_is_left_out(tree, target):
    """The name may be that of a link, so it is not known which folder is above it."""
    add_entry(
        tree,
        ("120000", "around", b"."),
        ("120000", "link", target.encode()),
        ("40000", "lib", [("100644", "m.py", b"fine"), ("120000", "up", b"..")]),
    )
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert not Path(revision.folder, "link").is_symlink()
        assert os.readlink(Path(revision.folder, "around")) == "."
        assert os.readlink(Path(revision.folder, "lib", "up")) == ".."


@pytest.mark.parametrize("target", ["../lib/m.py", "./inner", ".././lib/m.py"])
def test_a_link_in_the_tree_leads_where_it_leads_in_the_work_tree(tree, target):
    (tree / "lib").mkdir()
    (tree / "lib" / "m.py").write_text(NEW, encoding="utf-8")
    (tree / "sub").mkdir()
    os.symlink("../lib/m.py", tree / "sub" / "inner")
    os.symlink(target, tree / "sub" / "link")
    os.symlink("lib", tree / "folder")
    commit(tree)
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert Path(revision.folder, "sub", "link").read_text(encoding="utf-8") == NEW
        assert Path(revision.folder, "folder", "m.py").read_text(encoding="utf-8") == NEW


@pytest.mark.parametrize("way", ["around/../outside", "around/around/../../outside"])
@pytest.mark.parametrize("entry", ["120000", "100644"])
def test_what_is_both_a_link_and_a_folder_leads_nowhere(tree, tmp_path, way, entry):
    outside = tmp_path / "tmp" / "outside"
    outside.mkdir()
    add_entry(
        tree,
        ("120000", "around", b"."),
        ("120000", "d", way.encode()),
        ("40000", "d", [(entry, "evil", b"x"), ("40000", "more", [(entry, "evil", b"x")])]),
    )
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert os.listdir(outside) == []
        assert not Path(revision.folder, "d").is_symlink()
        assert sorted(os.listdir(Path(revision.folder, "d"))) == ["evil", "more"]


def test_of_two_entries_of_one_name_one_is_there(tree):
    add_entry(
        tree,
        ("100644", "a", b"first"),
        ("100644", "a", b"second"),
        ("100644", "d", b"file"),
        ("40000", "d", [("100644", "m.py", b"fine")]),
    )
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert Path(revision.folder, "a").read_text(encoding="utf-8") == "first"
        assert revision.files == {"a", "d/m.py"}


def test_a_link_that_no_system_can_make_is_left_out(tree):
    add_entry(tree, ("120000", "a", b"x\0y"), ("120000", "b", b""), ("100644", "ok.py", b"fine"))
    with export_revision(find_revision("HEAD", str(tree))) as revision:
        assert sorted(os.listdir(revision.folder)) == [".git", "ok.py"]


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


def test_a_small_repository_that_names_too_much_is_refused(tree):
    blob = store_object(tree, bytes(git_revision.LARGEST))
    add_entry(tree, *(("100644", f"{number}.py", blob) for number in range(126)))
    revision = find_revision("HEAD", str(tree))
    with pytest.raises(UsageError) as caught, export_revision(revision):
        pass
    assert str(caught.value) == (
        f"--new-since: the files of HEAD in {tree} would take more than 2000 MB in "
        f"{os.environ['TMPDIR']}, so nothing was compared; check without --new-since"
    )
    assert os.listdir(os.environ["TMPDIR"]) == []


@pytest.mark.parametrize("is_enough", [True, False])
def test_the_limit_counts_files_folders_and_names(tree, monkeypatch, is_enough):
    inner = [("100644", "b.py", b"short"), ("100644", "c.py", b"x" * 5000)]
    add_entry(tree, ("40000", "d", [("40000", "e", inner)]), ("100644", "f.py", b""))
    # Two folders, two small files, a larger one, and the paths of the three.
    needed = 6 * git_revision.BLOCK + len("d/e/b.py" + "d/e/c.py" + "f.py")
    limit = needed if is_enough else needed - 1
    monkeypatch.setattr(git_revision, "LARGEST_REVISION", limit)
    expected = nullcontext() if is_enough else pytest.raises(UsageError, match="more than 0 MB")
    with expected, export_revision(find_revision("HEAD", str(tree))) as revision:
        assert revision.files == {"d/e/b.py", "d/e/c.py", "f.py"}


def test_a_name_that_no_disk_can_hold_is_left_out(tree, monkeypatch):
    deep = [("100644", "deep.py", b"")]
    for _ in range(git_revision.DEEPEST):
        deep = [("40000", "d", deep)]
    add_entry(tree, ("100644", "x" * 300, b""), ("100644", "f.py", b""), ("40000", "d", deep))
    revision = find_revision("HEAD", str(tree))
    with export_revision(revision) as written:
        assert written.files == {"f.py"}
    monkeypatch.setattr(git_revision, "LONGEST_NAME", 300)
    with (
        pytest.raises(UsageError, match=r"cannot be written to .*: File name too long"),
        export_revision(revision),
    ):
        pass
    assert os.listdir(os.environ["TMPDIR"]) == []


LIST = """
import sys
from lspkit.cli.check.git_revision import export_revision, find_revision
with export_revision(find_revision("HEAD", sys.argv[1])):
    pass
"""


def test_git_ends_with_the_program_that_lists_a_revision(tree):
    """Each of 20 trees lists the one below it ten times, and the last is empty: git is silent."""
    name = store_object(tree, [])
    for _ in range(20):
        name = store_object(tree, [("40000", f"d{number}", name) for number in range(10)])
    add_entry(tree, ("40000", "top", name))
    listing: list[psutil.Process] = []
    with subprocess.Popen([sys.executable, "-c", LIST, str(tree)]) as process:

        def is_listing() -> bool:
            for one in psutil.Process(process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):  # an earlier git has ended meanwhile
                    listing.extend([one] if "ls-tree" in one.cmdline() else [])
            return bool(listing)

        try:
            assert comes_true(is_listing)
            process.terminate()
            assert process.wait(20) == 128 + signal.SIGTERM
        finally:
            process.kill()
    assert psutil.wait_procs(listing, 20)[1] == []


def test_a_list_of_files_that_never_ends_is_not_read_to_its_end(tree, monkeypatch):
    """Each of 20 trees lists the one below it ten times."""
    monkeypatch.setattr(git_revision, "LARGEST_REVISION", 1_000_000)
    name = store_object(tree, [("100644", "a.py", b"")])
    for _ in range(20):
        name = store_object(tree, [("40000", f"d{number}", name) for number in range(10)])
    add_entry(tree, ("40000", "top", name))
    revision = find_revision("HEAD", str(tree))
    with pytest.raises(UsageError, match="would take more than 1 MB"), export_revision(revision):
        pass
    children = psutil.Process().children(recursive=True)
    assert [one.name() for one in children if one.name().startswith("git")] == []
