"""Registrations for watched files: what a server wants to hear of, and where that is."""

from __future__ import annotations

from typing import Any

import pytest

from lspkit.protocol.capabilities import Registration
from lspkit.protocol.globs import MAX_PATTERN
from lspkit.protocol.registrations import (
    CHANGED,
    CREATED,
    DELETED,
    METHOD,
    WatchRegistrations,
    separate_notes,
)

KINDS = (CREATED, CHANGED, DELETED)
#: Of the server that registers.
ROOT = "/ws/app"


def relative(base: Any, pattern: Any) -> dict[str, Any]:
    return {"baseUri": base, "pattern": pattern}


def registered(*patterns: Any, id: str = "1", kind: Any = None, method: str = METHOD):
    watchers = [{"globPattern": one} for one in patterns]
    if kind is not None:
        watchers = [{**one, "kind": kind} for one in watchers]
    return Registration(id=id, method=method, options={"watchers": watchers})


def watched(*patterns: Any, root: str = ROOT, **more: Any) -> WatchRegistrations:
    result = WatchRegistrations(root)
    result.add(registered(*patterns, **more))
    return result


class TestWorkspace:
    """A server whose root is a folder of a workspace."""

    def asked(self, pattern: Any, workspace: str) -> WatchRegistrations:
        result = WatchRegistrations(ROOT, workspace)
        result.add(registered(pattern))
        return result

    @pytest.mark.parametrize("pattern", ["**", "**/*.py", "**/*.{py,pyi}"])
    def test_what_may_lie_anywhere_is_wanted_from_all_of_the_workspace(self, pattern: str) -> None:
        asked = self.asked(pattern, "/ws")
        paths = ["/ws/a.py", "/ws/other/x/a.py", "/ws/app/a.py", "/wsx/a.py", "/a.py"]
        assert [path for path in paths if asked.wants(path, CHANGED)] == paths[:3]
        assert asked.bases() == {"/ws": True}

    @pytest.mark.parametrize("pattern", ["*.py", "src/**", relative("file:///ws/app", "**")])
    def test_what_lies_in_a_place_is_wanted_from_there(self, pattern: Any) -> None:
        asked = self.asked(pattern, "/ws")
        assert not asked.wants("/ws/other/a.py", CHANGED)
        assert not asked.wants("/ws/a.py", CHANGED)

    def test_a_workspace_that_the_root_does_not_lie_in_is_no_matter(self) -> None:
        asked = self.asked("**", "/elsewhere")
        assert asked.wants("/ws/app/a.py", CHANGED)
        assert not asked.wants("/elsewhere/a.py", CHANGED)


class TestWanted:
    @pytest.mark.parametrize(
        ("pattern", "yes", "no"),
        [
            ("**/*.py", ["/ws/app/a.py", "/ws/app/x/.a.py"], ["/ws/a.py", "/ws/apps/a.py"]),
            ("**", ["/ws/app/a", "/ws/app/.b/c"], ["/ws/other"]),
            ("**/*", ["/ws/app/a", "/ws/app/b/c"], ["/ws/other"]),
            ("*.toml", ["/ws/app/a.toml"], ["/ws/app/x/a.toml"]),
            ("**/.settings/*.prefs", ["/ws/app/x/.settings/y.prefs"], ["/ws/app/y.prefs"]),
            ("**/*.{go,mod}", ["/ws/app/go.mod", "/ws/app/x/a.go"], ["/ws/app/a.got"]),
            ("/ws/app/**/*", ["/ws/app/a", "/ws/app/b/c"], ["/ws/other/a", "/x/ws/app/a"]),
            ("/etc/conf/a.toml", ["/etc/conf/a.toml"], ["/etc/conf/b.toml", "/ws/app/a.toml"]),
            (relative("file:///ws/app", "**/*.rs"), ["/ws/app/x/a.rs"], ["/ws/a.rs", "/ws/app"]),
            (relative("file:///ws/app/", "*.rs"), ["/ws/app/a.rs"], ["/ws/app/x/a.rs"]),
            (relative("file:///lib/py%20thon", "**"), ["/lib/py thon/a"], ["/lib/py%20thon/a"]),
            (relative({"uri": "file:///lib", "name": "x"}, "**"), ["/lib/a"], ["/ws/app/a"]),
            (relative("file:///", "**/a.py"), ["/a.py", "/x/a.py"], ["/b.py"]),
        ],
        ids=str,
    )
    def test_a_path_that_matches_is_wanted(
        self, pattern: Any, yes: list[str], no: list[str]
    ) -> None:
        asked = watched(pattern)
        for kind in KINDS:
            assert [path for path in yes + no if asked.wants(path, kind)] == yes

    @pytest.mark.parametrize(
        ("mask", "kinds"),
        [
            *((0, ()), (1, (1,)), (2, (2,)), (3, (1, 2)), (4, (3,)), (5, (1, 3)), (6, (2, 3))),
            *((given, KINDS) for given in (7, None, 8, -1, "2", 2.0, True, [1])),
        ],
    )
    def test_the_mask_says_which_kinds(self, mask: Any, kinds: tuple[int, ...]) -> None:
        asked = watched("**", kind=mask)
        assert tuple(kind for kind in KINDS if asked.wants("/ws/app/a", kind)) == kinds

    def test_a_kind_that_there_is_not_is_never_wanted(self) -> None:
        assert not any(watched("**").wants("/ws/app/a", kind) for kind in (0, 4, 7, -1))

    def test_one_pattern_of_many_is_enough(self) -> None:
        asked = watched("**/*.py", relative("file:///lib", "**"), "/etc/x")
        assert [asked.wants(path, 1) for path in ("/ws/app/a.py", "/lib/a", "/etc/x")] == [True] * 3

    def test_bytes_that_are_no_text_are_matched(self) -> None:
        assert watched("**/*.py").wants("/ws/app/n\udcff.py", CREATED)


class TestRegistrations:
    def test_nothing_is_wanted_at_first(self) -> None:
        asked = WatchRegistrations(ROOT)
        assert not asked
        assert not asked.wants("/ws/app/a", CREATED)
        assert asked.bases() == {}
        assert not asked.names_folder("/ws/app/node_modules")

    def test_a_dropped_one_is_wanted_no_more(self) -> None:
        asked = watched("**/*.py")
        asked.add(registered("**/*.toml", id="2"))
        asked.drop("1")
        asked.drop("never there")
        assert not asked.wants("/ws/app/a.py", CREATED)
        assert asked.wants("/ws/app/a.toml", CREATED)
        asked.drop("2")
        assert not asked

    def test_registering_again_under_the_same_name_adds(self) -> None:
        asked = watched("**/*.py")
        asked.add(registered("**/*.toml"))
        assert asked.wants("/ws/app/a.py", CREATED)
        assert asked.wants("/ws/app/a.toml", CREATED)

    def test_those_for_other_methods_are_nothing(self) -> None:
        assert not watched("**", method="textDocument/hover")

    @pytest.mark.parametrize(
        "options",
        [
            *({}, {"watchers": None}, {"watchers": "**"}, {"watchers": {"globPattern": "**"}}),
            *({"watchers": [one]} for one in (None, 1, "**", [], {}, {"globPattern": None})),
            *(
                {"watchers": [{"globPattern": one}]}
                for one in ("", "  ", 1, [], {}, {"pattern": 1})
            ),
            *(
                {"watchers": [{"globPattern": relative(base, "**")}]}
                for base in (None, 1, "", "untitled:x", "file://else/where", [], {}, {"uri": 1})
            ),
            *({"watchers": [{"globPattern": relative("file:///a", one)}]} for one in (None, 1, "")),
            {"watchers": [{"globPattern": "x" * 5000}, {"globPattern": "[z-a]"}]},
        ],
        ids=lambda options: str(options)[:60],
    )
    def test_nonsense_is_passed_over(self, options: dict[str, Any]) -> None:
        asked = watched("**/*.py")
        asked.add(Registration(id="2", method=METHOD, options=options))
        assert asked.wants("/ws/app/a.py", CREATED)
        assert not asked.wants("/ws/app/a.toml", CREATED)
        assert set(asked.bases()) <= {ROOT}

    def test_nonsense_beside_sense_takes_nothing_from_it(self) -> None:
        assert watched(None, "**/*.py", 7).wants("/ws/app/a.py", CREATED)


class TestBases:
    @pytest.mark.parametrize(
        ("pattern", "bases"),
        [
            ("**/*.py", {ROOT: True}),
            ("*.toml", {ROOT: False}),
            ("conf/*.toml", {"/ws/app/conf": False}),
            ("conf/**", {"/ws/app/conf": True}),
            ("conf/a/b.toml", {"/ws/app/conf/a": False}),
            ("con{f,g}/a/*.toml", {ROOT: True}),
            ("{a/b,c}", {ROOT: True}),
            ("/ws/app/**/*", {ROOT: True}),
            ("/home/me/.cargo/config.toml", {"/home/me/.cargo": False}),
            ("/home/me/*/config.toml", {"/home/me": True}),
            (relative("file:///lib/python", "**"), {"/lib/python": True}),
            (relative("file:///lib/python/", "a/b/*.py"), {"/lib/python/a/b": False}),
            (
                relative("file:///home/me", ".config/ruff/ruff.toml"),
                {"/home/me/.config/ruff": False},
            ),
        ],
        ids=str,
    )
    def test_they_are_the_innermost_folders_that_hold_every_match(
        self, pattern: Any, bases: dict[str, bool]
    ) -> None:
        assert watched(pattern).bases() == bases

    @pytest.mark.parametrize(
        "pattern", ["/**", "/**/*.py", "/*", "/{a,b}/**", "/", "//", relative("file:///", "**")]
    )
    def test_the_whole_disk_is_none(self, pattern: Any) -> None:
        assert watched(pattern).bases() == {}

    def test_the_deeper_wish_counts(self) -> None:
        asked = watched("*.toml", "**/*.py", "*.json")
        assert asked.bases() == {ROOT: True}


class TestNames:
    @pytest.mark.parametrize(
        ("pattern", "yes", "no"),
        [
            ("**/*.js", [], ["/ws/app/node_modules", "/ws/app/.venv"]),
            ("**", [], ["/ws/app/node_modules"]),
            (
                "**/node_modules/**",
                ["/ws/app/node_modules", "/ws/app/x/node_modules"],
                ["/ws/app/.venv", "/ws/node_modules", "/ws/app/x_node_modules"],
            ),
            ("**/{.venv,venv}/lib/*.pth", ["/ws/app/.venv", "/ws/app/venv"], ["/ws/app/x"]),
            ("/ws/app/node_modules/**", ["/ws/app/node_modules"], ["/ws/app/x/.venv"]),
            ("/ws/**/.git/HEAD", ["/ws/.git", "/ws/app/.git"], ["/else/.git"]),
            (
                relative("file:///ws/app/.venv/lib/site-packages", "**"),
                ["/ws/app/.venv", "/ws/app/.venv/lib/site-packages"],
                ["/ws/app/venv", "/ws/app/node_modules", "/ws/app/.venv/bin"],
            ),
        ],
        ids=str,
    )
    def test_a_folder_is_named_by_a_base_in_it_or_by_the_pattern(
        self, pattern: Any, yes: list[str], no: list[str]
    ) -> None:
        asked = watched(pattern)
        assert [folder for folder in yes + no if asked.names_folder(folder)] == yes

    def test_a_slash_at_the_end_makes_no_difference(self) -> None:
        assert watched("**/node_modules/**").names_folder("/ws/app/node_modules/")


def test_two_changes_of_one_file_are_told_in_two_notes() -> None:
    a, b = "file:///a", "file:///b"
    gone, back, other = {"uri": a, "type": 3}, {"uri": a, "type": 1}, {"uri": b, "type": 2}
    assert separate_notes([gone, back, other]) == [[gone, other], [back]]
    assert separate_notes([back, other]) == [[back, other]]
    assert separate_notes([]) == []


def test_all_folders_of_a_project_may_be_registered_again_after_each_new_one() -> None:
    """gopls does this, with one choice of all folders."""
    made = WatchRegistrations("/code")
    folders = [f"/code/of/a/large/project/folder{number}" for number in range(100)]
    for number in range(1000):
        folders.append(f"/code/new{number}")
        assert made.add(registered(f"{{{','.join(folders)}}}", id="folders")) == 0
        made.drop("folders")
    assert made.add(registered("*.go")) == 0
    assert made.wants("/code/a.go", CHANGED)


def test_blanks_around_a_pattern_do_not_change_what_it_costs() -> None:
    pattern = "*a" * (MAX_PATTERN // 2)
    plain, padded = (
        WatchRegistrations("/code").add(registered(*[one] * 12))
        for one in (pattern, f" {pattern}  ")
    )
    assert plain == padded > 0
