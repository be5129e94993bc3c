"""Which servers exist, which of them a file needs, where its root is, and which program runs.

Everything here makes decisions; nothing starts a process.
"""

from lspkit.servers.definition import Definition
from lspkit.servers.selection.choose import Choice, choose
from lspkit.servers.selection.roots import root_of

__all__ = ["Choice", "Definition", "choose", "root_of"]
