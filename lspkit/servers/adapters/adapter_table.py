"""Which server has an adapter of its own."""

from __future__ import annotations

from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.adapters.biome import Biome
from lspkit.servers.adapters.clangd import Clangd
from lspkit.servers.adapters.gopls import Gopls
from lspkit.servers.adapters.jdtls import Jdtls
from lspkit.servers.adapters.oxlint import Oxlint
from lspkit.servers.adapters.pyrefly import Pyrefly
from lspkit.servers.adapters.rust_analyzer import RustAnalyzer
from lspkit.servers.adapters.ty import Ty
from lspkit.servers.adapters.typescript_7 import Typescript7
from lspkit.servers.adapters.vue import Vue, VueTypescript
from lspkit.servers.adapters.yaml import Yaml
from lspkit.servers.adapters.zuban import Zuban
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
