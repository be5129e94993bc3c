"""Servers for pages, styles and their data: HTML, CSS, JSON."""

from __future__ import annotations

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.servers import definition_parts as parts
from lspkit.servers.catalog.web import PACKAGE_FILES
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
