"""The two servers of Vue, of which neither is complete without the other.

`vue-typescript` is typescript-language-server with a plugin that is part of the package of
vue-language-server. Without the plugin it would parse a whole component as a script.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.definition import Definition
from lspkit.servers.selection.npm_package import can_load, package_of
from lspkit.servers.selection.program_lookup import find_program

#: The program that brings the plugin, its npm package, and the plugin.
_PROGRAM, _PACKAGE, _PLUGIN = (
    *("vue-language-server", "@vue/language-server"),
    "@vue/typescript-plugin",
)
#: Stands in the definition for the folder of the package.
_PLACE = b'"{package}"'


class VueTypescript(Adapter):
    """See above."""

    def complete(self, definition: Definition, folders: Sequence[str]) -> Definition | str:
        """It needs the folder of vue-language-server, from which it loads the plugin."""
        initialization = msgspec.json.encode(definition.launch.initialization)
        if _PLACE not in initialization:
            return definition  # the user has configured where it lies
        needs = f"it needs the package {_PLUGIN}, which comes with {_PROGRAM}"
        program = find_program(_PROGRAM, folders)
        if program is None:
            return f"{needs}, and that was not found"
        folder = package_of(program, _PACKAGE)
        if folder is None:
            return (
                f"{needs}, and where {program} has it cannot be told: name it in `initialization`"
            )
        if not can_load(folder, _PLUGIN):
            return f"{needs}, and {folder} has none"
        filled = initialization.replace(_PLACE, msgspec.json.encode(folder))
        return definition.with_launch(initialization=msgspec.json.decode(filled))
