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
_FIRST = {row.family: row.id for row in reversed(_ROWS)}

BUILT_IN: tuple[Definition, ...] = tuple(
    msgspec.structs.replace(row, aliases=(row.family, *row.aliases))
    if _FIRST[row.family] == row.id != row.family
    else row
    for row in _ROWS
)
