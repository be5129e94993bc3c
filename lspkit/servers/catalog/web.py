"""Servers for scripts and components: TypeScript and JavaScript, Vue and Svelte."""

from __future__ import annotations

import msgspec

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import log_line
from lspkit.protocol.registrations import CHANGED, CREATED, DELETED, REPLACED
from lspkit.servers import definition_parts as parts
from lspkit.servers.definition import Definition

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
#: Files of package managers, which mark a project of scripts or pages.
PACKAGE_FILES = (
    *("package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"),
)
_MARKERS = ("tsconfig.json", "jsconfig.json", *PACKAGE_FILES)
#: One server for all packages of a workspace: TypeScript finds the configuration of each of them,
#: and shares what it has read. A workspace that only `package.json` declares has no file name that
#: shows it.
_WORKSPACE = ("pnpm-workspace.yaml",)
_DENO = ("deno.json", "deno.jsonc")
#: Scripts import `.json` files, which are not of the server's languages.
_DATA = ("*", "*.json")
#: Components import scripts as well.
_SCRIPTS_AND_DATA = (*_DATA, *(f"*{extension}" for extension in SCRIPT))

#: For typescript-language-server. Its own watcher is late; after a notification it knows of changes
#: before the next request.
_TSSERVER = {
    "hostInfo": "lspkit",
    "disableAutomaticTypingAcquisition": True,
    "tsserver": {"useSyntaxServer": "never", "useClientFileWatcher": True},
}
#: For vtsls, the same for both languages. Without the syntax server, requests wait for the project
#: instead of being answered from one file. A request must not download types of packages.
_VTSLS = {"tsserver": {"useSyntaxServer": "never"}, "disableAutomaticTypeAcquisition": True}
#: For TypeScript 7: no types are downloaded. The names differ between its versions.
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

#: Makes tsserver read all projects again.
_RELOADS = parts.Refresh(
    method="workspace/executeCommand",
    params={"command": "typescript.tsserverRequest", "arguments": ["reloadProjects", {}, {}]},
    # tsserver watches no folder like `/home/somebody`, so neither `/app` nor `/srv/project`.
    path_depth=2,
)

_CONFIGS = ("tsconfig.json", "jsconfig.json")
#: Which project a file belongs to. tsserver, and TypeScript 7, search the projects that they have
#: loaded, and load one when a file of it is opened.
_PROJECT_INFO = parts.ProjectQuery(
    method="workspace/executeCommand",
    params={
        "command": "typescript.tsserverRequest",
        "arguments": ["projectInfo", {"file": "{path}", "needFileNameList": False}, {}],
    },
    result=("body", "configFileName"),
    configs=_CONFIGS,
)

#: tsserver begins a new line at U+2028 and U+2029, too.
_LINE_ENDS = "\u2028\u2029"

TYPESCRIPT: tuple[Definition, ...] = (
    Definition(
        id="typescript",
        family="typescript",
        languages=SCRIPT,
        aliases=("typescript-language-server", "javascript"),
        roots=parts.Roots(markers=_MARKERS, outermost=_WORKSPACE, kept_out_by=_DENO),
        compiler=parts.Compiler(package="typescript", below=7),
        launch=parts.Launch(
            commands=(("typescript-language-server", "--stdio"),), initialization=_TSSERVER
        ),
        trust=parts.TrustProfile(
            # Neither the TypeScript of the project nor the plugins that tsconfig.json names.
            untrusted=parts.UntrustedRun(
                initialization={"tsserver": {"path": "{tsserver}"}, "plugins": []}
            ),
            risky_files=_OWN_TSSERVER,
        ),
        readiness=parts.Readiness(load_begins_within=1.0),
        project=msgspec.structs.replace(_PROJECT_INFO, searches_one=True),
        documents=parts.DocumentSync(
            unsaved="opened", misses_created=True, other_line_ends=_LINE_ENDS
        ),
        # It publishes nothing when a clean file stays clean, but answers tsserver's own requests.
        proofs=(ProofRule(how="ordered", ask="tsserver"),),
        disk=parts.DiskReactions(
            packages="node_modules", refresh=_RELOADS, reads=_DATA, sorts_changes=True
        ),
        install={"npm": "typescript-language-server@5.3.0 typescript@5.9"},
        quirks=(
            "Counts lines in another way after a U+2028 or U+2029: places below one are wrong.",
            "Publishes nothing when a clean file stays clean, and never with a version.",
            "Refuses to start with TypeScript 7, or without any.",
            "Told in one note that a file was deleted and created, it takes it for deleted.",
            "Watches nothing right below the top of the file system, as in `/app`.",
            "A rename of an imported symbol, asked for at its use, changes only that file.",
        ),
        verified="5.3.0",
    ),
    Definition(
        id="vtsls",
        family="typescript",
        languages=SCRIPT,
        roots=parts.Roots(markers=_MARKERS, outermost=_WORKSPACE, kept_out_by=_DENO),
        compiler=parts.Compiler(package="typescript", below=7),
        launch=parts.Launch(
            commands=(("vtsls", "--stdio"),), settings={"typescript": _VTSLS, "javascript": _VTSLS}
        ),
        trust=parts.HARMLESS,
        readiness=parts.Readiness(load_begins_within=1.0),
        project=_PROJECT_INFO,
        documents=parts.DocumentSync(unsaved="opened", other_line_ends=_LINE_ENDS),
        proofs=(ProofRule(how="ordered", ask="tsserver"),),
        disk=parts.DiskReactions(
            packages="node_modules",
            looks_again="reload",
            # Not `*`: reading all projects again takes long.
            reads=("*.json",),
        ),
        install={"npm": "@vtsls/language-server"},
        quirks=(
            "Counts lines in another way after a U+2028 or U+2029: places below one are wrong.",
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
        roots=parts.Roots(markers=_MARKERS, outermost=_WORKSPACE, kept_out_by=_DENO),
        compiler=parts.Compiler(package="typescript", least=7, programs=("tsc",)),
        # `tsc` first: the project's own one comes before a `tsgo` of somewhere else.
        launch=parts.Launch(commands=(("tsc", "--lsp", "--stdio"), ("tsgo", "--lsp", "--stdio"))),
        # By default it runs npm to download types for the packages in package.json.
        trust=parts.TrustProfile(
            untrusted=parts.UntrustedRun(
                settings=dict.fromkeys(("js/ts", "typescript", "javascript"), _NO_FETCHING)
            )
        ),
        project=parts.ProjectQuery(
            method="custom/projectInfo",
            params={"textDocument": {"uri": "{uri}"}},
            result=("configFilePath",),
            configs=_CONFIGS,
        ),
        documents=parts.DocumentSync(unsaved="opened", unsaved_files="in folders"),
        disk=parts.DiskReactions(
            packages="node_modules",
            # It registers for a file only after it has answered from it.
            reads_work_tree=True,
            told_of=("**/*.{ts,mts,cts,tsx,js,mjs,cjs,jsx,json}",),
            # It adds up what it is told between two requests: deleted and created is changed,
            # created and deleted is nothing. A file that it has read by itself has to have changed,
            # and one in a folder that it has missed has to be created. These add up to both, or to
            # deleted, whatever it was told before.
            told_as={
                CREATED: (CHANGED, CREATED, CREATED),
                REPLACED: (CHANGED, CREATED, CREATED),
                DELETED: (DELETED, DELETED),
            },
            reads=_DATA,
            # It registers for what these extend only some time after it has read that. When it
            # reads one again, it may publish late what is wrong with it, or not at all.
            config=parts.ConfigFiles(
                files=("tsconfig*.json", "jsconfig*.json"),
                imports=("tsconfig.json", "jsconfig.json"),
            ),
        ),
        install={"npm": "typescript@7"},
        quirks=(
            "Diagnostics only when asked.",
            "A `tsc` older than 7 has the same name, and is passed over.",
            "Never ends when `exit` carries params.",
            "Asks for changes of files by absolute patterns, and only after its first answer.",
            "Asks for whatever is in `/tmp`, or so, if an import outside is not found.",
            "Does not see an unsaved file in a folder that is not on disk.",
        ),
        verified="7.0.2",
    ),
    Definition(
        id="deno",
        family="typescript",
        languages=SCRIPT,
        roots=parts.Roots(markers=_DENO, only_with=_DENO),
        launch=parts.Launch(
            commands=(("deno", "lsp"),),
            # Without `enable` it answers nothing. Some versions read one of these, some the other.
            initialization={"enable": True, "lint": True},
            settings={"deno": {"enable": True, "lint": True}},
        ),
        documents=parts.DocumentSync(unsaved="opened", unsaved_files=True),
        disk=parts.DiskReactions(reads=_DATA, looks_again="touch"),
        install={"brew": "deno", "pip": "deno", "npm": "deno", "cargo": "deno --locked"},
        quirks=("A module that appears on disk is found only after an edit.",),
        verified="2.9.8",
    ),
)

COMPONENTS: tuple[Definition, ...] = (
    Definition(
        id="vue",
        family="vue",
        languages={".vue": "vue"},
        aliases=("volar",),
        roots=parts.Roots(markers=_MARKERS, outermost=_WORKSPACE, shares_markers=True),
        launch=parts.Launch(commands=(("vue-language-server", "--stdio"),)),
        proofs=(ProofRule(alone=True),),
        disk=parts.DiskReactions(packages="node_modules"),
        install={"npm": "@vue/language-server typescript@5.9"},
        quirks=(
            "Knows the template, the styles and the parts of a file, but no types.",
            "Asks its client for TypeScript's help by a notification, and waits for the answer.",
            "Crashes with TypeScript 7.",
        ),
        verified="3.3.11",
    ),
    Definition(
        id="vue-typescript",
        # Not of the family `vue`: both servers are needed, so a missing one is reported.
        family="vue-typescript",
        languages={".vue": "vue"},
        roots=parts.Roots(markers=_MARKERS, outermost=_WORKSPACE, shares_markers=True),
        launch=parts.Launch(
            commands=(("typescript-language-server", "--stdio"),),
            initialization={
                **_TSSERVER,
                # Its adapter fills in where the plugin is.
                "plugins": [
                    {
                        "name": "@vue/typescript-plugin",
                        "location": "{package}",
                        "languages": ["vue"],
                    }
                ],
            },
        ),
        readiness=parts.Readiness(load_begins_within=1.0),
        documents=parts.DocumentSync(
            unsaved="opened", misses_created=True, other_line_ends=_LINE_ENDS
        ),
        proofs=(ProofRule(how="ordered", ask="tsserver"),),
        disk=parts.DiskReactions(
            packages="node_modules", refresh=_RELOADS, reads=_SCRIPTS_AND_DATA, sorts_changes=True
        ),
        install={"npm": "typescript-language-server@5.3.0 @vue/language-server typescript@5.9"},
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
        roots=parts.Roots(
            markers=("svelte.config.js", "svelte.config.mjs", "svelte.config.ts", *_MARKERS),
            outermost=_WORKSPACE,
            shares_markers=True,
        ),
        launch=parts.Launch(commands=(("svelteserver", "--stdio"),)),
        documents=parts.DocumentSync(
            # Other documents see the old text of this one until a request about it.
            takes_in_by="textDocument/documentSymbol",
            unsaved="opened",
        ),
        disk=parts.DiskReactions(
            packages="node_modules",
            reads=_SCRIPTS_AND_DATA,
            # It does not read a file again that was deleted and created, but one that has changed.
            told_as={
                CREATED: (CREATED, CHANGED),
                DELETED: (CHANGED,),
                REPLACED: (CREATED, CHANGED),
            },
            # It looks at `files` once a second, and reads their imports only once.
            config=parts.ConfigFiles(
                files=("tsconfig*.json", "jsconfig*.json", "svelte.config.*"),
                imports=("tsconfig.json", "jsconfig.json", "svelte.config.js"),
            ),
        ),
        caveats=parts.Caveats(
            skipped_folders=("node_modules",),
            # After a new file it searches the project again, also node_modules if tsconfig.json
            # names no folders. Then there are too many files.
            admissions=(
                parts.Admission(
                    says=log_line("detected a large amount of JS/Svelte files"),
                    means="it leaves TypeScript out, since the project has too many scripts for "
                    "it: say in tsconfig.json which folders to include",
                    afresh=True,
                ),
            ),
        ),
        install={"npm": "svelte-language-server"},
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
