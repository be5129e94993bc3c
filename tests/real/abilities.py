"""What each server is able to do, written down: what is not here has to be `Unsupported`.

A new version of a server that can do more, or less, fails a test until this table says so.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Operation of lspkit: the key under which a server announces it.
PROVIDERS = {
    "definition": "definitionProvider",
    "declaration": "declarationProvider",
    "type_definition": "typeDefinitionProvider",
    "implementation": "implementationProvider",
    "references": "referencesProvider",
    "hover": "hoverProvider",
    "signature_help": "signatureHelpProvider",
    "document_symbols": "documentSymbolProvider",
    "workspace_symbols": "workspaceSymbolProvider",
    "prepare_call_hierarchy": "callHierarchyProvider",
    "incoming_calls": "callHierarchyProvider",
    "outgoing_calls": "callHierarchyProvider",
    "supertypes": "typeHierarchyProvider",
    "subtypes": "typeHierarchyProvider",
    "rename": "renameProvider",
    "code_actions": "codeActionProvider",
}

_TYPES = frozenset({"supertypes", "subtypes"})
_CALLS = frozenset({"prepare_call_hierarchy", "incoming_calls", "outgoing_calls"})


@dataclass(frozen=True)
class Abilities:
    #: Operations that the server does not know.
    lacks: frozenset[str]
    #: What columns are counted in. Where a server has a choice, the ones of this table differ.
    encoding: str = "utf-16"
    #: Whether it gives diagnostics when it is asked.
    pulls: bool = False
    #: Whether it sends others on its own as well, from a tool that reads the disk.
    pushes_too: bool = False
    #: How to know that it has read the project: `progress`, `quiescent`, a `push`, or at once.
    loaded_by: str = ""
    #: Operations that it knows, and has nothing to say to in the sample.
    silent: frozenset[str] = frozenset()


ABILITIES = {
    "pyright": Abilities(
        lacks=_TYPES | {"implementation"}, pulls=True, silent=frozenset({"code_actions"})
    ),
    "basedpyright": Abilities(lacks=_TYPES, pulls=True),
    "ty": Abilities(lacks=frozenset(), encoding="utf-32", pulls=True),
    "typescript": Abilities(lacks=_TYPES | {"declaration"}, loaded_by="progress"),
    "typescript-7": Abilities(lacks=_TYPES | {"declaration"}, encoding="utf-8", pulls=True),
    "clangd": Abilities(lacks=frozenset(), loaded_by="push"),
    "gopls": Abilities(lacks=_TYPES | {"declaration"}, loaded_by="progress"),
    "rust-analyzer": Abilities(
        lacks=_TYPES, encoding="utf-8", pulls=True, pushes_too=True, loaded_by="quiescent"
    ),
    # Signatures only if a setting says so.
    "jdtls": Abilities(lacks=frozenset({"signature_help"}), silent=frozenset({"declaration"})),
    "bash": Abilities(
        lacks=_TYPES
        | _CALLS
        | {"declaration", "type_definition", "implementation", "signature_help"}
    ),
}


def able(server: str) -> list[str]:
    """The operations that the server knows."""
    return [one for one in PROVIDERS if one not in ABILITIES[server].lacks]


def unable(server: str) -> list[str]:
    """The operations that it does not know."""
    return [one for one in PROVIDERS if one in ABILITIES[server].lacks]
