"""Which programs run beside a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lspkit.config import Config, ServerConfig
from lspkit.servers.selection.choose import definitions
from lspkit.servers.sidecar_commands import Commands, commands
from lspkit.servers.status import SidecarStatus

ROJO = ("sourcemap", "game.project.json", "--watch", "-o", "sourcemap.json")
AUTOGENERATE = {"autogenerate": True, "rojoProjectFile": "game.project.json"}


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """A folder with the programs `rojo` and `watcher`."""
    for name in ("rojo", "watcher"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    return str(tmp_path)


def beside(
    folder: str, id: str = "luau-lsp", *, trusted: bool = True, root: str = "/project", **said: Any
) -> Commands:
    """What runs beside a server that is configured like this."""
    config = Config(lsp={id: ServerConfig(**said)})
    [definition] = [one for one in definitions(config) if one.id == id]
    return commands(definition, config.server(id), root, [folder], trusted=trusted)


def source_map(**settings: Any) -> dict[str, Any]:
    return {"luau-lsp": {"sourcemap": settings}}


def test_nothing_runs_beside_a_server_of_which_nothing_is_said(programs):
    assert beside(programs) == Commands()
    assert beside(programs, "ty") == Commands()


def test_the_commands_of_the_configuration_run_with_the_programs_found(programs):
    found = beside(programs, "ty", watch=(("watcher", "-x", "a b"), ("rojo",)))
    assert found == Commands(((f"{programs}/watcher", "-x", "a b"), (f"{programs}/rojo",)))


def test_a_program_with_a_full_path_needs_no_looking_for(programs):
    found = beside("/nowhere", "ty", watch=((f"{programs}/watcher",),))
    assert found.commands == ((f"{programs}/watcher",),)


@pytest.mark.parametrize("program", ["./watcher", "../{}/watcher", "./sub/../watcher"])
def test_a_relative_program_begins_in_the_root(programs, program):
    program = program.format(Path(programs).name)
    found = beside("/nowhere", "ty", root=programs, watch=((program, "now"),))
    assert found == Commands(((f"{programs}/watcher", "now"),))


def test_but_not_without_trust(programs):
    found = beside("/nowhere", "ty", root=programs, trusted=False, watch=(("./watcher",),))
    assert found.commands == ()


@pytest.mark.parametrize("program", ["missing", "./watcher", "bin/watcher", "/nowhere/watcher"])
def test_a_program_that_is_not_found_is_told_of_and_hinders_no_other(programs, program):
    found = beside(programs, "ty", watch=((program, "now"), ("watcher",)))
    assert found.commands == ((f"{programs}/watcher",),)
    [warning] = found.warnings
    assert warning.startswith(f"ty runs without `{program} now` in /project: {program} was not")


def test_where_there_is_no_trust_nothing_runs_and_the_reason_is_told(programs):
    found = beside(programs, "ty", trusted=False, watch=(("watcher", "-x"), ("missing",)))
    assert found.commands == ()
    [warning] = found.warnings
    assert "`watcher -x`, `missing`" in warning
    assert "not trusted" in warning
    assert "lspkit trust" in warning


def test_without_trust_there_is_nothing_to_tell_where_nothing_would_run(programs):
    assert beside(programs, trusted=False) == Commands()


def test_the_source_map_of_luau_follows_from_its_settings(programs):
    found = beside(programs, initialization=source_map(**AUTOGENERATE))
    assert found == Commands(((f"{programs}/rojo", *ROJO),))


def test_the_source_map_goes_where_the_server_looks_for_it(programs):
    said = {**AUTOGENERATE, "sourcemapFile": "build/map.json"}
    [command] = beside(programs, initialization=source_map(**said)).commands
    assert command == (f"{programs}/rojo", *ROJO[:-1], "build/map.json")


@pytest.mark.parametrize(
    "initialization",
    [
        None,
        [],
        "luau-lsp",
        {},
        {"luau-lsp": None},
        {"luau-lsp": {"sourcemap": True}},
        {"luau-lsp": [{"sourcemap": AUTOGENERATE}]},
        source_map(rojoProjectFile="game.project.json"),
        source_map(autogenerate=True),
        source_map(autogenerate=False, rojoProjectFile="game.project.json"),
        source_map(autogenerate="yes", rojoProjectFile="game.project.json"),
        source_map(autogenerate=True, rojoProjectFile=""),
        source_map(autogenerate=True, rojoProjectFile=7),
        source_map(autogenerate=True, rojoProjectFile="--help"),
        source_map(autogenerate=True, rojoProjectFile="a\0b"),
        source_map(**AUTOGENERATE, enabled=False),
    ],
)
def test_no_source_map_is_made_where_the_settings_do_not_ask_for_one(programs, initialization):
    assert beside(programs, initialization=initialization) == Commands()


def test_a_watch_command_takes_the_place_of_what_would_follow(programs):
    found = beside(programs, watch=(("watcher",),), initialization=source_map(**AUTOGENERATE))
    assert found == Commands(((f"{programs}/watcher",),))


@pytest.mark.parametrize("id", ["ty", "mine"])
def test_whatever_the_id_of_the_server_its_settings_decide(programs, id):
    found = beside(programs, id, initialization=source_map(**AUTOGENERATE))
    assert found == Commands(((f"{programs}/rojo", *ROJO),))


def test_where_rojo_is_missing_status_says_so():
    found = beside("/nowhere", initialization=source_map(**AUTOGENERATE))
    assert found.commands == ()
    assert "rojo was not found" in found.warnings[0]


def test_without_trust_no_source_map_is_made(programs):
    found = beside(programs, trusted=False, initialization=source_map(**AUTOGENERATE))
    assert found.commands == ()
    assert "`rojo sourcemap game.project.json" in found.warnings[0]


def test_a_status_is_one_line():
    waiting = SidecarStatus(("/bin/rojo", "a\nb"), "waiting", retry_in=4.6, error="it\nended")
    assert str(waiting) == "/bin/rojo a\\nb: waiting, next try in 5 s: it\\nended"
    running = SidecarStatus(("/bin/rojo",), "running", pid=12, error="what was before")
    assert str(running) == "/bin/rojo: running, pid 12"
