"""The servers that work without any configuration, in order of preference."""

from __future__ import annotations

import msgspec

from lspkit.servers.catalog.pages import DOCUMENTS, PAGES, WEB_LINT
from lspkit.servers.catalog.python import PYTHON
from lspkit.servers.catalog.scripting import SCRIPTING
from lspkit.servers.catalog.systems import FUNCTIONAL, JVM, SYSTEMS
from lspkit.servers.catalog.web import COMPONENTS, TYPESCRIPT
from lspkit.servers.definition import Definition

#: In order of preference. The web linters come last: they also check pages and data.
_ROWS: tuple[Definition, ...] = (
    *PYTHON,
    *TYPESCRIPT,
    *SYSTEMS,
    *JVM,
    *SCRIPTING,
    *PAGES,
    *COMPONENTS,
    *DOCUMENTS,
    *FUNCTIONAL,
    *WEB_LINT,
)
#: The name of a family is an alias of its first server.
_FIRST = {one.family: one.id for one in reversed(_ROWS)}

BUILT_IN: tuple[Definition, ...] = tuple(
    msgspec.structs.replace(one, aliases=(one.family, *one.aliases))
    if _FIRST[one.family] == one.id != one.family
    else one
    for one in _ROWS
)
