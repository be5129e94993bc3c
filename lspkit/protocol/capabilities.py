"""The client's capabilities, and a server's capabilities.

`CLIENT_CAPABILITIES` declares only what lspkit implements. `Capabilities` combines a server's
static capabilities and its later registrations: `supports(method, document)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from lspkit.limits import MOST_REGISTRATIONS
from lspkit.protocol.globs import compile_glob
from lspkit.protocol.text import Encoding
from lspkit.protocol.uris import uri_to_path

_LINKS = {"dynamicRegistration": True, "linkSupport": True}
_DYNAMIC = {"dynamicRegistration": True}
_SYMBOL_KINDS = {"valueSet": list(range(1, 27))}

#: Parts of a finding, pushed or pulled: some servers omit them if they are not declared.
_FINDINGS: dict[str, Any] = {
    "relatedInformation": True,
    "codeDescriptionSupport": True,
    "dataSupport": True,
    "tagSupport": {"valueSet": [1, 2]},
}

#: Sent with `initialize`, together with the position encodings.
CLIENT_CAPABILITIES: dict[str, Any] = {
    "general": {"staleRequestSupport": {"cancel": True, "retryOnContentModified": []}},
    "window": {"workDoneProgress": True, "showDocument": {"support": False}},
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "failureHandling": "transactional",
        },
        "configuration": True,
        "didChangeConfiguration": _DYNAMIC,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "workspaceFolders": True,
        "symbol": {"dynamicRegistration": True, "symbolKind": _SYMBOL_KINDS},
        "diagnostics": {"refreshSupport": True},
    },
    "textDocument": {
        "synchronization": {"dynamicRegistration": True, "didSave": True},
        "publishDiagnostics": {"versionSupport": True, **_FINDINGS},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": True, **_FINDINGS},
        "definition": _LINKS,
        "declaration": _LINKS,
        "typeDefinition": _LINKS,
        "implementation": _LINKS,
        "references": _DYNAMIC,
        "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {
            "dynamicRegistration": True,
            "hierarchicalDocumentSymbolSupport": True,
            "symbolKind": _SYMBOL_KINDS,
        },
        "signatureHelp": {
            "dynamicRegistration": True,
            "signatureInformation": {
                "documentationFormat": ["markdown", "plaintext"],
                "parameterInformation": {"labelOffsetSupport": True},
                "activeParameterSupport": True,
            },
        },
        "rename": {"dynamicRegistration": True, "prepareSupport": True},
        "callHierarchy": _DYNAMIC,
        # Static only: with dynamic registration, jdtls neither announces nor registers it.
        "typeHierarchy": {},
        "codeAction": {
            "dynamicRegistration": True,
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}},
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
            "isPreferredSupport": True,
            "disabledSupport": True,
        },
    },
}


def client_capabilities(
    encodings: Sequence[Encoding], experimental: dict[str, Any]
) -> dict[str, Any]:
    """The capabilities for `initialize`, with these position encodings."""
    general = {**CLIENT_CAPABILITIES["general"], "positionEncodings": list(encodings)}
    capabilities = {**CLIENT_CAPABILITIES, "general": general}
    return {**capabilities, "experimental": experimental} if experimental else capabilities


#: method: (key of the static capability, method under which it is registered dynamically)
PROVIDERS: dict[str, tuple[str, str]] = {
    "textDocument/definition": ("definitionProvider", ""),
    "textDocument/declaration": ("declarationProvider", ""),
    "textDocument/typeDefinition": ("typeDefinitionProvider", ""),
    "textDocument/implementation": ("implementationProvider", ""),
    "textDocument/references": ("referencesProvider", ""),
    "textDocument/hover": ("hoverProvider", ""),
    "textDocument/documentSymbol": ("documentSymbolProvider", ""),
    "textDocument/signatureHelp": ("signatureHelpProvider", ""),
    "textDocument/diagnostic": ("diagnosticProvider", ""),
    "textDocument/rename": ("renameProvider", ""),
    "textDocument/prepareRename": ("renameProvider.prepareProvider", "textDocument/rename"),
    "textDocument/codeAction": ("codeActionProvider", ""),
    "codeAction/resolve": ("codeActionProvider.resolveProvider", "textDocument/codeAction"),
    "textDocument/prepareCallHierarchy": ("callHierarchyProvider", ""),
    "callHierarchy/incomingCalls": ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    "callHierarchy/outgoingCalls": ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    "textDocument/prepareTypeHierarchy": ("typeHierarchyProvider", ""),
    "typeHierarchy/supertypes": ("typeHierarchyProvider", "textDocument/prepareTypeHierarchy"),
    "typeHierarchy/subtypes": ("typeHierarchyProvider", "textDocument/prepareTypeHierarchy"),
    "workspace/symbol": ("workspaceSymbolProvider", ""),
    "workspace/diagnostic": ("diagnosticProvider.workspaceDiagnostics", "textDocument/diagnostic"),
    "workspace/executeCommand": ("executeCommandProvider", ""),
}


class DocumentKey(msgspec.Struct, frozen=True):
    """The attributes of a document that a document selector examines."""

    uri: str
    language: str


class Registration(msgspec.Struct, frozen=True):
    """A capability that the server registered after `initialize`."""

    id: str
    method: str
    options: dict[str, Any]


class Capabilities:
    """A server's capabilities, static and dynamic. Owned by its session.

    The reader of the server changes them while other threads ask. So after each change answers are
    kept in a new table: one that was found before it is not kept.
    """

    def __init__(self, static: dict[str, Any] | None = None) -> None:
        #: As the server sent them with its answer to `initialize`.
        self.static: dict[str, Any] = static or {}
        #: By registration id.
        self.registrations: dict[str, Registration] = {}
        #: What was asked about them; another table after each change.
        self.answers: dict[tuple[str, DocumentKey | None], bool] = {}

    def learn(self, static: dict[str, Any]) -> None:
        """Store the capabilities from the answer to `initialize`."""
        self.static = static
        self.answers = {}

    def register(self, registration: Registration) -> bool:
        """Add a registration, or replace the one with the same id. False if there are too many."""
        is_new = registration.id not in self.registrations
        if is_new and len(self.registrations) >= MOST_REGISTRATIONS:
            return False
        self.registrations[registration.id] = registration
        self.answers = {}
        return True

    def unregister(self, id: str) -> Registration | None:
        """Remove a registration, and return it, None if there is none."""
        removed = self.registrations.pop(id, None)
        self.answers = {}
        return removed

    def supports(self, method: str, document: DocumentKey | None = None) -> bool:
        """Whether the server supports `method`, for the document if one is given."""
        question, answers = (method, document), self.answers
        known = answers.get(question)
        if known is None:
            if len(answers) > 4096:  # a bounded cache
                answers.clear()
            known = answers[question] = self._supports(method, document)
        return known

    def _supports(self, method: str, document: DocumentKey | None) -> bool:
        key, registered_as = PROVIDERS.get(method, ("", ""))
        provider = look_up(self.static, key) if key else None
        if provider is not None and provider is not False:
            selector = provider.get("documentSelector") if isinstance(provider, dict) else None
            if document is None or selector is None or selects(selector, document):
                return True
        option = key.partition(".")[2] if registered_as else ""
        for options in self.options(registered_as or method, document):
            if not option or options.get(option):
                return True
        return False

    def commands(self) -> set[str]:
        """The names that `workspace/executeCommand` takes."""
        static = look_up(self.static, "executeCommandProvider.commands")
        dynamic = [option.get("commands") for option in self.options("workspace/executeCommand")]
        lists = (names for names in (static, *dynamic) if isinstance(names, list))
        return {name for names in lists for name in names if isinstance(name, str)}

    def options(self, method: str, document: DocumentKey | None = None) -> list[dict[str, Any]]:
        """Options of the dynamic registrations of `method` that apply to this document."""
        return [
            registration.options
            for registration in list(self.registrations.values())
            if registration.method == method
            and (
                document is None
                or registration.options.get("documentSelector") is None
                or selects(registration.options["documentSelector"], document)
            )
        ]


def look_up(values: Any, dotted: str) -> Any:
    """The value at a dotted path (`a.b.c`), None if there is none.

    A key that contains dots itself (`"python.analysis": …`) is found, too.
    """
    if not isinstance(values, dict):
        return None
    if dotted in values:
        return values[dotted]
    head, dot, rest = dotted.partition(".")
    while dot:
        if head in values and (value := look_up(values[head], rest)) is not None:
            return value
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


def selects(selector: Any, document: DocumentKey) -> bool:
    """Whether one of the selector's filters matches the document."""
    if not isinstance(selector, list):
        return True
    return any(_fits(filter, document) for filter in selector)


def _fits(filter: Any, document: DocumentKey) -> bool:
    if isinstance(filter, str):
        return filter in ("*", document.language)
    if not isinstance(filter, dict):
        return False
    language, scheme, pattern = (filter.get(key) for key in ("language", "scheme", "pattern"))
    if language not in (None, "*", document.language):
        return False
    if scheme not in (None, "*", document.uri.partition(":")[0]):
        return False
    return pattern is None or _pattern_fits(pattern, document.uri)


def _pattern_fits(pattern: Any, uri: str) -> bool:
    path = uri_to_path(uri)
    if path is None:
        return False
    path = path.replace("\\", "/")
    if isinstance(pattern, dict):
        base_uri = pattern.get("baseUri")
        base_uri = base_uri.get("uri") if isinstance(base_uri, dict) else base_uri
        base = uri_to_path(base_uri) if isinstance(base_uri, str) else None
        if base is None or not path.startswith(base.replace("\\", "/").rstrip("/") + "/"):
            return False
        path, pattern = path[len(base.rstrip("/")) + 1 :], pattern.get("pattern")
    return isinstance(pattern, str) and compile_glob(pattern)(path)


# The options of a session.


class InitializeOptions(msgspec.Struct, frozen=True):
    """What a session sends with `initialize`, and uses in later answers."""

    root_uri: str
    root_name: str
    process_id: int | None = None
    client_version: str = ""
    initialization: Any = None
    settings: dict[str, Any] = {}
    #: Experimental capabilities for this server.
    experimental: dict[str, Any] = {}
    #: Whether the server asks for a document's settings each time it begins to check it.
    asks_before_check: bool = False
    #: The offered position encodings, the preferred one first. UTF-16 is always supported.
    encodings: tuple[Encoding, ...] = ("utf-32", "utf-8", "utf-16")


# Names of methods that more than one module needs.

EXECUTE_COMMAND = "workspace/executeCommand"
APPLY_EDIT = "workspace/applyEdit"
DOCUMENT_SYMBOLS = "textDocument/documentSymbol"
REFERENCES = "textDocument/references"
PULL_DIAGNOSTICS = "textDocument/diagnostic"
PULL_WORKSPACE = "workspace/diagnostic"
