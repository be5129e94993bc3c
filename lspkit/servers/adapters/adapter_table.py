"""Which server has an adapter of its own."""

from __future__ import annotations

from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.adapters.biome import Biome
from lspkit.servers.adapters.rust_analyzer import RustAnalyzer
from lspkit.servers.adapters.vue import VueTypescript
from lspkit.servers.adapters.yaml import Yaml
from lspkit.servers.definition import Definition

#: By the id of the definition. So a configuration that changes a built-in server keeps its adapter.
ADAPTERS: dict[str, Adapter] = {
    "biome": Biome(),
    "rust-analyzer": RustAnalyzer(),
    "vue-typescript": VueTypescript(),
    "yaml": Yaml(),
}

#: For every other server.
ORDINARY = Adapter()


def adapter_of(definition: Definition) -> Adapter:
    """The adapter of a server."""
    return ADAPTERS.get(definition.id, ORDINARY)
