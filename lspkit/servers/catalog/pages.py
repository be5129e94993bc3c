"""Servers for pages, styles and their data: HTML, CSS, JSON."""

from __future__ import annotations

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import Signal
from lspkit.servers import definition_parts as parts
from lspkit.servers.catalog.web import PACKAGE_FILES, SCRIPT
from lspkit.servers.definition import Definition

_EXTRACTED = {"npm": "vscode-langservers-extracted"}
#: Files named `.json` whose readers allow comments.
COMMENTED_JSON = dict.fromkeys(
    (
        *("tsconfig.*", "jsconfig.*", "tslint.json", "deno.json", "devcontainer.json"),
        *(".babelrc.json", "babel.config.json", ".eslintrc.json", ".oxlintrc.json"),
        *("api-extractor.json", "language-configuration.json", "nx.json", "turbo.json"),
        "typedoc.json",
    ),
    "jsonc",
)

_STYLE = {"validate": True, "lint": {}, "completion": {}, "hover": {}}

PAGES: tuple[Definition, ...] = (
    Definition(
        id="json",
        family="json",
        languages={
            ".json": "json",
            ".geojson": "json",
            ".jsonld": "json",
            ".webmanifest": "json",
            "composer.lock": "json",
            ".jsonc": "jsonc",
            ".code-workspace": "jsonc",
            **COMMENTED_JSON,
            ".babelrc": "jsonc",
            ".eslintrc": "jsonc",
            ".swcrc": "jsonc",
            ".jshintrc": "jsonc",
        },
        roots=parts.Roots(markers=PACKAGE_FILES),
        launch=parts.Launch(
            commands=(("vscode-json-language-server", "--stdio"),),
            # Checks are off by default.
            settings={"json": {"validate": {"enable": True}, "format": {"enable": False}}},
        ),
        # A file may name any URL as its schema.
        trust=parts.TrustProfile(
            untrusted=parts.UntrustedRun(initialization={"handledSchemaProtocols": ["file"]})
        ),
        documents=parts.DocumentSync(unsaved="never"),
        # It reads a schema again only after a notification.
        disk=parts.DiskReactions(told_of=("**",)),
        install=_EXTRACTED,
        quirks=(
            "Publishes without a version.",
            "Downloads the schema that a file names, if the project is trusted.",
        ),
        verified="4.10.0",
    ),
    Definition(
        id="html",
        family="html",
        languages={".html": "html", ".htm": "html", ".xhtml": "html"},
        roots=parts.Roots(markers=PACKAGE_FILES),
        launch=parts.Launch(
            commands=(("vscode-html-language-server", "--stdio"),),
            initialization={
                "provideFormatter": False,
                "embeddedLanguages": {"css": True, "javascript": True},
            },
            # It requests all three, since a page may contain styles and scripts.
            settings={
                "html": {"validate": {"scripts": True, "styles": True}},
                "css": _STYLE,
                "javascript": {"validate": {"enable": True}},
            },
        ),
        trust=parts.HARMLESS,
        proofs=(ProofRule(alone=True),),
        install=_EXTRACTED,
        quirks=("Publishes without a version.", "Symbols come as a flat list."),
        verified="4.10.0",
    ),
    Definition(
        id="css",
        family="css",
        languages={".css": "css", ".scss": "scss", ".less": "less"},
        roots=parts.Roots(markers=PACKAGE_FILES),
        launch=parts.Launch(
            commands=(("vscode-css-language-server", "--stdio"),),
            # It requests the settings of the file's language, and checks nothing if they are null.
            settings={"css": _STYLE, "scss": _STYLE, "less": _STYLE},
        ),
        trust=parts.HARMLESS,
        proofs=(ProofRule(alone=True),),
        install=_EXTRACTED,
        quirks=(
            "Publishes without a version.",
            "Knows the mixins, functions and variables of one file only.",
        ),
        verified="4.10.0",
    ),
)


# Linters for the browser and for Node. Each runs only in a project that is set up for it.

_ESLINT_CONFIG = (
    *("eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts"),
    *("eslint.config.mts", "eslint.config.cts", ".eslintrc", ".eslintrc.js", ".eslintrc.cjs"),
    *(".eslintrc.json", ".eslintrc.yaml", ".eslintrc.yml"),
)
_BIOME_CONFIG = ("biome.json", "biome.jsonc", ".biome.json", ".biome.jsonc")
_OXLINT_CONFIG = (".oxlintrc.json", ".oxlintrc.jsonc", "oxlint.config.ts")
_IGNORES = (".gitignore", ".eslintignore")

WEB_LINT: tuple[Definition, ...] = (
    Definition(
        id="eslint",
        family="eslint",
        role="lint",
        languages={**SCRIPT, ".vue": "vue", ".svelte": "svelte", ".astro": "astro"},
        answers_only=("textDocument/codeAction",),
        roots=parts.Roots(markers=_ESLINT_CONFIG, only_with=_ESLINT_CONFIG),
        launch=parts.Launch(
            commands=(("vscode-eslint-language-server", "--stdio"),),
            # It requests one section without a name, and fails if one of these is missing.
            settings={
                "validate": "on",
                "run": "onType",
                "nodePath": None,
                "packageManager": None,
                "workingDirectory": {"mode": "location"},
                "options": {},
                "experimental": {},
                "useESLintClass": False,
                "problems": {"shortenToSingleLine": False},
                "rulesCustomizations": [],
                "quiet": False,
                "onIgnoredFiles": "off",
                "format": False,
                "codeAction": {
                    "disableRuleComment": {
                        "enable": True,
                        "location": "separateLine",
                        "commentStyle": "line",
                    },
                    "showDocumentation": {"enable": True},
                },
                "codeActionOnSave": {"mode": "all"},
            },
        ),
        # This matters for rules that use types or imports.
        documents=parts.DocumentSync(unsaved="never"),
        disk=parts.DiskReactions(
            # It reads its configuration again, but not the modules and packages imported there.
            packages="node_modules",
            config=parts.ConfigFiles(imports=_ESLINT_CONFIG, packages=True),
        ),
        caveats=parts.Caveats(
            # After these its list is empty because it could not check.
            doubts=(
                Signal("eslint/status", {"state": 3}),
                Signal("eslint/noLibrary"),
                Signal("eslint/noConfig"),
                Signal("eslint/probeFailed"),
            ),
            skipped_folders=("/.git", "node_modules"),
        ),
        install={"npm": "vscode-langservers-extracted"},
        quirks=(
            "Diagnostics only when asked.",
            "Runs the project's own eslint, and its configuration.",
            "Answers with an empty list where eslint is missing or its configuration is broken.",
            "So also for files that eslint ignores: in node_modules, or as its configuration says.",
        ),
        verified="4.10.0",
    ),
    Definition(
        id="biome",
        family="biome",
        role="lint",
        languages={
            **SCRIPT,
            ".json": "json",
            ".jsonc": "jsonc",
            # It uses the `languageId` instead of the names, which only its command line knows.
            **COMMENTED_JSON,
            ".css": "css",
            ".graphql": "graphql",
            ".gql": "graphql",
            ".vue": "vue",
            ".svelte": "svelte",
            ".astro": "astro",
        },
        answers_only=("textDocument/codeAction", "textDocument/formatting"),
        roots=parts.Roots(markers=_BIOME_CONFIG, only_with=_BIOME_CONFIG),
        launch=parts.Launch(commands=(("biome", "lsp-proxy"),)),
        proofs=(ProofRule(how="version", single=True),),
        disk=parts.DiskReactions(config=parts.ConfigFiles(imports=_BIOME_CONFIG)),
        install={"npm": "@biomejs/biome", "brew": "biome"},
        quirks=(
            "Starts a process in the background that does the work; here each has its own.",
            "Now and then ends as soon as it was started; then it is started once more.",
            "The npm package is a Node process around the real one.",
        ),
        verified="2.6.6",
    ),
    Definition(
        id="oxlint",
        family="oxlint",
        role="lint",
        languages={**SCRIPT, ".vue": "vue", ".svelte": "svelte", ".astro": "astro"},
        answers_only=("textDocument/codeAction",),
        roots=parts.Roots(markers=_OXLINT_CONFIG, only_with=_OXLINT_CONFIG),
        launch=parts.Launch(
            commands=(("oxlint", "--lsp"), ("oxc_language_server",)),
            # As an answer to `workspace/configuration` this comes too late for the first request.
            initialization={"settings": {"run": "onType"}},
        ),
        disk=parts.DiskReactions(config=parts.ConfigFiles(files=_IGNORES, imports=_OXLINT_CONFIG)),
        install={"npm": "oxlint", "brew": "oxlint"},
        quirks=(
            "Wants the whole text with every change.",
            "Finds nothing wrong with files that `.gitignore` or `.eslintignore` names.",
        ),
        verified="1.93.0",
    ),
)


# Servers for data, documents and descriptions of machines.

#: No proxy listens there: only an administrator can open this port.
NO_PROXY = "http://127.0.0.1:1"

_YAML = (".yaml", ".yml", ".clang-format", ".clang-tidy", ".clangd", ".yamllint", "pixi.lock")
_DOCKER = (
    *("Dockerfile", "Containerfile", "Dockerfile.*", "Containerfile.*"),
    *(".dockerfile", ".containerfile"),
)
_TERRAFORM = (".terraform", ".terraform.lock.hcl", ".terraform-version", "terragrunt.hcl")
_TERRAFORM_LS = "github.com/hashicorp/terraform-ls@latest"
_TOML = (".toml", "Pipfile", "Cargo.lock", "poetry.lock")

DOCUMENTS: tuple[Definition, ...] = (
    Definition(
        id="yaml",
        family="yaml",
        languages=dict.fromkeys(_YAML, "yaml"),
        aliases=("yaml-language-server", "yaml-ls", "yamlls"),
        launch=parts.Launch(
            # No schemas from the network, unless the user configures it.
            settings={
                "yaml": {
                    "validate": True,
                    "schemaStore": {"enable": False},
                    "schemas": {},
                    "format": {"enable": False},
                },
                "redhat": {"telemetry": {"enabled": False}},
            },
            commands=(("yaml-language-server", "--stdio"),),
        ),
        # A file may name any URL as its schema, and no option prevents the download.
        trust=parts.TrustProfile(
            untrusted=parts.UntrustedRun(
                settings={"http": {"proxy": NO_PROXY}},
                environment=dict.fromkeys(
                    ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NO_PROXY
                ),
            )
        ),
        # It checks a text 200 ms after the last change.
        proofs=(ProofRule(how="quiet", debounce=0.3, trusted=True),),
        # It reads a schema again only after a notification.
        disk=parts.DiskReactions(told_of=("**",)),
        # Without the schema, it does not know whether a file is right.
        caveats=parts.Caveats(disclaimers=("Unable to load schema from",)),
        install={"npm": "yaml-language-server", "brew": "yaml-language-server"},
        quirks=(
            "Publishes without a version.",
            "Downloads the schema that a file names, if the project is trusted.",
        ),
        verified="1.25.0",
    ),
    Definition(
        id="terraform-ls",
        family="terraform",
        languages={".tf": "terraform", ".tfvars": "terraform-vars"},
        roots=parts.Roots(markers=_TERRAFORM),
        launch=parts.Launch(commands=(("terraform-ls", "serve"),)),
        install={"brew": "hashicorp/tap/terraform-ls", "go": _TERRAFORM_LS},
        quirks=("Takes settings only at `initialize`.", "Knows providers after `terraform init`."),
    ),
    Definition(
        id="dockerfile",
        family="dockerfile",
        languages=dict.fromkeys(_DOCKER, "dockerfile"),
        aliases=("docker", "docker-langserver"),
        launch=parts.Launch(commands=(("docker-langserver", "--stdio"),)),
        trust=parts.HARMLESS,
        # It publishes before it answers the next request, and not at all for an unchanged text.
        proofs=(ProofRule(how="ordered", ask="textDocument/documentSymbol", alone=True),),
        disk=parts.DiskReactions(reads=()),
        install={"npm": "dockerfile-language-server-nodejs"},
        quirks=("Publishes without a version.", "Symbols come as a flat list."),
        verified="0.15.0",
    ),
    Definition(
        id="taplo",
        family="toml",
        languages=dict.fromkeys(_TOML, "toml"),
        roots=parts.Roots(markers=("taplo.toml", ".taplo.toml")),
        launch=parts.Launch(commands=(("taplo", "lsp", "stdio"),)),
        install={"cargo": "--features lsp --locked taplo-cli", "brew": "taplo"},
        quirks=("The programs of npm and pip come without the server.",),
    ),
    Definition(
        id="tombi",
        family="toml",
        languages=dict.fromkeys(_TOML, "toml"),
        roots=parts.Roots(markers=("tombi.toml", ".tombi.toml")),
        launch=parts.Launch(commands=(("tombi", "lsp"),)),
        trust=parts.TrustProfile(
            untrusted=parts.UntrustedRun(environment={"TOMBI_OFFLINE": "true"})
        ),
        # Its answer may be about files as they were before a change on disk.
        caveats=parts.Caveats(workspace_pull=False),
        install={"pip": "tombi", "uv": "tombi", "npm": "tombi", "brew": "tombi"},
        quirks=("Wants the whole text with every change.",),
        verified="1.9.6",
    ),
    Definition(
        id="marksman",
        family="markdown",
        languages={".md": "markdown", ".markdown": "markdown", ".mdown": "markdown"},
        roots=parts.Roots(markers=(".marksman.toml",)),
        launch=parts.Launch(commands=(("marksman", "server"),)),
        install={"brew": "marksman", "snap": "marksman", "scoop": "marksman"},
        quirks=("Links between files need a project: a repository or a `.marksman.toml`.",),
    ),
    Definition(
        id="texlab",
        family="latex",
        languages={
            **dict.fromkeys((".tex", ".ltx", ".sty", ".cls", ".dtx"), "latex"),
            ".bib": "bibtex",
        },
        roots=parts.Roots(
            markers=(".texlabroot", "texlabroot", ".latexmkrc", "latexmkrc", "Tectonic.toml")
        ),
        launch=parts.Launch(
            commands=(("texlab",),),
            settings={"texlab": {"build": {"onSave": False}, "chktex": {"onOpenAndSave": False}}},
        ),
        install={"brew": "texlab", "nix": "texlab", "scoop": "texlab"},
        quirks=("Mistakes that only TeX finds need a build; it reads the log of the last one.",),
    ),
    Definition(
        id="nixd",
        family="nix",
        languages={".nix": "nix"},
        roots=parts.Roots(markers=("flake.nix", "shell.nix", "default.nix")),
        launch=parts.Launch(commands=(("nixd",),)),
        install={"nix": "nixd"},
        quirks=("Evaluates Nix code for what it completes.",),
    ),
    Definition(
        id="tinymist",
        family="typst",
        languages={".typ": "typst", ".typc": "typst-code"},
        roots=parts.Roots(markers=("typst.toml",)),
        launch=parts.Launch(commands=(("tinymist", "lsp"),)),
        install={"brew": "tinymist", "nix": "tinymist"},
    ),
)
