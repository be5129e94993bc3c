"""The list of trusted projects: what it keeps, whom it believes, and many who write at once."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lspkit.config.trust.trust_store import (
    FILE,
    TrustList,
    add,
    read_trust_list,
    remove,
    state_folder,
)
from lspkit.errors import ConfigError

posix = pytest.mark.skipif(os.name != "posix", reason="about owners and permissions of POSIX")
root_only = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give files away"
)

WRITERS = 200


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "lspkit")


def paths(folder: str) -> list[str]:
    return [entry.path for entry in read_trust_list(folder).entries]


def test_without_a_file_the_list_is_empty(folder: str) -> None:
    assert read_trust_list(folder) == TrustList()
    assert not os.path.exists(folder)


def test_what_was_added_is_there_with_all_that_was_said(folder: str) -> None:
    added = add(folder, "/srv/a", "d1", shared=True)
    assert read_trust_list(folder).entries == (added,)
    assert (added.path, added.digest, added.shared) == ("/srv/a", "d1", True)
    assert added.added.endswith("Z") and added.added[4] == "-"


def test_a_project_is_on_the_list_once_with_what_was_said_last(folder: str) -> None:
    add(folder, "/srv/a", "d1", shared=True)
    add(folder, "/srv/b", "d2")
    again = add(folder, "/srv/a", "d3")
    assert paths(folder) == ["/srv/b", "/srv/a"]
    assert read_trust_list(folder).entries[1] == again
    assert not again.shared


def test_what_was_removed_is_gone_and_the_rest_stays(folder: str) -> None:
    add(folder, "/srv/a", "d1")
    add(folder, "/srv/b", "d2")
    assert remove(folder, "/srv/a")
    assert not remove(folder, "/srv/a")
    assert paths(folder) == ["/srv/b"]


def test_a_name_of_any_bytes_comes_back_as_it_was(folder: str) -> None:
    path = os.fsdecode(b"/srv/\xff\xfe\n")
    add(folder, path, "d1")
    assert paths(folder) == [path]


@posix
def test_file_and_folder_are_for_the_user_alone(folder: str) -> None:
    add(folder, "/srv/a", "d1")
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(os.path.join(folder, FILE)).st_mode) == 0o600


def test_nothing_but_the_list_and_its_lock_is_left_in_the_folder(folder: str) -> None:
    add(folder, "/srv/a", "d1")
    remove(folder, "/srv/a")
    assert {FILE} <= set(os.listdir(folder)) <= {FILE, FILE + ".lock"}


def test_a_folder_in_its_place_leaves_no_descriptor(folder: str) -> None:
    os.makedirs(os.path.join(folder, FILE), mode=0o700)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        assert read_trust_list(folder).warning
    assert len(os.listdir("/proc/self/fd")) == before


class TestUnbelievable:
    """Such a list counts as empty, with a warning, and is kept when something is added."""

    @pytest.fixture
    def file(self, folder: str) -> Path:
        add(folder, "/srv/a", "d1")
        return Path(folder, FILE)

    def check(self, folder: str, words: str, kept: bytes | None) -> None:
        assert read_trust_list(folder).entries == ()
        assert words in read_trust_list(folder).warning
        assert FILE in read_trust_list(folder).warning
        add(folder, "/srv/b", "d2")
        assert paths(folder) == ["/srv/b"]
        assert read_trust_list(folder).warning == ""
        if kept is not None:
            assert Path(folder, FILE + ".bad").read_bytes() == kept

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"[]",
            b"\xff",
            b"null",
            b'{"version": 1, "entries": [{"path": 1, "digest": ""}]}',
            b'{"version": 1, "entries": {}}',
            b"[" * 100_000,
        ],
        ids=repr,
    )
    def test_a_damaged_one(self, folder: str, file: Path, content: bytes) -> None:
        file.write_bytes(content)
        self.check(folder, "damaged", content)

    def test_one_of_a_later_version(self, folder: str, file: Path) -> None:
        content = json.dumps({"version": 2, "entries": []}).encode()
        file.write_bytes(content)
        self.check(folder, "version 2", content)

    def test_one_that_is_too_large(self, folder: str, file: Path) -> None:
        with file.open("r+b") as stream:
            stream.truncate(2**23 + 1)
        self.check(folder, "bytes", None)

    @posix
    def test_one_that_everybody_can_write(self, folder: str, file: Path) -> None:
        content = file.read_bytes()
        file.chmod(0o666)
        self.check(folder, "everybody", content)

    @root_only
    def test_one_that_another_group_can_write(self, folder: str, file: Path) -> None:
        os.chown(file, -1, 12345)
        file.chmod(0o660)
        self.check(folder, "group", file.read_bytes())

    @root_only
    def test_one_that_belongs_to_somebody_else(self, folder: str, file: Path) -> None:
        os.chown(file, 12345, -1)
        self.check(folder, "somebody else", file.read_bytes())

    def test_a_link_is_not_followed_and_what_it_leads_to_not_touched(
        self, folder: str, file: Path, tmp_path: Path
    ) -> None:
        elsewhere = tmp_path / "elsewhere.json"
        elsewhere.write_bytes(file.read_bytes())
        before = elsewhere.read_bytes()
        file.unlink()
        file.symlink_to(elsewhere)
        self.check(folder, "link", before)
        assert elsewhere.read_bytes() == before
        assert not file.is_symlink()

    @posix
    def test_a_pipe_holds_nobody_up(self, folder: str, file: Path) -> None:
        file.unlink()
        os.mkfifo(file)
        self.check(folder, "regular file", None)

    def test_a_second_one_does_not_replace_the_first_that_was_kept(
        self, folder: str, file: Path
    ) -> None:
        for content in (b"first", b"second"):
            file.write_bytes(content)
            add(folder, "/srv/b", "d2")
        assert Path(folder, FILE + ".bad").read_bytes() == b"first"
        assert Path(folder, FILE + ".bad1").read_bytes() == b"second"


@posix
def test_in_a_folder_that_others_can_write_nothing_is_believed_and_nothing_written(
    folder: str,
) -> None:
    add(folder, "/srv/a", "d1")
    os.chmod(folder, 0o777)
    assert read_trust_list(folder).entries == ()
    assert "everybody" in read_trust_list(folder).warning
    with pytest.raises(ConfigError, match="everybody"):
        add(folder, "/srv/b", "d2")
    os.chmod(folder, 0o700)
    assert paths(folder) == ["/srv/a"]


def test_a_folder_that_cannot_be_made_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be changed"):
        add(str(tmp_path / "file" / "lspkit"), "/srv/a", "d1")


@pytest.mark.slow
@posix
def test_of_two_hundred_processes_that_add_at_once_none_is_lost(folder: str) -> None:
    program = """if True:
        import os, sys
        from filelock import FileLock  # once, before all the copies
        from lspkit.config.trust.trust_store import add
        ready, go = os.pipe()
        children = []
        for number in range(int(sys.argv[2])):
            pid = os.fork()
            if pid == 0:
                os.close(go)
                os.read(ready, 1)  # until all are there
                status = 1
                try:
                    add(sys.argv[1], f"/srv/{number}", "d")
                    status = 0
                finally:
                    os._exit(status)
            children.append(pid)
        os.close(go)
        sys.exit(sum(os.waitpid(pid, 0)[1] != 0 for pid in children))
    """
    command = [sys.executable, "-c", program, folder, str(WRITERS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(paths(folder)) == sorted(f"/srv/{number}" for number in range(WRITERS))


class TestStateFolder:
    def test_a_variable_of_its_own_names_it(self) -> None:
        assert state_folder({"LSPKIT_STATE": "/x", "XDG_STATE_HOME": "/y", "HOME": "/h"}) == "/x"

    @pytest.mark.parametrize("named", [".state", "a/b", "~/state", "./x\x1b"])
    def test_a_relative_one_is_an_error(self, named: str) -> None:
        with pytest.raises(ConfigError) as caught:
            state_folder({"LSPKIT_STATE": named, "HOME": "/h"})
        assert caught.value.place == "LSPKIT_STATE"
        assert "expected an absolute path" in caught.value.message
        assert caught.value.message.isprintable()

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
    def test_else_it_is_where_the_system_keeps_such_things(self) -> None:
        assert state_folder({"XDG_STATE_HOME": "/y", "HOME": "/h"}) == "/y/lspkit"
        assert state_folder({"HOME": "/h"}) == "/h/.local/state/lspkit"
        assert state_folder({"XDG_STATE_HOME": "y", "HOME": "/h"}) == "/h/.local/state/lspkit"

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
    def test_it_is_the_one_that_platformdirs_knows(self) -> None:
        import platformdirs

        environment = {name: value for name, value in os.environ.items() if name != "LSPKIT_STATE"}
        assert state_folder(environment) == platformdirs.user_state_dir("lspkit")
