"""Adapters of servers for the web, and for its data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from lspkit.protocol.capabilities import EXECUTE_COMMAND, InitializeOptions
from lspkit.protocol.wire.messages import decode_any
from lspkit.servers.adapters.adapter import Adapter, ForwardedRequest
from lspkit.servers.definition import Definition
from lspkit.servers.project.skipped_files import ignoring
from lspkit.servers.selection.program_lookup import can_load, find_program, package_of


class Typescript7(Adapter):
    """typescript-7: ignores the next `didChange` after many changes of files without a request.

    It happens from 1,000 changes on, in any number of notifications.
    """

    loses_edits_after = 500


#: The program that brings the plugin, its npm package, and the plugin.
_PROGRAM, _PACKAGE = "vue-language-server", "@vue/language-server"
_PLUGIN = "@vue/typescript-plugin"
#: Stands in the definition for the folder of the package.
_PLACE = b'"{package}"'


class Vue(Adapter):
    """The two servers of Vue, of which neither is complete without the other.

    `vue` asks its client for TypeScript's help by a notification, and answers no request about a
    file before it knows the project of the file. Params of that notification are a list of
    requests, each of them a number, a command of tsserver and its arguments. `vue-typescript`
    executes such commands. The answer is a notification, too: the same number, and the result or
    null.

    `vue-typescript` is typescript-language-server with a plugin that is part of the package of
    vue-language-server. Without the plugin it would parse a whole component as a script.
    """

    companion = "vue-typescript"

    def forwarded(self, method: str, params: bytes | None) -> list[ForwardedRequest]:
        """The commands for tsserver."""
        if method != "tsserver/request" or params is None:
            return []
        try:
            requests = decode_any(params)
        except (ValueError, RecursionError):
            return []
        if not isinstance(requests, list):
            return []
        filled = ([*item, None, None][:3] for item in requests if isinstance(item, list) and item)
        return [
            ForwardedRequest(
                number,
                _file_in(arguments),
                EXECUTE_COMMAND,
                {"command": "typescript.tsserverRequest", "arguments": [command, arguments]},
            )
            for number, command, arguments in filled
        ]

    def forwarded_answer(self, request: ForwardedRequest, result: bytes | None) -> tuple[str, Any]:
        """The body of the answer of tsserver."""
        try:
            response = None if result is None else decode_any(result)
        except (ValueError, RecursionError):
            response = None
        body = response.get("body") if isinstance(response, dict) else None
        return "tsserver/response", [[request.number, body]]


def _file_in(arguments: Any) -> str:
    """The file that tsserver is asked about: by name, or first in a list."""
    if isinstance(arguments, dict):
        file = arguments.get("file")
    else:
        file = arguments[0] if isinstance(arguments, list) and arguments else None
    return file if isinstance(file, str) else ""


class VueTypescript(Adapter):
    """The server for TypeScript that answers for `vue` (see there)."""

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


#: Seconds after its start in which biome has connected.
CONNECTS_WITHIN = 5.0


class Biome(Adapter):
    """biome: a small process that connects to one in the background, which does the work.

    It starts that one if it finds none, and looks for it by files in the user's cache folder. The
    one of another client ends with that client. So each process has a cache folder of its own.

    The background process ends with its last client. Sometimes that happens between the first probe
    and the connection: in 3 of 120 starts on a busy machine biome ended at once.
    """

    def environment(self, scratch: str) -> dict[str, str]:
        """A cache folder of its own."""
        return {"XDG_CACHE_HOME": scratch}

    def is_false_start(self, ran_for: float) -> bool:
        """It has not reached its background process."""
        return ran_for < CONNECTS_WITHIN


_IGNORE_FILES = (".gitignore", ".eslintignore")


class Oxlint(Adapter):
    """oxlint: reports nothing about files that an ignore file names, not even about open ones.

    It reads `.gitignore` and `.eslintignore` in the root and in folders below it, when it starts.
    """

    def doubt(self, path: str, root: str) -> str:
        """Its silence about an ignored file says nothing."""
        name = ignoring(path, _IGNORE_FILES, root)
        return f"it passes over what {name} names, so its silence proves nothing" if name else ""


class Yaml(Adapter):
    """yaml: publishes without versions, but requests the settings of a document before each check.

    So the version that its next push is about is mostly known (`protocol/checked_versions.py`).
    """

    def initialize(self, options: InitializeOptions) -> InitializeOptions:
        """The session infers versions from its requests for settings."""
        return replace(options, asks_before_check=True)
