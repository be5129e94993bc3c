"""Where the socket is if the usual folder cannot be used, and what is said if none can."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import filelock
import msgspec
import pytest

import lspkit
from lspkit.service.runtime_folder import runtime_folder
from tests.scripted import ask
from tests.service.site import Site

AS_ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can do that"
)


def fallback() -> str:
    """The folder among temporary files; the leak check sets where these are."""
    return os.path.join(os.environ["TMPDIR"], f"lspkit-{os.getuid()}")


def serves_from(site: Site, folder: str) -> bool:
    """Whether a client gets a service whose socket is in that folder."""
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        place = site.place
        assert place.folder == folder
        assert os.path.exists(place.socket)
        assert os.stat(folder).st_mode & 0o777 == 0o700
    site.end_service()
    for entry in Path(folder).iterdir():
        entry.unlink()
    os.rmdir(folder)
    return True


def test_without_a_runtime_folder_it_is_that_of_the_user_or_a_temporary_one(site: Site) -> None:
    del site.environ["XDG_RUNTIME_DIR"]
    if os.path.isdir(f"/run/user/{os.getuid()}"):
        pytest.skip("this system has a runtime folder, which tests must not use")
    assert serves_from(site, fallback())


@pytest.mark.parametrize("value", ["", "relative/folder", "/missing/folder", "/dev/null"])
def test_a_runtime_folder_that_is_none_is_passed_over(site: Site, value: str) -> None:
    if not os.path.isabs(value) and os.path.isdir(f"/run/user/{os.getuid()}"):
        pytest.skip("this system has a runtime folder, which tests must not use")
    found = runtime_folder({**site.environ, "XDG_RUNTIME_DIR": value}, str(site.project))
    assert found == fallback()
    os.rmdir(found)


@pytest.mark.parametrize("name", ["TMPDIR", "TEMP", "TMP"])
def test_the_variables_for_temporary_files_are_used_in_order(site: Site, name: str) -> None:
    if os.path.isdir(f"/run/user/{os.getuid()}"):
        pytest.skip("this system has a runtime folder, which tests must not use")
    chosen = site.base / "chosen"
    chosen.mkdir()
    unusable = dict.fromkeys(["TMPDIR", "TEMP", "TMP"], "/missing/folder") | {"TMPDIR": "relative"}
    found = runtime_folder({**unusable, name: str(chosen)}, str(site.project))
    assert found == str(chosen / f"lspkit-{os.getuid()}")


def test_a_runtime_folder_in_the_project_is_passed_over(site: Site) -> None:
    inside = site.project / "run"
    inside.mkdir(mode=0o700)
    site.environ["XDG_RUNTIME_DIR"] = str(inside)
    assert serves_from(site, fallback())
    assert list(inside.iterdir()) == []


def test_a_runtime_folder_with_a_path_too_long_for_a_socket_is_passed_over(site: Site) -> None:
    long = site.base / ("x" * 80)
    long.mkdir(mode=0o700)
    site.environ["XDG_RUNTIME_DIR"] = str(long)
    assert serves_from(site, fallback())


def test_the_longest_path_that_is_accepted_can_be_used(site: Site) -> None:
    room = 103 - len("/lspkit/") - len(os.path.basename(site.place.socket))
    name = "x" * (room - len(str(site.base)) - 1)
    longest = site.base / name
    longest.mkdir(mode=0o700)
    site.environ["XDG_RUNTIME_DIR"] = str(longest)
    assert len(site.place.socket) == 103
    assert serves_from(site, str(longest / "lspkit"))


@AS_ROOT
def test_a_runtime_folder_of_another_user_is_passed_over(site: Site) -> None:
    theirs = site.base / "theirs"
    (theirs / "lspkit").mkdir(parents=True)
    os.chown(theirs / "lspkit", 65534, 65534)
    site.environ["XDG_RUNTIME_DIR"] = str(theirs)
    assert serves_from(site, fallback())


def test_a_runtime_folder_that_others_can_change_is_passed_over(site: Site) -> None:
    open_to_all = site.base / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    site.environ["XDG_RUNTIME_DIR"] = str(open_to_all)
    assert site.place.folder == fallback()
    os.rmdir(site.place.folder)


def test_a_folder_whose_mode_has_changed_is_closed_again(site: Site) -> None:
    with site.connect():
        os.chmod(site.place.folder, 0o755)
        with site.connect() as ws:
            assert ask(ws) == "1:5"
        assert os.stat(site.place.folder).st_mode & 0o777 == 0o700


#: Neither this process nor the service can write a byte into a file.
WITHOUT_ROOM = """
import resource, sys
import lspkit
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
with lspkit.connect(sys.argv[1], ready_timeout=20) as ws:
    print(ws.epoch > 0)
"""


def test_a_limit_of_no_bytes_for_files_does_not_matter(site: Site) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROOM, str(site.project)],
        env=site.environ,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert site.service_pid()


@AS_ROOT
def test_a_full_file_system_is_an_error_that_names_the_folder(site: Site) -> None:
    small = site.base / "small"
    small.mkdir(mode=0o700)
    options = ["-t", "tmpfs", "-o", "size=4k,nr_inodes=3,mode=700", "none", str(small)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("this system does not let root mount a file system")
    try:
        site.environ["XDG_RUNTIME_DIR"] = str(small)
        with pytest.raises(lspkit.ServerUnavailableError, match=f"{small}/lspkit.*[Nn]o space"):
            site.connect()
    finally:
        subprocess.run(["umount", str(small)], check=True)


@AS_ROOT
def test_a_read_only_file_system_is_passed_over(site: Site) -> None:
    fixed = site.base / "fixed"
    fixed.mkdir(mode=0o700)
    options = ["-t", "tmpfs", "-o", "ro,mode=700", "none", str(fixed)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("this system does not let root mount a file system")
    try:
        found = runtime_folder({**site.environ, "XDG_RUNTIME_DIR": str(fixed)}, str(site.project))
    finally:
        subprocess.run(["umount", str(fixed)], check=True)
    assert found == fallback()
    os.rmdir(found)


def test_without_any_folder_the_error_says_what_to_do(site: Site) -> None:
    # A project that contains every candidate.
    with pytest.raises(lspkit.ServerUnavailableError, match="Set XDG_RUNTIME_DIR to a folder"):
        runtime_folder(site.environ, os.sep)


def test_a_service_removes_what_others_have_left_days_ago(site: Site) -> None:
    with site.connect():
        running = site.place
    place = site.place
    other = msgspec.structs.replace(place, key="0" * 16)
    gone = msgspec.structs.replace(place, version="0.0.1", key="1" * 16)
    recent = msgspec.structs.replace(place, key="2" * 16)
    os.utime(running.log, (0, 0))
    for one in (other.log, other.starting_lock, gone.log, gone.token, gone.running_lock):
        Path(one).touch(mode=0o600)
        os.utime(one, (0, 0))
    Path(recent.log).touch(mode=0o600)
    with filelock.FileLock(other.starting_lock), site.connect(trusted=True):
        assert not os.path.exists(gone.log)
    assert not os.path.exists(gone.token)
    kept = [gone.running_lock, recent.log, other.log, running.log]
    assert all(map(os.path.exists, kept)), kept
