"""What a server may do in a project that is not trusted. The programs are never run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from lspkit.config import read_config
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import Launch, TrustProfile, UntrustedRun
from lspkit.servers.restriction.trust_profile import (
    ALL,
    Permit,
    program_folders,
    restrict,
)
from lspkit.servers.selection.choose import Choice, choose, definitions, permitted

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "trust.md"
UNTRUSTED = Permit(False, "untrusted", "lspkit trust add /code")
KNOWN = {one.id: one for one in BUILT_IN}


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    path.chmod(0o755)
    return path


def defined(restricted: UntrustedRun | None, **more: Any) -> Definition:
    launch, trust = Launch(commands=(("x",),), **more), TrustProfile(untrusted=restricted)
    return Definition(id="x", family="x", languages={".x": "x"}, launch=launch, trust=trust)


def restricted(definition: Definition, root: Path | str = "/code") -> Definition:
    """As it runs there; that it does is taken for granted."""
    made = restrict(definition, ("/usr/bin/x",), str(root), str(root))
    assert not isinstance(made, str), made
    return made


# Where programs are looked for


def test_in_a_trusted_project_its_own_folders_come_first() -> None:
    folders = program_folders("/code/a", ALL, ["/usr/bin"])
    own = ["/code/a/node_modules/.bin", "/code/a/.venv/bin", "/code/a/venv/bin"]
    assert folders == [*own, "/usr/bin"]


@pytest.mark.parametrize("state", ["untrusted", "stale"])
def test_in_any_other_project_its_own_folders_are_not_looked_at(state: str) -> None:
    assert program_folders("/code/a", Permit(False, state), ["/usr/bin"]) == ["/usr/bin"]


# Profiles


def test_a_server_without_a_profile_does_not_run() -> None:
    reason = restrict(defined(None), ("/usr/bin/x",), "/code", "/code")
    assert isinstance(reason, str)
    assert "not trusted" in reason


def test_a_profile_is_laid_over_what_is_configured() -> None:
    profile = UntrustedRun(
        initialization={"plugins": [], "a": {"b": 1}},
        settings={"s": {"path": "/outside"}},
    )
    configured = defined(
        profile,
        initialization={"plugins": ["evil"], "a": {"c": 2}},
        settings={"s": {"path": "./evil", "kept": True}},
    )
    made = restricted(configured)
    assert made.launch.initialization == {"plugins": [], "a": {"b": 1, "c": 2}}
    assert made.launch.settings == {"s": {"path": "/outside", "kept": True}}
    assert configured.launch.settings == {"s": {"path": "./evil", "kept": True}}


def test_a_server_that_takes_no_options_gets_none() -> None:
    assert restricted(defined(UntrustedRun())).launch.initialization is None


def test_the_running_interpreter_stands_in_for_the_projects() -> None:
    made = restricted(KNOWN["pyright"])
    assert made.launch.settings["python"]["pythonPath"] == sys.executable


def test_an_interpreter_that_belongs_to_the_project_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, base = program(tmp_path / "work" / "python"), program(tmp_path / "base" / "python")
    monkeypatch.setattr(sys, "executable", str(own))
    monkeypatch.setattr(sys, "_base_executable", str(base))
    made = restricted(KNOWN["pyright"], tmp_path / "work")
    assert made.launch.settings["python"]["pythonPath"] == str(base)


def test_a_server_does_not_run_if_it_needs_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = program(tmp_path / "python")
    monkeypatch.setattr(sys, "executable", str(own))
    monkeypatch.setattr(sys, "_base_executable", str(own))
    reason = restrict(KNOWN["pyright"], ("/usr/bin/x",), str(tmp_path), str(tmp_path))
    assert reason == "it needs python from outside the project, and it was not found"


def test_what_is_installed_in_the_project_is_found_without_running_it(tmp_path: Path) -> None:
    packages = tmp_path / "a [b]" / ".venv" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    made = restricted(KNOWN["basedpyright"], tmp_path / "a [b]")
    assert made.launch.settings["basedpyright"]["analysis"]["extraPaths"] == [str(packages)]
    assert made.launch.settings["basedpyright"]["analysis"]["autoSearchPaths"] is True


def test_it_comes_after_what_the_user_has_configured(tmp_path: Path) -> None:
    packages = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    said = {"pyright": {"settings": {"python.analysis.extraPaths": ["mine"]}}}
    configured = next(one for one in definitions(read_config({"lsp": said})) if one.id == "pyright")
    made = restricted(configured, tmp_path)
    assert made.launch.settings["python"]["analysis"]["extraPaths"] == ["mine", str(packages)]


def test_where_nothing_is_found_what_the_user_has_configured_stays(tmp_path: Path) -> None:
    said = {"pyright": {"settings": {"python": {"analysis": {"extraPaths": ["/mine"]}}}}}
    configured = next(one for one in definitions(read_config({"lsp": said})) if one.id == "pyright")
    made = restricted(configured, tmp_path)
    assert made.launch.settings["python"]["analysis"]["extraPaths"] == ["/mine"]


@pytest.mark.parametrize(
    ("server", "library"),
    [
        ("lib/node_modules/tls/cli.js", "lib/node_modules/typescript"),
        ("lib/node_modules/tls/cli.js", "lib/node_modules/tls/node_modules/typescript"),
        ("bin/typescript-language-server", "lib/node_modules/typescript"),
        ("node_modules/.bin/typescript-language-server", "node_modules/typescript"),
    ],
)
def test_the_typescript_beside_the_server_is_used(
    tmp_path: Path, server: str, library: str
) -> None:
    link = tmp_path / "link"
    link.symlink_to(program(tmp_path / server))
    found = program(tmp_path / library / "lib" / "tsserver.js")
    made = restrict(KNOWN["typescript"], (str(link), "--stdio"), "/code", "/code")
    assert isinstance(made, Definition)
    assert made.launch.initialization["tsserver"]["path"] == str(found)
    assert made.launch.initialization["plugins"] == []


@pytest.mark.parametrize("linked", [False, True])
def test_a_typescript_inside_of_the_project_is_not(tmp_path: Path, linked: bool) -> None:
    server = program(tmp_path / "tools" / "typescript-language-server")
    inside = tmp_path / "work" / "node_modules" / "typescript"
    program(inside / "lib" / "tsserver.js")
    workspace = tmp_path / "work" if linked else tmp_path
    if linked:
        (tmp_path / "node_modules").symlink_to(tmp_path / "work" / "node_modules")
    reason = restrict(KNOWN["typescript"], (str(server),), str(workspace), str(workspace))
    assert reason == "it needs tsserver from outside the project, and it was not found"


def test_a_typescript_that_is_reached_by_way_of_the_project_is_not(tmp_path: Path) -> None:
    server = program(tmp_path / "tools" / "typescript-language-server")
    program(tmp_path / "evil" / "typescript" / "lib" / "tsserver.js")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "node_modules").symlink_to("../evil")
    (tmp_path / "node_modules").symlink_to("work/node_modules")
    work = str(tmp_path / "work")
    assert isinstance(restrict(KNOWN["typescript"], (str(server),), work, work), str)


def test_every_profile_speaks_of_places_that_are_known() -> None:
    for one in BUILT_IN:
        if one.trust.untrusted is not None:
            made = restrict(one, (), "/code", "/code")
            text = str(made if isinstance(made, str) else made.launch)
            assert not re.search(r"\{[a-z]+\}", text), one.id


# Choices


def test_status_says_how_far_a_server_is_trusted() -> None:
    said = read_config({}).server("x")
    profiled, unknown = defined(UntrustedRun()), defined(None)

    def trust(definition: Definition, permit: Permit) -> str:
        return permitted(definition, said, "/code", "/code", [], permit).trust

    assert trust(unknown, ALL) == "trusted"
    assert trust(profiled, UNTRUSTED) == "restricted"
    assert trust(unknown, UNTRUSTED) == "untrusted"
    assert trust(unknown, Permit(False, "stale")) == "stale"


def choices(folder: Path, file: str, lsp: dict[str, Any] | None = None) -> list[Choice]:
    """For a file in a project that is not trusted, with the programs of a folder."""
    config = read_config({} if lsp is None else {"lsp": lsp})
    return choose(f"/code/{file}", "/code", config, [str(folder)], permits=lambda _: UNTRUSTED)


def test_a_type_server_that_is_held_back_makes_room_for_a_rival(tmp_path: Path) -> None:
    # There is no TypeScript beside the first, and so it is held back.
    for name in ("typescript-language-server", "vtsls"):
        program(tmp_path / name)
    [choice] = choices(tmp_path, "a.ts")
    assert (choice.id, choice.trust) == ("vtsls", "restricted")


def test_one_without_a_rival_is_told_of(tmp_path: Path) -> None:
    program(tmp_path / "typescript-language-server")
    [choice] = choices(tmp_path, "a.ts")
    assert (choice.id, choice.trust) == ("typescript", "untrusted")
    assert "tsserver" in choice.held_back


def test_trust_is_advised_only_where_the_project_has_what_the_server_lacks(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "typescript-language-server")
    (tmp_path / "a.ts").touch()

    def why_not() -> str:
        folders, config = [str(tmp_path / "bin")], read_config({})
        permit = Permit(False, "untrusted", "lspkit trust add")
        [choice] = choose(
            str(tmp_path / "a.ts"), str(tmp_path), config, folders, permits=lambda _: permit
        )
        return choice.why_not

    assert why_not().startswith("cannot run: it needs tsserver")
    assert "trust" not in why_not()
    program(tmp_path / "node_modules" / "typescript" / "lib" / "tsserver.js")
    assert why_not().startswith("held back: ")
    assert why_not().endswith("to allow it: lspkit trust add")


def test_one_that_was_selected_makes_no_room(tmp_path: Path) -> None:
    for name in ("pyrefly", "ty"):
        program(tmp_path / name)
    [choice] = choices(tmp_path, "a.py", {"pyrefly": {"disabled": False}})
    assert (choice.id, choice.trust) == ("pyrefly", "untrusted")


def test_a_server_of_the_users_own_runs_also_there(tmp_path: Path) -> None:
    program(tmp_path / "mine")
    lsp = {"mine": {"command": ["mine"], "extensions": [".mine"]}}
    [choice] = choices(tmp_path, "a.mine", lsp)
    assert choice.trust == "untrusted"
    vouched = Permit(False, "untrusted", vouched=frozenset({"mine"}))
    config = read_config({"lsp": lsp})
    [choice] = choose("/code/a.mine", "/code", config, [str(tmp_path)], permits=lambda _: vouched)
    assert (choice.trust, choice.held_back) == ("configured", "")


def test_a_profile_counts_also_for_a_server_that_the_user_has_configured() -> None:
    said, vouched = read_config({}).server("x"), Permit(False, "untrusted", vouched=frozenset("x"))
    profile = UntrustedRun(settings={"safe": True})
    choice = permitted(defined(profile), said, "/code", "/code", [], vouched)
    assert (choice.trust, choice.definition.launch.settings) == ("restricted", {"safe": True})


# The page about it


def test_the_page_lists_what_runs_restricted_and_what_is_held_back() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (restricted|held back) \|[^|]*\| (.*) \|$", text, re.M))
    listed = {kind: set(re.findall(r"`([^`]+)`", names)) for kind, names in rows.items()}
    assert listed == {
        "restricted": {one.id for one in BUILT_IN if one.trust.untrusted is not None},
        "held back": {one.id for one in BUILT_IN if one.trust.untrusted is None},
    }
