"""Linters for the browser and for Node. Each runs only in a project that is set up for it."""

from __future__ import annotations

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.server_signal import Signal
from lspkit.servers import definition_parts as parts
from lspkit.servers.catalog.pages import COMMENTED_JSON
from lspkit.servers.catalog.web import SCRIPT
from lspkit.servers.definition import Definition

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
