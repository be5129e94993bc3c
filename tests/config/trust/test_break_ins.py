"""The ways in which a project may try to be trusted: links, shared folders, what lies outside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lspkit.config import load as loading
from lspkit.config.load import Loaded, load
from lspkit.config.model import SecurityConfig
from lspkit.config.trust import trust_store
from lspkit.config.trust.decision import trust_of
from lspkit.config.trust.key_gate import digest
from lspkit.config.trust.setting_keys import EXECUTION_KEYS
from lspkit.config.trust.trust_store import add
from lspkit.errors import ConfigError
from lspkit.runtime.pool.server_choices import permits_of
from tests.config.trust.trusting import CHANGED, PROJECT, World, posix, root_only


class TestLinks:
    def test_a_link_in_a_trusted_folder_does_not_make_its_target_trusted(
        self, world: World
    ) -> None:
        trusted, evil = world.folder("trusted"), world.folder("evil")
        (trusted / "link").symlink_to(evil)
        world.trust(trusted, {})
        assert world.asked(trusted / "link", trusted, f"{trusted}/link").state == "untrusted"

    def test_a_link_to_a_trusted_folder_is_that_folder(self, world: World) -> None:
        trusted, link = world.folder("trusted"), world.home / "link"
        link.symlink_to(trusted)
        assert world.asked(link, trusted).state == "trusted"

    @pytest.mark.parametrize("linked", [".lspkit", ".lspkit/lsp.json"])
    def test_a_configuration_that_lies_elsewhere_has_to_be_trusted_there(
        self, world: World, linked: str
    ) -> None:
        root, evil = world.folder("a"), world.folder("evil")
        world.config(evil)
        (root / linked).parent.mkdir(exist_ok=True)
        (root / linked).symlink_to(evil / linked)
        file = str(root / ".lspkit" / "lsp.json")
        assert world.asked(root, root, file=file).state == "untrusted"
        assert world.asked(root, root, evil, file=file).state == "untrusted"
        assert world.asked(root, world.home, file=file).state == "trusted"
        world.trust(root, PROJECT)
        assert world.asked(root, file=file).state == "trusted"

    def test_links_that_lead_in_a_circle_are_not_trusted(self, world: World) -> None:
        one, two = world.home / "one", world.home / "two"
        one.symlink_to(two)
        two.symlink_to(one)
        found = world.asked(one, world.home, "/**")
        assert found.state == "untrusted"
        assert "cannot be examined" in found.why

    def test_a_folder_that_is_not_there_is_not_trusted(self, world: World) -> None:
        assert world.asked(world.home / "a", world.home, "/**").state == "untrusted"

    def test_a_name_that_no_file_can_have_is_not_trusted(self, world: World) -> None:
        security = SecurityConfig("trusted-only", ("/**",))
        assert trust_of(None, "/a\0b", {}, security, world.environ, None).state == "untrusted"

    @posix
    @pytest.mark.skipif(os.geteuid() == 0, reason="root can look everywhere")
    def test_a_folder_that_cannot_be_looked_into_is_not_trusted(self, world: World) -> None:
        inner = world.folder("a/b")
        os.chmod(world.home / "a", 0)
        try:
            assert world.asked(inner, world.home).state == "untrusted"
        finally:
            os.chmod(world.home / "a", 0o700)


@posix
class TestShared:
    @pytest.mark.parametrize("what", [".", ".lspkit", ".lspkit/lsp.json"])
    def test_what_everybody_can_write_has_to_be_trusted_as_shared(
        self, world: World, what: str
    ) -> None:
        root = world.folder("a")
        file = world.config(root)
        os.chmod(root / what, 0o777)
        world.trust(root, PROJECT)
        found = world.asked(root, root, file=file)
        assert found.state == "untrusted"
        assert f"{root / what} can be changed by everybody" in found.why
        assert "shared" in found.why
        assert "--shared" in found.remedy
        world.trust(root, PROJECT, shared=True)
        assert world.asked(root, file=file).state == "trusted"
        assert world.asked(root, file=file, project=CHANGED).state == "stale"

    @root_only
    def test_what_another_group_can_write_has_to_be_trusted_as_shared(self, world: World) -> None:
        root = world.folder("a")
        os.chmod(root, 0o770)
        assert world.asked(root, root).state == "trusted"
        os.chown(root, -1, 12345)
        assert world.asked(root, root).state == "untrusted"
        os.chmod(root, 0o750)
        assert world.asked(root, root).state == "trusted"

    def test_a_yes_of_the_program_is_enough(self, world: World) -> None:
        root = world.folder("a")
        os.chmod(root, 0o777)
        assert world.asked(root, override=True).state == "trusted"


class TestFromOutside:
    """What a project can put into its own folder does not make it trusted."""

    def load(self, world: World, root: Path) -> Loaded:
        return load(str(root), environ=world.environ, home=str(world.home))

    def write(self, file: Path, values: dict[str, Any]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))

    def test_a_project_cannot_trust_itself(self, world: World) -> None:
        root = world.folder("a")
        itself = {"projectConfigPolicy": "always", "trustedProjectRoots": [str(root), "/**"]}
        self.write(root / ".lspkit/lsp.json", {**PROJECT, "security": itself})
        add(str(root), str(root), digest(PROJECT, EXECUTION_KEYS))
        found = self.load(world, root)
        assert found.standing.state == "untrusted"
        assert found.standing.policy == "trusted-only"
        assert found.config.server("pyright").command is None

    def test_a_relative_state_folder_does_not_let_the_current_one_decide(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = world.folder("a")
        add(str(root / ".state"), str(root), digest({}, EXECUTION_KEYS))
        monkeypatch.chdir(root)
        world.environ["LSPKIT_STATE"] = ".state"
        with pytest.raises(ConfigError, match=r"LSPKIT_STATE is \.state; expected an abs"):
            self.load(world, root)

    @pytest.mark.parametrize("place", ["a/.state", "a/link", "link/.state", ".state"])
    def test_a_list_that_is_a_part_of_the_project_is_not_followed(
        self, world: World, place: str
    ) -> None:
        """By its own folder, by a link of it, and as another part of the same work tree."""
        work, elsewhere = world.repository("work"), world.folder("elsewhere")
        root = world.folder("work/a")
        (root / "link").symlink_to(elsewhere)
        (work / "link").symlink_to(root)
        world.environ["LSPKIT_STATE"] = str(work / place)
        world.trust(root, {})
        found = self.load(world, root)
        assert found.standing.state == "untrusted"
        [warning] = found.warnings
        assert "is not used: LSPKIT_STATE names a folder of the project" in str(warning)

    def test_nor_does_it_trust_a_part_of_the_project(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root, part = world.folder("a"), world.folder("a/part")
        world.environ["LSPKIT_STATE"] = str(root / ".state")
        world.trust(part, {})
        for name, value in world.environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("LSPKIT_TRUST")
        permit = permits_of(self.load(world, root), str(root), None)
        assert not permit(str(part)).trusted

    def test_a_list_in_the_users_home_counts_also_for_all_of_it(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in (loading, trust_store):
            monkeypatch.setattr(module, "own_home", lambda: str(world.home))
        world.trust(world.home, {})
        assert self.load(world, world.home).standing.state == "trusted"

    def test_variables_of_the_loader_and_of_node_are_held_back(self, world: World) -> None:
        root = world.folder("a")
        evil = {"NODE_OPTIONS": "--require=./evil.js", "LD_PRELOAD": "./evil.so"}
        self.write(root / ".lspkit/lsp.json", {"lsp": {"pyright": {"env": evil, "roots": ["x"]}}})
        server = self.load(world, root).config.server("pyright")
        assert server.env == {}
        assert server.roots == ["x"]

    def test_what_the_user_trusts_counts(self, world: World) -> None:
        root = world.folder("a")
        self.write(root / ".lspkit/lsp.json", PROJECT)
        self.write(
            world.home / ".config/lspkit/lsp.json", {"security": {"trustedProjectRoots": ["~/a"]}}
        )
        found = self.load(world, root)
        assert found.standing.state == "trusted"
        assert found.config.server("pyright").command == ["./server"]

    def test_a_mistake_in_the_users_entries_stops_with_file_place_and_reason(
        self, world: World
    ) -> None:
        file = world.home / ".config/lspkit/lsp.json"
        self.write(file, {"security": {"trustedProjectRoots": ["~/a", "~/b/*(c)"]}})
        with pytest.raises(ConfigError) as caught:
            self.load(world, world.folder("a"))
        assert caught.value.file == str(file)
        assert caught.value.place.startswith("security.trustedProjectRoots")
        assert "( is ambiguous" in caught.value.message


class TestRemedy:
    def test_it_is_a_command_that_can_be_typed(self, world: World) -> None:
        root = world.folder("a b")
        also = "(in a terminal), or Workspace(..., trusted=True)"
        assert world.asked(root).remedy == f"lspkit trust add '{root}' {also}"

    def test_where_no_command_helps_it_says_what_does(self, world: World) -> None:
        root = world.folder("a")
        assert "projectConfigPolicy" in world.asked(root, policy="never").remedy
        assert "LSPKIT_TRUST" in world.asked(root, LSPKIT_TRUST="never").remedy
