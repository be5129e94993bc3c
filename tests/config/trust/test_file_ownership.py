"""Files that decide about trust count only if nobody else can have written them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lspkit.config.load import Loaded, load
from lspkit.config.trust.file_ownership import own_ids, who_else_can_change
from lspkit.config.trust.trust_store import read_trust_list
from lspkit.errors import ConfigError
from tests.config.trust.trusting import PROJECT, World, posix, root_only

pytestmark = posix

#: Somebody else.
STRANGER = 12345


def say(world: World, **security: object) -> Path:
    """What the user's own file says: by default that everything is trusted."""
    file = world.home / ".config" / "lspkit" / "lsp.json"
    file.parent.mkdir(parents=True)
    said = security or {"trustedProjectRoots": ["/**"]}
    file.write_text(json.dumps({"security": said}))
    return file


def loaded(world: World, root: Path, **environ: str) -> Loaded:
    return load(str(root), environ={**world.environ, **environ})


# The user's own file


def open_to_all(path: Path) -> None:
    path.chmod(0o777)


def of_a_group(path: Path) -> None:
    os.chown(path, -1, STRANGER)
    path.chmod(0o770)


def given_away(path: Path) -> None:
    os.chown(path, STRANGER, -1)


CHANGES = [
    pytest.param(open_to_all, "can be changed by everybody", "chmod go-w", id="everybody"),
    pytest.param(
        of_a_group, "can be changed by a group of users", "chmod go-w", id="group", marks=root_only
    ),
    pytest.param(given_away, "belongs to somebody else", "chown 0", id="owner", marks=root_only),
]
PLACES = [".config/lspkit/lsp.json", ".config/lspkit", ".config", "."]


@pytest.mark.parametrize(("change", "words", "advice"), CHANGES)
@pytest.mark.parametrize("place", PLACES)
def test_a_file_of_the_user_s_that_others_can_change_is_an_error_that_says_where_and_what_to_do(
    world: World, place: str, change: Callable[[Path], None], words: str, advice: str
) -> None:
    root, file = world.folder("a"), say(world)
    assert loaded(world, root).standing.state == "trusted"
    change(world.home / place)
    with pytest.raises(ConfigError) as caught:
        loaded(world, root)
    where = os.path.normpath(world.home / place)
    assert caught.value.message.startswith(f"{file} is not used: {where} {words}")
    assert f"{advice} {where}" in caught.value.message


def test_also_where_a_link_leads_to_it(world: World) -> None:
    root, elsewhere = world.folder("a"), world.folder("elsewhere")
    say(world).rename(elsewhere / "lsp.json")
    (world.home / ".config" / "lspkit" / "lsp.json").symlink_to(elsewhere / "lsp.json")
    assert loaded(world, root).standing.state == "trusted"
    elsewhere.chmod(0o777)
    with pytest.raises(ConfigError, match=f"{elsewhere} can be changed by everybody"):
        loaded(world, root)


def test_a_folder_with_a_link_on_the_way_counts(world: World) -> None:
    links = world.folder("links")
    (links / "link").symlink_to(say(world))
    assert who_else_can_change(str(links / "link")) == ""
    links.chmod(0o777)
    assert who_else_can_change(str(links / "link")).startswith(f"{links} can be changed")


def test_a_folder_in_which_only_owners_remove_files_may_be_open_to_all(world: World) -> None:
    place = world.folder("tmp")
    file = place / "lsp.json"
    file.touch()
    place.chmod(0o1777)
    assert who_else_can_change(str(file)) == ""


@root_only
def test_but_not_for_a_file_of_somebody_else_nor_if_it_is_somebody_else_s(world: World) -> None:
    place = world.folder("tmp")
    file = place / "lsp.json"
    file.touch()
    place.chmod(0o1777)
    os.chown(file, STRANGER, -1)
    assert "belongs to somebody else" in who_else_can_change(str(file))
    os.chown(file, 0, -1)
    os.chown(place, STRANGER, -1)
    assert who_else_can_change(str(file)).startswith(f"{place} belongs to somebody else")


def test_files_of_root_and_of_who_uses_sudo_are_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert own_ids({"SUDO_UID": "1000"}) == {0, 1000}
    assert own_ids({"SUDO_UID": "x"}) == {0}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert own_ids({"SUDO_UID": "1001"}) == {0, 1000}


# Where variables lead into the project


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("LSPKIT_CONFIG", "{root}/.config/lspkit/lsp.json"),
        ("LSPKIT_CONFIG", ".config/lspkit/lsp.json"),
        ("XDG_CONFIG_HOME", "{root}/.config"),
        ("HOME", "{root}"),
        ("HOME", "."),
        ("HOME", "{root}/sub/.."),
    ],
)
@pytest.mark.parametrize("workspace", ["clone", "clone/sub"])
def test_a_file_that_lies_in_the_project_is_not_the_user_s(
    world: World, monkeypatch: pytest.MonkeyPatch, workspace: str, name: str, place: str
) -> None:
    root, inner = world.repository("clone"), world.folder("clone/sub")
    monkeypatch.chdir(root)
    say(world).rename(root / "lsp.json")
    (root / ".config" / "lspkit").mkdir(parents=True)
    (root / "lsp.json").rename(root / ".config" / "lspkit" / "lsp.json")
    assert inner.is_dir()
    found = loaded(world, world.home / workspace, **{name: place.format(root=root)})
    assert found.standing.state == "untrusted"
    assert found.config.security.trusted_project_roots == ()
    told = [str(one) for one in found.warnings]
    followed = name == "HOME" and place == "."
    assert any("it is not used: it is in the project" in one for one in told) != followed


@pytest.mark.parametrize("name", ["XDG_STATE_HOME", "HOME"])
def test_a_list_that_lies_in_the_project_is_not_the_user_s(world: World, name: str) -> None:
    root = world.repository("clone")
    states = root if name == "XDG_STATE_HOME" else root / ".local" / "state"
    world.environ["LSPKIT_STATE"] = str(states / "lspkit")
    world.trust(root, {})
    del world.environ["LSPKIT_STATE"]
    found = loaded(world, root, **{name: str(root)})
    assert found.standing.state == "untrusted"
    assert any("trust.json is not used: it is in" in str(one) for one in found.warnings)


# The list


@pytest.mark.parametrize(("change", "words", "advice"), CHANGES)
@pytest.mark.parametrize("place", ["state/trust.json", "state", "."])
def test_a_list_that_others_can_change_is_not_followed(
    world: World, place: str, change: Callable[[Path], None], words: str, advice: str
) -> None:
    root = world.folder("a")
    world.trust(root, {})
    folder = world.environ["LSPKIT_STATE"]
    assert len(read_trust_list(folder).entries) == 1
    change(world.home / place)
    found = read_trust_list(folder)
    where = os.path.normpath(world.home / place)
    assert found.entries == ()
    assert f"is not used: {where} {words} (run: {advice} {where})" in found.warning


# Projects


@pytest.mark.parametrize(("change", "words", "advice"), CHANGES)
@pytest.mark.parametrize("place", ["code/a/.lspkit/lsp.json", "code/a/.lspkit", "code/a", "code"])
def test_a_project_that_others_can_change_has_to_be_trusted_as_shared(
    world: World, place: str, change: Callable[[Path], None], words: str, advice: str
) -> None:
    root = world.folder("code/a")
    file = world.config(root)
    world.trust(root, PROJECT)
    assert world.asked(root, file=file).state == "trusted"
    change(world.home / place)
    found = world.asked(root, root, file=file)
    assert found.state == "untrusted"
    assert f"{world.home / place} {words}" in found.why
    assert "--shared (in a terminal)" in found.remedy
    world.trust(root, PROJECT, shared=True)
    assert world.asked(root, file=file).state == "trusted"
