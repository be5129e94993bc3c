"""Settings that an untrusted project may have.

By server id, for the servers that run in such a project, as dotted keys like those of
`risky_keys.py`. All other settings are blocked: some that seem harmless become part of a command
(`locale` of TypeScript), or name an output file (`logFile`, `storagePath`). A key is listed only if
it merely changes what is found, shown or proposed. The keys of `risky_keys.py` are blocked also
inside these.
"""

from __future__ import annotations

_PYTHON = ("analysis", "disableLanguageServices", "disableOrganizeImports", "disableTaggedHints")

_TYPESCRIPT = (
    *("preferences", "format", "inlayHints", "suggest", "suggestionActions"),
    *("implementationsCodeLens", "referencesCodeLens", "implicitProjectConfiguration"),
    *("implicitProjectConfig", "preferGoToSourceDefinition", "updateImportsOnFileMove"),
    *("validate", "workspaceSymbols"),
)

_STYLE_SHEETS = ("validate", "lint", "completion", "hover", "format")

HARMLESS_KEYS: dict[str, tuple[str, ...]] = {
    "basedpyright": _PYTHON,
    "pyright": _PYTHON,
    "ty": (
        *("diagnosticMode", "disableLanguageServices", "inlayHints", "completions"),
        *("showSyntaxErrors", "configuration.rules", "logLevel"),
    ),
    "ruff": (
        *("lint", "format.preview", "lineLength", "exclude", "organizeImports", "fixAll"),
        *("codeAction", "showSyntaxErrors", "logLevel"),
    ),
    "typescript": (*_TYPESCRIPT, "completions", "diagnostics.ignoredCodes"),
    "vtsls": (*_TYPESCRIPT, "enableMoveToFileCodeAction", "vtsls.experimental"),
    "typescript-7": _TYPESCRIPT,
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
