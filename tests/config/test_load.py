"""From files to a configuration: whose word counts, and what is told about it."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import pytest

import lspkit
from lspkit.config import Config, Origin
from lspkit.config.load import load
from lspkit.config.trust.decision import TrustDecision
from lspkit.servers.built_in import BUILT_IN

ALIASES = {alias: one.id for one in BUILT_IN for alias in one.aliases}
PROGRAM = {"lsp": {"x": {"command": ["./x"], "extensions": [".x"], "env": {"A": "b"}}}}


# Layers


def test_the_project_is_laid_over_the_user_and_the_user_over_the_defaults(scene):
    scene.say({"timing": {"requestTimeoutMs": 1, "debounceMs": 1}})
    scene.project({"timing": {"debounceMs": 2}})
    timing = scene.load().config.timing
    assert (timing.initialize_timeout_ms, timing.request_timeout_ms) == (15_000, 1)
    assert timing.debounce_ms == 2


def test_every_value_knows_its_layer_and_file(scene):
    mine = str(scene.say({"timing": {"requestTimeoutMs": 1}}))
    theirs = str(scene.project({"lsp": {"ruff": {"disabled": True}}}))
    origins = scene.load().origins
    assert origins["timing.requestTimeoutMs"] == Origin("global", mine)
    assert origins["lsp.ruff.disabled"] == Origin("project", theirs)
    assert origins["timing.debounceMs"] == Origin("built-in")


def test_who_speaks_of_a_server(scene):
    scene.say({"lsp": {"mine": {"command": ["m"]}, "ty": {"settings": {}}, "both": {}}})
    scene.project({"lsp": {"theirs": {"command": ["t"]}, "both": {"command": ["b"]}}})
    loaded = scene.load()
    assert loaded.source("mine", built_in=False) == "global"
    assert loaded.source("theirs", built_in=False) == "project"
    assert loaded.source("both", built_in=False) == "merged"
    assert loaded.source("ty", built_in=True) == "merged"
    assert loaded.source("ruff", built_in=True) == "built-in"


@pytest.mark.parametrize("off", [False, {"enabled": False}])
@pytest.mark.parametrize("first", [True, False])
def test_false_wins_in_any_layer(scene, off, first):
    on = {"lsp": {"ty": {"disabled": False}}}
    scene.say({"lsp": off} if first else on)
    scene.project(on if first else {"lsp": off})
    assert not scene.load().config.enabled


@pytest.mark.parametrize("first", ["ty", "python-types"])
@pytest.mark.parametrize("project_is_off", [True, False])
def test_disabled_wins_in_any_layer_and_by_any_name(scene, first, project_is_off):
    off, on = {"lsp": {first: {"disabled": True}}}, {"lsp": {"ty": {"disabled": False}}}
    scene.say(on if project_is_off else off)
    scene.project(off if project_is_off else on)
    config = scene.load(aliases={"python-types": "ty"}).config
    assert config.server("ty", ("python-types",)).disabled is True


def test_other_names_of_servers_become_ids(scene):
    scene.say({"lsp": {"python": {"roots": ["a"], "settings": {"x": 1}}, "ty": {}}})
    scene.project({"lsp": {"ty": {"roots": ["b"]}}})
    loaded = scene.load(aliases=ALIASES)
    assert list(loaded.config.lsp) == ["ty"]
    server = loaded.config.server("ty")
    assert (server.roots, server.settings) == (["b"], {"x": 1})


def test_in_one_file_the_id_counts_more_than_another_name(scene):
    scene.say({"lsp": {"ty": {"roots": ["id"]}, "python": {"roots": ["name"]}}})
    assert scene.load(aliases=ALIASES).config.server("ty").roots == ["id"]


# Security


@pytest.mark.parametrize("name", [".lspkit/lsp.json", ".pi/lsp.json", ".lsp.json"])
def test_a_project_cannot_trust_itself(scene, name):
    scene.project(
        {"security": {"trustedProjectRoots": ["/"], "projectConfigPolicy": "always"}, **PROGRAM},
        name,
    )
    loaded = scene.load(trusted=None)
    assert loaded.config.security == lspkit.config.SecurityConfig()
    assert loaded.standing.state == "untrusted"
    assert loaded.config.server("x").command is None
    assert any(one.place == "security" for one in loaded.warnings)


def test_a_project_cannot_widen_its_paths_even_if_it_is_trusted(scene):
    scene.say({"security": {"exclude": ["**/secret/**"]}})
    scene.project(
        {
            "security": {"exclude": [], "allowExternalPaths": True},
            "edits": {"boundary": "worktree"},
        }
    )
    loaded = scene.load(trusted=True)
    assert loaded.config.security.exclude == ("**/secret/**",)
    assert loaded.config.security.allow_external_paths is False
    assert loaded.config.edits.boundary == "workspace"
    assert {"security", "edits"} <= {one.place for one in loaded.warnings}


def test_the_user_may_let_edits_reach_the_work_tree(scene):
    scene.say({"edits": {"boundary": "worktree"}})
    assert scene.load().config.edits.boundary == "worktree"


def test_faults_in_what_is_dropped_are_faults_as_well(scene):
    scene.project({"security": 5, "timing": {"debounceMs": 1}})
    assert scene.load().ignored


def test_security_in_a_toml_file_is_told_with_its_line(scene):
    text = "[tool.lspkit]\nnavigationTools = true\n[tool.lspkit.security]\nexclude = []\n"
    file = scene.project(text, "pyproject.toml")
    [warning] = scene.warnings()
    assert warning.startswith(f"{file}:3: tool.lspkit.security: ")


# Trust


def test_what_runs_a_program_is_held_back_and_told(scene):
    file = scene.project({**PROGRAM, "timing": {"firstTouchTimeoutMs": 1}})
    loaded = scene.load(trusted=None)
    server = loaded.config.server("x")
    assert (server.command, server.env, server.extensions) == (None, {}, [".x"])
    assert loaded.config.timing.first_touch_timeout_ms == 1
    assert loaded.held_back == ("lsp.x.command", "lsp.x.env")
    assert loaded.project["lsp"]["x"]["command"] == ["./x"]
    told = [str(one) for one in loaded.warnings]
    for place in loaded.held_back:
        [line] = [one for one in told if f": {place}: " in one]
        assert str(file) in line and "trusted-only" in line and "lspkit trust" in line


def test_nothing_is_held_back_from_a_trusted_project(scene):
    scene.project(PROGRAM)
    loaded = scene.load(trusted=True)
    assert loaded.config.server("x").command == ["./x"]
    assert (loaded.held_back, loaded.warnings) == ((), ())


@pytest.mark.parametrize(
    ("state", "policy", "refused", "command"),
    [
        ("trusted", "trusted-only", False, ["./x"]),
        ("untrusted", "trusted-only", False, None),
        ("stale", "trusted-only", False, None),
        ("untrusted", "always", False, ["./x"]),
        ("untrusted", "always", True, None),
        ("trusted", "never", False, None),
    ],
)
def test_the_standing_decides(scene, state, policy, refused, command):
    scene.project(PROGRAM)
    standing = TrustDecision(state, "because", str(scene.root), policy, refused=refused)
    loaded = scene.load(standing=standing)
    assert loaded.standing is standing
    assert loaded.config.server("x").command == command
    assert bool(loaded.held_back) is (command is None)


def test_what_was_trusted_does_not_depend_on_the_names_that_are_known(scene, monkeypatch):
    seen = []

    def asked(file, root, project, *others):
        seen.append(project)
        return TrustDecision("untrusted", "", root, "trusted-only")

    monkeypatch.setattr("lspkit.config.load.trust_of", asked)
    scene.project({"lsp": {"python": {"command": ["x"]}}})
    loaded = [scene.load(aliases=aliases) for aliases in (None, ALIASES)]
    assert seen[0] == seen[1] == loaded[0].project == loaded[1].project
    assert loaded[1].held_back == ("lsp.ty.command",)


def test_the_users_own_file_is_not_gated(scene):
    scene.say(PROGRAM)
    assert scene.load(trusted=False).config.server("x").command == ["./x"]


def test_a_bad_entry_of_the_users_list_is_an_error_of_that_file(scene):
    text = '{"security": {\n"trustedProjectRoots": ["/a",\n"relative"]}}'
    file = scene.say(text)
    with pytest.raises(lspkit.ConfigError) as caught:
        scene.load(trusted=None)
    problem = caught.value
    assert (problem.file, problem.line) == (str(file), 3)
    assert problem.place == "security.trustedProjectRoots[1]"


@pytest.mark.parametrize("given", [False, True])
def test_all_faults_are_told_at_once_those_of_patterns_as_well(scene, given):
    said = {
        "timing": {"requestTimeoutMs": 0},
        "security": {
            "trustedProjectRoots": ["/a", "relative", 5, "/b/*(c)", "~/ok"],
            "exclude": ["**/secret/**", "[", "{a,", "", "x/[b-a]", "[!a]"],
        },
    }
    if not given:
        scene.say(said)
    with pytest.raises(lspkit.ConfigError) as caught:
        scene.load(said if given else None, trusted=None)
    assert sorted(fault["place"] for fault in caught.value.faults) == [
        *(f"security.exclude[{number}]" for number in (1, 2, 3, 4)),
        *(f"security.trustedProjectRoots[{number}]" for number in (1, 2, 3)),
        "timing.requestTimeoutMs",
    ]
    assert "'{a,' is not valid: { has no partner" in caught.value.message


def test_a_pattern_in_a_projects_file_does_not_matter(scene):
    scene.project({"security": {"exclude": ["["], "trustedProjectRoots": ["x"]}, "timing": {}})
    [warning] = scene.load().warnings
    assert "only the user's own file can set this" in str(warning)


# Wrong files


def test_a_bad_file_of_the_user_stops_with_all_its_faults(scene):
    file = scene.say('{"timing": {\n"debounceMs": -1,\n"requestTimeoutMs": 0}}')
    with pytest.raises(lspkit.ConfigError) as caught:
        scene.load()
    assert caught.value.file == str(file)
    assert [(one["line"], one["place"]) for one in caught.value.faults] == [
        (3, "timing.requestTimeoutMs"),
        (2, "timing.debounceMs"),
    ]


def test_a_bad_file_of_a_project_is_ignored_as_a_whole(scene):
    scene.say({"timing": {"debounceMs": 5}})
    text = '{"timing": {"debounceMs": 6},\n"lsp": {"x": {"command": []},\n"y": 1}}'
    file = str(scene.project(text))
    loaded = scene.load()
    assert loaded.ignored and loaded.used == file
    assert loaded.config.timing.debounce_ms == 5
    assert loaded.config.lsp == {}
    first, *others = (str(one) for one in loaded.warnings)
    assert first == f"{file}: the whole file is ignored, because it has faults"
    assert [one.split(": expected")[0] for one in others] == [
        f"{file}:2: lsp.x.command",
        f"{file}:3: lsp.y",
    ]


def test_a_bad_file_does_not_let_the_next_one_count(scene):
    scene.project("{")
    scene.project({"timing": {"debounceMs": 6}}, ".lsp.json")
    loaded = scene.load()
    assert loaded.config == Config()
    assert loaded.passed_over == (str(scene.root / ".lsp.json"),)


def test_an_unknown_key_of_the_users_file_is_only_told(scene):
    file = scene.say('{\n"timng": {}}')
    [warning] = scene.warnings()
    assert warning == f"{file}:2: timng: it is ignored: no such name is known; did you mean timing?"


def test_a_misspelt_server_is_told(scene):
    scene.say({"lsp": {"pyrigth": {"settings": {}}, "python": {}, "own": {"command": ["x"]}}})
    scene.project({"lsp": {"own": {"settings": {}}, "gone": {"disabled": True}}})
    [warning] = scene.warnings(aliases=ALIASES)
    assert "lsp.pyrigth: " in warning and "did you mean pyright?" in warning


def test_a_root_that_is_not_there_has_no_files(scene):
    for root in ("none", "none/below", str(scene.say("{}"))):
        assert load(root, environ=scene.environ, trusted=True).used is None


# What a program passes


def test_what_is_given_stands_in_place_of_all_files(scene):
    scene.say({"timing": {"debounceMs": 1}})
    scene.project({"timing": {"debounceMs": 2}})
    loaded = scene.load({"timing": {"requestTimeoutMs": 3}})
    assert loaded.config.timing.debounce_ms == 150
    assert (loaded.used, loaded.global_file) == (None, None)
    assert loaded.origins["timing.requestTimeoutMs"] == Origin("given")


def test_what_is_given_may_say_everything(scene):
    given = {**PROGRAM, "security": {"allowExternalPaths": True}}
    config = scene.load(given, trusted=None).config
    assert config.server("x").command == ["./x"]
    assert config.security.allow_external_paths is True


def test_a_config_is_taken_as_it_is(scene):
    config = Config(lsp={"x": lspkit.config.ServerConfig(command=["x"])}, navigation_tools=False)
    loaded = scene.load(config)
    assert loaded.config is config
    assert loaded.origins["lsp.x.command"] == Origin("given")
    assert loaded.origins["navigationTools"] == Origin("given")
    assert loaded.origins["timing.debounceMs"] == Origin("built-in")
    assert loaded.values["lsp"] == {"x": {"command": ["x"]}}


def test_a_file_is_known_by_its_name(scene):
    file = scene.write(scene.home / "other.json", {"timing": {"debounceMs": 1}})
    loaded = scene.load(file)
    assert loaded.origins["timing.debounceMs"] == Origin("given", str(file))


def test_a_bad_value_is_an_error(scene):
    for given in ({"lsp": 5}, scene.project("{"), scene.root / "none.json"):
        with pytest.raises(lspkit.ConfigError):
            scene.load(given)


# Around it


def test_loading_changes_nothing_that_is_there(scene):
    scene.say({"lsp": {"x": {"settings": {"a": 1}}}})
    scene.project({"lsp": {"x": {"settings": {"b": 2}}}})
    one, other = scene.load(), scene.load()
    one.values["lsp"]["x"]["settings"]["c"] = 3
    assert other.values["lsp"]["x"]["settings"] == {"a": 1, "b": 2}
    assert scene.load().values == other.values


def test_what_was_loaded_can_be_pickled(scene):
    scene.say({"timing": {"debounceMs": 1}})
    loaded = scene.load()
    assert pickle.loads(pickle.dumps(loaded.config)) == loaded.config
    assert pickle.loads(pickle.dumps(loaded.warnings)) == loaded.warnings


def test_importing_lspkit_brings_nothing_that_only_some_files_need():
    program = "import json, sys, lspkit; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    unwanted = {"tomllib", "difflib", "platformdirs", "filelock", "lspkit.config.json_schema"}
    unwanted |= {"lspkit.config.trust.decision", "lspkit.config.trust.key_gate"}
    assert sorted(unwanted & set(json.loads(done.stdout))) == []


def test_the_environment_of_the_process_is_the_default(scene, monkeypatch):
    monkeypatch.setenv("LSPKIT_CONFIG", str(scene.write(scene.home / "m.json", '{"lsp": false}')))
    assert not load(os.fspath(scene.root), trusted=True).config.enabled
