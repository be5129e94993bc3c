"""Servers for the browser and for Node: TypeScript and JavaScript, components, pages and styles."""

from __future__ import annotations

from lspkit.diagnostics.proof import ProofRule
from lspkit.protocol.server_signal import log_line
from lspkit.protocol.watch_registrations import CHANGED, CREATED, DELETED, REPLACED
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import (
    HARMLESS,
    Admission,
    Caveats,
    ConfigFiles,
    DiskReactions,
    DocumentSync,
    Exceptions,
    Forwards,
    Launch,
    Readiness,
    Refresh,
    Roots,
    TrustProfile,
    UntrustedRun,
)

#: Extensions of scripts, also for the linters.
SCRIPT = {
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescriptreact",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascriptreact",
}
_PACKAGE = (
    "package.json",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
)
_MARKERS = ("tsconfig.json", "jsconfig.json", *_PACKAGE)
#: One server for all packages of such a workspace: each of them may have its own configuration,
#: which TypeScript finds by itself, and what it knows of one package it need not learn again for
#: the next. A workspace that only `package.json` declares cannot be told by the name of a file.
_WORKSPACE = ("pnpm-workspace.yaml",)
_DENO = ("deno.json", "deno.jsonc")
#: What a script may import, though no server of scripts is asked about it.
_DATA = ("*", "*.json")
#: The same for a component, which also imports scripts.
_SCRIPTS_AND_DATA = (*_DATA, *(f"*{extension}" for extension in SCRIPT))

#: For typescript-language-server. Told about files, it knows of them before the next question; its
#: own watching is late.
_TSSERVER = {
    "hostInfo": "lspkit",
    "disableAutomaticTypingAcquisition": True,
    "tsserver": {"useSyntaxServer": "never", "useClientFileWatcher": True},
}
#: What vtsls calls its settings, the same for both languages. Without its second, faster process a
#: question waits for the project instead of being answered from one file. Downloading types for
#: packages that have none is not what a question about code should set off.
_VTSLS = {
    "tsserver": {"useSyntaxServer": "never"},
    "disableAutomaticTypeAcquisition": True,
}
#: The same for TypeScript 7, in the words of all its versions.
_NO_FETCHING = {
    "disableAutomaticTypeAcquisition": True,
    "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
}

#: Where typescript-language-server looks for the TypeScript of a project.
_OWN_TSSERVER = (
    "node_modules/typescript/lib/tsserver.js",
    ".vscode/pnpify/typescript/lib/tsserver.js",
    ".yarn/sdks/typescript/lib/tsserver.js",
)

#: Asked of TypeScript's own server, which then reads all projects again.
_RELOADS = Refresh(
    method="workspace/executeCommand",
    params={"command": "typescript.tsserverRequest", "arguments": ["reloadProjects", {}, {}]},
    # It takes `/home/somebody` for nothing to be watched, and `/app` and `/srv/project` as well.
    path_depth=2,
)

TYPESCRIPT: tuple[Definition, ...] = (
    Definition(
        id="typescript",
        family="typescript",
        languages=SCRIPT,
        aliases=("typescript-language-server", "javascript"),
        roots=Roots(markers=_MARKERS, outermost=_WORKSPACE, kept_out_by=_DENO),
        launch=Launch(
            commands=(("typescript-language-server", "--stdio"),), initialization=_TSSERVER
        ),
        trust=TrustProfile(
            # Not the TypeScript of the project, nor the plugins that its configuration names.
            untrusted=UntrustedRun(
                initialization={"tsserver": {"path": "{tsserver}"}, "plugins": []}
            ),
            risky_files=_OWN_TSSERVER,
        ),
        readiness=Readiness(load_begins_within=1.0),
        documents=DocumentSync(unsaved="opened"),
        # It publishes nothing when a clean file stays clean; asked this way, it says so at once.
        proofs=(ProofRule(how="ordered", ask="tsserver"),),
        disk=DiskReactions(packages="node_modules", refresh=_RELOADS, reads=_DATA),
        install={"npm": "npm install -g typescript-language-server@5.3.0 typescript@5.9"},
        quirks=(
            "Publishes nothing when a clean file stays clean, and never with a version.",
            "Refuses to start with TypeScript 7, or without any.",
            "Watches nothing right below the top of the file system, as in `/app`.",
            "A rename of an imported symbol, asked for at its use, changes only that file.",
        ),
        verified="5.3.0",
    ),
    Definition(
        id="vtsls",
        family="typescript",
        languages=SCRIPT,
        roots=Roots(markers=_MARKERS, outermost=_WORKSPACE, kept_out_by=_DENO),
        launch=Launch(
            commands=(("vtsls", "--stdio"),), settings={"typescript": _VTSLS, "javascript": _VTSLS}
        ),
        trust=HARMLESS,
        readiness=Readiness(load_begins_within=1.0),
        documents=DocumentSync(unsaved="opened"),
        proofs=(ProofRule(how="ordered", ask="tsserver"),),
        disk=DiskReactions(
            packages="node_modules",
            looks_again="reload",
            # No others: reading all projects again takes long.
            reads=("*.json",),
        ),
        install={"npm": "npm install -g @vtsls/language-server"},
        quirks=(
            "Publishes without a version, and perhaps nothing when a clean file stays clean.",
            "Publishes about tsconfig.json, too.",
        ),
        verified="0.3.0",
    ),
    Definition(
        id="typescript-7",
        family="typescript",
        languages=SCRIPT,
        aliases=("tsgo",),
        roots=Roots(markers=_MARKERS, outermost=_WORKSPACE, kept_out_by=_DENO),
        # The preview first: a program of that name is always able to serve, a `tsc` only from 7 on.
        launch=Launch(commands=(("tsgo", "--lsp", "--stdio"), ("tsc", "--lsp", "--stdio"))),
        # As it comes, it has npm fetch types for what a project's package.json names.
        trust=TrustProfile(
            untrusted=UntrustedRun(
                settings=dict.fromkeys(("js/ts", "typescript", "javascript"), _NO_FETCHING)
            )
        ),
        documents=DocumentSync(unsaved="opened", unsaved_files=True),
        disk=DiskReactions(
            packages="node_modules",
            # It asks for what it has read only after it has answered: a change may come before
            # that.
            told_of=("**/*.{ts,mts,cts,tsx,js,mjs,cjs,jsx,json}",),
            # It may have read a new file by itself, and takes no notice then of what is created.
            told_as={CREATED: (DELETED, CREATED)},
            reads=_DATA,
            # It asks for changes of what these extend, but only some time after it has read that.
            config=ConfigFiles(imports=("tsconfig.json", "jsconfig.json")),
        ),
        # It does from 1,000 on, however many notes they come in.
        exceptions=Exceptions(loses_edits_after=500),
        install={"npm": "npm install -g typescript@7"},
        quirks=(
            "Diagnostics only when asked.",
            "A `tsc` older than 7 is found under the same name, and ends at once.",
            "Never ends when `exit` carries params.",
            "Asks for changes of files by absolute patterns, and only after its first answer.",
            "Asks for whatever is in `/tmp`, or so, if an import outside is not found.",
        ),
        verified="7.0.2",
    ),
    Definition(
        id="deno",
        family="typescript",
        languages=SCRIPT,
        roots=Roots(markers=_DENO, only_with=_DENO),
        launch=Launch(
            commands=(("deno", "lsp"),),
            # Without the switch it answers nothing; some versions read it here, some there.
            initialization={"enable": True, "lint": True},
            settings={"deno": {"enable": True, "lint": True}},
        ),
        documents=DocumentSync(unsaved="opened", unsaved_files=True),
        disk=DiskReactions(reads=_DATA, looks_again="touch"),
        install={
            "brew": "brew install deno",
            "pip": "pip install deno",
            "npm": "npm install -g deno",
            "cargo": "cargo install deno --locked",
        },
        quirks=("A module that appears on disk is found only after an edit.",),
        verified="2.9.8",
    ),
)

_EXTRACTED = {"npm": "npm install -g vscode-langservers-extracted"}
#: JSON by their names, but those who read them take comments.
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
        roots=Roots(markers=_PACKAGE),
        launch=Launch(
            commands=(("vscode-json-language-server", "--stdio"),),
            # It checks nothing until it is told to.
            settings={"json": {"validate": {"enable": True}, "format": {"enable": False}}},
        ),
        # A file may name any address as that of its schema.
        trust=TrustProfile(
            untrusted=UntrustedRun(initialization={"handledSchemaProtocols": ["file"]})
        ),
        documents=DocumentSync(unsaved="never"),
        # It keeps the schemas that it has read, until it is told that they have changed.
        disk=DiskReactions(told_of=("**",)),
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
        roots=Roots(markers=_PACKAGE),
        launch=Launch(
            commands=(("vscode-html-language-server", "--stdio"),),
            initialization={
                "provideFormatter": False,
                "embeddedLanguages": {"css": True, "javascript": True},
            },
            # Asked for all three, since a page may hold styles and scripts.
            settings={
                "html": {"validate": {"scripts": True, "styles": True}},
                "css": _STYLE,
                "javascript": {"validate": {"enable": True}},
            },
        ),
        trust=HARMLESS,
        proofs=(ProofRule(alone=True),),
        install=_EXTRACTED,
        quirks=("Publishes without a version.", "Symbols come as a flat list."),
        verified="4.10.0",
    ),
    Definition(
        id="css",
        family="css",
        languages={".css": "css", ".scss": "scss", ".less": "less"},
        roots=Roots(markers=_PACKAGE),
        launch=Launch(
            commands=(("vscode-css-language-server", "--stdio"),),
            # It asks for the settings of the file's language, and checks nothing on null.
            settings={"css": _STYLE, "scss": _STYLE, "less": _STYLE},
        ),
        trust=HARMLESS,
        proofs=(ProofRule(alone=True),),
        install=_EXTRACTED,
        quirks=("Publishes without a version.",),
        verified="4.10.0",
    ),
    Definition(
        id="vue",
        family="vue",
        languages={".vue": "vue"},
        aliases=("volar",),
        roots=Roots(markers=_MARKERS, outermost=_WORKSPACE, shares_markers=True),
        launch=Launch(commands=(("vue-language-server", "--stdio"),)),
        proofs=(ProofRule(alone=True),),
        disk=DiskReactions(packages="node_modules"),
        # It answers nothing about a file before it has heard which project that belongs to.
        forwards=Forwards(
            asks="tsserver/request",
            answers="tsserver/response",
            to="vue-typescript",
            command="typescript.tsserverRequest",
        ),
        install={"npm": "npm install -g @vue/language-server typescript@5.9"},
        quirks=(
            "Knows the template, the styles and the parts of a file, but no types.",
            "Asks its client for TypeScript's help by a notification, and waits for the answer.",
            "Crashes with TypeScript 7.",
        ),
        verified="3.3.11",
    ),
    Definition(
        id="vue-typescript",
        # Not of the same family: both are needed, so one that is missing is to be told.
        family="vue-typescript",
        languages={".vue": "vue"},
        roots=Roots(markers=_MARKERS, outermost=_WORKSPACE, shares_markers=True),
        launch=Launch(
            commands=(("typescript-language-server", "--stdio"),),
            initialization={
                **_TSSERVER,
                "plugins": [
                    {
                        "name": "@vue/typescript-plugin",
                        "location": "{package}",
                        "languages": ["vue"],
                    }
                ],
            },
        ),
        readiness=Readiness(load_begins_within=1.0),
        documents=DocumentSync(unsaved="opened"),
        proofs=(ProofRule(how="ordered", ask="tsserver"),),
        disk=DiskReactions(packages="node_modules", refresh=_RELOADS, reads=_SCRIPTS_AND_DATA),
        # Without the plugin it would read the whole file as a script.
        exceptions=Exceptions(
            borrows=("vue-language-server", "@vue/language-server", "@vue/typescript-plugin")
        ),
        install={
            "npm": "npm install -g typescript-language-server@5.3.0 @vue/language-server "
            "typescript@5.9"
        },
        quirks=(
            "The types of scripts and templates, by a plugin that is part of vue-language-server.",
            "Refuses to start with TypeScript 7, or without any.",
            "Knows no types in templates where the package vue is not installed.",
            "Serves components only: in a script, `typescript` finds none that is not declared.",
        ),
        verified="5.3.0",
    ),
    Definition(
        id="svelte",
        family="svelte",
        languages={".svelte": "svelte"},
        roots=Roots(
            markers=("svelte.config.js", "svelte.config.mjs", "svelte.config.ts", *_MARKERS),
            outermost=_WORKSPACE,
            shares_markers=True,
        ),
        launch=Launch(commands=(("svelteserver", "--stdio"),)),
        documents=DocumentSync(
            # What depends on an open document is told from before until it was asked about that
            # one.
            takes_in_by="textDocument/documentSymbol",
            unsaved="opened",
        ),
        disk=DiskReactions(
            packages="node_modules",
            reads=_SCRIPTS_AND_DATA,
            # A file that was deleted is not read again when it is created; one that has changed is.
            told_as={
                CREATED: (CREATED, CHANGED),
                DELETED: (CHANGED,),
                REPLACED: (CREATED, CHANGED),
            },
            # It looks for changes of the first ones once a second, and reads the others once.
            config=ConfigFiles(
                files=("tsconfig*.json", "jsconfig*.json", "svelte.config.*"),
                imports=("tsconfig.json", "jsconfig.json", "svelte.config.js"),
            ),
        ),
        caveats=Caveats(
            skipped_folders=("node_modules",),
            # When it hears of a new file, it looks for all files of the project again, in a project
            # that does not say where they are also in node_modules. Then they are too many for it.
            admissions=(
                Admission(
                    says=log_line("detected a large amount of JS/Svelte files"),
                    means="it leaves TypeScript out, since the project has too many scripts for "
                    "it: say in tsconfig.json which folders to include",
                    afresh=True,
                ),
            ),
        ),
        install={"npm": "npm install -g svelte-language-server"},
        quirks=(
            "Runs the project's svelte.config.js.",
            "Publishes without a version, and about tsconfig.json, too.",
            "Leaves TypeScript out in a project with more than 20 MB of scripts.",
            "Counts node_modules once a file is created, if tsconfig.json names no folders.",
            "Writes a great deal to standard error.",
        ),
        verified="0.18.4",
    ),
)
