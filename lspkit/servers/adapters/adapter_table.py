"""Which server has an adapter of its own."""

from __future__ import annotations

from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.adapters.python_adapters import Pyrefly, Ty, Zuban
from lspkit.servers.adapters.systems_adapters import Clangd, Gopls, Jdtls, RustAnalyzer
from lspkit.servers.adapters.web_adapters import (
    Biome,
    Oxlint,
    Typescript7,
    Vue,
    VueTypescript,
    Yaml,
)
from lspkit.servers.definition import Definition

#: By the id of the definition. So a configuration that changes a built-in server keeps its adapter.
ADAPTERS: dict[str, Adapter] = {
    "biome": Biome(),
    "clangd": Clangd(),
    "gopls": Gopls(),
    "jdtls": Jdtls(),
    "oxlint": Oxlint(),
    "pyrefly": Pyrefly(),
    "rust-analyzer": RustAnalyzer(),
    "ty": Ty(),
    "typescript-7": Typescript7(),
    "vue": Vue(),
    "vue-typescript": VueTypescript(),
    "yaml": Yaml(),
    "zuban": Zuban(),
}

#: For every other server.
ORDINARY = Adapter()


def adapter_of(definition: Definition) -> Adapter:
    """The adapter of a server."""
    return ADAPTERS.get(definition.id, ORDINARY)
