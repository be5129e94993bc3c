"""The gate: what of a project's configuration would run something, and what passes."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from lspkit.config.trust.key_gate import (
    EXECUTION_KEYS,
    MAX_DEPTH,
    blocked_content,
    digest,
    remove_blocked,
)
from lspkit.config.trust.setting_keys import HARMLESS_KEYS
from lspkit.servers.built_in import BUILT_IN

KEYS = {"pyright": ("python.pythonPath",), "other": ("path",)}


def project(**fields: Any) -> dict[str, Any]:
    return {"lsp": {"pyright": fields}}


def blocked(values: dict[str, Any], keys: Any = KEYS) -> list[str]:
    return [one.field for one in remove_blocked(values, keys, {})[1]]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("command", ["./evil"]),
        ("args", ["--evil"]),
        ("env", {"NODE_OPTIONS": "--require=./evil.js"}),
        ("env", {"LD_PRELOAD": "./evil.so"}),
        ("watch", [["./evil"]]),
        ("watch", []),
        ("Command", ["./evil"]),
        ("ENV", {"PATH": "."}),
    ],
)
def test_what_names_or_shapes_a_program_is_left_out(field: str, value: Any) -> None:
    values = project(**{field: value, "extensions": [".py"]})
    assert remove_blocked(values, KEYS, {})[0] == project(extensions=[".py"])
    assert blocked(values) == [f"lsp.pyright.{field}"]
    assert blocked_content(values, KEYS, {}) == project(**{field: value})


def test_the_rest_applies_without_trust() -> None:
    values = {
        "lsp": {
            "pyright": {
                "extensions": [".py"],
                "roots": ["pyproject.toml"],
                "languageIds": {".pyi": "python"},
                "settings": {"python": {"analysis": {"typeCheckingMode": "strict"}}},
                "initialization": {"a": [1, {"b": None}], "empty": {}},
                "timing": {"requestTimeoutMs": 5},
                "disabled": False,
                "env": {},
                "command": None,
            }
        },
        "timing": {"debounceMs": 1},
        "diagnostics": {"maxPerFile": 3},
    }
    assert remove_blocked(values, KEYS, {}) == (values, [])
    assert blocked_content(values, KEYS, {}) == {}


@pytest.mark.parametrize("field", ["settings", "initialization", "initializationOptions"])
@pytest.mark.parametrize(
    "written",
    [
        {"python": {"pythonPath": "./evil"}},
        {"python.pythonPath": "./evil"},
        {"python": {"PythonPath": "./evil"}},
        {"PYTHON.pythonpath": "./evil"},
        {"python": {"python_path": "./evil"}},
        {"wrapped": {"python": {"pythonPath": "./evil"}}},
        {"wrapped.python": {"pythonPath": "./evil"}},
        {"python": {"pythonPath": {"deep": {"er": "./evil"}}}},
        {"python.pythonPath.deep": "./evil"},
        {"list": [{"python": {"pythonPath": "./evil"}}]},
        {"python": [{"x": 1}, {"pythonPath": "./evil"}]},
    ],
    ids=str,
)
def test_a_key_that_leads_to_a_program_is_found_however_it_is_written(
    field: str, written: dict[str, Any]
) -> None:
    values = project(**{field: {**written, "harmless": 1}})
    kept, found = remove_blocked(values, KEYS, {})
    assert kept == project(**{field: {"harmless": 1}})
    assert len(found) == 1
    assert found[0].field.startswith(f"lsp.pyright.{field}")
    assert blocked_content(values, KEYS, {}) == project(**{field: written})


def test_what_is_left_empty_by_it_is_left_out_too() -> None:
    values = project(settings={"python": {"pythonPath": "x"}}, roots=["a"])
    assert remove_blocked(values, KEYS, {})[0] == project(roots=["a"])


def test_a_key_counts_only_as_a_whole() -> None:
    values = project(settings={"python": {"pythonPaths": [], "path": 1}, "pythonPath": "x"})
    assert blocked(values) == []


def test_a_place_is_written_as_in_every_other_message() -> None:
    values = project(settings={"python.pythonPath": "x"})
    assert blocked(values) == ['lsp.pyright.settings["python.pythonPath"]']


def test_of_a_server_that_nobody_knows_no_setting_passes() -> None:
    values = {"lsp": {"mine": {"settings": {"path": "x", "a": {"b": 1}}, "roots": ["r"]}}}
    assert remove_blocked(values, KEYS, {"mine": ("a",)})[0] == {"lsp": {"mine": {"roots": ["r"]}}}


def test_where_the_harmless_keys_are_known_nothing_else_passes() -> None:
    settings = {
        "python": {"pythonPath": "./evil", "analysis": {"mode": "strict"}, "log": "/etc/x"},
        "python.analysis.mode": 1,
        "wrapped": {"analysis": {"python": {"pythonPath": "./evil"}, "paths": [1]}},
        "list": [{"analysis": 1}],
        "analysis": [{"python": {"pythonPath": "./evil"}}],
        "empty": {},
        "nothing": None,
    }
    kept, found = remove_blocked(project(settings=settings), KEYS, {"pyright": ("analysis",)})
    assert kept == project(
        settings={
            "python": {"analysis": {"mode": "strict"}},
            "python.analysis.mode": 1,
            "wrapped": {"analysis": {"paths": [1]}},
            "empty": {},
        }
    )
    assert [one.field.removeprefix("lsp.pyright.settings.") for one in found] == [
        "python.pythonPath",
        "python.log",
        "wrapped.analysis.python.pythonPath",
        "list",
        "analysis",
        "nothing",
    ]


def test_what_lies_too_deep_to_be_looked_at_is_left_out() -> None:
    deep: Any = 1
    for _ in range(MAX_DEPTH * 2):
        deep = [{"a": deep}]
    values = project(settings={"a": deep, "b": 1})
    assert remove_blocked(values, KEYS, {})[0] == project(settings={"b": 1})


@pytest.mark.parametrize("values", [{}, {"lsp": False}, {"lsp": True}, {"lsp": {"pyright": None}}])
def test_a_project_without_servers_is_left_as_it_is(values: dict[str, Any]) -> None:
    assert remove_blocked(values, KEYS, {}) == (values, [])


def test_the_project_itself_is_not_changed() -> None:
    values = project(command=["x"], settings={"python": {"pythonPath": "x", "a": 1}})
    remove_blocked(values, KEYS, {})
    assert values == project(command=["x"], settings={"python": {"pythonPath": "x", "a": 1}})


class TestDigest:
    BASE = project(
        command=["a", "b"], env={"A": "1", "B": "2"}, settings={"python.pythonPath": "x"}
    )

    def test_order_and_what_passes_do_not_count(self) -> None:
        said = self.BASE["lsp"]["pyright"]
        turned = dict(reversed([*said.items(), ("roots", ["a"])]))
        turned["env"] = {"B": "2", "A": "1"}
        assert digest({"timing": {}, "lsp": {"pyright": turned}}, KEYS, {}) == digest(
            self.BASE, KEYS, {}
        )

    @pytest.mark.parametrize(
        "change",
        [
            {"command": ["b", "a"]},
            {"command": ["a b"]},
            {"command": None},
            {"env": {"A": "1"}},
            {"settings": {"python.pythonPath": "y"}},
            {"watch": [["c"]]},
        ],
        ids=str,
    )
    def test_everything_that_is_blocked_counts(self, change: dict[str, Any]) -> None:
        changed = project(**{**self.BASE["lsp"]["pyright"], **change})
        assert digest(changed, KEYS, {}) != digest(self.BASE, KEYS, {})

    def test_the_same_for_another_server_is_something_else(self) -> None:
        other = {"lsp": {"other": {"command": ["a"]}}}
        assert digest(other, KEYS, {}) != digest(project(command=["a"]), KEYS, {})

    def test_it_is_a_sha_256_that_stays_the_same_for_ever(self) -> None:
        # Lists that people have made would be worth nothing after an update otherwise.
        assert digest({}, KEYS, {}) == (
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        )
        assert digest(project(command=["a"]), KEYS, {}) == (
            "12fa55e44c76a995382df81bbb4e4d1cb95b8bf8a7e2c23018c9ec2f527fb10e"
        )

    def test_dates_of_toml_and_broken_letters_can_be_told_apart(self) -> None:
        days = [dt.date(2024, 1, day) for day in (1, 2)]
        first, second = (digest(project(command=[day]), KEYS, {}) for day in days)
        assert first != second
        assert digest(project(command=["\udcff"]), KEYS, {}) != digest(
            project(command=["\udcfe"]), KEYS, {}
        )


class TestExecutionKeys:
    def test_every_built_in_server_was_thought_of(self) -> None:
        assert sorted(EXECUTION_KEYS) == sorted(one.id for one in BUILT_IN)

    def test_the_harmless_settings_of_every_server_that_runs_without_trust_are_known(self) -> None:
        assert sorted(HARMLESS_KEYS) == sorted(one.id for one in BUILT_IN if one.trust.untrusted)

    def test_every_harmless_key_passes_and_no_other(self) -> None:
        for server, keys in HARMLESS_KEYS.items():
            for key in keys:
                values = {"lsp": {server: {"settings": {"section": {key: True}}}}}
                assert remove_blocked(values, EXECUTION_KEYS) == (values, [])
            values = {"lsp": {server: {"initialization": {"newSetting": "/home/me/.bashrc"}}}}
            assert remove_blocked(values, EXECUTION_KEYS)[0] == {"lsp": {server: {}}}

    def test_another_name_of_a_server_lets_nothing_more_through(self) -> None:
        through = [
            (name, key)
            for definition in BUILT_IN
            for name in (definition.id, *definition.aliases)
            for key in EXECUTION_KEYS[definition.id]
            if remove_blocked({"lsp": {name: {"settings": {key: "./evil"}}}}, EXECUTION_KEYS)[0][
                "lsp"
            ][name]
        ]
        assert through == []

    @pytest.mark.parametrize(
        ("server", "settings"),
        [
            ("pyright", {"python": {"pythonPath": "./evil"}}),
            ("basedpyright", {"python": {"venvPath": "."}}),
            ("typescript", {"tsserver": {"path": "./evil.js"}}),
            ("typescript", {"plugins": [{"name": "evil", "location": "."}]}),
            ("vtsls", {"typescript": {"tsdk": "./evil"}}),
            ("vtsls", {"vtsls": {"tsserver": {"globalPlugins": [{"name": "evil"}]}}}),
            ("vtsls", {"vtsls": {"autoUseWorkspaceTsdk": True}}),
            ("rust-analyzer", {"check": {"overrideCommand": ["./evil"]}}),
            (
                "rust-analyzer",
                {"cargo": {"buildScripts": {"overrideCommand": []}}},
            ),
            ("rust-analyzer", {"rust-analyzer.procMacro.server": "./evil"}),
            ("gopls", {"gopls": {"build.buildFlags": ["-toolexec=./evil"]}}),
            ("gopls", {"env": {"GOFLAGS": "-toolexec=./evil"}}),
            ("eslint", {"nodePath": "./evil"}),
            ("eslint", {"options": {"overrideConfigFile": "./evil.js"}}),
            ("bash", {"bashIde": {"shellcheckPath": "./evil"}}),
            ("bash", {"bashIde": {"shfmt": {"path": "./evil"}}}),
            ("jdtls", {"java": {"jdt": {"ls": {"vmargs": "-javaagent:evil.jar"}}}}),
            ("jdtls", {"java.import.gradle.java.home": "./evil"}),
            ("lua-language-server", {"Lua": {"runtime": {"plugin": "./evil.lua"}}}),
            ("luau-lsp", {"luau-lsp": {"sourcemap": {"generatorCommand": "./evil"}}}),
            ("svelte", {"isTrusted": True}),
            ("vue", {"typescript": {"tsdk": "./evil"}}),
            ("zls", {"zig_exe_path": "./evil"}),
            ("nixd", {"nixd": {"formatting": {"command": ["./evil"]}}}),
            ("texlab", {"texlab": {"build": {"executable": "./evil"}}}),
            ("clojure-lsp", {"project-specs": [{"classpath-cmd": ["./evil"]}]}),
            ("terraform-ls", {"terraform": {"path": "./evil"}}),
            ("oxlint", {"settings": {"configPath": "./evil.json"}}),
            ("typescript", {"locale": "--allowLocalPluginLoads"}),
            ("vtsls", {"typescript": {"locale": "--allowLocalPluginLoads"}}),
            ("typescript", {"tsserver": {"logDirectory": "/home/me", "logVerbosity": "verbose"}}),
            ("ruff", {"settings": {"logFile": "/home/me/.bashrc"}}),
            ("ruff", {"format": {"backend": "uv"}}),
            ("ty", {"logFile": "/home/me/.bashrc"}),
            ("ty", {"untrustedWorkspace": False}),
            ("intelephense", {"storagePath": "/home/me"}),
            ("intelephense", {"clearCache": True}),
            ("yaml", {"http": {"proxy": "evil:80"}}),
        ],
        ids=str,
    )
    def test_known_ways_to_a_program_are_closed(self, server: str, settings: Any) -> None:
        for field in ("settings", "initialization"):
            values = {"lsp": {server: {field: settings}}}
            assert remove_blocked(values, EXECUTION_KEYS)[0] == {"lsp": {server: {}}}

    @pytest.mark.parametrize(
        ("server", "settings"),
        [
            ("pyright", {"python": {"analysis": {"typeCheckingMode": "strict"}}}),
            (
                "basedpyright",
                {"basedpyright": {"analysis": {"inlayHints": {"a": 1}}}},
            ),
            ("ty", {"ty": {"diagnosticMode": "workspace"}}),
            ("vtsls", {"typescript": {"preferences": {"quoteStyle": "single"}}}),
            ("gopls", {"gopls": {"staticcheck": True, "analyses": {"unusedparams": True}}}),
            ("rust-analyzer", {"rust-analyzer": {"cargo": {"features": "all"}}}),
            ("yaml", {"yaml": {"schemas": {}, "customTags": ["!Ref"]}}),
            ("lua-language-server", {"Lua": {"runtime": {"version": "Lua 5.4"}}}),
        ],
        ids=str,
    )
    def test_what_only_changes_findings_passes(self, server: str, settings: Any) -> None:
        values = {"lsp": {server: {"settings": settings}}}
        assert remove_blocked(values, EXECUTION_KEYS) == (values, [])


def test_a_project_may_forbid_a_tool_and_not_allow_one():
    said = {"permissions": {"lsp_rename": "allow", "lsp_hover": "deny", "lsp_symbols": "ask"}}
    kept, blocked = remove_blocked(said, {})
    assert kept == {"permissions": {"lsp_hover": "deny"}}
    assert [one.field for one in blocked] == ["permissions.lsp_rename", "permissions.lsp_symbols"]
    assert blocked_content(said, {}) == {
        "permissions": {"lsp_rename": "allow", "lsp_symbols": "ask"}
    }
