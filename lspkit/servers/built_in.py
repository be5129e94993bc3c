"""The servers that work without any configuration, in order of preference."""

from __future__ import annotations

from lspkit.servers.catalog.functional import FUNCTIONAL
from lspkit.servers.catalog.jvm import JVM
from lspkit.servers.catalog.markup import DOCUMENTS
from lspkit.servers.catalog.python import PYTHON
from lspkit.servers.catalog.scripting import SCRIPTING
from lspkit.servers.catalog.systems import SYSTEMS
from lspkit.servers.catalog.web import PAGES, TYPESCRIPT
from lspkit.servers.catalog.web_lint import WEB_LINT
from lspkit.servers.definition import Definition

#: All of them. The linters of the web come last: they also look at pages and data.
BUILT_IN: tuple[Definition, ...] = (
    *PYTHON,
    *TYPESCRIPT,
    *SYSTEMS,
    *JVM,
    *SCRIPTING,
    *PAGES,
    *DOCUMENTS,
    *FUNCTIONAL,
    *WEB_LINT,
)
