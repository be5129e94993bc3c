"""Settings of language servers that make them run a program or write to a file, and harmless ones.

By server id, as dotted keys, without the section in which a server's settings may be wrapped:
`key_gate.py` finds a key at any depth. The keys name a program, a library or an SDK that is loaded
or run, its arguments or environment, a file with such settings, or an output path, or they enable
one of these. Some are read only by editors; the next version of a server may read them, too.

For a server that runs in an untrusted project, all keys are blocked except `HARMLESS_KEYS`;
`EXECUTION_KEYS` are blocked also inside those.
"""

from __future__ import annotations

#: Pyright and its fork run the interpreter at, or inside, these paths.
_PYTHON = ("python.pythonPath", "python.defaultInterpreterPath", "python.venvPath", "python.path")
_PYTHON_FILES = (
    *("analysis.configFilePath", "analysis.nodeExecutable"),
    *("analysis.nodeArguments", "analysis.baselineFile"),
)

#: TypeScript is a library that is loaded from a folder, with plugins. Fetching types runs npm. The
#: locale becomes an argument of the command: it could be `--allowLocalPluginLoads`.
_TYPESCRIPT = (
    *("locale", "logDirectory", "maxTsServerMemory", "tsserver.log", "tsserver.logDirectory"),
    *("tsserver.logVerbosity", "tsserver.maxTsServerMemory", "tsdk", "globalTsdk"),
    *("autoUseWorkspaceTsdk", "npm", "npmLocation", "plugins", "globalPlugins", "pluginPaths"),
    *("pluginProbeLocations", "disableAutomaticTypeAcquisition"),
    *("disableAutomaticTypingAcquisition", "typeAcquisition", "tsserver.path"),
    *("tsserver.fallbackPath", "tsserver.nodePath", "tsserver.execArgv"),
)

#: Java's home and options, for the servers that start a build tool with it.
_JAVA = ("java.home", "java.opts", "java.jdt.ls.java.home", "java.jdt.ls.vmargs")

#: Dotted keys by server id. Of a server that is not listed, all settings are blocked.
EXECUTION_KEYS: dict[str, tuple[str, ...]] = {
    # Both run the interpreter to find its packages. A settings file may name an interpreter, too.
    "basedpyright": (*_PYTHON, *_PYTHON_FILES),
    "pyright": (*_PYTHON, *_PYTHON_FILES),
    # It runs nothing; these are for the editor that starts it. The last one declares trust.
    "ty": ("ty.path", "ty.interpreter", "logFile", "untrustedWorkspace"),
    "pyrefly": (*_PYTHON, "pyrefly.configPath", "pyrefly.lspPath", "pyrefly.interpreterPath"),
    "zuban": (*_PYTHON, "pythonExecutable"),
    # It can run uv for formatting.
    "ruff": ("ruff.path", "interpreter", "path", "logFile", "format.backend"),
    "typescript": _TYPESCRIPT,
    "vtsls": _TYPESCRIPT,
    "typescript-7": (*_TYPESCRIPT, "native-preview.tsdk", "automaticTypeAcquisition", "pprofDir"),
    # Plugins of the linter are code, and the settings file names them.
    "deno": ("deno.path", "config", "env", "envFile", "lint.plugins", "testing.args"),
    # `go list -toolexec` runs a program. With the other keys editors name the tools.
    "gopls": ("env", "buildFlags", "go", "goroot", "alternateTools", "toolsEnvVars"),
    "rust-analyzer": (
        # Commands, and arguments of cargo, which can name a compiler wrapper.
        *("overrideCommand", "extraArgs", "extraEnv", "metadataExtraArgs", "check.command"),
        *("checkOnSave.command", "runnables", "rustfmt", "workspace.discoverConfig"),
        # Programs and libraries of the project itself.
        "cargo.buildScripts",
        "cargo.runBuildScripts",
        "procMacro",
        # The compiler, and descriptions of projects that name one.
        *("cargo.sysroot", "cargo.sysrootSrc", "cargo.target", "rustc.source", "rustcSource"),
        *("linkedProjects", "server.path"),
    ),
    # Flags can load plugins, and a database names compilers that clangd may run.
    "clangd": (
        *("compilationDatabasePath", "compilationDatabaseChanges", "fallbackFlags"),
        *("clangd.path", "clangd.arguments"),
    ),
    # Loading a solution evaluates it, targets included.
    "csharp-ls": ("solution", "solutionPathOverride", "msbuild", "dotnetPath"),
    # It runs zig, and a build file with it.
    "zls": (
        *("zig_exe_path", "zig_lib_path", "build_runner_path", "global_cache_path"),
        *("build_runner_global_cache_path", "enable_build_on_save", "build_on_save_step"),
        *("build_on_save_args", "zls.path"),
    ),
    # Packages are programs. The toolchain, its flags and plugins come from these.
    "sourcekit-lsp": (
        *("swiftPM", "fallbackBuildSystem", "compilationDatabase", "clangdOptions", "sourcekitd"),
        *("defaultWorkspaceType", "buildServerWorkspaceSearchPaths", "backgroundPreparationMode"),
    ),
    "dart": (
        *("sdkPath", "sdkPaths", "flutterSdkPath", "flutterSdkPaths", "analyzerPath"),
        *("analyzerAdditionalArgs", "analyzerVmAdditionalArgs", "env"),
    ),
    # Gradle and Maven run code of the project, with this Java and these arguments.
    "jdtls": (
        *_JAVA,
        *("configuration.runtimes", "configuration.maven", "import.gradle.home"),
        *("import.gradle.java.home", "import.gradle.user.home", "import.gradle.arguments"),
        *("import.gradle.jvmArguments", "import.gradle.version", "import.gradle.wrapper"),
        *("import.gradle.annotationProcessing", "imports.gradle.wrapper", "import.maven"),
        *("jdt.ls.lombokSupport", "jdt.ls.androidSupport", "jdt.ls.protobufSupport"),
        *("project.referencedLibraries", "settings.url", "bundles"),
    ),
    "kotlin-lsp": (*_JAVA, "jdkForSymbolResolution", "jdkPath", "additionalJvmArgs"),
    "kotlin-language-server": (*_JAVA, "languageServer.path", "debugAdapter.path", "scripts"),
    # The first is a list of commands that print the class path.
    "clojure-lsp": ("project-specs", "classpath-config-paths", "source-aliases", "java.home-path"),
    # Plugins are Lua code with all its libraries. The last one declares them trusted.
    "lua-language-server": (
        *("runtime.plugin", "runtime.pluginArgs", "workspace.userThirdParty"),
        *("misc.executablePath", "misc.parameters", "trustByClient"),
    ),
    # A program beside the server generates the sourcemap.
    "luau-lsp": (
        *("sourcemap.rojoPath", "sourcemap.rojoProjectFile", "sourcemap.generatorCommand"),
        *("sourcemap.autogenerate", "plugins", "server.path"),
    ),
    # The endpoint receives the text of scripts.
    "bash": (
        *("shellcheckPath", "shellcheckArguments", "shfmt.path"),
        *("shfmt.additionalArguments", "explainshellEndpoint"),
    ),
    "intelephense": ("runtime", "storagePath", "globalStoragePath", "clearCache", "licenceKey"),
    # Add-ons and linters are gems, and a Gemfile is a program.
    "ruby-lsp": ("bundleGemfile", "rubyExecutablePath", "linters", "formatter", "addonSettings"),
    "solargraph": ("commandPath", "bundlerPath", "useBundler", "externalServer", "plugins"),
    # It builds the project; these keys select what runs.
    "elixir-ls": (
        *("envVariables", "mixEnv", "mixTarget", "projectDir", "fetchDeps", "dotFormatter"),
        *("languageServerOverridePath", "stdlibSrcDir"),
    ),
    # It loads the compiler's library, and the formatter's plugins.
    "vue": (*_TYPESCRIPT, "server.path", "server.runtime", "prettier.plugins"),
    "vue-typescript": _TYPESCRIPT,
    # `isTrusted` allows it to run the project's own configuration.
    "svelte": (
        *_TYPESCRIPT,
        *("isTrusted", "language-server.runtime", "language-server.ls-path", "prettier.plugins"),
        *("prettierConfig.plugins", "emmet.extensionsPath"),
    ),
    "terraform-ls": ("terraform.path", "terraformExecPath", "terraformExecLogFilePath"),
    "taplo": ("taplo.path", "taplo.extraArgs", "taplo.environment"),
    "tombi": ("tombi.path", "tombi.args"),
    # A build runs latexmk, whose configuration is Perl.
    "texlab": ("build", "forwardSearch", "chktex", "latexindent", "latexFormatter"),
    # Nix expressions are evaluated, and can set off builds.
    "nixd": ("formatting.command", "nixpkgs", "options", "eval"),
    "tinymist": ("serverPath", "typstExtraArgs"),
    # Formatters that are programs, and flags of the linter.
    "hls": (
        *("config.path", "config.external", "hlint.config.flags", "serverExecutablePath"),
        *("serverExtraArgs", "serverEnvironment", "toolchain"),
    ),
    # They analyse data and texts, and run nothing.
    "css": (),
    "dockerfile": (),
    "gleam": (),
    "html": (),
    "json": (),
    "marksman": (),
    "yaml": (),
    "ocaml-lsp": ("ocaml.server.path", "ocaml.server.args", "ocaml.sandbox"),
    # eslint is a library of the project, its configuration a program.
    "eslint": (
        *("nodePath", "nodeEnv", "runtime", "execArgv", "packageManager", "workingDirectory"),
        *("workingDirectories", "options", "experimental.useFlatConfig"),
        *("useFlatConfig", "resolvedGlobalPackageManagerPath"),
    ),
    "biome": ("lsp.bin", "lspBin", "configurationPath"),
    # Plugins in JavaScript are named in its configuration; types need a program of their own.
    "oxlint": ("configPath", "typeAware", "jsPlugins", "path.server", "path", "flags"),
}


# Settings that an untrusted project may have.
#
# By server id, for the servers that run in such a project, as dotted keys like those above. All
# other settings are blocked: some that seem harmless become part of a command (`locale` of
# TypeScript), or name an output file (`logFile`, `storagePath`). A key is listed only if it merely
# changes what is found, shown or proposed. `EXECUTION_KEYS` are blocked also inside these.

_HARMLESS_PYTHON = (
    "analysis",
    "disableLanguageServices",
    "disableOrganizeImports",
    "disableTaggedHints",
)

_HARMLESS_TYPESCRIPT = (
    *("preferences", "format", "inlayHints", "suggest", "suggestionActions"),
    *("implementationsCodeLens", "referencesCodeLens", "implicitProjectConfiguration"),
    *("implicitProjectConfig", "preferGoToSourceDefinition", "updateImportsOnFileMove"),
    *("validate", "workspaceSymbols"),
)

_STYLE_SHEETS = ("validate", "lint", "completion", "hover", "format")

HARMLESS_KEYS: dict[str, tuple[str, ...]] = {
    "basedpyright": _HARMLESS_PYTHON,
    "pyright": _HARMLESS_PYTHON,
    "ty": (
        *("diagnosticMode", "disableLanguageServices", "inlayHints", "completions"),
        *("showSyntaxErrors", "configuration.rules", "logLevel"),
    ),
    "ruff": (
        *("lint", "format.preview", "lineLength", "exclude", "organizeImports", "fixAll"),
        *("codeAction", "showSyntaxErrors", "logLevel"),
    ),
    "typescript": (*_HARMLESS_TYPESCRIPT, "completions", "diagnostics.ignoredCodes"),
    "vtsls": (*_HARMLESS_TYPESCRIPT, "enableMoveToFileCodeAction", "vtsls.experimental"),
    "typescript-7": _HARMLESS_TYPESCRIPT,
    "gopls": (
        *("analyses", "annotations", "codelenses", "completeFunctionCalls", "completeUnimported"),
        *("completionBudget", "deepCompletion", "diagnosticsDelay", "diagnosticsTrigger"),
        *("directoryFilters", "expandWorkspaceToModule", "experimentalPostfixCompletions"),
        *("gofumpt", "hints", "hoverKind", "importShortcut", "linkTarget", "linksInHover", "local"),
        *("matcher", "semanticTokens", "standaloneTags", "staticcheck", "symbolMatcher"),
        *("symbolScope", "symbolStyle", "templateExtensions", "usePlaceholders"),
    ),
    # All its settings are compiler flags.
    "clangd": (),
    "bash": (
        *("globPattern", "backgroundAnalysisMaxFiles", "enableSourceErrorDiagnostics"),
        *("includeAllWorkspaceSymbols", "logLevel", "shfmt.ignoreEditorconfig"),
        *("shfmt.languageDialect", "shfmt.binaryNextLine", "shfmt.caseIndent"),
        *("shfmt.funcNextLine", "shfmt.keepPadding", "shfmt.simplifyCode", "shfmt.spaceRedirects"),
    ),
    "intelephense": (
        *("files", "environment.phpVersion", "environment.shortOpenTag", "compatibility"),
        *("diagnostics", "completion", "format", "phpdoc", "references", "rename", "stubs"),
    ),
    "json": ("schemas", "validate", "format", "keepLines", "colorDecorators", "maxItemsComputed"),
    "html": (
        *_STYLE_SHEETS,
        *("suggest", "autoClosingTags", "autoCreateQuotes", "mirrorCursorOnMatchingTag"),
    ),
    "css": _STYLE_SHEETS,
    "yaml": (
        *("schemas", "schemaStore.enable", "customTags", "yamlVersion", "validate", "completion"),
        *("hover", "format", "style", "suggest", "keyOrdering", "maxItemsComputed"),
        *("disableAdditionalProperties", "disableDefaultProperties"),
    ),
    "dockerfile": ("languageserver.diagnostics", "languageserver.formatter"),
    "tombi": (),
}
