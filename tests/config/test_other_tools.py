"""Files as the documentation of other tools has them, used as they are."""

from __future__ import annotations

import pytest


def test_opencode(scene):
    scene.sample("opencode.json", "opencode.json")
    loaded = scene.load()
    server = loaded.config.server("custom-typescript")
    assert server.command == ["typescript-language-server", "--stdio"]
    assert server.extensions == [".ts", ".tsx"]
    assert server.env == {"TSS_LOG": "-level verbose"}
    assert server.initialization == {"preferences": {"importModuleSpecifierPreference": "relative"}}
    assert loaded.config.server("pyright").disabled is True
    assert loaded.warnings == ()


def test_opencode_with_comments(scene):
    scene.sample("opencode.jsonc", "opencode.jsonc")
    loaded = scene.load()
    assert loaded.config.server("gopls").disabled is True
    assert loaded.warnings == ()


@pytest.mark.parametrize(("lsp", "enabled"), [("true", True), ("false", False)])
def test_opencode_with_all_or_nothing(scene, lsp, enabled):
    scene.project(f'{{"lsp": {lsp}}}', "opencode.json")
    assert scene.load().config.enabled is enabled


def test_copilot(scene):
    scene.sample("copilot.json", ".github/lsp.json")
    scene.environ |= {"LOG_FILE": "/log", "LOG_LEVEL": ""}
    loaded = scene.load()
    server = loaded.config.server("typescript")
    assert server.command == ["typescript-language-server", "--stdio"]
    assert server.extensions == [".mjs", ".ts", ".tsx"]
    assert server.language_ids[".tsx"] == "typescriptreact"
    assert server.env == {"TSS_LOG": "-level terse -file /log", "KEPT": "${NOT_SET}"}
    assert server.initialization == {"hostInfo": "copilot"}
    assert server.timing.request_timeout_ms == 90_000
    assert loaded.config.server("ruby").command == ["ruby-lsp"]
    assert loaded.warnings == ()


def test_variables_are_left_as_they_are_where_they_mean_nothing(scene):
    scene.project({"lsp": {"x": {"command": ["x"], "env": {"A": "${HOME}"}}}})
    assert scene.load().config.server("x").env == {"A": "${HOME}"}


@pytest.mark.parametrize("name", [".lsp.json", ".github/lsp.json"])
def test_claude_code(scene, name):
    scene.sample("claude-code.json", name)
    loaded = scene.load()
    go, typescript = loaded.config.server("go"), loaded.config.server("typescript")
    assert go.command == ["gopls", "serve"]
    assert go.extensions == [".go"]
    assert typescript.language_ids == {".ts": "typescript", ".tsx": "typescriptreact"}
    assert typescript.settings == {"typescript": {"format": {"enable": False}}}
    assert typescript.timing.initialize_timeout_ms == 60_000
    assert loaded.warnings == ()


def test_pi(scene):
    scene.sample("pi.json", ".pi/lsp.json")
    loaded = scene.load()
    assert loaded.config.server("typescript").disabled is True
    assert loaded.config.server("rust-analyzer").roots == ["Cargo.toml"]
    assert loaded.config.timing.request_timeout_ms == 8_000
    assert loaded.config.security.trusted_project_roots == ()
    assert [one.place for one in loaded.warnings] == ["security"]


def test_pi_as_the_users_own_file(scene):
    file = scene.home / ".pi" / "agent" / "lsp.json"
    scene.sample("pi.json", str(file))
    loaded = scene.load()
    assert loaded.global_file == str(file)
    assert loaded.config.security.trusted_project_roots == ("~/Code/work/**",)
    assert loaded.warnings == ()


def test_pi_with_its_servers_at_the_top(scene):
    scene.sample("pi-servers.json", ".pi/lsp.json")
    loaded = scene.load()
    rust = loaded.config.server("rust")
    assert rust.command == ["lspmux", "client"]
    assert rust.extensions == [".rs"]
    assert rust.language_ids == {".rs": "rust"}
    assert rust.initialization == {"lspMux": {"version": "1"}}
    assert loaded.config.server("ruff").disabled is True
    assert loaded.warnings == ()


def test_dispatch(scene):
    scene.sample("dispatch.json", ".dispatch/lsp.json")
    loaded = scene.load()
    server = loaded.config.server("luau-lsp")
    assert server.command == ["luau-lsp", "lsp"]
    assert server.roots == ["default.project.json"]
    assert loaded.warnings == ()


def test_pyproject(scene):
    scene.sample("pyproject.toml", "pyproject.toml")
    loaded = scene.load()
    assert loaded.config.server("ruff").disabled is True
    assert loaded.config.server("my-server").extensions == [".my"]
    assert loaded.config.timing.request_timeout_ms == 20_000
    assert loaded.warnings == ()


def test_a_file_of_another_tool_may_be_passed_as_well(scene):
    file = scene.sample("claude-code.json", ".lsp.json")
    assert scene.load(file).config.server("go").command == ["gopls", "serve"]
    file = scene.sample("opencode.json", "opencode.json")
    assert scene.load(file).config.server("pyright").disabled is True
