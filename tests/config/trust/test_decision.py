"""Who is trusted: every voice that has a say."""

from __future__ import annotations

from typing import Any

import pytest

from lspkit.config.model import SecurityConfig
from lspkit.config.trust.decision import candidate_of, patterns_of
from lspkit.config.trust.key_gate import EXECUTION_KEYS, digest
from lspkit.config.trust.trust_store import FILE, add
from lspkit.errors import ConfigError
from tests.config.trust.trusting import CHANGED, PROJECT, World


class TestPrecedence:
    def test_without_any_entry_a_project_is_not_trusted(self, world: World) -> None:
        found = world.asked(world.folder("a"))
        assert (found.state, found.why) == ("untrusted", "no entry trusts it")
        assert not found.allows_fields
        assert not found.allows_programs

    @pytest.mark.parametrize("by", ["program", "environment"])
    def test_a_yes_is_enough(self, world: World, by: str) -> None:
        yes: dict[str, Any] = {"override": True} if by == "program" else {"LSPKIT_TRUST": "always"}
        found = world.asked(world.folder("a"), **yes)
        assert found.state == "trusted"
        assert found.allows_fields
        assert found.allows_programs

    @pytest.mark.parametrize(
        "no",
        [
            {"override": False},
            {"override": False, "LSPKIT_TRUST": "always"},
            {"override": True, "LSPKIT_TRUST": "never"},
            {"LSPKIT_TRUST": "never"},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("policy", ["trusted-only", "always", "never"])
    def test_a_no_wins_over_everything(self, world: World, policy: str, no: dict[str, Any]) -> None:
        root = world.folder("a")
        world.trust(root, PROJECT)
        found = world.asked(root, root, policy=policy, **no)
        assert found.state == "untrusted"
        assert found.refused
        assert not found.allows_fields
        assert not found.allows_programs

    def test_an_entry_of_the_user_trusts_whatever_is_there(self, world: World) -> None:
        root = world.folder("a")
        for project in (PROJECT, CHANGED, {}):
            assert world.asked(root, root, project=project).state == "trusted"

    def test_an_entry_of_the_user_counts_for_a_project_that_is_stale(self, world: World) -> None:
        root = world.folder("a")
        world.trust(root, CHANGED)
        assert world.asked(root).state == "stale"
        assert world.asked(root, root).state == "trusted"

    def test_a_variable_that_nobody_understands_is_an_error(self, world: World) -> None:
        with pytest.raises(ConfigError, match="LSPKIT_TRUST"):
            world.asked(world.folder("a"), LSPKIT_TRUST="no")


class TestCandidate:
    @pytest.mark.parametrize(
        "name",
        [
            ".lspkit/lsp.json",
            ".pi/lsp.json",
            ".dispatch/lsp.json",
            ".github/lsp.json",
            "pyproject.toml",
            "opencode.json",
            ".lsp.json",
        ],
    )
    def test_it_is_the_folder_of_the_project(self, world: World, name: str) -> None:
        root = world.folder("a")
        assert candidate_of(world.config(root, name), str(root)) == str(root)

    def test_without_a_file_it_is_the_root(self, world: World) -> None:
        root = world.folder("a")
        assert candidate_of(None, str(root)) == str(root)

    def test_a_root_that_is_called_like_such_a_folder_is_itself(self, world: World) -> None:
        root = world.folder(".github")
        assert candidate_of(world.config(root, "pyproject.toml"), str(root)) == str(root)

    def test_it_is_a_real_path(self, world: World) -> None:
        root, link = world.folder("a"), world.home / "link"
        link.symlink_to(root)
        assert candidate_of(None, str(link)) == str(root)
        assert candidate_of(world.config(link), str(link)) == str(root)


class TestEntries:
    @pytest.mark.parametrize("entry", ["~/a", "~/a/**", "~/*", "~/{a,b}", "~/[a-c]", "~"])
    def test_an_entry_with_the_home_folder_trusts(self, world: World, entry: str) -> None:
        assert world.asked(world.folder("a"), entry).state == "trusted"

    def test_a_home_folder_that_is_a_link_is_meant_as_it_really_is(self, world: World) -> None:
        root, link = world.folder("a"), world.home.parent / "link"
        link.symlink_to(world.home)
        assert world.asked(root, "~/a", HOME=str(link)).state == "trusted"

    def test_a_name_that_only_begins_the_same_is_another_folder(self, world: World) -> None:
        work, other = world.folder("work"), world.folder("work2")
        assert world.asked(other, work).state == "untrusted"
        world.trust(work, PROJECT)
        assert world.asked(other).state == "untrusted"

    def test_a_mistake_in_an_entry_is_an_error_that_says_which_and_why(self, world: World) -> None:
        with pytest.raises(ConfigError) as caught:
            patterns_of(SecurityConfig("never", ("/a", "/b/*(c)")), file="/home/u/lsp.json")
        assert caught.value.place == "security.trustedProjectRoots[1]"
        assert caught.value.file == "/home/u/lsp.json"
        assert "( is ambiguous" in caught.value.message

    @pytest.mark.parametrize("override", [None, True, False])
    def test_a_mistake_in_an_entry_is_an_error_for_every_project(
        self, world: World, override: bool | None
    ) -> None:
        with pytest.raises(ConfigError):
            world.asked(world.folder("a"), world.home, "work", override=override)


class TestList:
    def test_a_project_is_trusted_as_it_was_looked_at(self, world: World) -> None:
        root = world.folder("a")
        world.trust(root, PROJECT)
        assert world.asked(root).state == "trusted"
        assert world.asked(root, project={**PROJECT, "timing": {}}).state == "trusted"

    @pytest.mark.parametrize("project", [CHANGED, {}], ids=["changed", "removed"])
    def test_a_changed_command_makes_it_stale(self, world: World, project: Any) -> None:
        root = world.folder("a")
        world.trust(root, PROJECT)
        found = world.asked(root, project=project)
        assert found.state == "stale"
        assert "have changed" in found.why
        assert not found.allows_fields
        assert not found.allows_programs

    def test_looking_again_makes_it_trusted_again(self, world: World) -> None:
        root = world.folder("a")
        world.trust(root, PROJECT)
        world.trust(root, CHANGED)
        assert world.asked(root, project=CHANGED).state == "trusted"

    def test_below_it_all_is_trusted_that_names_no_program(self, world: World) -> None:
        world.trust(world.folder("a"), PROJECT)
        inner = world.folder("a/b/c")
        assert world.asked(inner, project={}).state == "trusted"
        assert world.asked(inner, project=PROJECT).state == "stale"

    def test_a_list_that_is_not_believed_trusts_nobody_and_says_so(self, world: World) -> None:
        root = world.folder("a")
        world.trust(root, PROJECT)
        (world.home / "state" / FILE).write_text("{")
        found = world.asked(root)
        assert found.state == "untrusted"
        assert "damaged" in found.warning

    def test_an_entry_without_a_path_trusts_nobody(self, world: World) -> None:
        add(world.environ["LSPKIT_STATE"], "", digest(PROJECT, EXECUTION_KEYS))
        assert world.asked(world.folder("a")).state == "untrusted"


class TestRepositories:
    @pytest.mark.parametrize("by", ["roots", "list"])
    @pytest.mark.parametrize("kind", ["folder", "file", "link"])
    def test_a_clone_inside_a_trusted_repository_is_not_trusted(
        self, world: World, by: str, kind: str
    ) -> None:
        outer, inner = world.repository("a"), world.folder("a/lib/inner")
        mark = inner / ".git"
        if kind == "folder":
            mark.mkdir()
        elif kind == "file":
            mark.write_text("gitdir: elsewhere")  # a submodule, or another work tree
        else:
            mark.symlink_to("nowhere")
        roots = [outer] if by == "roots" else []
        if by == "list":
            world.trust(outer, {})
        assert world.asked(outer, *roots, project={}).state == "trusted"
        for place in (inner, world.folder("a/lib/inner/deeper")):
            found = world.asked(place, *roots, project={})
            assert found.state == "untrusted"
            assert "third-party code" in found.why

    @pytest.mark.parametrize("name", ["node_modules", "vendor", "third_party", ".venv"])
    def test_code_that_was_copied_into_a_repository_is_not_trusted(
        self, world: World, name: str
    ) -> None:
        outer = world.repository("a")
        copied = world.folder(f"a/x/{name}/evil")
        assert world.asked(copied, outer).state == "untrusted"
        assert world.asked(copied, copied).state == "trusted"

    def test_an_entry_deep_inside_a_repository_trusts_that_repository_below_it(
        self, world: World
    ) -> None:
        world.repository("a")
        inner = world.folder("a/b")
        assert world.asked(world.folder("a/b/c"), inner).state == "trusted"
        assert world.asked(world.home / "a", inner).state == "untrusted"
        assert world.asked(world.repository("a/b/d"), inner).state == "untrusted"

    @pytest.mark.parametrize("entry", ["~/a", "~/a/**", "~/a/*/*"])
    def test_outside_of_any_repository_all_below_is_trusted(self, world: World, entry: str) -> None:
        world.repository("a/b")
        inner = world.repository("a/b/c")
        assert world.asked(inner, entry).state == "trusted"

    def test_a_glob_counts_by_what_it_names_before_the_first_wildcard(self, world: World) -> None:
        world.repository("a")
        inner = world.repository("a/packages/x")
        assert world.asked(inner, "~/a/packages/*").state == "untrusted"
        assert world.asked(world.folder("a/packages/y"), "~/a/packages/*").state == "trusted"
